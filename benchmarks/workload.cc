// SPDX-License-Identifier: GPL-2.0-only
// The program that the benchmarks run. It measures itself and prints the numbers, since only it
// knows when its start-up is over.
//
//   workload locks N    two numbers: nanoseconds per step of one thread; and of four threads that
//   share
//                       a CPU, each with a mutex of its own. N steps each. Medians over short
//                       stretches, most of which nothing else on the machine interrupts
//   workload heavy N    one number: nanoseconds per step when four threads fight for one mutex and
//   work
//                       a little while they have it
//   workload crowd N one|each    one number: nanoseconds per step while N threads share a CPU, all
//   of
//                                them enabled. Their steps are on one object, or on one object each
//   workload parallel N          two numbers for eight threads that compute and, N times each, add
//   to a
//                                sum under a lock: milliseconds they take, and their CPU time
//   workload spawn N PROGRAM    two numbers: nanoseconds of fork, execve, wait; and of posix_spawn,
//                               wait. Medians over N turns
//   workload churn PROGRAM      starts PROGRAM again and again, for ever
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kThreads = 4;

double ns_since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

void stay_on_one_cpu() { // the scheduler keeps a run on one as well
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
}

struct Locker {
    static constexpr int kStretch = 20; // pairs

    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t* mutex = &own;
    int pairs = 0;
    int work = 0; // iterations of a small loop inside
    volatile std::uint64_t sink = 0;
    std::vector<double> stretches; // nanoseconds per step

    void run() {
        auto start = Clock::now();
        for (int i = 1; i <= pairs; ++i) {
            pthread_mutex_lock(mutex);
            for (int j = 0; j < work; ++j)
                sink = sink + 1;
            pthread_mutex_unlock(mutex);
            if (i % kStretch == 0) {
                stretches.push_back(ns_since(start) / (2 * kStretch));
                start = Clock::now();
            }
        }
    }
    static void* start(void* self) {
        static_cast<Locker*>(self)->run();
        return nullptr;
    }
};

double median(std::vector<double> values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Nanoseconds per step from the first creation to the last join.
double together(std::array<Locker, kThreads>& lockers) {
    std::array<pthread_t, kThreads> threads;
    int steps = 0;
    const auto start = Clock::now();
    for (int i = 0; i < kThreads; ++i) {
        if (pthread_create(&threads[i], nullptr, Locker::start, &lockers[i]) != 0)
            std::exit(1);
        steps += 2 * lockers[i].pairs;
    }
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    return ns_since(start) / steps;
}

int locks(int steps) {
    stay_on_one_cpu();
    Locker alone;
    alone.pairs = steps / 2;
    alone.run();
    std::array<Locker, kThreads> lockers;
    for (Locker& locker : lockers)
        locker.pairs = steps / 2 / kThreads;
    together(lockers);
    std::vector<double> several;
    for (const Locker& locker : lockers)
        several.insert(several.end(), locker.stretches.begin(), locker.stretches.end());
    std::printf("%.1f %.1f\n", median(alone.stretches), median(several));
    return 0;
}

int heavy(int steps) {
    pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
    std::array<Locker, kThreads> lockers;
    for (Locker& locker : lockers) {
        locker.mutex = &shared;
        locker.pairs = steps / 2 / kThreads;
        locker.work = 100;
    }
    std::printf("%.1f\n", together(lockers));
    return 0;
}

// Threads that wait until all of them exist. Then they post semaphores, which never blocks, until
// together they have made a number of posts.
class Crowd {
public:
    Crowd(int threads, bool one_object)
        : threads_(threads), one_object_(one_object), own_(new sem_t[threads]) {
        sem_init(&gate_, 0, 0);
        for (int i = 0; i < threads; ++i)
            sem_init(&own_[i], 0, 0);
    }

    // Does not return, since the end of each thread would take time as well.
    void measure() {
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 64 << 10);
        std::vector<pthread_t> threads(static_cast<std::size_t>(threads_));
        for (pthread_t& thread : threads)
            if (pthread_create(&thread, &small, start, this) != 0)
                std::exit(1);
        for (pthread_t thread : threads)
            pthread_join(thread, nullptr);
    }

private:
    static constexpr int kSteps = 200;
    static constexpr int kStretch = 20;

    static void* start(void* self) {
        static_cast<Crowd*>(self)->run();
        return nullptr;
    }

    void run() {
        const int index = arrived_++;
        sem_t* const mine = one_object_ ? &gate_ : &own_[index];
        if (index == threads_ - 1)
            sem_post(&gate_);
        else // returns at once when the gate is open
            futex(FUTEX_WAIT_PRIVATE, 0);
        // Wake one after the other, since the waker may lose the CPU to the thread it has woken.
        while (futex(FUTEX_WAKE_PRIVATE, 1) > 0) {
        }
        for (int step; (step = steps_++) <= kSteps; sem_post(mine)) {
            if (step % kStretch == 0)
                times_[step / kStretch] = Clock::now();
            if (step == kSteps)
                finish();
        }
    }

    [[noreturn]] void finish() {
        std::vector<double> stretches;
        for (int i = 1; i <= kSteps / kStretch; ++i)
            stretches.push_back(
                std::chrono::duration<double, std::nano>(times_[i] - times_[i - 1]).count() /
                kStretch);
        std::printf("%.1f\n", median(stretches));
        std::fflush(stdout);
        _exit(0);
    }

    // The gate is a semaphore, so that waiting at it is a step on that same object.
    long futex(int operation, int value) {
        return syscall(SYS_futex, &gate_, operation, value, nullptr, nullptr, 0);
    }

    int threads_;
    bool one_object_;
    sem_t gate_;
    std::unique_ptr<sem_t[]> own_;
    std::atomic<int> arrived_ = 0;
    std::atomic<int> steps_ = 0;
    Clock::time_point times_[kSteps / kStretch + 1];
};

