// SPDX-License-Identifier: MIT
//
// Launches on the CPU device. The translation writes
//
//     K<<<grid, block, shared, stream>>>(a, b);
//
// as
//
//     ::cpu_device::named_kernel("K", [=](auto... kernel_values) { K(kernel_values...); },
//                                [=](auto ask_kernel) -> decltype(ask_kernel(K)) {
//                                    return ask_kernel(K);
//                                })
//         .configured(grid, block, shared, stream)(a, b);
//
// so that nothing moves and the arguments stay as they were written. (None of the words is one that
// a macro around the launch may have for a parameter, as it may have `kernel`.) The first lambda
// calls K, so template arguments are deduced and overloads chosen as in the original. The second
// gives K's address where K alone names one function (which is when cudaFuncSetAttribute can name
// it, too) and is not called otherwise. [=] is for kernels held in variables of the function (one
// held elsewhere is read whenever a graph runs the launch). Where K is an expression (`table[i]`)
// it becomes ::cpu_device::named_kernel("table[i]", table[i]), evaluated once, on the host.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu_device/core.h"
#include "cpu_device/types.h"

namespace cpu_device {

struct LaunchConfiguration {
    dim3 grid;
    dim3 block;
    size_t shared_bytes = 0;
    cudaStream_t stream = nullptr;
    dim3 cluster = dim3(1, 1, 1);
    bool cooperative = false;
};

inline LaunchConfiguration configuration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                         cudaStream_t stream = nullptr) {
    return {grid, block, shared_bytes, stream, dim3(1, 1, 1), false};
}

// A launch with the kernel's type erased: run(invocation) is one thread's call of the kernel.
struct LaunchRequest {
    LaunchConfiguration configuration;
    const char* kernel_name;     // null: the name is looked up by address
    const void* kernel_address;  // null: not known
    void (*run)(void* invocation);
    void* invocation;
    size_t invocation_bytes;
    void* (*copy)(const void* invocation);  // for a graph, which outlives the call
    void (*discard)(void* copied);
};

// Checks the limits, then runs the kernel to its end, or keeps it where its stream captures;
// remembers and prints what went wrong.
cudaError_t launch_request(const LaunchRequest& request);

// Says that a kernel gets an object of a class with virtual functions by value, which CUDA does not allow.
void tell_of_virtual_argument(const char* kernel_name);

// Call with a function's name: its address.
struct AskAddress {
    template <class... Parameters>
    const void* operator()(void (*kernel)(Parameters...)) const {
        return reinterpret_cast<const void*>(kernel);
    }
};

// The kernel's call with its arguments, copied once at launch, once more for a graph, and once more
// for each thread.
template <class Body, class... Arguments>
struct Invocation {
    Body body;
    std::tuple<Arguments...> arguments;

    static void run(void* self) {
        const auto* invocation = static_cast<const Invocation*>(self);
        std::apply(invocation->body, invocation->arguments);
    }

    static void* copy(const void* self) {
        return new Invocation(*static_cast<const Invocation*>(self));
    }

    static void discard(void* copied) { delete static_cast<Invocation*>(copied); }
};

// Best<double> of Best<double>*; void of all else. (Classes that are no templates the translation makes known.)
template <class Argument>
struct PointsToTemplate {
    using Type = void;
};
template <template <class...> class Template, class... Types>
struct PointsToTemplate<Template<Types...>*> {
    using Type = Template<Types...>;
};
template <template <class...> class Template, class... Types>
struct PointsToTemplate<const Template<Types...>*> {
    using Type = Template<Types...>;
};

template <class Body, class... Arguments>
cudaError_t launch_body(const LaunchConfiguration& configuration, const char* kernel_name,
                        const void* kernel_address, const Body& body, Arguments&&... arguments) {
    using Call = Invocation<Body, std::decay_t<Arguments>...>;
#ifdef __CUDACC__
    ((void)&padding_is_known<typename PointsToTemplate<std::decay_t<Arguments>>::Type>, ...);
    if constexpr ((std::is_polymorphic_v<std::decay_t<Arguments>> || ...))
        tell_of_virtual_argument(kernel_name);
#endif
    Call call{body, {std::forward<Arguments>(arguments)...}};
    return launch_request({configuration, kernel_name, kernel_address, &Call::run, &call,
                           sizeof(call), &Call::copy, &Call::discard});
}

// A kernel with its configuration: called with its arguments, it runs.
template <class Body, class Address>
struct ConfiguredKernel {
    const char* name;
    Body body;
    Address address;
    LaunchConfiguration configuration;

    template <class... Arguments>
    void operator()(Arguments&&... arguments) const {
        const void* known_address = nullptr;
        if constexpr (std::is_invocable_v<Address, AskAddress>)
            known_address = address(AskAddress{});
        launch_body(configuration, name, known_address, body,
                    std::forward<Arguments>(arguments)...);
    }
};

// Call with a function's name: the function.
struct AskFunction {
    template <class... Parameters>
    auto operator()(void (*kernel)(Parameters...)) const {
        return kernel;
    }
};

// A kernel of which the launch says which function it is: its arguments are what its parameters make of
// them, so that 0 and NULL are pointers and braces have a type.
template <class Body, class... Parameters>
struct ConfiguredFunction {
    const char* name;
    Body body;
    void (*kernel)(Parameters...);
    LaunchConfiguration configuration;

    void operator()(Parameters... arguments) const {
        launch_body(
            configuration, name, reinterpret_cast<const void*>(kernel),
            [kernel = kernel](const std::decay_t<Parameters>&... values) { kernel(values...); },
            std::forward<Parameters>(arguments)...);
    }

