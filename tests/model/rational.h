// SPDX-License-Identifier: GPL-2.0-only
// Exact probabilities.
#pragma once

#include <ostream>
#include <stdexcept>
#include <string>

namespace pctctl::model {

class Rational {
public:
    Rational(long long numerator = 0, long long denominator = 1)
        : Rational(static_cast<__int128>(numerator), static_cast<__int128>(denominator), 0) {}

    friend Rational operator+(const Rational& a, const Rational& b) {
        const __int128 g = gcd(a.den_, b.den_);
        return {add(mul(a.num_, b.den_ / g), mul(b.num_, a.den_ / g)), mul(a.den_, b.den_ / g), 0};
    }
    friend Rational operator*(const Rational& a, const Rational& b) {
        const __int128 g = gcd(a.num_, b.den_), h = gcd(b.num_, a.den_);
        return {mul(a.num_ / g, b.num_ / h), mul(a.den_ / h, b.den_ / g), 0};
    }
    Rational& operator+=(const Rational& b) { return *this = *this + b; }
    friend bool operator==(const Rational&, const Rational&) = default;
    friend bool operator<(const Rational& a, const Rational& b) {
        return mul(a.num_, b.den_) < mul(b.num_, a.den_);
    }
    double value() const { return static_cast<double>(num_) / static_cast<double>(den_); }
    friend std::ostream& operator<<(std::ostream& out, const Rational& r) {
        return out << text(r.num_) << '/' << text(r.den_);
    }

private:
    Rational(__int128 numerator, __int128 denominator, int) {
        const __int128 g = numerator ? gcd(numerator, denominator) : denominator;
        num_ = numerator / g;
        den_ = denominator / g;
    }
    static __int128 gcd(__int128 a, __int128 b) {
        while (b) {
            const __int128 r = a % b;
            a = b;
            b = r;
        }
        return a ? a : 1;
    }
    static __int128 mul(__int128 a, __int128 b) {
        __int128 r;
        if (__builtin_mul_overflow(a, b, &r))
            throw std::overflow_error("probability needs more than 127 bits");
        return r;
    }
    static __int128 add(__int128 a, __int128 b) {
        __int128 r;
        if (__builtin_add_overflow(a, b, &r))
            throw std::overflow_error("probability needs more than 127 bits");
        return r;
    }
    static std::string text(__int128 n) {
        std::string digits;
        do {
            digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
            n /= 10;
        } while (n);
        return digits;
    }

    __int128 num_ = 0, den_ = 1;
};

} // namespace pctctl::model
