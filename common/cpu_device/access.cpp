// SPDX-License-Identifier: MIT
#include "access.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "cpu_device/core.h"
#include "device_variables.hpp"
#include "memory.hpp"
#include "program_image.hpp"
#include "shared_memory.hpp"
#include "strict.hpp"
#include "undefined.hpp"
#include "virtual_functions.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

// The tables' order is that of Direction and of Space.
constexpr const char* kVerbs[] = {"load",
                                  "store",
                                  "atomic",
                                  "bulk copy from",
                                  "bulk copy to",
                                  "asynchronous copy to",
                                  "asynchronous copy to",
                                  "asynchronous store to",
                                  "asynchronous reduction to",
                                  "mbarrier.init at",
                                  "bulk reduction in",
                                  "texture fetch",
                                  "surface read",
                                  "surface write"};

enum Space : uint8_t { kGlobal, kShared, kRemote, kProgram };

// What an asynchronous store or reduction touches is another block's, or taken for it.
constexpr AccessKind kKinds[][11] = {
    {AccessKind::global_load, AccessKind::global_store, AccessKind::global_atomic,
     AccessKind::bulk_load, AccessKind::bulk_store, AccessKind::global_store,
     AccessKind::global_store, AccessKind::global_store, AccessKind::global_atomic,
     AccessKind::mbarrier, AccessKind::bulk_reduce},
    {AccessKind::shared_load, AccessKind::shared_store, AccessKind::shared_atomic,
     AccessKind::shared_bulk_load, AccessKind::shared_bulk_store, AccessKind::shared_copy,
     AccessKind::shared_copy, AccessKind::remote_store, AccessKind::remote_atomic,
     AccessKind::mbarrier, AccessKind::shared_bulk_store},
    {AccessKind::remote_load, AccessKind::remote_store, AccessKind::remote_atomic,
     AccessKind::shared_bulk_load, AccessKind::remote_bulk_store, AccessKind::remote_store,
     AccessKind::remote_store, AccessKind::remote_store, AccessKind::remote_atomic,
     AccessKind::mbarrier, AccessKind::remote_bulk_store},
    {AccessKind::constant_load, AccessKind::constant_store, AccessKind::constant_atomic,
     AccessKind::bulk_load, AccessKind::bulk_store, AccessKind::constant_store,
     AccessKind::constant_store, AccessKind::constant_store, AccessKind::constant_atomic,
     AccessKind::mbarrier, AccessKind::bulk_reduce},
};

// What goes through a texture or a surface, which says no more than that of where it goes.
constexpr AccessKind kKindsOfTextures[] = {AccessKind::texture_load, AccessKind::surface_load,
                                           AccessKind::surface_store};

bool is_of_textures(Direction direction) {
    return direction >= Direction::fetched;
}

const char* verb(Direction direction) {
    return kVerbs[static_cast<size_t>(direction)];
}

AccessKind kind(Space space, Direction direction) {
    if (is_of_textures(direction)) {
        return kKindsOfTextures[static_cast<size_t>(direction) -
                                static_cast<size_t>(Direction::fetched)];
    }
    return kKinds[space][static_cast<size_t>(direction)];
}

AddressRange argument_block(const Launch& launch) {
    const uintptr_t low = as_address(launch.request->invocation);
    return {low, low + launch.request->invocation_bytes};
}

// Where lanes read what the others gave in a collective.
AddressRange exchanged_values(const Worker& worker) {
    const uintptr_t low = as_address(worker.warps);
    return {low, low + kMaxWarps * sizeof(Warp)};
}

// The allocation that holds the whole access; null if none does.
const Allocation* find_allocation(Worker& worker, uintptr_t address, unsigned bytes) {
    const auto holds = [&](const Allocation& allocation) {
        return address >= allocation.low && address + bytes <= allocation.high();
    };
    for (const Allocation& recent : worker.recent) {
        if (holds(recent)) return &recent;
    }
    const Allocation* found = nearest_allocation(*worker.launch->memory, address);
    if (found == nullptr || found->freed || !holds(*found)) return nullptr;
    if (!may_use(worker.launch->device, *found)) return nullptr;
    if (worker.recent.size() == kRecentAllocations) worker.recent.pop_back();
    worker.recent.insert(worker.recent.begin(), *found);
    return found;
}

