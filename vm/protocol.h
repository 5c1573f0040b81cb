// SPDX-License-Identifier: GPL-2.0-only
// What the launcher on the host and init in the guest say to each other.
//
// Four virtio-serial ports connect them. "stdin", "stdout" and "stderr" carry bare bytes, so that
// each has its own flow control and no bytes are special. "control" carries messages: one byte of
// type, four bytes of length (little endian, as everything here: both ends are the same machine),
// then the payload. The end of a byte stream is told by a message that counts its bytes, since
// messages may overtake them.
//
//   launcher  kBoot                kCommand                                       kDone
//   init                           kTimePlease ... kReady ... kExit or kNotRun          ... kIdle
//
// kBoot comes once; after kIdle another command may follow, and until it does all four ports are
// silent.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vm {

inline constexpr const char* kControlPort = "pctctl.control";
inline constexpr const char* kStdinPort = "pctctl.stdin";
inline constexpr const char* kStdoutPort = "pctctl.stdout";
inline constexpr const char* kStderrPort = "pctctl.stderr";
inline constexpr const char* kRootTag = "pctctl.root"; // 9p mount tags; shares are share0, share1…
inline constexpr const char* kShareTag = "pctctl.share";

enum class MessageType : std::uint8_t {
    // to the guest
    kBoot = 1, // list of absolute directories: share N is mounted from tag N
    kCommand,  // what to run; see Command
    kSignal,   // u32: deliver to the command's process group
    kStdinEnd, // u64: the command's stdin ends after so many bytes
    kClosed,   // u32: nobody reads stream 1 or 2 any longer
    kPing,     // answer with kPong
    kTime,     // u64: CLOCK_REALTIME in ns, the answer to kTimePlease
    kDone,     // u64: the last about this command, to whose stdin so many bytes were sent
    // from the guest
    kReady = 64, // everything is mounted, the command has been started
    kExit,       // u32 wait status, u64 bytes of stdout, u64 bytes of stderr
    kNotRun,     // u32 errno of exec
    kFailure,    // text: the guest cannot be set up
    kPong,
    kTimePlease, // the guest's own clock starts with the RTC, which counts whole seconds
    kIdle,       // nothing is left of the command
};

struct Message {
    MessageType type;
    std::string payload;
};

// Appends numbers and strings to a payload.
class Writer {
public:
    Writer& number(std::uint64_t value) {
        data_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Writer& text(std::string_view value) {
        number(value.size());
        data_.append(value);
        return *this;
    }
    Writer& list(const std::vector<std::string>& values) {
        number(values.size());
        for (const auto& value : values)
            text(value);
        return *this;
    }
    std::string take() { return std::move(data_); }

private:
    std::string data_;
};

// Takes them out again; after an inconsistency ok() is false and every value is empty.
class Reader {
public:
    explicit Reader(std::string_view data) : rest_(data) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        if (rest_.size() < sizeof value)
            return fail(), 0;
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    std::string text() {
        const std::uint64_t size = number();
        if (size > rest_.size())
            return fail(), std::string{};
        std::string value(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return value;
    }
    std::vector<std::string> list() {
        std::vector<std::string> values;
        const std::uint64_t count = number();
        for (std::uint64_t i = 0; i < count && ok_; ++i)
            values.push_back(text());
        return values;
    }
    bool ok() const { return ok_; }

private:
    void fail() {
        ok_ = false;
        rest_ = {};
    }

    std::string_view rest_;
    bool ok_ = true;
};

struct Command {
    std::string directory;                // absolute; the command starts there
    std::vector<std::string> arguments;   // at least one
    std::vector<std::string> environment; // NAME=VALUE

    std::string encode() const {
        return Writer().text(directory).list(arguments).list(environment).take();
    }
    static std::optional<Command> decode(std::string_view payload) {
        Reader reader(payload);
        Command command;
        command.directory = reader.text();
        command.arguments = reader.list();
        command.environment = reader.list();
        if (!reader.ok() || command.arguments.empty())
            return std::nullopt;
        return command;
    }
};

inline std::string frame(MessageType type, std::string_view payload) {
    const auto size = static_cast<std::uint32_t>(payload.size());
    std::string bytes(1, static_cast<char>(type));
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes.append(payload);
    return bytes;
}

// Takes the first whole message out of the bytes received so far.
inline std::optional<Message> unframe(std::string& bytes) {
    std::uint32_t size = 0;
    constexpr std::size_t kHead = 1 + sizeof size;
    if (bytes.size() < kHead)
        return std::nullopt;
    std::memcpy(&size, bytes.data() + 1, sizeof size);
    if (bytes.size() - kHead < size)
        return std::nullopt;
    Message message{static_cast<MessageType>(bytes[0]), bytes.substr(kHead, size)};
    bytes.erase(0, kHead + size);
    return message;
}

} // namespace vm
