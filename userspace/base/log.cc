// SPDX-License-Identifier: GPL-2.0-only
#include "base/log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <mutex>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include "base/fd.h"
#include "base/files.h"
#include "base/text.h"

namespace pctctl {
namespace {

spdlog::level::level_enum spdlog_level(Log::Level level) {
    switch (level) {
    case Log::Level::debug:
        return spdlog::level::debug;
    case Log::Level::info:
        return spdlog::level::info;
    case Log::Level::warning:
        return spdlog::level::warn;
    case Log::Level::error:
        break;
    }
    return spdlog::level::err;
}

const char* prefix(spdlog::level::level_enum level) {
    switch (level) {
    case spdlog::level::debug:
        return "debug: ";
    case spdlog::level::info:
        return "info: ";
    case spdlog::level::warn:
        return "warning: ";
    default:
        return "";
    }
}

void write_line(std::FILE* stream, spdlog::level::level_enum level, std::string_view text) {
    const std::string line = fmt::format("pctctl: {}{}\n", prefix(level), text);
    std::fputs(line.c_str(), stream);
    std::fflush(stream);
}

class StreamSink : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit StreamSink(std::FILE* stream) : stream_(stream) {}

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        write_line(stream_, message.level, {message.payload.data(), message.payload.size()});
    }
    void flush_() override {} // nothing is held back

    std::FILE* stream_;
};

class FileSink : public spdlog::sinks::base_sink<std::mutex> {
public:
    FileSink(Fd fd, std::string name, std::FILE* stream)
        : fd_(std::move(fd)), name_(std::move(name)), stream_(stream) {
        set_pattern_("%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
    }

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (incomplete_)
            return; // a gap could not be seen
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        if (const int error = write_all(fd_.get(), {line.data(), line.size()})) {
            incomplete_ = true;
            write_line(
                stream_, spdlog::level::warn,
                fmt::format("the log {} ends early: {}", printable(name_), errno_text(error)));
        }
    }
    void flush_() override {} // nothing is held back

    Fd fd_;
    std::string name_;
    std::FILE* stream_;
    bool incomplete_ = false;
};

// Why this open file is no place for a log; null: it is one.
const char* objection(const struct stat& status) {
    if (S_ISREG(status.st_mode))
        return status.st_nlink > 1 ? "the file has a second name (hard link)" : nullptr;
    if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode))
        return nullptr;
    return "neither a file, a terminal nor a pipe";
}

Result<Fd> open_log(const std::string& file) {
    const auto refuse = [&file](const std::string& why) {
        return Error::environment(fmt::format(
            "cannot write the log {}: {}; name another file with --log", printable(file), why));
    };
    // Nothing is emptied before it is known what it is; a pipe without a reader must not stop us.
    Fd fd(::open(file.c_str(),
                 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC,
                 0644));
    if (!fd)
        return refuse(errno == ELOOP ? "it is a symbolic link" : errno_text(errno));
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0)
        return refuse(errno_text(errno));
    if (const char* why = objection(status))
        return refuse(why);
    if (S_ISREG(status.st_mode) && ::ftruncate(fd.get(), 0) != 0)
        return refuse(errno_text(errno));
    if (::fcntl(fd.get(), F_SETFL, O_APPEND) != 0) // a slow reader delays us, but misses nothing
        return refuse(errno_text(errno));
    return fd;
}

} // namespace

Log::Log(std::FILE* stream, Level level)
    : logger_(std::make_shared<spdlog::logger>("pctctl", std::make_shared<StreamSink>(stream))),
      stream_(stream) {
    logger_->sinks().front()->set_level(spdlog_level(level));
    logger_->set_level(spdlog_level(level));
}

Status Log::also_to(const std::string& file) {
    auto fd = open_log(file);
    if (!fd)
        return fd.error();
    logger_->sinks().push_back(std::make_shared<FileSink>(std::move(*fd), file, stream_));
    logger_->set_level(spdlog::level::debug);
    return Done{};
}

bool Log::heard(Level level) const {
    return logger_ && logger_->should_log(spdlog_level(level));
}

void Log::say(Level level, std::string_view text) const {
    if (logger_)
        logger_->log(spdlog_level(level), spdlog::string_view_t(text.data(), text.size()));
}

} // namespace pctctl
