// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/bpf_scheduler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/files.h"
#include "base/syscall_numbers.h"
#include "base/text.h"
#include "kernel/elf_layout.h"
#include "kernel/kernel_functions.h"
#include "kick.skel.h"
#include "pctctl/points.h"
#include "sched.skel.h"

namespace pctctl {
namespace {

struct SyscallPoint {
    long number;
    unsigned traits;
};

constexpr SyscallPoint kSyscallPoints[] = {
#define X(name, traits) {SYS_##name, (traits) | PCT_POINT_STEP},
    PCT_SYSCALL_POINTS(X)
#undef X
};

constexpr unsigned kLibcTraits[] = {
#define X(name, traits) (traits) | PCT_POINT_STEP,
    PCT_LIBC_POINTS(X)
#undef X
};
static_assert(std::size(kLibcTraits) <= PCT_OBJECT_POINTS);

Error bpf_error(const std::string& what, int error) {
    if (error == EPERM) // not EACCES, which comes from the verifier
        return Error::environment("cannot " + what +
                                  ": not permitted; run as root, outside of a container");
    return Error::environment("cannot " + what + ": " + errno_text(error) +
                              "; see libbpf's warnings and 'pctctl doctor', or use --vm");
}

template <typename T> struct Destroy {
    void operator()(T* skeleton) const { T::destroy(skeleton); }
};

struct RingFree {
    void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
struct LinkFree {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

template <typename T> T* map_array(bpf_map* map) {
    const std::size_t size = bpf_map__max_entries(map) * ((sizeof(T) + 7) & ~std::size_t{7});
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
    return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}
static_assert(sizeof(pct_run_config) % 8 == 0 && sizeof(pct_run_state) % 8 == 0,
              "elements of a mapped array are padded to 8 bytes");

int call(const bpf_program* program, pct_call args) {
    bpf_test_run_opts options = {};
    options.sz = sizeof options;
    options.ctx_in = &args;
    options.ctx_size_in = sizeof args;
    const int error = bpf_prog_test_run_opts(bpf_program__fd(program), &options);
    return error ? error : static_cast<int>(options.retval);
}

} // namespace

struct BpfScheduler::Objects {
    std::unique_ptr<sched_bpf, Destroy<sched_bpf>> sched;
    std::unique_ptr<kick_bpf, Destroy<kick_bpf>> kick;
    std::vector<std::unique_ptr<bpf_link, LinkFree>> links;
    std::unique_ptr<ring_buffer, RingFree> ring;
};

BpfScheduler::BpfScheduler(unsigned slots)
    : inboxes_(slots), objects_(std::make_unique<Objects>()) {
    for (Inbox& inbox : inboxes_)
        inbox.wake.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

BpfScheduler::~BpfScheduler() {
    if (reader_.joinable()) {
        reader_.request_stop();
        reader_.join();
    }
    // Detach the probes first, so that they count no steps of tasks that are no longer scheduled.
    objects_->links.clear();
    objects_.reset();
    if (configs_)
        munmap(configs_, PCT_MAX_RUNS * sizeof *configs_);
    if (states_)
        munmap(states_, PCT_MAX_RUNS * sizeof *states_);
}

Result<std::unique_ptr<BpfScheduler>> BpfScheduler::load(const Options& options) {
    std::unique_ptr<BpfScheduler> kernel(new BpfScheduler(options.slots));
    if (Status status = kernel->attach(options); !status)
        return status.error();
    kernel->reader_ = std::jthread([self = kernel.get()](const std::stop_token& stop) {
        pollfd ready = {ring_buffer__epoll_fd(self->objects_->ring.get()), POLLIN, 0};
        while (!stop.stop_requested())
            if (poll(&ready, 1, 100) > 0)
                self->consume();
    });
    return kernel;
}

Status BpfScheduler::attach(const Options& options) {
    Objects& o = *objects_;
    o.sched.reset(sched_bpf::open());
    o.kick.reset(kick_bpf::open());
    if (!o.sched || !o.kick)
        return bpf_error("open the BPF objects", errno);

    if (!options.flags)
        return Error::environment(std::string("the kernel's sched_ext is too old; ") +
                                  kNewerKernel);
    o.sched->struct_ops.pct_ops->flags = *options.flags;
    auto& settings = *o.sched->rodata;
    settings.nr_slots = options.slots;
    for (const pct_policy policy : options.policies)
        settings.loaded_policies |= 1U << policy;
    for (const SyscallPoint& point : kSyscallPoints)
        settings.syscall_traits[point.number] = static_cast<std::uint16_t>(point.traits);
    for (std::size_t i = 0; i < std::size(kLibcTraits); ++i)
        settings.libc_traits[i] = static_cast<std::uint16_t>(kLibcTraits[i]);
    bpf_map__set_max_entries(o.sched->maps.ends, options.slots * PCT_MAX_ENDS);
    const std::string loader = own_loader();
    if (!loader.empty()) {
        const Result<std::uint64_t> size = loader_text_size(loader);
        if (!size)
            return size.error();
        settings.loader_size = *size;
    }

    if (int error = sched_bpf::load(o.sched.get()))
        return bpf_error("load the scheduler", -error);
    const struct {
        bpf_program* enforcer;
        bpf_program* target;
        const char* function;
    } enforced[] = {
        {o.kick->progs.at_libc_point, o.sched->progs.on_libc_point, "enforce"},
        {o.kick->progs.after_syscall_enter, o.sched->progs.on_syscall, "on_syscall"},
        {o.kick->progs.after_syscall_exit, o.sched->progs.on_syscall_exit, "on_syscall_exit"},
    };
    for (const auto& e : enforced)
        if (int error =
                bpf_program__set_attach_target(e.enforcer, bpf_program__fd(e.target), e.function))
            return bpf_error("find " + std::string(e.function), -error);
    const std::pair<bpf_map*, bpf_map*> shared[] = {
        {o.kick->maps.threads, o.sched->maps.threads},
        {o.kick->maps.states, o.sched->maps.states},
        {o.kick->maps.configs, o.sched->maps.configs},
    };
    for (const auto& [to, from] : shared)
        if (int error = bpf_map__reuse_fd(to, bpf_map__fd(from)))
            return bpf_error("share the map " + std::string(bpf_map__name(from)), -error);
    if (int error = kick_bpf::load(o.kick.get()))
        return bpf_error("load the scheduler's second part", -error);

    if (Status s = prepare_sharing(options.slots); !s)
        return s;
    configs_ = map_array<pct_run_config>(o.sched->maps.configs);
    states_ = map_array<pct_run_state>(o.sched->maps.states);
    o.ring.reset(ring_buffer__new(bpf_map__fd(o.sched->maps.events), receive, this, nullptr));
    if (!configs_ || !states_ || !o.ring)
        return bpf_error("map the scheduler's state", errno);

    auto keep = [&](bpf_link* link, const std::string& what) -> Status {
        if (!link)
            return bpf_error(what, errno);
        o.links.emplace_back(link);
        return Done{};
    };
    // Attach the enforcing programs before those that they enforce, and the scheduler last.
    for (const auto& e : enforced)
        if (Status s = keep(bpf_program__attach(e.enforcer), "attach to the scheduler's probes");
            !s)
            return s;
    for (std::size_t i = 0; i < options.objects.size() && i < PCT_MAX_OBJECTS; ++i) {
        const ProbedObject& object = options.objects[i];
        Result<pct_object> layout = describe_object(object.fd, object.points);
        if (!layout)
            return layout.error();
        const std::uint32_t key = static_cast<std::uint32_t>(i);
        if (int error = bpf_map__update_elem(o.sched->maps.objects, &key, sizeof key, &*layout,
                                             sizeof *layout, 0))
            return bpf_error("describe " + object.probe_path, -error);
        std::vector<unsigned long> offsets;
        std::vector<__u64> cookies;
        for (const LibcPoint& point : object.points) {
            offsets.push_back(point.offset);
            cookies.push_back(static_cast<__u64>(i) << 16 | point.index);
        }
        if (offsets.empty() || !(options.points & PCT_POINTS_PTHREAD))
            continue;
        bpf_uprobe_multi_opts where = {};
        where.sz = sizeof where;
        where.offsets = offsets.data();
        where.cookies = cookies.data();
        where.cnt = offsets.size();
        if (Status s =
                keep(bpf_program__attach_uprobe_multi(o.sched->progs.on_libc_point, -1,
                                                      object.probe_path.c_str(), nullptr, &where),
                     "put probes on " + object.probe_path);
            !s)
            return s;
    }
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, o.sched->obj) {
        const bpf_prog_type type = bpf_program__type(program);
        if (type != BPF_PROG_TYPE_TRACEPOINT && type != BPF_PROG_TYPE_TRACING)
            continue;
        if (Status s = keep(bpf_program__attach(program),
                            std::string("attach ") + bpf_program__name(program));
            !s)
            return s;
    }

    bpf_link* scheduler = bpf_map__attach_struct_ops(o.sched->maps.pct_ops);
    if (!scheduler && errno == EBUSY)
        return Error::environment(
            "another sched_ext scheduler is loaded ('" +
            std::string(trimmed(read_text("/sys/kernel/sched_ext/root/ops").value_or(""))) +
            "'); stop it first, or use --vm");
    return keep(scheduler, "start the scheduler");
}

Status BpfScheduler::prepare_sharing(unsigned slots) {
    bpf_map_create_opts flags = {};
    flags.sz = sizeof flags;
    flags.map_flags = BPF_F_NO_PREALLOC;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        Fd map(bpf_map_create(BPF_MAP_TYPE_HASH, "sharing", sizeof(pct_shared_key),
                              sizeof(pct_sharing), PCT_MAX_SHARED, &flags));
        if (!map)
            return bpf_error("make a map", errno);
        const int fd = map.get();
        if (const int error = bpf_map__update_elem(objects_->sched->maps.sharing, &slot,
                                                   sizeof slot, &fd, sizeof fd, 0))
            return bpf_error("make room for what threads share", -error);
        sharing_.push_back(std::move(map));
    }
    return Done{};
}

Status BpfScheduler::teach(std::span<const std::uint64_t> names) {
    const std::lock_guard lock(teaching_);
    for (; taught_ < names.size(); ++taught_) {
        const auto number = static_cast<std::uint32_t>(taught_ + 1);
        if (const int error =
                bpf_map__update_elem(objects_->sched->maps.focus, &names[taught_],
                                     sizeof names[taught_], &number, sizeof number, 0))
            return bpf_error("tell the scheduler what matters", -error);
    }
    return Done{};
}

Result<std::vector<std::uint64_t>> BpfScheduler::learned(unsigned slot) {
    constexpr std::uint32_t kAtOnce = 1024;
    std::vector<pct_shared_key> keys(kAtOnce);
    std::vector<pct_sharing> values(kAtOnce);
    std::vector<std::uint64_t> names;
    std::uint32_t position = 0;
    for (bool first = true, last = false; !last; first = false) {
        std::uint32_t count = kAtOnce;
        const int error =
            bpf_map_lookup_and_delete_batch(sharing_[slot].get(), first ? nullptr : &position,
                                            &position, keys.data(), values.data(), &count, nullptr);
        if (error && error != -ENOENT)
            return bpf_error("read what threads share", -error);
        last = error == -ENOENT;
        for (std::uint32_t i = 0; i < count; ++i)
            if (keys[i].is_name)
                names.push_back(keys[i].id);
    }
    return names;
}

pct_run_state BpfScheduler::snapshot(unsigned slot) const {
    pct_run_state copy;
    std::memcpy(&copy, &states_[slot], sizeof copy);
    return copy;
}

void BpfScheduler::start_run(unsigned slot, pct_run_config config) {
    configs_[slot].id = 0;
    states_[slot] = {};
    inboxes_[slot].skipped_calls = all_skipped_calls();
    config.id = next_id_++;
    {
        const std::lock_guard lock(inboxes_[slot].mutex);
        inboxes_[slot].events.clear();
    }
    configs_[slot] = config;
}

// The programs about the kernel's locks are left out: what the kernel skips of these are locks that
// other programs wait for, which are none of the thread's.
std::uint64_t BpfScheduler::all_skipped_calls() const {
    const Objects& o = *objects_;
    std::uint64_t sum = 0;
    for (const bpf_object* object : {o.sched->obj, o.kick->obj}) {
        bpf_program* program = nullptr;
        bpf_object__for_each_program(program, object) {
            if (program == o.sched->progs.on_lock_wait || program == o.sched->progs.on_lock_got)
                continue;
            bpf_prog_info info = {};
            unsigned size = sizeof info;
            const int fd = bpf_program__fd(program);
            if (fd >= 0 && bpf_prog_get_info_by_fd(fd, &info, &size) == 0)
                sum += info.recursion_misses;
        }
    }
    return sum;
}

std::uint64_t BpfScheduler::skipped_calls(unsigned slot) const {
    return all_skipped_calls() - inboxes_[slot].skipped_calls;
}

void BpfScheduler::end_run(unsigned slot) {
    configs_[slot].id = 0;
}

Status BpfScheduler::adopt(unsigned slot, pid_t pid) {
    const int error = call(objects_->sched->progs.adopt, {slot, pid});
    if (error)
        return bpf_error("take control of process " + std::to_string(pid), -error);
    return Done{};
}

void BpfScheduler::break_hold(unsigned slot, unsigned hold) {
    call(objects_->sched->progs.break_hold, {slot, static_cast<std::int32_t>(hold)});
}

void BpfScheduler::consume() {
    const std::lock_guard lock(ring_mutex_);
    ring_buffer__consume(objects_->ring.get());
}

// One read of the ring ends at the first record that is still being written, maybe by another run's
// CPU. Complete records may lie behind it, so read until all of them have come.
void BpfScheduler::consume_all() {
    const std::lock_guard lock(ring_mutex_);
    const ring* events = ring_buffer__ring(objects_->ring.get(), 0);
    const unsigned long end = ring__producer_pos(events);
    ring_buffer__consume(objects_->ring.get());
    while (ring__consumer_pos(events) < end) {
        usleep(50);
        ring_buffer__consume(objects_->ring.get());
    }
}

int BpfScheduler::receive(void* self, void* data, std::size_t size) {
    BpfScheduler& kernel = *static_cast<BpfScheduler*>(self);
    const pct_event& event = *static_cast<const pct_event*>(data);
    if (size < sizeof event || event.slot >= kernel.inboxes_.size())
        return 0;
    Inbox& inbox = kernel.inboxes_[event.slot];
    if (event.run != kernel.configs_[event.slot].id)
        return 0; // the event is of a run that has ended
    {
        const std::lock_guard lock(inbox.mutex);
        inbox.events.push_back(event);
    }
    if (event.type == PCT_EVENT_QUIESCENT)
        eventfd_write(inbox.wake.get(), 1);
    return 0;
}

std::vector<pct_event> BpfScheduler::take_events(unsigned slot) {
    consume_all();
    const std::lock_guard lock(inboxes_[slot].mutex);
    return std::exchange(inboxes_[slot].events, {});
}

std::optional<std::string> BpfScheduler::ejected_by_now() const {
    if (read_text("/sys/kernel/sched_ext/state").value_or("") == "enabled\n")
        return ejected();
    // The kernel tells the reason only after it has moved all threads to another scheduler.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!ejected() && std::chrono::steady_clock::now() < patience)
        usleep(1000);
    return ejected().value_or("the kernel unloaded the scheduler, and does not say why");
}

std::optional<std::string> BpfScheduler::ejected() const {
    const auto& exit = *objects_->sched->bss;
    if (!exit.exit_kind)
        return std::nullopt;
    std::string text = "the kernel unloaded the scheduler: ";
    text += exit.exit_reason;
    if (exit.exit_message[0])
        text += std::string(" (") + exit.exit_message + ")";
    return text;
}

} // namespace pctctl
