// SPDX-License-Identifier: MIT
// The operators of softmax_stages.torch for tensors on GPUs and of the host, in C++. Python declares them and says their
// shapes and gradients; load() says where the libraries are.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <torch/library.h>

#include <limits>
#include <string>
#include <type_traits>

#include "softmax_stages.h"

namespace {

// The functions of one libsoftmax_stages. There are two with the same names, so they are looked up, not linked.
struct Functions {
    decltype(&softmax_stages_message) message = nullptr;  // nullptr: there is no such library
    decltype(&softmax_stages_softmax) softmax = nullptr, log_softmax = nullptr;
    decltype(&softmax_stages_softmax_backward) softmax_backward = nullptr,
                                               log_softmax_backward = nullptr;
    decltype(&softmax_stages_softmax_workspace_bytes) softmax_bytes = nullptr,
                                                      log_softmax_bytes = nullptr,
                                                      softmax_backward_bytes = nullptr,
                                                      log_softmax_backward_bytes = nullptr;
    decltype(&softmax_stages_layernorm_defaults) layernorm_defaults = nullptr;
    decltype(&softmax_stages_layernorm) layernorm = nullptr;
    decltype(&softmax_stages_cross_entropy_defaults) cross_entropy_defaults = nullptr;
    decltype(&softmax_stages_cross_entropy) cross_entropy = nullptr;
    decltype(&softmax_stages_cross_entropy_loss) cross_entropy_loss = nullptr;

    // True if the library has all of them.
    bool load(const char* path) {
        void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return false;
        bool has_all = true;
        const auto find = [&](auto& function, const char* name) {
            const std::string whole = std::string("softmax_stages_") + name;
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
                dlsym(library, whole.c_str()));
            has_all = has_all && function != nullptr;
        };
        find(softmax, "softmax");
        find(log_softmax, "log_softmax");
        find(softmax_backward, "softmax_backward");
        find(log_softmax_backward, "log_softmax_backward");
        find(softmax_bytes, "softmax_workspace_bytes");
        find(log_softmax_bytes, "log_softmax_workspace_bytes");
        find(softmax_backward_bytes, "softmax_backward_workspace_bytes");
        find(log_softmax_backward_bytes, "log_softmax_backward_workspace_bytes");
        find(layernorm_defaults, "layernorm_defaults");
        find(layernorm, "layernorm");
        find(cross_entropy_defaults, "cross_entropy_defaults");
        find(cross_entropy, "cross_entropy");
        find(cross_entropy_loss, "cross_entropy_loss");
        find(message, "message");
        return has_all;
    }
};

Functions& library_for(bool on_gpu) {
    static Functions host, gpu;
    return on_gpu ? gpu : host;
}

const Functions& functions_for(const at::Tensor& x) {
    const Functions& functions = library_for(x.is_cuda());
    TORCH_CHECK(functions.message != nullptr,
                "this installation of softmax_stages has no kernels for ",
                x.is_cuda() ? "GPUs" : "tensors of the host");
    return functions;
}

int type_of(const at::Tensor& x, const char* name, bool takes_doubles) {
    switch (x.scalar_type()) {
        case at::kFloat:
            return SOFTMAX_STAGES_FLOAT32;
        case at::kHalf:
            return SOFTMAX_STAGES_FLOAT16;
        case at::kBFloat16:
            return SOFTMAX_STAGES_BFLOAT16;
        case at::kDouble:
            if (takes_doubles) return SOFTMAX_STAGES_FLOAT64;
            [[fallthrough]];
        default:
            TORCH_CHECK_TYPE(false, name, " is ", x.scalar_type(), "; it must be float32, float16",
                             takes_doubles ? ", bfloat16 or float64" : " or bfloat16");
    }
}

void check_like(const at::Tensor& x, const char* name, const at::Tensor& first) {
    TORCH_CHECK_VALUE(x.device() == first.device(), name, " is on ", x.device(),
                      ", but the first tensor is on ", first.device(),
                      "; all must be on one device");
    TORCH_CHECK_TYPE(x.scalar_type() == first.scalar_type(), name, " is ", x.scalar_type(),
                     "; it must be ", first.scalar_type());
}