    // With fewer arguments: the kernel's default arguments are the rest.
    template <class... Arguments>
    std::enable_if_t<(sizeof...(Arguments) < sizeof...(Parameters))> operator()(
        Arguments&&... arguments) const {
        launch_body(configuration, name, reinterpret_cast<const void*>(kernel), body,
                    std::forward<Arguments>(arguments)...);
    }
};

template <class Body, class... Parameters>
ConfiguredFunction<Body, Parameters...> configured_function(
    const char* name, const Body& body, void (*kernel)(Parameters...),
    const LaunchConfiguration& configuration) {
    return {name, body, kernel, configuration};
}

template <class Body, class Address>
struct NamedKernel {
    const char* name;
    Body body;
    Address address;

    // One value is enough for nvcc, too.
    auto configured(dim3 grid, dim3 block = dim3(1), size_t shared_bytes = 0,
                    cudaStream_t stream = nullptr) const {
        const LaunchConfiguration how =
            cpu_device::configuration(grid, block, shared_bytes, stream);
        if constexpr (std::is_invocable_v<Address, AskFunction>) {
            return configured_function(name, body, address(AskFunction{}), how);
        } else {
            return ConfiguredKernel<Body, Address>{name, body, address, how};
        }
    }
};

template <class Body, class Address>
NamedKernel<Body, Address> named_kernel(const char* name, Body body, Address address) {
    return {name, body, address};
}

template <class... Parameters>
auto named_kernel(const char* name, void (*function)(Parameters...)) {
    return named_kernel(name, function, [function](auto ask) { return ask(function); });
}

// The name of a kernel inside a macro's body, where it may be the macro's parameter.
#define CPU_DEVICE_TEXT(...) #__VA_ARGS__

template <class Body, class... Arguments>
void launch(const LaunchConfiguration& configuration, const char* kernel_name, const Body& body,
            Arguments&&... arguments) {
    launch_body(configuration, kernel_name, nullptr, body, std::forward<Arguments>(arguments)...);
}

// What `extern __shared__ T name[];` inside a function becomes: a reference to the block's one
// array of dynamic shared memory, dynamic_shared<T[]>(). Its own name here is not the linker's, so
// that a program may declare `shared_bytes` as it likes.
// Aligned, or the hooks would take each access to a float in it for a copy of four bytes.
alignas(16) extern thread_local unsigned char dynamic_shared_bytes[] __asm__("shared_bytes");

template <class Array>
__attribute__((always_inline)) inline Array& dynamic_shared() {
    return reinterpret_cast<Array&>(dynamic_shared_bytes);
}

// The values behind pointers, as cudaLaunchKernel gets a kernel's arguments.
template <class... Values, size_t... index>
std::tuple<std::decay_t<Values>...> pointed_to([[maybe_unused]] void** pointers,
                                               std::index_sequence<index...>) {
    return {*static_cast<std::decay_t<Values>*>(pointers[index])...};
}

// What the attributes of a cudaLaunchConfig_t ask for. cudaErrorNotSupported for one that is not
// known here.
cudaError_t read_launch_attributes(const cudaLaunchConfig_t& from, LaunchConfiguration& to);

}  // namespace cpu_device

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
    if (config == nullptr || kernel == nullptr) return cudaErrorInvalidValue;
    cpu_device::LaunchConfiguration configuration;
    const cudaError_t read = cpu_device::read_launch_attributes(*config, configuration);
    if (read != cudaSuccess) return read;
    // Arguments become the kernel's own parameter types here, as in the toolkit.
    return cpu_device::launch_body(
        configuration, nullptr, reinterpret_cast<const void*>(kernel),
        [kernel](const Parameters&... parameters) { kernel(parameters...); },
        static_cast<Parameters>(std::forward<Arguments>(arguments))...);
}

namespace cpu_device {

template <class... Parameters>
cudaError_t launch_pointed(const LaunchConfiguration& configuration, void (*kernel)(Parameters...),
                           void** arguments) {
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    const auto values =
        pointed_to<Parameters...>(arguments, std::index_sequence_for<Parameters...>{});
    return launch_body(
        configuration, nullptr, reinterpret_cast<const void*>(kernel),
        [kernel](const auto& parameters) { std::apply(kernel, parameters); }, values);
}

// A kernel by its address alone, as a node of a graph has it: how it is launched, and how large its parameters are.
struct KnownKernel {
    cudaError_t (*launch)(const LaunchConfiguration& configuration, const void* kernel,
                          void** arguments);
    std::vector<size_t> parameter_bytes;
};

// Null where nobody has made the address known.
const KnownKernel* known_kernel_at(const void* kernel);
void make_kernel_known(const void* kernel, const KnownKernel& known);
cudaError_t explain_unknown_kernel(const char* call);

// What the translation puts around a kernel that the program casts to void*.
template <class... Parameters>
auto known_kernel(void (*kernel)(Parameters...)) {
    const auto launch = [](const LaunchConfiguration& configuration, const void* address,
                           void** arguments) {
        return launch_pointed(configuration,
                              reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(address)),
                              arguments);
    };
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a parameter that is a pointer has the size of one
    make_kernel_known(reinterpret_cast<const void*>(kernel), {launch, {sizeof(Parameters)...}});
    return kernel;
}

}  // namespace cpu_device

// Of a kernel that is known.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments);

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
    return cpu_device::launch_pointed(cpu_device::configuration(grid, block, shared_bytes, stream),
                                      kernel, arguments);
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
    cpu_device::LaunchConfiguration configuration =
        cpu_device::configuration(grid, block, shared_bytes, stream);
    configuration.cooperative = true;
    return cpu_device::launch_pointed(configuration, kernel, arguments);
}