[[noreturn]] void fail_at(uintptr_t address, unsigned bytes, Direction direction) {
    Failure failure = failure_of_running_lane(cudaErrorIllegalAddress);
    describe_bad_address(failure, address, bytes, verb(direction));
    fail_here(failure);
}

void require_alignment(uintptr_t address, unsigned bytes, Direction direction) {
    // A piece of a bulk copy begins anywhere: what the copy asks for was checked where it began.
    if (is_bulk(direction) || (address & (bytes - 1)) == 0) return;
    fail(cudaErrorMisalignedAddress,
         "misaligned %s of %u bytes: address 0x%" PRIxPTR " is not a multiple of %u",
         verb(direction), bytes, address, bytes);
}

// The __shared__ variable that an access is in, or the one before it. A block has few, among all of
// the program's, and uses them again and again.
const Symbol* shared_variable(const Worker& worker, uintptr_t offset, unsigned bytes) {
    const std::vector<Symbol>& variables = program_image().shared;
    for (const unsigned index : worker.used_shared) {
        const Symbol& used = variables[index];
        if (offset >= used.value && offset + bytes <= used.value + used.size) return &used;
    }
    return nearest_shared_variable(offset);
}

// Finds the __shared__ variable of this block or `owner` that holds the access, or fails.
void judge_shared(Worker& worker, const Worker& owner, uintptr_t address, unsigned bytes,
                  Direction direction) {
    const AddressRange dynamic = dynamic_array(worker, owner);
    if (dynamic.holds(address)) {
        const size_t size = worker.dynamic_shared.high - worker.dynamic_shared.low;
        if (address + bytes > dynamic.low + size) fail_at(address, bytes, direction);
        return;
    }
    const std::vector<Symbol>& variables = program_image().shared;
    if (variables.empty()) return;  // a program without symbols: nothing is known
    const uintptr_t offset = address - owner.thread_locals.low;
    const Symbol* variable = shared_variable(worker, offset, bytes);
    if (variable == nullptr || offset + bytes > variable->value + variable->size) {
        fail_at(address, bytes, direction);
    }
    if (&owner != &worker) return;
    const auto index = static_cast<unsigned>(variable - variables.data());
    if (worker.shared_is_used[index] == 0) {
        worker.shared_is_used[index] = 1;
        worker.used_shared.push_back(index);
    }
    if (!current.at_length && !current.copies_under_way && !worker.proxy.is_watching()) {
        const uintptr_t low = worker.thread_locals.low + variable->value;
        current.static_shared.set({low, low + variable->size});
    }
}

// A __device__ or __constant__ variable, or whatever else the program's image holds, such as a string.
// Past the end of such a variable there may be nothing or another one: what no hook of an index saw.
void judge_program(uintptr_t address, unsigned bytes, Direction direction) {
    const DeviceVariable* variable = device_variable_before(address);
    if (variable != nullptr && variable->holds(address, bytes)) return;
    const Symbol* const other = is_strict() ? variable_at(address) : nullptr;
    // What the translation adds may lie in the gap behind a variable.
    if (other != nullptr && other->name.find("cpu_device") == std::string::npos) {
        if (!is_the_hosts(*other) || registered_range(address).holds(address)) return;
        fail(cudaErrorIllegalAddress,
             "%s of %u bytes of the variable `%s`, which is on the host: write __device__ or "
             "__constant__ before it, or give the kernel its value",
             verb(direction), bytes, demangled(other->name).c_str());
    }
    if (variable == nullptr || !is_just_behind(*variable, address)) return;
    fail(cudaErrorIllegalAddress, "%s of %u bytes, %zu bytes past the end of `%s`, which has %zu",
         verb(direction), bytes, static_cast<size_t>(address + bytes - variable->high()),
         variable->name, variable->bytes);
}