softmax_stages_stream stream_of(const at::Tensor& x) {
    if (!x.is_cuda()) return nullptr;
    const c10::impl::VirtualGuardImpl guard(x.device().type());
    return static_cast<softmax_stages_stream>(guard.getStream(x.device()).native_handle());
}

void check(int status, const Functions& functions) {
    if (status == 0) return;
    std::string message = functions.message();
    for (const std::string left_out : {"softmax_stages_", "_workspace_bytes", "options."}) {
        const size_t at = message.find(left_out);
        if (at != std::string::npos) message.erase(at, left_out.size());
    }
    TORCH_CHECK_VALUE(status != 1, message);  // cudaErrorInvalidValue
    TORCH_CHECK(false, message);
}

struct Workspace {
    at::Tensor memory;
    void* address = nullptr;
    size_t bytes = 0;
};

// A workspace of as many bytes as a call asks for.
template <class Ask>
Workspace workspace_for(const at::Tensor& x, const Functions& functions, const Ask& ask) {
    Workspace workspace;
    check(ask(&workspace.bytes), functions);
    if (workspace.bytes > 0) {
        workspace.memory =
            at::empty({static_cast<int64_t>(workspace.bytes)}, x.options().dtype(at::kByte));
        workspace.address = workspace.memory.mutable_data_ptr();
    }
    return workspace;
}

struct Sizes {
    int64_t rows = 1, cols = 1;
    softmax_stages_softmax_options options{1};
};

Sizes along(const at::Tensor& x, int64_t dim) {
    const int64_t rank = x.dim();
    TORCH_CHECK_VALUE(rank > 0, "x has no dimensions; it must have at least one");
    TORCH_CHECK_INDEX(dim >= -rank && dim < rank, "dim is ", dim, "; for ", rank,
                      " dimensions it must be from ", -rank, " to ", rank - 1);
    dim = (dim + rank) % rank;
    Sizes sizes;
    for (int64_t i = 0; i < rank; ++i)
        (i < dim ? sizes.rows : i == dim ? sizes.cols : sizes.options.inner) *= x.size(i);
    return sizes;
}

// kCall, kBytes: members of Functions.
template <auto kCall, auto kBytes>
at::Tensor forward(const at::Tensor& given, int64_t dim) {
    const int type = type_of(given, "x", true);
    const at::Tensor x = given.contiguous();
    const c10::OptionalDeviceGuard guard(x.device());
    const Functions& functions = functions_for(x);
    const Sizes sizes = along(x, dim);
    at::Tensor y = at::empty_like(x);
    const Workspace workspace = workspace_for(x, functions, [&](size_t* bytes) {
        return (functions.*kBytes)(type, bytes, sizes.rows, sizes.cols, &sizes.options);
    });
    check((functions.*kCall)(type, x.const_data_ptr(), y.mutable_data_ptr(), sizes.rows, sizes.cols,
                             &sizes.options, workspace.address, workspace.bytes, stream_of(x)),
          functions);
    return y;
}

template <auto kCall, auto kBytes>
at::Tensor backward(const at::Tensor& given_y, const at::Tensor& given_dy, int64_t dim) {
    const int type = type_of(given_y, "y", true);
    check_like(given_dy, "dy", given_y);
    TORCH_CHECK_VALUE(given_y.sizes() == given_dy.sizes(), "dy has the shape ", given_dy.sizes(),
                      "; it must be ", given_y.sizes());
    const at::Tensor y = given_y.contiguous(), dy = given_dy.contiguous();
    const c10::OptionalDeviceGuard guard(y.device());
    const Functions& functions = functions_for(y);
    const Sizes sizes = along(y, dim);
    at::Tensor dx = at::empty_like(y);
    const Workspace workspace = workspace_for(y, functions, [&](size_t* bytes) {
        return (functions.*kBytes)(type, bytes, sizes.rows, sizes.cols, &sizes.options);
    });
    check((functions.*kCall)(type, y.const_data_ptr(), dy.const_data_ptr(), dx.mutable_data_ptr(),
                             sizes.rows, sizes.cols, &sizes.options, workspace.address,
                             workspace.bytes, stream_of(y)),
          functions);
    return dx;
}

