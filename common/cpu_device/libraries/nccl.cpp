// SPDX-License-Identifier: MIT
//
// NCCL's calls. A collective is carried out when the last rank has called it: by that rank's thread, with the memory of
// all ranks. Until then the others' threads wait in their call, since work on the CPU device is done when a call returns.
// A rank that never calls ends the wait of the others with a message.
#include "nccl.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/cpu_device/api.hpp"
#include "common/cpu_device/capture.hpp"
#include "common/cpu_device/devices.hpp"
#include "common/cpu_device/launch.hpp"
#include "common/cpu_device/libraries/elements.hpp"
#include "common/cpu_device/library_work.hpp"
#include "common/cpu_device/memory.hpp"
#include "common/cpu_device/strict.hpp"

namespace cpu_device::nccl {
namespace {

enum class Kind { all_reduce, reduce, broadcast, reduce_scatter, all_gather, send, receive };

// What one rank has called, until it is carried out.
struct Operation {
    const char* call;  // "ncclAllReduce"
    Kind kind;
    const void* send;
    void* receive;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t reduction;
    int other;  // root, or the rank that it is sent to or received from
    cudaStream_t stream;
    ncclComm_t comm;
    bool is_done = false;
    ncclResult_t result = ncclSuccess;
    std::string error{};  // what was wrong, for its own thread
};
using Operations = std::deque<std::shared_ptr<Operation>>;

// The ranks of a communicator.
struct Clique {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<ncclComm_t> ranks;        // nullptr: has not joined, or is gone
    std::vector<bool> is_gone;            // destroyed or aborted
    std::vector<Operations> collectives;  // of each rank, in its order
    std::map<std::pair<int, int>, Operations> sends, receives;  // from, to
    int joined = 0;

    explicit Clique(int count)
        : ranks(static_cast<size_t>(count)),
          is_gone(static_cast<size_t>(count)),
          collectives(static_cast<size_t>(count)) {}
    int count() const { return static_cast<int>(ranks.size()); }
};

}  // namespace
}  // namespace cpu_device::nccl

struct ncclComm {
    std::shared_ptr<cpu_device::nccl::Clique> clique;
    int rank;
    int device;
};