// The next access like this needs no judging where it goes to the same range.
void note_range(Direction direction, AddressRange range) {
    if (current.at_length || is_of_textures(direction)) return;
    if (is_load(direction)) {
        current.loaded.set(range);
    } else if (!current.copies_under_way) {
        current.stored.set(range);
    }
}

bool in_cluster(const Launch& launch) {
    return launch.gang_size > 1 && !launch.cooperative;
}

// What lies in the block's dynamic array and is aligned needs no more than a look at the copies under way.
bool is_quick_beside_copies(const Worker& worker, uintptr_t address, unsigned bytes) {
    return !worker.proxy.is_watching() && current.copies_under_way && !current.at_length &&
           address % bytes == 0 && address >= worker.dynamic_shared.low &&
           address + bytes <= worker.dynamic_shared.high;
}

}  // namespace

std::string text_of(Direction direction, unsigned bytes) {
    struct Words {
        const char *before, *behind;
    };
    constexpr Words kWords[] = {{"load of ", "from"},
                                {"store of ", "to"},
                                {"atomic on ", "of"},
                                {"bulk copy of ", "from"},
                                {"bulk copy of ", "to"},
                                {"asynchronous copy of ", "to"},
                                {"asynchronous copy of ", "to"},
                                {"asynchronous store of ", "to"},
                                {"asynchronous reduction of ", "to"},
                                {"mbarrier.init of ", "at"},
                                {"bulk reduction of ", "in"},
                                {"texture fetch of ", "from"},
                                {"surface read of ", "from"},
                                {"surface write of ", "to"}};
    const Words words = kWords[static_cast<size_t>(direction)];
    return words.before + std::to_string(bytes) + " bytes " + words.behind;
}

void judge_access(uintptr_t address, unsigned bytes, Direction direction, uintptr_t place,
                  bool split, bool is_volatile, bool is_atomic) {
    if (current.lane == nullptr) {  // code of the host, which carries hooks as well
        return judge_host_access(address, bytes, is_load(direction), place);
    }
    if (current.fast) return;
    Worker& worker = *current.worker;
    const Launch& launch = *worker.launch;
    const bool is_signal = is_volatile || is_atomic || direction == Direction::atomic;
    const auto note = [&](AccessKind kind) {
        if (is_signal && in_cluster(launch)) {
            const Undisturbed container_grows;
            worker.exits.note_signal(address);
        }
        if (!current.observed) return;
        Lane& lane = *current.lane;
        const int manner = (split ? kSplit : 0) | (is_volatile ? kVolatile : 0) |
                           (is_atomic ? kAtomic : 0) |
                           (direction == Direction::copied_through_cache ? kThroughCache : 0) |
                           (is_asynchronous(direction) ? kAsynchronous : 0);
        log_access(lane, {address, place, lane.path, static_cast<uint16_t>(bytes), kind,
                          static_cast<uint8_t>(manner)});
    };
    if (current.stack.holds(address, bytes)) return;
    if (current.lane->accumulates && is_on_stack(*current.lane, address))
        return worker.wgmmas.judge(address, bytes, direction);
    if (current.follows) follow_access(address, bytes, !is_load(direction), place);
    const auto judge_copies = [&] {
        if (current.copies_under_way) worker.copies.judge(address, bytes, direction);
    };
    if (!is_signal && is_quick_beside_copies(worker, address, bytes)) return judge_copies();
    if (launch.device_memory.holds(address)) {
        require_alignment(address, bytes, direction);
        const Allocation* allocation = find_allocation(worker, address, bytes);
        if (allocation == nullptr) fail_at(address, bytes, direction);
        note_range(direction, {allocation->low, allocation->high()});
        judge_copies();
        if (bytes == sizeof(uintptr_t) && direction == Direction::load) note_pointer_read(address);
        note(kind(kGlobal, direction));
    } else if (const Worker* owner = owner_of_shared(worker, address)) {
        require_alignment(address, bytes, direction);
        judge_shared(worker, *owner, address, bytes, direction);
        judge_copies();
        if (owner->proxy.is_watching())
            const_cast<Worker&>(*owner).proxy.judge(address, bytes, direction, place);
        if (owner != &worker && in_cluster(launch)) {
            worker.exits.note_access(*current.lane, *worker.gang, owner->cluster_rank, address,
                                     bytes, direction, is_signal, place);
        }
        note(kind(owner == &worker ? kShared : kRemote, direction));
    } else if (launch.program.holds(address)) {
        judge_program(address, bytes, direction);
        if (bytes == sizeof(uintptr_t) && is_load(direction)) {
            judge_table_read(address);
            note_pointer_read(address);
        }
        judge_copies();
        note(kind(kProgram, direction));
    } else if (!argument_block(launch).holds(address) && !exchanged_values(worker).holds(address)) {
        const AddressRange range = registered_range(address);
        if (address + bytes > range.high) fail_at(address, bytes, direction);
        require_alignment(address, bytes, direction);
        note_range(direction, range);
        judge_copies();
        note(kind(kGlobal, direction));
    }
}

