// SPDX-License-Identifier: MIT
// The contract of front calls (04_warp_softmax/front_call.cuh states it): how one is described in a few lines, and what
// holds it to all of it.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/runner/device.hpp"
#include "common/runner/dtype.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/launch_contract.hpp"

namespace testing {

// An output and how many elements it has.
template <class T>
struct FrontOutput {
    runner::DeviceBuffer<T> buffer;
    explicit FrontOutput(size_t count) : buffer(count) {}
    T* data() { return buffer.data(); }
};

// Which pointers, inputs first, and which sizes are special.
struct FrontTraits {
    std::vector<size_t> optional = {};  // pointers that may be nullptr
    std::vector<size_t> on_host = {};   // pointers to host memory
    std::vector<size_t> emptying = {};  // sizes that leave nothing to write where they are 0
    bool needs_workspace = false;
};

// One letter a parameter: (i)nput, (o)utput, (s)ize, o(p)tions, (w)orkspace, (b)ytes, (q)ueue, (z): where bytes go,
// (f)lag; ? for what has no place in a front call.
template <class T>
constexpr char kLetter = std::is_same_v<T, cudaStream_t>             ? 'q'
                         : std::is_same_v<T, void*>                  ? 'w'
                         : std::is_same_v<T, size_t*>                ? 'z'
                         : std::is_same_v<T, size_t>                 ? 'b'
                         : std::is_same_v<T, int64_t>                ? 's'
                         : std::is_same_v<T, bool>                   ? 'f'
                         : std::is_lvalue_reference_v<T>             ? 'p'
                         : !std::is_pointer_v<T>                     ? '?'
                         : std::is_const_v<std::remove_pointer_t<T>> ? 'i'
                                                                     : 'o';
template <class Result, class... Parameters>
std::string letters_of(Result (*)(Parameters...)) {
    return {kLetter<Parameters>...};
}

template <class Inputs, class Outputs>
auto front_pointers(const Inputs& inputs, Outputs& outputs) {
    return std::tuple_cat(
        inputs, std::apply([](auto&... each) { return std::make_tuple(each.data()...); }, outputs));
}

// Call: a pointer to the front call; Bytes and Plan: to the two that go with it. Inputs, Outputs: tuples of pointers.
template <class Call, class Bytes, class Plan, class Inputs, class Outputs, size_t kSizes,
          class Options, class Chip>
class FrontContract {
public:
    FrontContract(Call call, Bytes bytes, Plan plan, Inputs inputs, Outputs& outputs,
                  std::array<int64_t, kSizes> sizes, Options options, const Chip& chip,
                  FrontTraits traits)
        : call_(call),
          bytes_(bytes),
          plan_(plan),
          pointers_(front_pointers(inputs, outputs)),
          outputs_(outputs),
          sizes_(sizes),
          options_(options),
          chip_(chip),
          traits_(std::move(traits)) {}

    void holds() {
        static_assert(std::is_aggregate_v<Options> && std::is_default_constructible_v<Options>,
                      "options are a struct for which {} is enough");
        has_its_order();
        knows_its_workspace();
        refuses_what_is_wrong();
        does_nothing_of_nothing();
        is_right_without_workspace();
        can_be_captured();
    }

private:
    static constexpr size_t kOutputs = std::tuple_size_v<Outputs>;
    using Pointers = decltype(front_pointers(std::declval<Inputs>(), std::declval<Outputs&>()));
    static constexpr size_t kPointers = std::tuple_size_v<Pointers>;

    static bool has(const std::vector<size_t>& list, size_t i) {
        return std::find(list.begin(), list.end(), i) != list.end();
    }

    void has_its_order() {
        const std::string sizes(kSizes, 's');
        CHECK(letters_of(call_) ==
              std::string(kPointers - kOutputs, 'i') + std::string(kOutputs, 'o') + sizes + "pwbq");
        CHECK(letters_of(bytes_) == "z" + sizes + "p");
        const std::string plan = letters_of(plan_);
        CHECK((plan == sizes + "ppb" || plan == sizes + "ppbf"));
    }

    cudaError_t ask(size_t* bytes, const std::array<int64_t, kSizes>& sizes) {
        return std::apply(bytes_,
                          std::tuple_cat(std::make_tuple(bytes), sizes, std::tie(options_)));
    }
    auto planned(size_t bytes) {
        const auto call = [&](auto... of) {
            if constexpr (std::is_invocable_v<Plan, decltype(of)..., const Options&, const Chip&,
                                              size_t>)
                return plan_(of..., options_, chip_, bytes);
            else
                return plan_(of..., options_, chip_, bytes, true);
        };
        return std::apply(call, sizes_);
    }

