// SPDX-License-Identifier: GPL-2.0-only
#include "witness/recorder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "witness.skel.h"

namespace pctctl {
namespace {

// The kernel's ring holds 300,000 records. Emptied this often, it takes millions a second.
constexpr auto kDrainPeriod = std::chrono::milliseconds(50);

// How many records (of 40 bytes each) are kept in memory for all runs together.
constexpr std::size_t kMaxRecords = 8u << 20;

Error failed(std::string_view what, int error) {
    return Error::environment("cannot " + std::string(what) + " the witness: " + errno_text(error) +
                              "; leave out --verify, or see 'pctctl doctor'");
}

// Starts a thread that blocks all signals, so that others handle them.
template <typename Function> std::jthread start_without_signals(Function function) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::jthread thread(std::move(function));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

} // namespace

void Witness::SkeletonDeleter::operator()(witness_bpf* skeleton) const {
    witness_bpf__destroy(skeleton);
}

void Witness::RingDeleter::operator()(ring_buffer* ring) const {
    ring_buffer__free(ring);
}

Result<std::unique_ptr<Witness>> Witness::load(const Options& options) {
    std::unique_ptr<Witness> self(new Witness);

    self->skeleton_.reset(witness_bpf__open());
    if (!self->skeleton_)
        return failed("open", errno);
    witness_bpf* skeleton = self->skeleton_.get();
    skeleton->rodata->watched_policy = options.policy;
    if (int error = witness_bpf__load(skeleton))
        return failed("load", -error);
    self->ring_.reset(
        ring_buffer__new(bpf_map__fd(skeleton->maps.records), store, self.get(), nullptr));
    if (!self->ring_)
        return failed("read from", errno);
    if (int error = witness_bpf__attach(skeleton))
        return failed("attach", -error);
    self->drainer_ = start_without_signals(
        [witness = self.get()](const std::stop_token& stop) { witness->keep_draining(stop); });
    return self;
}

Witness::~Witness() = default;

Witness::Watch Witness::watch() {
    std::lock_guard lock(mutex_);
    drain_completely();
    marks_.push_back({first_ + records_.size(), lost(), dropped_});
    watched_.notify_all();
    return Watch(this, std::prev(marks_.end()));
}

void Witness::keep_draining(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        if (marks_.empty())
            watched_.wait(lock, stop, [this] { return !marks_.empty(); });
        else
            watched_.wait_for(lock, stop, kDrainPeriod, [] { return false; });
        drain();
    }
}

int Witness::store(void* self, void* data, std::size_t) {
    auto* witness = static_cast<Witness*>(self);
    if (witness->marks_.empty())
        return 0;
    if (witness->records_.size() < kMaxRecords)
        witness->records_.push_back(*static_cast<const pct_witness_record*>(data));
    else
        witness->dropped_++;
    return 0;
}

void Witness::drain() {
    ring_buffer__consume(ring_.get());
}

// Reading stops at a record that a CPU has not finished writing. So this waits for it.
void Witness::drain_completely() {
    ring* records = ring_buffer__ring(ring_.get(), 0);
    const unsigned long target = ring__producer_pos(records);
    for (drain(); ring__consumer_pos(records) < target; drain())
        std::this_thread::yield();
}

std::uint64_t Witness::lost() const {
    std::uint64_t sum = __atomic_load_n(&skeleton_->bss->lost, __ATOMIC_RELAXED);
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton_->obj) {
        bpf_prog_info info = {};
        unsigned size = sizeof(info);
        const int fd = bpf_program__fd(program);
        if (fd >= 0 && bpf_prog_get_info_by_fd(fd, &info, &size) == 0)
            sum += info.recursion_misses; // times that the kernel did not call the program
    }
    return sum;
}

void Witness::forget_old() {
    std::uint64_t needed = first_ + records_.size();
    for (const Watch::Mark& mark : marks_)
        needed = std::min(needed, mark.start);
    records_.erase(records_.begin(),
                   records_.begin() + static_cast<std::ptrdiff_t>(needed - first_));
    first_ = needed;
}

Witness::Watch::Watch(Watch&& other) noexcept
    : witness_(std::exchange(other.witness_, nullptr)), mark_(other.mark_) {}

Witness::Watch::~Watch() {
    if (!witness_)
        return;
    std::lock_guard lock(witness_->mutex_);
    witness_->marks_.erase(mark_);
    witness_->forget_old();
}

Result<std::vector<pct_witness_record>> Witness::Watch::take(pid_t root) {
    std::lock_guard lock(witness_->mutex_);
    witness_->drain_completely();
    const std::uint64_t lost = witness_->lost() - mark_->lost + witness_->dropped_ - mark_->dropped;
    if (lost)
        return Error::environment("the witness lost " + std::to_string(lost) +
                                  " records, so the run cannot be verified; verify shorter runs "
                                  "or use a smaller --jobs");

    std::vector<pct_witness_record> result;
    std::unordered_set<std::uint32_t> pids = {static_cast<std::uint32_t>(root)};
    for (std::size_t i = mark_->start - witness_->first_; i < witness_->records_.size(); i++) {
        const pct_witness_record& record = witness_->records_[i];
        if (record.type == PCT_WITNESS_NEW && pids.contains(record.parent_pid))
            pids.insert(record.pid);
        if (pids.contains(record.pid))
            result.push_back(record);
    }
    return result;
}

} // namespace pctctl