at::Tensor layernorm(const at::Tensor& given, const at::Tensor& given_gamma,
                     const at::Tensor& given_beta, double epsilon) {
    const int type = type_of(given, "x", false);
    check_like(given_gamma, "gamma", given);
    check_like(given_beta, "beta", given);
    TORCH_CHECK_VALUE(given.dim() > 0, "x has no dimensions; it must have at least one");
    const int64_t cols = given.size(-1), rows = cols == 0 ? 0 : given.numel() / cols;
    TORCH_CHECK_VALUE(given_gamma.sizes() == at::IntArrayRef(cols), "gamma has the shape ",
                      given_gamma.sizes(), "; it must be [", cols, "]");
    TORCH_CHECK_VALUE(given_beta.sizes() == at::IntArrayRef(cols), "beta has the shape ",
                      given_beta.sizes(), "; it must be [", cols, "]");
    const at::Tensor x = given.contiguous(), gamma = given_gamma.contiguous(),
                     beta = given_beta.contiguous();
    const c10::OptionalDeviceGuard guard(x.device());
    const Functions& functions = functions_for(x);
    softmax_stages_layernorm_options options = functions.layernorm_defaults();
    options.epsilon = static_cast<float>(epsilon);
    at::Tensor y = at::empty_like(x);
    check(
        functions.layernorm(type, x.const_data_ptr(), gamma.const_data_ptr(), beta.const_data_ptr(),
                            y.mutable_data_ptr(), rows, cols, &options, nullptr, 0, stream_of(x)),
        functions);
    return y;
}

// A call of cross_entropy, once its operands are good.
struct Loss {
    at::Tensor logits, targets, totals;
    int type, target_type;
    int64_t rows, cols;
    at::TensorOptions sums;
    softmax_stages_cross_entropy_options options;

    Loss(const at::Tensor& given, const at::Tensor& given_targets, int64_t reduction,
         int64_t ignore_index, double label_smoothing, double z_loss, double soft_cap)
        : type(type_of(given, "logits", true)) {
        TORCH_CHECK_VALUE(given_targets.device() == given.device(), "targets is on ",
                          given_targets.device(), ", but logits is on ", given.device(),
                          "; both must be on one device");
        const bool is_long = given_targets.scalar_type() == at::kLong;
        TORCH_CHECK_TYPE(is_long || given_targets.scalar_type() == at::kInt, "targets is ",
                         given_targets.scalar_type(), "; it must be int32 or int64");
        TORCH_CHECK_VALUE(
            given.dim() > 0 && given_targets.sizes() == given.sizes().slice(0, given.dim() - 1),
            "targets has the shape ", given_targets.sizes(), ", logits has ", given.sizes(),
            "; targets must have all dimensions of logits but the last");
        logits = given.contiguous();
        targets = given_targets.contiguous();
        target_type = is_long ? SOFTMAX_STAGES_INT64 : SOFTMAX_STAGES_INT32;
        cols = logits.size(-1);
        rows = targets.numel();
        TORCH_CHECK_VALUE(cols > 0 || rows == 0, "logits have no columns");
        sums = logits.options().dtype(type == SOFTMAX_STAGES_FLOAT64 ? at::kDouble : at::kFloat);
        options = functions().cross_entropy_defaults();
        options.reduction = static_cast<int>(reduction);
        options.ignore_index = ignore_index;
        options.label_smoothing = label_smoothing;
        options.z_loss = z_loss;
        options.soft_cap = soft_cap;
        if (reduction != SOFTMAX_STAGES_NONE) {
            totals = at::empty({3}, sums);
            options.totals = totals.mutable_data_ptr();
        }
    }
    const Functions& functions() const { return functions_for(logits); }
};

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& targets, int64_t reduction,
                         int64_t ignore_index, double label_smoothing, double z_loss,
                         double soft_cap) {
    const c10::OptionalDeviceGuard guard(logits.device());
    const Loss of(logits, targets, reduction, ignore_index, label_smoothing, z_loss, soft_cap);
    at::Tensor loss = at::empty(of.targets.sizes(), of.sums);
    if (of.rows == 0 && of.totals.defined())  // as PyTorch
        of.totals.fill_(reduction == SOFTMAX_STAGES_SUM ? 0.
                                                        : std::numeric_limits<double>::quiet_NaN());
    check(of.functions().cross_entropy_loss(of.type, of.logits.const_data_ptr(), of.target_type,
                                            of.targets.const_data_ptr(), loss.mutable_data_ptr(),
                                            of.rows, of.cols, &of.options, nullptr, 0,
                                            stream_of(logits)),
          of.functions());
    // An operator's result may not be a view.
    return of.totals.defined() ? of.totals.select(0, 0).clone() : loss;
}

