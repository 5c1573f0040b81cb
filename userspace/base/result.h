// SPDX-License-Identifier: GPL-2.0-only
// Errors as values at the edges of the system: a one-line message and the exit status it leads to.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace pctctl {

// Exit statuses of pctctl; part of its interface.
enum class ExitStatus : int {
    nothing_found = 0,
    found = 1,
    usage = 2,       // the command line is wrong
    environment = 3, // this machine cannot do it
};

struct Error {
    ExitStatus status = ExitStatus::environment;
    std::string message; // one line: what is wrong, where, what to do

    static Error usage(std::string text) { return {ExitStatus::usage, std::move(text)}; }
    static Error environment(std::string text) {
        return {ExitStatus::environment, std::move(text)};
    }
};

// Message for an errno value, e.g. "No such file or directory".
std::string errno_text(int error);

// Either a value or an Error. Access to the absent one is a programming error (std::get throws).
template <typename T> class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    T& operator*() { return std::get<0>(state_); }
    const T& operator*() const { return std::get<0>(state_); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    const Error& error() const { return std::get<1>(state_); }

private:
    std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

} // namespace pctctl
