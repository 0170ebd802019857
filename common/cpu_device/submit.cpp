// SPDX-License-Identifier: MIT
//
// From the call that launches a kernel to the decision: it may not, it runs now, or it is kept for
// a graph.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api.hpp"
#include "capture.hpp"
#include "cpu_device/core.h"
#include "device.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "program_image.hpp"
#include "strict.hpp"
#include "symbolize.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

struct Clusters {
    std::string kernel;
    dim3 size;
};

// Complete before main() begins.
std::vector<Clusters>& known_clusters() {
    static auto* const all = new std::vector<Clusters>;
    return *all;
}

// A function's own name, without its namespaces and template arguments.
std::string own_name(const std::string& function) {
    const std::string path = function.substr(0, function.find('<'));
    const size_t colons = path.rfind("::");
    return colons == std::string::npos ? path : path.substr(colons + 2);
}

// Whether a type of that name, as typeid has it, is in the body of the function, both mangled: _Z3fooIiEvv and
// Z3fooIiEvvE4Type.
bool is_within(const std::string& type, const std::string& function) {
    const size_t begin = type.find_first_not_of('*');
    return begin != std::string::npos && function.rfind("_Z", 0) == 0 &&
           type.compare(begin, function.size(), function.substr(1) + "E") == 0;
}

cudaError_t refuse(const LaunchRequest& request, const std::string& why, cudaError_t code) {
    tell("kernel " + name_of_kernel(request) + " cannot be launched: " + why +
         (is_strict() ? ", at " + calling_line() : ""));
    return remembered(code);
}

// With the clusters that the kernel itself names.
LaunchRequest with_clusters(LaunchRequest request) {
    dim3& size = request.configuration.cluster;
    if (known_clusters().empty() || size.x * size.y * size.z != 1) return request;
    const std::string name = own_name(name_of_kernel(request));
    const Symbol* const symbol = request.kernel_address == nullptr
                                     ? nullptr
                                     : function_at(as_address(request.kernel_address));
    for (const Clusters& known : known_clusters()) {
        if (known.kernel == name || (symbol != nullptr && is_within(known.kernel, symbol->name)))
            size = known.size;
    }
    return request;
}

// The arguments go with it. (The name is a literal, and the kernel lives as long as the program.)
Work kept(const LaunchRequest& request) {
    const std::shared_ptr<void> invocation(request.copy(request.invocation), request.discard);
    return [request, invocation] {
        LaunchRequest again = request;
        again.invocation = invocation.get();
        return run_launch(again);
    };
}

}  // namespace

// As the program spells it in the launch; but a pointer's name says nothing of the kernel behind it.
std::string name_of_kernel(const LaunchRequest& request) {
    std::string name;
    if (request.kernel_address != nullptr) name = function_name(as_address(request.kernel_address));
    if (request.kernel_name == nullptr) return name.empty() ? "(unnamed)" : name;
    const std::string spelled = request.kernel_name;
    return name.empty() || own_name(name) == own_name(spelled) ? spelled : name;
}

KnownClusters::KnownClusters(const char* name, unsigned x, unsigned y, unsigned z) : kernel(name) {
    known_clusters().push_back({name, dim3(x, y, z)});
}

void require_clusters(unsigned x, unsigned y, unsigned z) {
    const dim3 size = cluster_dimensions();
    if (size.x == x && size.y == y && size.z == z) return;
    fail(cudaErrorInvalidConfiguration,
         "the kernel is launched with clusters of %u x %u x %u blocks, and its __cluster_dims__ "
         "names %u x %u x %u",
         size.x, size.y, size.z, x, y, z);
}

