// SPDX-License-Identifier: GPL-2.0-only
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace pctctl {
namespace {

// Length of the well-formed UTF-8 sequence at the start of text (RFC 3629, section 4); 0: none.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return 1;
    const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                               : first >= 0xe0 && first <= 0xef ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length == 0 || text.size() < length)
        return 0;
    // Overlong forms, surrogates and what is above U+10FFFF show in the second byte.
    const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high)
        return 0;
    for (std::size_t i = 2; i < length; ++i)
        if (byte(i) < 0x80 || byte(i) > 0xbf)
            return 0;
    return length;
}

template <typename T> std::optional<T> parse_whole(std::string_view text, int base) {
    T value{};
    const char* begin = text.data();
    const char* end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, value, base);
    if (error != std::errc{} || stop != end)
        return std::nullopt;
    return value;
}

// Three significant digits, rounded up or down.
std::string rounded(double value, bool up) {
    if (value <= 0)
        return "0";
    if (value < 1e-300) // where doubles run out of digits
        return up ? "1e-300" : "0";
    const double scale = std::pow(10, 2 - std::floor(std::log10(value)));
    // A value that has three digits already must not move because of its binary representation.
    const double scaled = value * scale;
    const double near = std::round(scaled);
    const double digits = std::abs(scaled - near) < 1e-9 ? near
                          : up                           ? std::ceil(scaled)
                                                         : std::floor(scaled);
    return fmt::format("{:.3g}", digits / scale);
}

std::string probability(double value, bool up) {
    if (value >= 1)
        return "1";
    if (value > 0.99)
        return "1 - " + rounded(1 - value, !up);
    return rounded(value, up);
}

} // namespace

std::string shell_quote(std::string_view word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_-+=./:,@%^";
    // '=' first in a command would make it an assignment; quoting that too is simpler than knowing.
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos &&
        word.find('=') == std::string_view::npos)
        return std::string(word);
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

std::string shell_quote(std::span<const std::string> words) {
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty())
            line += ' ';
        line += shell_quote(std::string_view(word));
    }
    return line;
}

std::string printable(std::string_view text, std::size_t limit) {
    std::string clean;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        // U+0080 .. U+009F are control characters as well, some terminals act on them.
        const bool control = length == 1
                                 ? static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f
                                 : length == 2 && static_cast<unsigned char>(text[0]) == 0xc2 &&
                                       static_cast<unsigned char>(text[1]) < 0xa0;
        const std::string_view unit =
            length == 0 || control ? (text[0] == '\t' ? " " : "?") : text.substr(0, length);
        if (clean.size() + unit.size() > limit)
            return clean + "...";
        clean += unit;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return clean;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string duration_text(double seconds) {
    if (seconds < 9.95)
        return fmt::format("{:.1f} s", std::max(seconds, 0.0));
    if (seconds < 59.5)
        return fmt::format("{:.0f} s", seconds);
    const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e12)));
    if (whole < 3600)
        return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string signal_name(int signal) {
    const char* abbreviation = ::sigabbrev_np(signal);
    return abbreviation ? std::string("SIG") + abbreviation : fmt::format("signal {}", signal);
}

std::string at_least(double value) {
    return probability(value, false);
}
std::string at_most(double value) {
    return probability(value, true);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    return parse_whole<std::uint64_t>(text, 10);
}

std::optional<std::uint64_t> parse_number_or_hex(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X"))
        return parse_whole<std::uint64_t>(text.substr(2), 16);
    return parse_number(text);
}

std::optional<std::chrono::nanoseconds> parse_seconds(std::string_view text) {
    double seconds = 0;
    const char* begin = text.data();
    const char* end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, seconds);
    if (error != std::errc{} || stop != end || !(seconds >= 0 && seconds <= 1e9) ||
        std::signbit(seconds))
        return std::nullopt;
    return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

std::vector<std::string_view> comma_separated(std::string_view list) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = list.find(',');
        parts.push_back(list.substr(0, comma));
        if (comma == std::string_view::npos)
            return parts;
        list.remove_prefix(comma + 1);
    }
}

std::string_view last_line(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t end = text.find_last_not_of(kBlank);
    if (end == std::string_view::npos)
        return {};
    text = text.substr(0, end + 1);
    const std::size_t start = text.rfind('\n');
    return start == std::string_view::npos ? text : text.substr(start + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    size_t begin = 0;
    while (begin <= text.size()) {
        size_t end = text.find(separator, begin);
        if (end == std::string_view::npos)
            end = text.size();
        if (end > begin)
            parts.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

} // namespace pctctl