    void knows_its_workspace() {
        CHECK(ask(nullptr, sizes_) == cudaErrorInvalidValue);
        REQUIRE(ask(&needed_, sizes_) == cudaSuccess);
        const auto without = planned(0), with = planned(SIZE_MAX);
        CHECK(std::string(without.reason) != "");
        CHECK(std::string(with.reason) != "");
        CHECK(without.workspace_bytes == 0);
        CHECK(with.more_workspace_bytes == 0);
        CHECK(with.workspace_bytes == without.more_workspace_bytes);
        CHECK(needed_ >= with.workspace_bytes);
        CHECK((needed_ > 0) == (with.workspace_bytes > 0));
        workspace_ = runner::DeviceBuffer<unsigned char>(needed_ + 16);
    }

    cudaError_t run(const Pointers& pointers, const std::array<int64_t, kSizes>& sizes,
                    void* workspace, size_t bytes, cudaStream_t stream) {
        const cudaError_t status =
            std::apply(call_, std::tuple_cat(pointers, sizes, std::tie(options_),
                                             std::make_tuple(workspace, bytes, stream)));
        CHECK(left_behind() == "");
        return status;
    }
    cudaError_t run(void* workspace, size_t bytes, cudaStream_t stream = nullptr) {
        return run(pointers_, sizes_, workspace, bytes, stream);
    }

