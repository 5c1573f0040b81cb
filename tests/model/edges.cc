// SPDX-License-Identifier: GPL-2.0-only
#include "edges.h"

#include "pctctl/random.h"

#include <algorithm>
#include <cmath>

namespace pctctl::model {

std::vector<std::vector<double>> edge_probabilities(std::size_t length, std::size_t stride_max) {
    // reached[a][b]: probability of a choice when the threads have made a and b steps.
    std::vector<std::vector<double>> reached(length + 1, std::vector<double>(length + 1));
    // at[b][a]: probability that the b-th event is executed when the other thread has made a steps.
    std::vector<std::vector<double>> at(length + 1, std::vector<double>(length + 1));
    reached[0][0] = 1;
    for (std::size_t a = 0; a < length; a++) {
        for (std::size_t b = 0; b < length; b++) {
            const double each = reached[a][b] / 2 / static_cast<double>(stride_max);
            if (each == 0)
                continue;
            for (std::size_t s = 1; s <= stride_max; s++) {
                const std::size_t to = std::min(b + s, length);
                reached[std::min(a + s, length)][b] += each;
                reached[a][to] += each;
            }
            // A stride of at least s gets to the event b + s.
            for (std::size_t s = 1; s <= std::min(stride_max, length - b); s++)
                at[b + s][a] += each * static_cast<double>(stride_max - s + 1);
        }
    }
    // What this thread executes after the end of the other one comes after all events of that one.
    std::vector<std::vector<double>> before(length + 1, std::vector<double>(length + 1));
    for (std::size_t b = 1; b <= length; b++)
        for (std::size_t a = 1; a <= length; a++)
            before[b][a] = before[b][a - 1] + at[b][a - 1];
    return before;
}

double edge_by_formula(double a, double b) {
    return std::erfc(-(a - b) / std::sqrt(2 * b) / std::sqrt(2.0)) / 2;
}

double coverable_secondary_orders(std::size_t length, std::size_t stride_max, double probability) {
    const auto before = edge_probabilities(length, stride_max);
    std::size_t all = 0, coverable = 0;
    for (std::size_t a = 1; a <= length; a++) {
        for (std::size_t b = 1; b <= length; b++) {
            all++;
            coverable += std::min(before[b][a], 1 - before[b][a]) >= probability;
        }
    }
    return static_cast<double>(coverable) / static_cast<double>(all);
}

namespace {

// After one stride, of a thread with so many events left: the mean of what f says of those left
// then.
double after_stride(const std::vector<double>& f, std::size_t left, std::size_t stride_max) {
    double sum = 0;
    for (std::size_t s = 1; s <= stride_max; s++)
        sum += s < left ? f[left - s] : 1;
    return sum / static_cast<double>(stride_max);
}

} // namespace

double least_likely_edge(std::size_t length, std::size_t stride_max) {
    std::vector<double> f(length + 1, 1);
    for (std::size_t left = 1; left <= length; left++)
        f[left] = after_stride(f, left, stride_max) / 2;
    return f[length];
}

double least_likely_edge_of_created(std::size_t length, std::size_t stride_max,
                                    std::size_t others_max) {
    std::vector<double> begun(length + 1, 1); // the other one has to lose all choices
    std::vector<double> f(length + 1, 1);     // it may win one, for a stride of one event
    for (std::size_t left = 1; left <= length; left++) {
        begun[left] = after_stride(begun, left, stride_max) / 2;
        f[left] = after_stride(f, left, stride_max) / 2 +
                  begun[left] / static_cast<double>(others_max) / 2;
    }
    return after_stride(f, length, stride_max); // nobody else is there at the first choice
}

double least_likely_edge_by_sampling(double ratio, std::uint64_t samples) {
    double sum = 0;
    std::uint64_t index = 0;
    for (std::uint64_t i = 0; i < samples; i++) {
        double weight = 1;
        for (double reached = 0; reached < ratio; weight /= 2)
            reached +=
                static_cast<double>(pct_random(2017, PCT_RAND_STRIDE, ++index) >> 11) * 0x1p-53;
        sum += weight;
    }
    return sum / static_cast<double>(samples);
}

} // namespace pctctl::model