namespace cpu_device::nccl {
namespace {

struct Known {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<Clique>> by_id;
    std::set<ncclComm_t> comms;
    unsigned long long ids = 0;
};
Known& known() {
    static Known* const all = new Known;  // alive until the very end of the process
    return *all;
}

thread_local std::string last_error;

// Says what was wrong, and returns the result.
[[gnu::format(printf, 2, 3)]] ncclResult_t refused(ncclResult_t result, const char* format, ...) {
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    last_error = what;
    explained(cudaErrorInvalidValue, "%s", what);
    return result;
}

bool is_comm(ncclComm_t comm) {
    const std::lock_guard<std::mutex> lock(known().mutex);
    return known().comms.count(comm) != 0;
}
ncclResult_t no_comm(const char* call) {
    return refused(ncclInvalidArgument, "%s: the communicator is none that lives", call);
}

// How long a rank waits for the others.
std::chrono::duration<double> patience() {
    const double seconds = number_from_environment("CPU_DEVICE_WATCHDOG_SECONDS", 0);
    return std::chrono::duration<double>(seconds > 0 ? seconds : 10.);
}

std::string listed(const std::vector<int>& ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (size_t i = 0; i < ranks.size(); ++i) {
        if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
        text += std::to_string(ranks[i]);
    }
    return text;
}

// ---------------------------------------------------------------- elements

// Calls use(Element{}); false if the CPU device does not compute with the type.
template <class Use>
bool with_type(ncclDataType_t type, const Use& use) {
    switch (type) {
        case ncclInt8:
            return use(int8_t{}), true;
        case ncclUint8:
            return use(uint8_t{}), true;
        case ncclInt32:
            return use(int32_t{}), true;
        case ncclUint32:
            return use(uint32_t{}), true;
        case ncclInt64:
            return use(int64_t{}), true;
        case ncclUint64:
            return use(uint64_t{}), true;
        case ncclFloat16:
            return use(__half{}), true;
        case ncclFloat32:
            return use(float{}), true;
        case ncclFloat64:
            return use(double{}), true;
        case ncclBfloat16:
            return use(__nv_bfloat16{}), true;
        default:
            return false;
    }
}
size_t bytes_of(ncclDataType_t type) {
    size_t bytes = 1;  // also of FP8, which may be moved
    with_type(type, [&](auto zero) { bytes = sizeof(zero); });
    return bytes;
}

// What an element is computed in. Sums of small floats are rounded after each rank, as they are between GPUs.
template <class Element>
using ComputedIn = std::conditional_t<blas::is_small_float<Element>, float, Element>;

template <class Element>
Element combined(ncclRedOp_t reduction, Element a, Element b) {
    using Compute = ComputedIn<Element>;
    const auto x = blas::number_of<Compute>(a), y = blas::number_of<Compute>(b);
    Compute result = x;
    if (reduction == ncclSum || reduction == ncclAvg) result = static_cast<Compute>(x + y);
    if (reduction == ncclProd) result = static_cast<Compute>(x * y);
    if (reduction == ncclMax) result = std::max(x, y);
    if (reduction == ncclMin) result = std::min(x, y);
    return blas::element_of<Element>(result);
}

// Returns the bytes of `count` elements: the reductions of in[rank][i] over all ranks, in their order.
std::vector<char> reduced(ncclDataType_t type, ncclRedOp_t reduction,
                          const std::vector<const void*>& in, size_t count) {
    std::vector<char> bytes(count * bytes_of(type));
    with_type(type, [&](auto zero) {
        using Element = decltype(zero);
        using Compute = ComputedIn<Element>;
        for (size_t i = 0; i < count; ++i) {
            Element sum = static_cast<const Element*>(in[0])[i];
            for (size_t rank = 1; rank < in.size(); ++rank)
                sum = combined(reduction, sum, static_cast<const Element*>(in[rank])[i]);
            if (reduction == ncclAvg)
                sum = blas::element_of<Element>(static_cast<Compute>(
                    blas::number_of<Compute>(sum) / static_cast<Compute>(in.size())));
            std::memcpy(bytes.data() + i * sizeof(Element), &sum, sizeof(Element));
        }
    });
    return bytes;
}

// ---------------------------------------------------------------- a collective, once all ranks have called it

bool reduces(const Operation& of) {
    return of.kind == Kind::all_reduce || of.kind == Kind::reduce ||
           of.kind == Kind::reduce_scatter;
}
size_t sent(const Operation& of, int ranks) {
    return of.kind == Kind::reduce_scatter ? of.count * static_cast<size_t>(ranks) : of.count;
}
size_t received(const Operation& of, int ranks) {
    return of.kind == Kind::all_gather ? of.count * static_cast<size_t>(ranks) : of.count;
}
bool sends(const Operation& of) {
    if (of.kind == Kind::broadcast) return of.comm->rank == of.other;
    return of.kind != Kind::receive;
}
bool receives(const Operation& of) {
    if (of.kind == Kind::reduce) return of.comm->rank == of.other;
    return of.kind != Kind::send;
}

// What differs between two ranks' calls; nullptr: nothing.
const char* disagreement(const Operation& a, const Operation& b) {
    if (a.kind != b.kind) return "another collective";
    if (a.count != b.count) return "another count";
    if (a.type != b.type) return "another type";
    if (reduces(a) && a.reduction != b.reduction) return "another operation";
    const bool has_root = a.kind == Kind::reduce || a.kind == Kind::broadcast;
    if (has_root && a.other != b.other) return "another root";
    return nullptr;
}

// Success if the memory is the rank's own, the host's that devices use, or another device's that it may access.
ncclResult_t check_place(const Operation& of, const char* name, const void* pointer) {
    const auto table = allocation_table();
    const Allocation* const found = nearest_allocation(*table, as_address(pointer));
    if (found == nullptr || as_address(pointer) >= found->high() ||
        may_use(of.comm->device, *found))
        return ncclSuccess;  // use_operands() knows what else is wrong
    return refused(ncclUnhandledCudaError,
                   "%s: %s of rank %d lies on device %d, and the rank is device %d", of.call, name,
                   of.comm->rank, found->device, of.comm->device);
}

// Moves and reduces the operands of all ranks' operations. An output may replace an input, so results are whole before
// any is written.
void carry_out(const std::vector<Operation*>& all) {
    const Operation& first = *all[0];
    const size_t bytes = first.count * bytes_of(first.type);
    std::vector<const void*> in;
    for (const Operation* each : all) in.push_back(each->send);
    const auto root = static_cast<size_t>(std::max(0, first.other));
    switch (first.kind) {
        case Kind::all_reduce: {
            const std::vector<char> result = reduced(first.type, first.reduction, in, first.count);
            for (Operation* each : all) std::memcpy(each->receive, result.data(), bytes);
            break;
        }
        case Kind::reduce:
            std::memcpy(all[root]->receive,
                        reduced(first.type, first.reduction, in, first.count).data(), bytes);
            break;
        case Kind::broadcast:
            for (Operation* each : all) std::memmove(each->receive, in[root], bytes);
            break;
        case Kind::reduce_scatter: {
            const std::vector<char> result =
                reduced(first.type, first.reduction, in, first.count * all.size());
            for (size_t rank = 0; rank < all.size(); ++rank)
                std::memcpy(all[rank]->receive, result.data() + rank * bytes, bytes);
            break;
        }
        case Kind::all_gather: {
            std::vector<char> result(bytes * all.size());
            for (size_t rank = 0; rank < all.size(); ++rank)
                std::memcpy(result.data() + rank * bytes, in[rank], bytes);
            for (Operation* each : all) std::memcpy(each->receive, result.data(), result.size());
            break;
        }
        case Kind::send:  // and a receive
            std::memmove(all[1]->receive, first.send, bytes);
            break;
        case Kind::receive:
            break;
    }
}

// All ranks' operations, in their order, or a send and its receive.
ncclResult_t perform(const std::vector<Operation*>& all) {
    const int ranks = all[0]->comm->clique->count();
    std::vector<LibraryOperand> operands;
    for (const Operation* each : all) {
        const Operation& of = *each;
        const size_t size = bytes_of(of.type);
        if (of.count == 0) continue;
        if (sends(of)) {
            if (const ncclResult_t error = check_place(of, "sendbuff", of.send)) return error;
            operands.push_back({"sendbuff", of.send, sent(of, ranks) * size});
        }
        if (receives(of)) {
            if (const ncclResult_t error = check_place(of, "recvbuff", of.receive)) return error;
            operands.push_back(
                {"recvbuff", of.receive, received(of, ranks) * size, 1, 0, false, true});
        }
    }
    const cudaError_t error = use_operands(all[0]->call, operands, [&] {
        if (all[0]->count > 0) carry_out(all);
    });
    if (error == cudaSuccess) return ncclSuccess;
    last_error = std::string(all[0]->call) + ": " + cudaGetErrorString(error);
    return ncclUnhandledCudaError;
}

void finish(const std::vector<Operation*>& all, ncclResult_t result) {
    for (Operation* each : all) {
        each->result = result;
        if (result != ncclSuccess) each->error = last_error;
        each->is_done = true;
    }
}

// Carries out what all ranks of the clique have called by now. The clique is locked.
void match(Clique& clique) {
    const auto is_waiting = [](const Operations& of) { return !of.empty(); };
    while (std::all_of(clique.collectives.begin(), clique.collectives.end(), is_waiting)) {
        std::vector<std::shared_ptr<Operation>> kept;
        std::vector<Operation*> all;
        for (Operations& of : clique.collectives) {
            kept.push_back(of.front());
            all.push_back(of.front().get());
            of.pop_front();
        }
        ncclResult_t result = ncclSuccess;
        for (const Operation* each : all) {
            const char* const differs = disagreement(*all[0], *each);
            if (differs == nullptr || result != ncclSuccess) continue;
            result = refused(
                ncclInvalidUsage,
                "%s of %zu elements, called by rank %d, and %s of %zu, by rank 0, do not "
                "go together: they have %s",
                each->call, each->count, each->comm->rank, all[0]->call, all[0]->count, differs);
        }
        finish(all, result == ncclSuccess ? perform(all) : result);
    }
    for (auto& [pair, sent_there] : clique.sends) {
        Operations& awaited = clique.receives[pair];
        while (!sent_there.empty() && !awaited.empty()) {
            const std::shared_ptr<Operation> send = sent_there.front(), receive = awaited.front();
            sent_there.pop_front();
            awaited.pop_front();
            ncclResult_t result = ncclSuccess;
            if (send->count != receive->count || send->type != receive->type)
                result =
                    refused(ncclInvalidUsage,
                            "ncclSend of %zu elements from rank %d and ncclRecv of %zu by rank %d "
                            "do not go together",
                            send->count, pair.first, receive->count, pair.second);
            finish({send.get(), receive.get()},
                   result == ncclSuccess ? perform({send.get(), receive.get()}) : result);
        }
    }
}

void post(const std::shared_ptr<Operation>& operation) {
    Clique& clique = *operation->comm->clique;
    const std::lock_guard<std::mutex> lock(clique.mutex);
    const int own = operation->comm->rank;
    if (operation->kind == Kind::send)
        clique.sends[{own, operation->other}].push_back(operation);
    else if (operation->kind == Kind::receive)
        clique.receives[{operation->other, own}].push_back(operation);
    else
        clique.collectives[static_cast<size_t>(own)].push_back(operation);
    match(clique);
    clique.changed.notify_all();
}

void take_back(Clique& clique, const std::shared_ptr<Operation>& operation) {
    const auto drop = [&](Operations& from) {
        from.erase(std::remove(from.begin(), from.end(), operation), from.end());
    };
    for (Operations& each : clique.collectives) drop(each);
    for (auto& each : clique.sends) drop(each.second);
    for (auto& each : clique.receives) drop(each.second);
}

// The ranks for which an operation waits. The clique is locked.
std::vector<int> missing(const Clique& clique, const Operation& of) {
    if (of.kind == Kind::send || of.kind == Kind::receive) return {of.other};
    std::vector<int> ranks;
    for (int rank = 0; rank < clique.count(); ++rank)
        if (clique.collectives[static_cast<size_t>(rank)].empty()) ranks.push_back(rank);
    return ranks;
}

ncclResult_t wait_for(const std::shared_ptr<Operation>& operation) {
    Clique& clique = *operation->comm->clique;
    std::unique_lock<std::mutex> lock(clique.mutex);
    const auto is_hopeless = [&] {
        const std::vector<int> ranks = missing(clique, *operation);
        return std::any_of(ranks.begin(), ranks.end(),
                           [&](int rank) { return clique.is_gone[static_cast<size_t>(rank)]; });
    };
    clique.changed.wait_for(lock, patience(), [&] { return operation->is_done || is_hopeless(); });
    if (operation->is_done) {
        if (operation->result != ncclSuccess) last_error = operation->error;
        return operation->result;
    }
    const std::vector<int> ranks = missing(clique, *operation);
    const bool is_gone = is_hopeless();
    take_back(clique, operation);
    lock.unlock();
    return refused(is_gone ? ncclRemoteError : ncclInternalError,
                   "%s of rank %d waits for %s of %d, %s", operation->call, operation->comm->rank,
                   listed(ranks).c_str(), clique.count(),
                   is_gone ? "whose communicator is destroyed"
                           : "which does not call it (one thread calls for several ranks between "
                             "ncclGroupStart() and "
                             "ncclGroupEnd(); CPU_DEVICE_WATCHDOG_SECONDS sets the patience)");
}

// ---------------------------------------------------------------- groups

// What a thread's calls between ncclGroupStart and ncclGroupEnd leave to the latter.
struct Group {
    int depth = 0;
    ncclResult_t result = ncclSuccess;
    std::vector<std::shared_ptr<Operation>> operations;
    std::vector<ncclComm_t> joining;
};
thread_local Group group;

ncclResult_t noted(ncclResult_t result) {
    if (result != ncclSuccess && group.depth > 0 && group.result == ncclSuccess)
        group.result = result;
    return result;
}

ncclResult_t wait_for_all_to_join(ncclComm_t comm) {
    Clique& clique = *comm->clique;
    std::unique_lock<std::mutex> lock(clique.mutex);
    const bool are_there =
        clique.changed.wait_for(lock, patience(), [&] { return clique.joined == clique.count(); });
    if (are_there) return ncclSuccess;
    std::vector<int> ranks;
    for (int rank = 0; rank < clique.count(); ++rank)
        if (clique.ranks[static_cast<size_t>(rank)] == nullptr) ranks.push_back(rank);
    lock.unlock();
    return refused(
        ncclInternalError,
        "ncclCommInitRank of rank %d waits for %s of %d, which does not call it (one thread "
        "calls for several ranks between ncclGroupStart() and ncclGroupEnd())",
        comm->rank, listed(ranks).c_str(), clique.count());
}

ncclResult_t submit(const Operation& operation) {
    refuse_to_kernels();
    const char* const call = operation.call;
    if (!is_comm(operation.comm)) return noted(no_comm(call));
    if (pending_failure() != cudaSuccess) return noted(ncclUnhandledCudaError);
    const int ranks = operation.comm->clique->count();
    bool has_sum = false;
    with_type(operation.type, [&](auto) { has_sum = true; });
    if (operation.type < 0 || operation.type >= ncclNumTypes || (reduces(operation) && !has_sum))
        return noted(refused(ncclInvalidArgument,
                             "%s: the CPU device does not compute with type %d", call,
                             static_cast<int>(operation.type)));
    if (reduces(operation) && (operation.reduction < ncclSum || operation.reduction > ncclAvg))
        return noted(refused(ncclInvalidArgument, "%s: there is no operation %d", call,
                             static_cast<int>(operation.reduction)));
    const bool has_other = operation.kind != Kind::all_reduce &&
                           operation.kind != Kind::reduce_scatter &&
                           operation.kind != Kind::all_gather;
    if (has_other && (operation.other < 0 || operation.other >= ranks))
        return noted(refused(ncclInvalidArgument, "%s: rank %d is none of the communicator's %d",
                             call, operation.other, ranks));
    if (operation.count > 0 && ((sends(operation) && operation.send == nullptr) ||
                                (receives(operation) && operation.receive == nullptr)))
        return noted(
            refused(ncclInvalidArgument, "%s: %s is a null pointer", call,
                    operation.send == nullptr && sends(operation) ? "sendbuff" : "recvbuff"));
    if (!is_stream(operation.stream))
        return noted(refused(ncclInvalidArgument, "%s: the stream is none that lives", call));
    const bool is_created = operation.stream != nullptr && operation.stream != cudaStreamLegacy &&
                            operation.stream != cudaStreamPerThread;
    if (is_created && device_of(operation.stream) != operation.comm->device)
        return noted(refused(
            ncclInvalidArgument, "%s: the stream is of device %d, and rank %d is device %d", call,
            device_of(operation.stream), operation.comm->rank, operation.comm->device));
    const Admission admission = admit(operation.stream);
    if (admission.refusal != cudaSuccess) return noted(ncclUnhandledCudaError);
    if (admission.capture != 0) {
        refuse_to_record(admission.capture, call);
        return noted(ncclUnhandledCudaError);
    }
    const auto kept = std::make_shared<Operation>(operation);
    if (group.depth > 0) {
        group.operations.push_back(kept);
        return ncclSuccess;
    }
    post(kept);
    return wait_for(kept);
}

// Makes a rank of the clique; nullptr if it is there already.
ncclComm_t join(const std::shared_ptr<Clique>& clique, int rank, int device) {
    auto comm = std::make_unique<ncclComm>(ncclComm{clique, rank, device});
    {
        const std::lock_guard<std::mutex> lock(clique->mutex);
        ncclComm_t& place = clique->ranks[static_cast<size_t>(rank)];
        if (place != nullptr) return nullptr;
        place = comm.get();
        ++clique->joined;
        clique->changed.notify_all();
    }
    const std::lock_guard<std::mutex> lock(known().mutex);
    known().comms.insert(comm.get());
    return comm.release();
}

ncclResult_t leave(const char* call, ncclComm_t comm) {
    if (!is_comm(comm)) return no_comm(call);
    {
        const std::lock_guard<std::mutex> lock(known().mutex);
        known().comms.erase(comm);
    }
    {
        Clique& clique = *comm->clique;
        const std::lock_guard<std::mutex> lock(clique.mutex);
        clique.ranks[static_cast<size_t>(comm->rank)] = nullptr;
        clique.is_gone[static_cast<size_t>(comm->rank)] = true;
        clique.changed.notify_all();
    }
    delete comm;
    return ncclSuccess;
}

template <class Value>
ncclResult_t ask(const char* call, Value* to, Value value) {
    if (to == nullptr)
        return refused(ncclInvalidArgument, "%s: the place for the answer is a null pointer", call);
    *to = value;
    return ncclSuccess;
}

}  // namespace
}  // namespace cpu_device::nccl