const Worker* owner_of_shared(const Worker& worker, uintptr_t address) {
    for (const Worker* member : worker.gang->members) {
        if (member->thread_locals.holds(address)) return member;
    }
    return nullptr;
}

AddressRange dynamic_array(const Worker& worker, const Worker& owner) {
    const uintptr_t low =
        owner.thread_locals.low + (worker.dynamic_shared.low - worker.thread_locals.low);
    return {low, low + kSharedPerBlockOptIn + kDynamicSharedSlack};
}

AddressRange all_stacks(const Worker& worker) {
    const uintptr_t low = as_address(worker.stacks);
    return {low, low + kMaxThreads * kStackStride};
}

void finish_record() {
    Lane& lane = *std::exchange(current.unfinished, nullptr);
    Access& record = lane.log[current.unfinished_record];
    if (record.kind == AccessKind::waypoint) {
        record.address |= current.worker->launch->signals.fetch_add(1);
        return;
    }
    uint64_t value[2] = {};
    std::memcpy(value, reinterpret_cast<const void*>(record.address), record.bytes);
    const uint64_t mixed = (value[0] ^ value[1] * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
    record.address |= std::max<uint64_t>((mixed ^ mixed << 29) >> kAddressBits, 1) << kAddressBits;
}

void note_stored(uintptr_t address) {
    Lane* const lane = current.lane;
    if (lane == nullptr || lane->log.size() == 0) return;
    const Access& last = lane->log[lane->log.size() - 1];
    if (last.address != address || last.kind == AccessKind::waypoint) return;
    current.unfinished = lane;
    current.unfinished_record = lane->log.size() - 1;
}

void log_signal(uintptr_t address, uintptr_t place, unsigned ordering) {
    Lane* const lane = current.lane;
    if (!current.observed || lane == nullptr || is_on_stack(*lane, address)) return;
    Worker& worker = *current.worker;
    if ((ordering & (kReleases | kFences)) != 0) worker.releases = true;
    if (!worker.releases && worker.thread_locals.holds(address)) return;
    if (current.unfinished != nullptr) finish_record();
    const uint64_t now = worker.launch->signals.fetch_add(1);
    log_access(*lane, {now << 32, place, lane->path, 0, AccessKind::waypoint,
                       static_cast<uint8_t>(ordering)});
    if ((ordering & kObserves) == 0) return;
    current.unfinished = lane;
    current.unfinished_record = lane->log.size() - 1;
}

void judge_bulk_access(uintptr_t address, unsigned bytes, Direction direction, uintptr_t place) {
    judge_access(address, bytes, direction, place, false);
}

void log_outside(uintptr_t begin, uintptr_t end, uintptr_t place) {
    if (!current.observed || begin >= end) return;
    Lane& lane = *current.lane;
    log_access(lane, {begin, place, lane.path, static_cast<uint16_t>(end - begin),
                      AccessKind::bulk_load, kAsynchronous | kOutside});
}

void log_instruction(AccessKind kind, uintptr_t place, unsigned bytes) {
    if (!current.observed) return;
    Lane& lane = *current.lane;
    log_access(lane, {0, place, lane.path, static_cast<uint16_t>(bytes), kind, 0});
}

void tell_observer(const AsynchronousEvent& event) {
    if (!current.observed) return;
    const Worker& worker = *current.worker;
    std::optional<Undisturbed> containers_grow;
    if (!current.undisturbed) containers_grow.emplace();
    // What the observer does is none of the lane's, though its containers may be compiled with hooks.
    Lane* const lane = current.lane;
    become_scheduler();
    worker.launch->observer->asynchronous(worker.number, event);
    current.lane = lane;
    if (lane != nullptr) set_quick_stack(*lane);
}

void log_mbarrier(uintptr_t address, uintptr_t place, unsigned ordering) {
    if (!current.observed) return;
    Worker& worker = *current.worker;
    Lane& lane = *current.lane;
    if (current.unfinished != nullptr) finish_record();
    log_access(lane, {address, place, lane.path, sizeof(uint64_t), AccessKind::mbarrier, 0});
    if (ordering == 0) return;
    worker.releases = true;
    const uint64_t now = worker.launch->signals.fetch_add(1);
    const uint64_t when = (ordering & kObserves) != 0 ? now << 32 | now : now << 32;
    log_access(lane,
               {when, place, lane.path, 0, AccessKind::waypoint, static_cast<uint8_t>(ordering)});
}

void log_signal_of_barrier(unsigned number, uintptr_t place, unsigned ordering) {
    if (!current.observed) return;
    Worker& worker = *current.worker;
    worker.releases = true;
    if (current.unfinished != nullptr) finish_record();
    const uint64_t now = worker.launch->signals.fetch_add(1);
    const uint64_t when = (ordering & kObserves) != 0 ? now << 32 | now : now << 32;
    log_access(*current.lane, {when, place, current.lane->path, static_cast<uint16_t>(number + 1),
                               AccessKind::waypoint, static_cast<uint8_t>(ordering | kOfBlock)});
}

// A turn that is due is given before: nothing comes between what is noted and what happens.
void note_atomic(const void* address, int bytes, unsigned ordering) {
    const auto place = as_address(__builtin_return_address(0));
    const uintptr_t at = as_address(address);
    current.accesses_left -= kAtomicCost;
    if (current.accesses_left < 0) take_turns(at, place);
    judge_access(at, static_cast<unsigned>(bytes), Direction::atomic, place, false);
    log_signal(at, place, ordering);
    current.atomic_noted = true;
}

void note_atomic_store(const void* address, int bytes, unsigned ordering) {
    const auto place = as_address(__builtin_return_address(0));
    const uintptr_t at = as_address(address);
    if (--current.accesses_left < 0) take_turns(at, place);
    judge_access(at, static_cast<unsigned>(bytes), Direction::store, place, false, true, true);
    log_signal(at, place, ordering);
}

void fence(unsigned ordering) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!current.fast) log_signal(0, as_address(__builtin_return_address(0)), ordering);
    // Lanes run one after the other: what all of the warp wrote is there before one of them gives a lock back.
    if (current.fast || is_strict()) give_turn();
}

void note_load(const void* address, int bytes) {
    judge_access(as_address(address), static_cast<unsigned>(bytes), Direction::load,
                 as_address(__builtin_return_address(0)), false);
}

void note_store(const void* address, int bytes) {
    judge_access(as_address(address), static_cast<unsigned>(bytes), Direction::store,
                 as_address(__builtin_return_address(0)), false);
}

void copy_element(void* to, const void* from, size_t bytes) {
    std::memcpy(to, from, bytes);
}

bool is_shared(const void* address) {
    return current.worker->thread_locals.holds(as_address(address));
}

bool is_global(const void* address) {
    const auto value = as_address(address);
    const Launch& launch = *current.worker->launch;
    return launch.device_memory.holds(value) || launch.program.holds(value);
}

}  // namespace cpu_device