at::Tensor cross_entropy_backward(const at::Tensor& dloss, const at::Tensor& logits,
                                  const at::Tensor& targets, int64_t reduction,
                                  int64_t ignore_index, double label_smoothing, double z_loss,
                                  double soft_cap) {
    const c10::OptionalDeviceGuard guard(logits.device());
    Loss of(logits, targets, reduction, ignore_index, label_smoothing, z_loss, soft_cap);
    TORCH_CHECK_VALUE(dloss.sizes() == (reduction == SOFTMAX_STAGES_NONE ? of.targets.sizes()
                                                                         : at::IntArrayRef()),
                      "dloss has the shape ", dloss.sizes(),
                      "; it must have the shape of the loss");
    TORCH_CHECK_VALUE(dloss.device() == logits.device(), "dloss is on ", dloss.device(),
                      ", but logits is on ", logits.device());
    const at::Tensor scale = dloss.to(of.sums.dtype()).contiguous();
    of.options.grad_output = scale.const_data_ptr();
    at::Tensor loss = at::empty(of.targets.sizes(), of.sums), gradient = at::empty_like(of.logits);
    check(of.functions().cross_entropy(of.type, of.logits.const_data_ptr(), of.target_type,
                                       of.targets.const_data_ptr(), loss.mutable_data_ptr(),
                                       gradient.mutable_data_ptr(), of.rows, of.cols, &of.options,
                                       nullptr, 0, stream_of(logits)),
          of.functions());
    return gradient;
}

void register_for(torch::Library& m) {
    m.impl("softmax", &forward<&Functions::softmax, &Functions::softmax_bytes>);
    m.impl("log_softmax", &forward<&Functions::log_softmax, &Functions::log_softmax_bytes>);
    m.impl("softmax_backward",
           &backward<&Functions::softmax_backward, &Functions::softmax_backward_bytes>);
    m.impl("log_softmax_backward",
           &backward<&Functions::log_softmax_backward, &Functions::log_softmax_backward_bytes>);
    m.impl("layernorm", &layernorm);
    m.impl("cross_entropy", &cross_entropy);
    m.impl("cross_entropy_backward", &cross_entropy_backward);
}

}  // namespace

extern "C" {

// What this file was compiled for: the declarations of torch.py, and PyTorch's version.
const char* softmax_stages_torch_built_for() {
    return "1 " STAGES_TORCH_VERSION;
}

// Opens the library for GPUs (or of the host). Returns 0, or 1 if it cannot be opened.
int softmax_stages_torch_load(const char* path, int for_gpus) {
    return library_for(for_gpus != 0).load(path) ? 0 : 1;
}

// Registers the operators, which are declared by then. Returns 0, or 1 if PyTorch refuses. Not at the beginning of the
// process, where an exception would end it.
int softmax_stages_torch_register() {
    using torch::Library;
    try {
        for (const auto key : {c10::DispatchKey::CUDA, c10::DispatchKey::CPU}) {
            auto* const library =
                new Library(Library::IMPL, "softmax_stages", key, __FILE__, __LINE__);
            register_for(*library);  // until the process ends
        }
        return 0;
    } catch (const std::exception&) {
        return 1;
    }
}

}  // extern "C"