using namespace cpu_device;
using namespace cpu_device::nccl;

ncclResult_t ncclGetVersion(int* version) {
    return ask("ncclGetVersion", version, NCCL_VERSION_CODE);
}

const char* ncclGetErrorString(ncclResult_t result) {
    switch (result) {
        case ncclSuccess:
            return "no error";
        case ncclUnhandledCudaError:
            return "unhandled cuda error (ncclGetLastError says more)";
        case ncclSystemError:
            return "unhandled system error";
        case ncclInternalError:
            return "internal error (ncclGetLastError says more)";
        case ncclInvalidArgument:
            return "invalid argument (ncclGetLastError says more)";
        case ncclInvalidUsage:
            return "invalid usage (ncclGetLastError says more)";
        case ncclRemoteError:
            return "remote process exited or there was a network error";
        case ncclInProgress:
            return "NCCL operation in progress";
        default:
            return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm_t) {
    return last_error.c_str();
}

ncclResult_t ncclMemAlloc(void** pointer, size_t bytes) {
    return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void* pointer) {
    return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    if (id == nullptr)
        return refused(ncclInvalidArgument,
                       "ncclGetUniqueId: the place for the id is a null pointer");
    const std::lock_guard<std::mutex> lock(known().mutex);
    *id = {};
    std::snprintf(id->internal, sizeof id->internal, "cpu device %llu", ++known().ids);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int count, ncclUniqueId id, int rank) {
    const char* const call = "ncclCommInitRank";
    if (comm == nullptr || count < 1 || rank < 0 || rank >= count)
        return noted(refused(ncclInvalidArgument, "%s: rank %d of %d%s", call, rank, count,
                             comm == nullptr ? ", and no place for the communicator" : ""));
    const std::string name(id.internal, strnlen(id.internal, sizeof id.internal));
    if (name.rfind("cpu device ", 0) != 0)
        return noted(refused(ncclInvalidArgument, "%s: the id is none of ncclGetUniqueId", call));
    std::shared_ptr<Clique> clique;
    {
        const std::lock_guard<std::mutex> lock(known().mutex);
        clique = known().by_id[name].lock();
        if (clique == nullptr) known().by_id[name] = clique = std::make_shared<Clique>(count);
    }
    if (clique->count() != count)
        return noted(refused(ncclInvalidArgument,
                             "%s: rank %d says that there are %d ranks, another says %d", call,
                             rank, count, clique->count()));
    {
        const std::lock_guard<std::mutex> lock(clique->mutex);
        for (const ncclComm_t other : clique->ranks)
            if (other != nullptr && other->device == current_device() && other->rank != rank)
                return noted(
                    refused(ncclInvalidUsage,
                            "%s: ranks %d and %d are both on device %d: cudaSetDevice chooses "
                            "another (CPU_DEVICE_COUNT says how many there are)",
                            call, other->rank, rank, current_device()));
    }
    *comm = join(clique, rank, current_device());
    if (*comm == nullptr)
        return noted(refused(ncclInvalidArgument, "%s: rank %d has joined already", call, rank));
    if (group.depth > 0) {
        group.joining.push_back(*comm);
        return ncclSuccess;
    }
    return wait_for_all_to_join(*comm);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
    const char* const call = "ncclCommInitAll";
    if (comms == nullptr || count < 1)
        return noted(refused(ncclInvalidArgument, "%s: %d communicators%s", call, count,
                             comms == nullptr ? ", and no place for them" : ""));
    std::set<int> chosen;
    for (int rank = 0; rank < count; ++rank) {
        const int device = devices == nullptr ? rank : devices[rank];
        if (!is_device(device))
            return noted(refused(ncclInvalidArgument,
                                 "%s: there is no device %d: there are %d (CPU_DEVICE_COUNT in the "
                                 "environment says how many, up to 16)",
                                 call, device, device_count()));
        if (!chosen.insert(device).second)
            return noted(refused(ncclInvalidUsage, "%s: device %d is named twice", call, device));
    }
    const auto clique = std::make_shared<Clique>(count);
    for (int rank = 0; rank < count; ++rank)
        comms[rank] = join(clique, rank, devices == nullptr ? rank : devices[rank]);
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    return is_comm(comm) ? ncclSuccess : no_comm("ncclCommFinalize");
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    return leave("ncclCommDestroy", comm);
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
    return leave("ncclCommAbort", comm);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
    if (!is_comm(comm)) return no_comm("ncclCommGetAsyncError");
    return ask("ncclCommGetAsyncError", error,
               ncclSuccess);  // a call returns when it is over
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    if (!is_comm(comm)) return no_comm("ncclCommCount");
    return ask("ncclCommCount", count, comm->clique->count());
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
    if (!is_comm(comm)) return no_comm("ncclCommCuDevice");
    return ask("ncclCommCuDevice", device, comm->device);
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    if (!is_comm(comm)) return no_comm("ncclCommUserRank");
    return ask("ncclCommUserRank", rank, comm->rank);
}

ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    if (group.depth == 0)
        return refused(ncclInvalidUsage, "ncclGroupEnd: there was no ncclGroupStart");
    if (--group.depth > 0) return ncclSuccess;
    const Group ended = std::exchange(group, {});
    ncclResult_t result = ended.result;  // a call was refused: the others would wait for it
    if (result != ncclSuccess) return result;
    const auto keep = [&](ncclResult_t next) {
        if (result == ncclSuccess) result = next;
    };
    for (const ncclComm_t comm : ended.joining) keep(wait_for_all_to_join(comm));
    for (const auto& operation : ended.operations) post(operation);
    for (const auto& operation : ended.operations) keep(wait_for(operation));
    return result;
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
    return submit({"ncclAllReduce", Kind::all_reduce, send, receive, count, type, operation, -1,
                   stream, comm});
}
ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream) {
    return submit(
        {"ncclReduce", Kind::reduce, send, receive, count, type, operation, root, stream, comm});
}
ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
    return submit({"ncclBroadcast", Kind::broadcast, send, receive, count, type, ncclSum, root,
                   stream, comm});
}
ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
    return submit(
        {"ncclBcast", Kind::broadcast, buffer, buffer, count, type, ncclSum, root, stream, comm});
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
    return submit({"ncclReduceScatter", Kind::reduce_scatter, send, receive, count, type, operation,
                   -1, stream, comm});
}
ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
    return submit(
        {"ncclAllGather", Kind::all_gather, send, receive, count, type, ncclSum, -1, stream, comm});
}
ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    return submit(
        {"ncclSend", Kind::send, send, nullptr, count, type, ncclSum, peer, stream, comm});
}
ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return submit(
        {"ncclRecv", Kind::receive, nullptr, receive, count, type, ncclSum, peer, stream, comm});
}
