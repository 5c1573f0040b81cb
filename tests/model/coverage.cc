// SPDX-License-Identifier: GPL-2.0-only
#include "coverage.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace pctctl::model {
namespace {

constexpr unsigned kThreads = 4, kObjects = 4;

std::uint64_t event_hash(Thread t, std::uint32_t index) {
    return pct_mix(t * 256u + index + 1);
}

// Hashes the order of the accesses to one object. `reads` stands for the reads since the last
// change, in any order; they come before the change `event`.
std::uint64_t change(std::uint64_t line, std::uint64_t reads, std::uint64_t event) {
    return pct_mix(line ^ pct_mix(reads + 1) ^ (event << 1 | event >> 63));
}

// The partial order of the events executed so far.
struct Prefix {
    std::array<std::uint8_t, kThreads> next{};
    std::array<std::uint64_t, kObjects + 1> hash{}, reads{};

    std::uint64_t key() const {
        std::uint64_t k = 0;
        for (const std::uint8_t n : next)
            k = pct_mix(k ^ n);
        for (std::size_t i = 0; i < hash.size(); i++)
            k = pct_mix(k ^ hash[i]) + pct_mix(k ^ ~reads[i]);
        return k;
    }
    void execute(Thread t, const Event& e) {
        const std::uint64_t event = event_hash(t, next[t]++);
        if (e.read_only) {
            reads[e.object] += event;
        } else {
            hash[e.object] = change(hash[e.object], reads[e.object], event);
            reads[e.object] = 0;
        }
    }
};

struct Known {
    Prefix prefix;
    double random_walk = 0;
    std::array<unsigned, kThreads> preemptions; // the fewest, by the thread that executed last
    std::uint32_t schedule = 0;                 // one of its schedules, two bits a step
};

unsigned races_of(const Program& program, std::uint32_t schedule, std::size_t steps) {
    struct Step {
        Thread thread;
        const Event* event;
        std::uint32_t before; // bit i: step i comes before it in the partial order, or is it
        int previous;         // the previous step of its thread, -1: none
    };
    std::vector<Step> done;
    std::array<std::uint32_t, kThreads> next{};
    std::array<int, kThreads> last;
    last.fill(-1);
    unsigned races = 0;
    for (std::size_t i = 0; i < steps; i++) {
        const Thread t = schedule >> (2 * i) & 3;
        Step step{t, &program.threads[t][next[t]++], 1u << i, last[t]};
        last[t] = static_cast<int>(i);
        for (std::size_t j = 0; j < i; j++) {
            const Event& other = *done[j].event;
            const bool conflict =
                other.object == step.event->object && !(other.read_only && step.event->read_only);
            if (done[j].thread != t && !conflict)
                continue;
            step.before |= done[j].before;
            // Both can be enabled together if the previous event of this thread can come before the
            // other event.
            if (done[j].thread != t &&
                (step.previous < 0 ||
                 !(done[static_cast<std::size_t>(step.previous)].before >> j & 1)))
                races++;
        }
        done.push_back(step);
    }
    return races;
}

} // namespace

Program micro_program(unsigned threads, const std::vector<unsigned>& accesses, bool half_read,
                      Random& random) {
    std::vector<Event> events;
    for (std::size_t i = 0; i < accesses.size(); i++)
        events.insert(events.end(), accesses[i], access(static_cast<Object>(i + 1)));
    const auto shuffle = [&] {
        for (std::size_t i = events.size(); i > 1; i--)
            std::swap(events[i - 1], events[random.below(i)]);
    };
    shuffle();
    for (std::size_t i = 0; half_read && i < events.size(); i += 2)
        events[i].read_only = true;
    shuffle();
    Program p{.name = "micro"};
    const std::size_t each = events.size() / threads;
    for (unsigned t = 0; t < threads; t++)
        p.threads.emplace_back(events.begin() + static_cast<std::ptrdiff_t>(t * each),
                               events.begin() + static_cast<std::ptrdiff_t>((t + 1) * each));
    return p;
}

PartialOrderFacts partial_order_facts(const Program& program) {
    const std::size_t steps = program.nr_events();
    if (program.threads.size() > kThreads || steps > 16 || program.nr_objects() > kObjects)
        throw std::invalid_argument("too large a program");
    std::unordered_map<std::uint64_t, Known> now, then;
    Known start;
    start.random_walk = 1;
    start.preemptions.fill(0);
    now.emplace(start.prefix.key(), start);
    for (std::size_t i = 0; i < steps; i++) {
        then.clear();
        for (const auto& [key, known] : now) {
            std::vector<Thread> enabled;
            for (Thread t = 0; t < program.threads.size(); t++)
                if (known.prefix.next[t] < program.threads[t].size())
                    enabled.push_back(t);
            for (const Thread t : enabled) {
                Prefix prefix = known.prefix;
                prefix.execute(t, program.threads[t][prefix.next[t]]);
                const auto [at, fresh] = then.try_emplace(prefix.key());
                Known& next = at->second;
                if (fresh) {
                    next.prefix = prefix;
                    next.preemptions.fill(1000);
                    next.schedule = known.schedule | static_cast<std::uint32_t>(t) << (2 * i);
                }
                next.random_walk += known.random_walk / static_cast<double>(enabled.size());
                for (Thread last = 0; last < program.threads.size(); last++) {
                    const bool preempts = i > 0 && last != t &&
                                          known.prefix.next[last] < program.threads[last].size();
                    next.preemptions[t] =
                        std::min(next.preemptions[t], known.preemptions[last] + preempts);
                }
            }
        }
        std::swap(now, then);
    }
    PartialOrderFacts facts;
    for (const auto& [key, known] : now) {
        facts.random_walk[key] = known.random_walk;
        facts.max_preemptions =
            std::max(facts.max_preemptions,
                     *std::min_element(known.preemptions.begin(), known.preemptions.end()));
        facts.max_races = std::max(facts.max_races, races_of(program, known.schedule, steps));
    }
    return facts;
}

PartialOrderHash::PartialOrderHash(const Program& program) : program_(program) {}

std::uint64_t PartialOrderHash::operator()(const Schedule& schedule) const {
    Prefix prefix;
    for (const Thread t : schedule)
        prefix.execute(t, program_.threads[t][prefix.next[t]]);
    return prefix.key();
}

Coverage coverage(const Program& program, const PartialOrderFacts& facts, pct_policy policy,
                  __u32 options, std::uint64_t samples, std::uint64_t seed) {
    std::unordered_map<std::uint64_t, std::uint64_t> counts;
    counts.reserve(facts.random_walk.size() * 2);
    const PartialOrderHash hash(program);
    Mechanism mechanism(program);
    pct_policy_config config = config_for(policy);
    config.options = options;
    const unsigned k = static_cast<unsigned>(program.nr_events());
    sample(
        mechanism, config, samples, seed,
        [&](pct_policy_config& c) {
            if (policy == PCT_POLICY_PCT)
                draw_change_points(c, facts.max_preemptions + 1, k);
        },
        [&](const Mechanism& m) { return ++counts[hash(m.schedule())] > 0; });
    Coverage result{1, counts.size()};
    for (const auto& [key, probability] : facts.random_walk) {
        const auto found = counts.find(key);
        const double share = found == counts.end() ? 0
                                                   : static_cast<double>(found->second) /
                                                         static_cast<double>(samples);
        result.lowest = std::min(result.lowest, share);
    }
    for (const auto& [key, count] : counts)
        if (!facts.random_walk.contains(key))
            throw std::logic_error("a partial order that the program does not have");
    return result;
}

} // namespace pctctl::model