cudaError_t launch_request(const LaunchRequest& as_written) {
    if (current.lane != nullptr) {
        fail(cudaErrorNotSupported, "a launch by a kernel, which the CPU device does not support");
    }
    if (const cudaError_t failure = lasting_failure()) return failure;
    if (const std::string name =
            hidden_variable_in(as_written.invocation, as_written.invocation_bytes);
        !name.empty()) {
        return refuse(as_written,
                      "an argument is the address of `" + name +
                          "` on the host, and that variable is on the device: use its name in the "
                          "kernel, or give what cudaGetSymbolAddress gives",
                      cudaErrorInvalidValue);
    }
    const LaunchRequest request = with_clusters(as_written);
    const Admission admission = admit(request.configuration.stream);
    if (admission.refusal != cudaSuccess) return refuse(request, admission.why, admission.refusal);
    cudaError_t code = cudaSuccess;
    if (const std::string text = launch_objection(request, code); !text.empty()) {
        invalidate(admission.capture);
        // A GPU, too, has another code for blocks that are too large where it only notes the launch.
        const bool other_code = admission.capture != 0 && code == cudaErrorInvalidConfiguration;
        return refuse(request, text, other_code ? cudaErrorInvalidValue : code);
    }
    if (admission.capture == 0) return run_launch(request);
    return record(admission, cudaGraphNodeTypeKernel, kept(request));
}

namespace {

struct KnownKernels {
    std::mutex mutex;
    std::map<const void*, KnownKernel> all;
};

KnownKernels& known_kernels() {
    static auto* const instance = new KnownKernels;  // alive until the very end of the process
    return *instance;
}

cudaError_t launch_known(const LaunchConfiguration& configuration, const void* kernel,
                         void** arguments, const char* call) {
    const KnownKernel* const known = known_kernel_at(kernel);
    if (known == nullptr) return remembered(explain_unknown_kernel(call));
    return known->launch(configuration, kernel, arguments);
}

}  // namespace

void make_kernel_known(const void* kernel, const KnownKernel& known) {
    KnownKernels& kernels = known_kernels();
    const std::lock_guard<std::mutex> lock(kernels.mutex);
    kernels.all.emplace(kernel, known);
}

const KnownKernel* known_kernel_at(const void* kernel) {
    KnownKernels& kernels = known_kernels();
    const std::lock_guard<std::mutex> lock(kernels.mutex);
    const auto found = kernels.all.find(kernel);
    return found == kernels.all.end() ? nullptr : &found->second;
}

cudaError_t explain_unknown_kernel(const char* call) {
    return explained(cudaErrorInvalidDeviceFunction,
                     "%s of an address whose parameters are not known: cast the kernel's name to "
                     "void* in the file that defines it, as in (void*)name",
                     call);
}

cudaError_t read_launch_attributes(const cudaLaunchConfig_t& from, LaunchConfiguration& to) {
    to = configuration(from.gridDim, from.blockDim, from.dynamicSmemBytes, from.stream);
    for (unsigned i = 0; i < from.numAttrs; i++) {
        const cudaLaunchAttribute& attribute = from.attrs[i];
        switch (attribute.id) {
            case cudaLaunchAttributeClusterDimension:
                to.cluster = dim3(attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                                  attribute.val.clusterDim.z);
                break;
            case cudaLaunchAttributeCooperative:
                to.cooperative = attribute.val.cooperative != 0;
                break;
            case cudaLaunchAttributeIgnore:
            case cudaLaunchAttributeAccessPolicyWindow:
            case cudaLaunchAttributeClusterSchedulingPolicyPreference:
            case cudaLaunchAttributePriority:
            case cudaLaunchAttributeProgrammaticStreamSerialization:
                break;  // about speed only, or true of launches that run one after the other
            default:
                return remembered(cudaErrorNotSupported);
        }
    }
    return cudaSuccess;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
    return launch_known(configuration(grid, block, shared_bytes, stream), kernel, arguments,
                        "cudaLaunchKernel");
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
    LaunchConfiguration how = configuration(grid, block, shared_bytes, stream);
    how.cooperative = true;
    return launch_known(how, kernel, arguments, "cudaLaunchCooperativeKernel");
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
    if (config == nullptr) return remembered(cudaErrorInvalidValue);
    LaunchConfiguration how;
    if (const cudaError_t error = read_launch_attributes(*config, how)) return error;
    return launch_known(how, kernel, arguments, "cudaLaunchKernelExC");
}