    void poison() {
        std::apply([](auto&... each) { (each.buffer.poison(), ...); }, outputs_);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    std::vector<double> results() {
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        std::vector<double> all;
        const auto add = [&](auto& output) {
            for (const auto each : output.buffer.download()) {
                if constexpr (std::is_integral_v<std::decay_t<decltype(each)>>)
                    all.push_back(static_cast<double>(each));
                else
                    all.push_back(runner::to_double(each));
            }
        };
        std::apply([&](auto&... each) { (add(each), ...); }, outputs_);
        return all;
    }
    bool is_untouched() {
        bool is = cudaDeviceSynchronize() == cudaSuccess;
        const auto look = [&](auto& output) {
            std::vector<unsigned char> bytes(output.buffer.bytes());
            REQUIRE(cudaMemcpy(bytes.data(), output.data(), bytes.size(), cudaMemcpyDeviceToHost) ==
                    cudaSuccess);
            for (const unsigned char each : bytes) is = is && each == 0xff;
        };
        std::apply([&](auto&... each) { (look(each), ...); }, outputs_);
        return is;
    }

    // With the pointer of that number changed: change(pointer).
    template <size_t... kAll, class Change>
    static void change_one(Pointers& pointers, size_t which, Change change,
                           std::index_sequence<kAll...>) {
        ((kAll == which ? change(std::get<kAll>(pointers)) : void()), ...);
    }
    template <class Change>
    cudaError_t with_pointer(size_t which, Change change) {
        Pointers pointers = pointers_;
        change_one(pointers, which, change, std::make_index_sequence<kPointers>{});
        return run(pointers, sizes_, workspace_.data(), needed_, nullptr);
    }
    static void make_null(Pointers& pointers) {
        std::apply([](auto&... each) { ((each = nullptr), ...); }, pointers);
    }

    void refuses_what_is_wrong() {
        poison();
        for (size_t i = 0; i < kPointers; ++i) {
            INFO("pointer " << i);
            const auto to_null = [](auto& pointer) { pointer = nullptr; };
            const auto astray = [](auto& pointer) {
                using Pointer = std::decay_t<decltype(pointer)>;
                pointer = reinterpret_cast<Pointer>(reinterpret_cast<uintptr_t>(pointer) + 1);
            };
            if (!has(traits_.optional, i)) CHECK(with_pointer(i, to_null) == cudaErrorInvalidValue);
            if (!has(traits_.on_host, i)) CHECK(with_pointer(i, astray) == cudaErrorInvalidValue);
        }
        for (size_t i = 0; i < kSizes; ++i) {
            INFO("size " << i);
            auto sizes = sizes_;
            sizes[i] = -1;
            size_t bytes = 7;
            CHECK(ask(&bytes, sizes) == cudaErrorInvalidValue);
            CHECK(bytes == 0);
            CHECK(run(pointers_, sizes, workspace_.data(), needed_, nullptr) ==
                  cudaErrorInvalidValue);
        }
        if (traits_.needs_workspace) {
            unsigned char* const memory = workspace_.data();
            CHECK(run(nullptr, needed_) == cudaErrorInvalidValue);
            CHECK(run(memory, needed_ - 1) == cudaErrorInvalidValue);
            CHECK(run(memory + 8, needed_) == cudaErrorInvalidValue);
        }
        CHECK(is_untouched());
    }

    void does_nothing_of_nothing() {
        Pointers none = pointers_;
        make_null(none);
        for (const size_t i : traits_.emptying) {
            INFO("size " << i);
            auto sizes = sizes_;
            sizes[i] = 0;
            size_t bytes = 7;
            CHECK(ask(&bytes, sizes) == cudaSuccess);
            CHECK(run(none, sizes, nullptr, 0, nullptr) == cudaSuccess);
            CHECK(run(pointers_, sizes, workspace_.data(), needed_, nullptr) == cudaSuccess);
        }
        CHECK(is_untouched());
    }

    // Another way may round otherwise.
    static bool are_alike(const std::vector<double>& a, const std::vector<double>& b) {
        constexpr double kAlike = 4e-3;
        for (size_t i = 0; i < a.size(); ++i) {
            if (!(std::abs(a[i] - b[i]) <= kAlike * (std::abs(a[i]) + std::abs(b[i])) + 1e-6))
                return false;
        }
        return a.size() == b.size();
    }

    void is_right_without_workspace() {
        unsigned char* const memory = workspace_.data();
        const size_t bytes = workspace_.size();
        REQUIRE(cudaMemset(memory, 0x5a, bytes) == cudaSuccess);
        poison();
        REQUIRE(run(memory, needed_) == cudaSuccess);
        wanted_ = results();
        for (const double each : wanted_) REQUIRE(std::isfinite(each));
        const std::vector<unsigned char> after = workspace_.download();
        for (size_t i = needed_; i < bytes; ++i)
            CHECK(after[i] == 0x5a);  // no more than it asked for
        if (traits_.needs_workspace) return;
        const std::tuple<void*, size_t> poor[] = {
            {nullptr, needed_}, {memory, needed_ == 0 ? 0 : needed_ - 1}, {memory + 8, needed_}};
        for (const auto& [workspace, room] : poor) {
            if (needed_ == 0 && workspace != nullptr) continue;  // the same once more
            poison();
            REQUIRE(cudaMemset(memory, 0x5a, bytes) == cudaSuccess);
            CHECK(run(workspace, room) == cudaSuccess);
            CHECK(are_alike(results(), wanted_));
            if (workspace != memory + 8) continue;
            const std::vector<unsigned char> kept = workspace_.download();  // misaligned: not used
            CHECK(std::all_of(kept.begin(), kept.end(), [](unsigned char b) { return b == 0x5a; }));
        }
    }

    // On a stream of its own; on a GPU beside a default stream that is busy.
    void can_be_captured() {
        const NonBlockingStream stream;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t replay = nullptr;
        poison();
        REQUIRE(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal) ==
                cudaSuccess);
        CHECK(run(workspace_.data(), needed_, stream.handle) == cudaSuccess);
        REQUIRE(cudaStreamEndCapture(stream.handle, &graph) == cudaSuccess);
        CHECK(is_untouched());
        REQUIRE(cudaGraphInstantiate(&replay, graph, 0) == cudaSuccess);
        if (runner::on_gpu()) runner::spin_for(50'000'000, nullptr);
        REQUIRE(cudaGraphLaunch(replay, stream.handle) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(stream.handle) == cudaSuccess);
        if (runner::on_gpu()) {
            CHECK(cudaStreamQuery(nullptr) == cudaErrorNotReady);
            cudaGetLastError();
        }
        CHECK(are_alike(results(), wanted_));
        cudaGraphExecDestroy(replay);
        cudaGraphDestroy(graph);
    }

    Call call_;
    Bytes bytes_;
    Plan plan_;
    Pointers pointers_;
    Outputs& outputs_;
    std::array<int64_t, kSizes> sizes_;
    Options options_;
    Chip chip_;
    FrontTraits traits_;
    size_t needed_ = 0;
    runner::DeviceBuffer<unsigned char> workspace_;
    std::vector<double> wanted_;
};

// Values that look like logits: -2 to 2, none like its neighbours.
template <class T>
runner::DeviceBuffer<T> front_input(size_t count) {
    std::vector<T> values;
    for (size_t i = 0; i < count; ++i)
        values.push_back(static_cast<T>(static_cast<float>(i * 7919 % 4001) / 1000.f - 2.f));
    return runner::DeviceBuffer<T>(values);
}

}  // namespace testing
