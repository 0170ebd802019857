// SPDX-License-Identifier: MIT
// cuDNN's softmax, opened at run time: nothing here needs cuDNN to build, and without it the peer
// is left out by name. Declared below is what is used of its C interface, whose types and numbers
// have been the same since version 1.
#include <dlfcn.h>

#include <climits>
#include <memory>
#include <string>

#include "common/peers/peers.hpp"
#include "common/runner/build_info.hpp"

namespace peers {
namespace {

using operations::softmax::Kind;
using operations::softmax::operation_of;

constexpr const char* kLibrary = "libcudnn.so.9";

// cudnnSoftmaxAlgorithm_t
enum class Algorithm { fast = 0, accurate = 1, log = 2 };

// cudnnStatus_t, where 0 is success
using Status = int;

// cudnnDataType_t
int data_type(runner::DType dtype) {
    switch (dtype) {
        case runner::DType::float32:
            break;
        case runner::DType::float16:
            return 2;
        case runner::DType::bfloat16:
            return 9;
        case runner::DType::float64:
            return 1;
    }
    return 0;
}

class Cudnn {
public:
    // The one instance. Never closed: a GPU's libraries may be gone by the end of the program.
    static Cudnn& instance() {
        static Cudnn& cudnn = *new Cudnn;
        return cudnn;
    }

    const std::string& obstacle() const { return obstacle_; }

    cudaError_t softmax(Algorithm algorithm, const operations::softmax::Call& call) {
        if (!open()) return cudaErrorNotSupported;
        if (call.rows <= 0 || call.cols <= 0 || call.rows > INT_MAX || call.cols > INT_MAX) {
            return cudaErrorInvalidValue;
        }
        constexpr int kNchw = 0;
        constexpr int kInstance = 0;  // over all but the first dimension
        // Scales are double beside double, else float.
        const double scales[] = {1, 0};
        const float float_scales[] = {1, 0};
        const bool wide = call.dtype == runner::DType::float64;
        const void* one = wide ? static_cast<const void*>(&scales[0]) : &float_scales[0];
        const void* zero = wide ? static_cast<const void*>(&scales[1]) : &float_scales[1];
        const bool good =
            set_stream_(handle_, call.stream) == 0 &&
            set_shape_(shape_, kNchw, data_type(call.dtype), static_cast<int>(call.rows),
                       static_cast<int>(call.cols), 1, 1) == 0 &&
            softmax_(handle_, static_cast<int>(algorithm), kInstance, one, shape_, call.x, zero,
                     shape_, call.y) == 0;
        return good ? cudaSuccess : cudaErrorNotSupported;
    }

private:
    Cudnn() {
        if (!runner::on_gpu()) {
            obstacle_ = "needs a GPU";
            return;
        }
        library_ = dlopen(kLibrary, RTLD_NOW);
        if (library_ == nullptr) {
            obstacle_ = std::string(kLibrary) + " is not here";
            return;
        }
        const bool complete = find("cudnnCreate", create_) && find("cudnnSetStream", set_stream_) &&
                              find("cudnnCreateTensorDescriptor", create_shape_) &&
                              find("cudnnSetTensor4dDescriptor", set_shape_) &&
                              find("cudnnSoftmaxForward", softmax_);
        if (!complete) obstacle_ = std::string(kLibrary) + " has no softmax";
    }

    template <class Function>
    bool find(const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(library_, name));
        return function != nullptr;
    }

    // At the first call, not at the first look: cuDNN takes time and memory to start.
    bool open() {
        if (!obstacle_.empty()) return false;
        if (handle_ == nullptr) {
            if (create_(&handle_) != 0 || create_shape_(&shape_) != 0) {
                obstacle_ = std::string(kLibrary) + " does not start";
            }
        }
        return obstacle_.empty();
    }

    void* library_ = nullptr;
    void* handle_ = nullptr;
    void* shape_ = nullptr;  // of x and y alike
    std::string obstacle_;

    Status (*create_)(void** handle) = nullptr;
    Status (*set_stream_)(void* handle, cudaStream_t stream) = nullptr;
    Status (*create_shape_)(void** descriptor) = nullptr;
    Status (*set_shape_)(void* descriptor, int format, int type, int n, int c, int h,
                         int w) = nullptr;
    Status (*softmax_)(void* handle, int algorithm, int mode, const void* alpha,
                       const void* x_shape, const void* x, const void* beta, const void* y_shape,
                       void* y) = nullptr;
};

runner::Variant variant(const char* name, const char* summary, Algorithm algorithm) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation =
        operation_of(algorithm == Algorithm::log ? Kind::log_softmax : Kind::softmax);
    variant.dtypes = runner::all_dtypes();
    variant.launch = [algorithm](const operations::softmax::Call& call) {
        return Cudnn::instance().softmax(algorithm, call);
    };
    variant.partial_sums = [](operations::softmax::Shape, runner::DType) { return 256; };
    variant.overflows = algorithm == Algorithm::fast;
    return variant;
}

}  // namespace

Peer cudnn() {
    runner::Stage stage;
    stage.name = "cudnn";
    stage.title = "cudnnSoftmaxForward";
    stage.variants = {
        variant("accurate", "CUDNN_SOFTMAX_ACCURATE: the maximum first", Algorithm::accurate),
        variant("fast", "CUDNN_SOFTMAX_FAST: no maximum", Algorithm::fast),
        variant("log", "CUDNN_SOFTMAX_LOG", Algorithm::log),
    };
    return {stage, Cudnn::instance().obstacle()};
}

}  // namespace peers