int crowd(int threads, bool one_object) {
    stay_on_one_cpu();
    Crowd(threads, one_object).measure();
    return 1;
}

struct Adder {
    pthread_mutex_t* mutex;
    std::uint64_t* sum;
    int rounds;
    static constexpr unsigned kIterations = 300'000;

    static void* start(void* self) {
        const Adder& adder = *static_cast<Adder*>(self);
        for (int i = 0; i < adder.rounds; ++i) {
            volatile std::uint64_t value = 0;
            for (unsigned j = 0; j < kIterations; ++j)
                value = value + 1;
            pthread_mutex_lock(adder.mutex);
            *adder.sum += value;
            pthread_mutex_unlock(adder.mutex);
        }
        return nullptr;
    }
};

double cpu_ms() {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

int parallel(int rounds) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::uint64_t sum = 0;
    Adder adder = {&mutex, &sum, rounds};
    std::array<pthread_t, 8> threads;
    const double cpu = cpu_ms(); // the loader's
    const auto start = Clock::now();
    for (pthread_t& thread : threads)
        if (pthread_create(&thread, nullptr, Adder::start, &adder) != 0)
            return 1;
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    std::printf("%.3f %.3f\n", ns_since(start) / 1e6, cpu_ms() - cpu);
    return sum == threads.size() * Adder::kIterations * static_cast<unsigned>(rounds) ? 0 : 1;
}

bool started_and_passed(char* const* program, bool by_fork) {
    pid_t pid = -1;
    if (by_fork) {
        pid = fork();
        if (pid == 0) {
            execve(program[0], program, environ);
            _exit(127);
        }
    } else if (posix_spawn(&pid, program[0], nullptr, nullptr, program, environ) != 0) {
        return false;
    }
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int spawn(int count, char* const* program) {
    std::vector<double> times[2];
    for (int i = 0; i < count; ++i) {
        for (const bool by_fork : {true, false}) {
            const auto start = Clock::now();
            if (!started_and_passed(program, by_fork))
                return 1;
            times[by_fork ? 0 : 1].push_back(ns_since(start));
        }
    }
    std::printf("%.1f %.1f\n", median(times[0]), median(times[1]));
    return 0;
}

int churn(char* const* program) {
    while (started_and_passed(program, true)) {
    }
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    const int number =
        argc > 2 ? std::atoi(argv[2]) : 0; // NOLINT(bugprone-unchecked-string-to-number-conversion)
    if (what == "locks" && number > 0)
        return locks(number);
    if (what == "heavy" && number > 0)
        return heavy(number);
    if (what == "crowd" && number > 0 && argc == 4)
        return crowd(number, std::string_view(argv[3]) == "one");
    if (what == "parallel" && number > 0)
        return parallel(number);
    if (what == "spawn" && number > 0 && argc > 3)
        return spawn(number, argv + 3);
    if (what == "churn" && argc > 2)
        return churn(argv + 2);
    std::fprintf(stderr, "workload: see the head of benchmarks/workload.cc\n");
    return 2;
}
