// SPDX-License-Identifier: MIT
//
// cuBLASLt: a product as its description says, and what its epilogue makes of it.
#include "cublasLt.h"

#include <cstring>

#include "common/cpu_device/libraries/cublas_handle.hpp"
#include "common/cpu_device/strict.hpp"

struct cublasLtContext {};

namespace cpu_device::blas {
namespace {

constexpr unsigned kRelu = 2, kBias = 4, kReluGradient = 8, kBiasGradient = 16, kGelu = 32,
                   kGeluGradient = 64, kAux = 128, kBiasGradientOfA = 256, kBiasGradientOfB = 512;

template <class T>
cublasStatus_t set(T& member, const void* value, size_t bytes) {
    if (value == nullptr || bytes != sizeof member) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

Matrix laid_out(const cublasLtMatrixLayoutOpaque_t& layout, const void* at, int64_t batch,
                cublasOperation_t op = CUBLAS_OP_N) {
    const auto rows = static_cast<int64_t>(layout.rows),
               columns = static_cast<int64_t>(layout.columns);
    const char* const low =
        static_cast<const char*>(at) +
        batch * layout.batch_stride * static_cast<int64_t>(bytes_of(layout.type));
    Matrix result = matrix(layout.type, low, rows, columns, layout.ld);
    if (layout.order == CUBLASLT_ORDER_ROW) std::swap(result.row_step, result.column_step);
    return operated(result, op);
}

// The tanh form, as cuBLAS has it.
constexpr double kOfCube = 0.044715;
double gelu_slope_at(double x) {
    return std::tanh(std::sqrt(2 / M_PI) * (x + kOfCube * x * x * x));
}
double gelu(double x) {
    return 0.5 * x * (1 + gelu_slope_at(x));
}
double gelu_derivative(double x) {
    const double tanh = gelu_slope_at(x);
    return 0.5 * (1 + tanh) +
           0.5 * x * (1 - tanh * tanh) * std::sqrt(2 / M_PI) * (1 + 3 * kOfCube * x * x);
}

double real_at(const Matrix& of, int64_t i, int64_t j) {
    return number_at(of.type, of.address(i, j)).real();
}

struct Epilogue {
    unsigned what;
    Matrix bias;  // one column
    Matrix aux;
    const Matrix *a, *b;

    void operator()(std::vector<double>& values, int64_t rows, int64_t columns) const {
        for (int64_t j = 0; j < columns; ++j) {
            for (int64_t i = 0; i < rows; ++i) {
                double& value = values[static_cast<size_t>(i + j * rows)];
                if ((what & kBias) != 0) value += real_at(bias, i, 0);
                if ((what & kAux) != 0 && (what & kGelu) != 0) {
                    set_number(aux.type, aux.address(i, j), value);
                }
                if ((what & kRelu) != 0) value = value < 0 ? 0 : value;
                if ((what & kGelu) != 0) value = gelu(value);
                if ((what & kGeluGradient) != 0) value *= gelu_derivative(real_at(aux, i, j));
            }
        }
        if ((what & kBiasGradient) != 0)
            sum_into_bias(rows, columns, [&](int64_t i, int64_t j) {
                return values[static_cast<size_t>(i + j * rows)];
            });
        if ((what & kBiasGradientOfA) != 0) {
            sum_into_bias(a->rows, a->columns,
                          [&](int64_t i, int64_t j) { return real_at(*a, i, j); });
        }
        if ((what & kBiasGradientOfB) != 0) {
            sum_into_bias(b->columns, b->rows,
                          [&](int64_t i, int64_t j) { return real_at(*b, j, i); });
        }
    }

    template <class At>
    void sum_into_bias(int64_t rows, int64_t columns, At at) const {
        for (int64_t i = 0; i < rows; ++i) {
            double sum = 0;
            for (int64_t j = 0; j < columns; ++j) sum += at(i, j);
            set_number(bias.type, bias.address(i, 0), sum);
        }
    }
};

Arithmetic arithmetic_of(const cublasLtMatmulDescOpaque_t& description) {
    switch (description.compute) {
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
        case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
            return description.scale == CUDA_C_64F ? Arithmetic::of_complex_double
                                                   : Arithmetic::of_double;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            // With a scale in float the sums of 8-bit integers are exact in double.
            return description.scale == CUDA_R_32I ? Arithmetic::of_integers
                                                   : Arithmetic::of_double;
        default:
            return description.scale == CUDA_C_32F ? Arithmetic::of_complex_float
                                                   : Arithmetic::of_float;
    }
}

// What is asked for and not there; null if all is.
const char* missing_of(const cublasLtMatmulDescOpaque_t& of,
                       std::initializer_list<const cublasLtMatrixLayoutOpaque_t*> layouts) {
    const unsigned what = of.epilogue;
    if (of.refused != nullptr) return "scales of A, B, C or D";
    if (of.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE) return "a vector of alphas";
    if ((what & kReluGradient) != 0 || ((what & kAux) != 0 && (what & kRelu) != 0)) {
        return "the bit mask of a ReLU";
    }
    for (const auto* layout : layouts) {
        if (layout->order > CUBLASLT_ORDER_ROW) return "a packed order of elements";
    }
    return nullptr;
}

}  // namespace
}  // namespace cpu_device::blas

using namespace cpu_device::blas;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasLtContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() {
    return CUBLAS_VERSION;
}
size_t cublasLtGetCudartVersion() {
    return cublasGetCudartVersion();
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type,
                                        uint64_t rows, uint64_t columns, int64_t ld) {
    if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *layout = {type, CUBLASLT_ORDER_COL, rows, columns, ld, 0, 1};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
    if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *layout = new cublasLtMatrixLayoutOpaque_t;
    return cublasLtMatrixLayoutInit(*layout, type, rows, columns, ld);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
    if (layout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
        case CUBLASLT_MATRIX_LAYOUT_TYPE:
            return set(layout->type, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_ORDER:
            return set(layout->order, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_ROWS:
            return set(layout->rows, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_COLS:
            return set(layout->columns, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_LD:
            return set(layout->ld, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            return set(layout->batch, value, bytes);
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
            return set(layout->batch_stride, value, bytes);
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t description, cublasComputeType_t compute,
                                      cudaDataType scale) {
    if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *description = {};
    description->compute = compute;
    description->scale = scale;
    description->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    description->bias_type = description->aux_type = -1;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute, cudaDataType scale) {
    if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *description = new cublasLtMatmulDescOpaque_t;
    return cublasLtMatmulDescInit(*description, compute, scale);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
    delete description;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
    if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
        case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
            return set(description->compute, value, bytes);
        case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
            return set(description->scale, value, bytes);
        case CUBLASLT_MATMUL_DESC_POINTER_MODE:
            return set(description->pointer_mode, value, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSA:
            return set(description->op_a, value, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSB:
            return set(description->op_b, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            return set(description->epilogue, value, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            return set(description->bias, value, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
            return set(description->bias_stride, value, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
            return set(description->bias_type, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
            return set(description->aux, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
            return set(description->aux_ld, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
            return set(description->aux_stride, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
            return set(description->aux_type, value, bytes);
        case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
        case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
        case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
        case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
        case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
            return set(description->refused, value, bytes);
        case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
        case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
            return CUBLAS_STATUS_SUCCESS;  // about speed only
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *preference = new cublasLtMatmulPreferenceOpaque_t{};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t bytes) {
    if (preference == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_SUCCESS;
    return set(preference->workspace, value, bytes);
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
    if (description == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr ||
        wanted < 1 || results == nullptr || found == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    results[0] = {{}, 0, CUBLAS_STATUS_SUCCESS, 1.0F, {}};
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*,
                              size_t, cudaStream_t stream) {
    const char* const name = __func__;
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (description == nullptr || a_layout == nullptr || b_layout == nullptr ||
        c_layout == nullptr || d_layout == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const cublasLtMatmulDescOpaque_t is = *description;
    const cublasLtMatrixLayoutOpaque_t of_a = *a_layout, of_b = *b_layout, of_c = *c_layout,
                                       of_d = *d_layout;
    if (const char* const missing = missing_of(is, {&of_a, &of_b, &of_c, &of_d})) {
        cpu_device::explained(cudaErrorNotSupported, "%s: the CPU device does not have %s", name,
                              missing);
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    Call call(name, stream, is.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE);
    call.require_type("A", of_a.type);
    call.require_type("B", of_b.type);
    call.require_type("C", of_c.type);
    call.require_type("D", of_d.type);
    const Matrix shape_a = laid_out(of_a, a, 0, is.op_a), shape_b = laid_out(of_b, b, 0, is.op_b);
    const auto m = static_cast<int64_t>(of_d.rows), n = static_cast<int64_t>(of_d.columns);
    call.require(shape_a.rows == m && shape_b.columns == n && shape_a.columns == shape_b.rows,
                 "op(A) is %lld x %lld, op(B) %lld x %lld and D %lld x %lld",
                 static_cast<long long>(shape_a.rows), static_cast<long long>(shape_a.columns),
                 static_cast<long long>(shape_b.rows), static_cast<long long>(shape_b.columns),
                 static_cast<long long>(m), static_cast<long long>(n));
    const Scalar by = call.scalar("alpha", is.scale, alpha),
                 plus = call.scalar("beta", is.scale, beta);
    return call.submit([=] {
        Number alpha_value = 0, beta_value = 0;
        if (const cudaError_t error = read_scalar(name, by, alpha_value)) return error;
        if (const cudaError_t error = read_scalar(name, plus, beta_value)) return error;
        const auto type_or_ds = [&](int32_t type) {
            return type < 0 ? of_d.type : static_cast<cudaDataType>(type);
        };
        for (int32_t i = 0; i < of_d.batch; ++i) {
            const Matrix from_a = laid_out(of_a, a, i, is.op_a),
                         from_b = laid_out(of_b, b, i, is.op_b), from_c = laid_out(of_c, c, i),
                         to = laid_out(of_d, d, i);
            const cudaDataType bias_type = type_or_ds(is.bias_type),
                               aux_type = type_or_ds(is.aux_type);
            const unsigned what = is.epilogue;
            const int64_t bias_length = (what & kBiasGradientOfB) != 0 ? n : m;
            const Epilogue epilogue{
                what,
                matrix(bias_type,
                       static_cast<char*>(is.bias) +
                           i * is.bias_stride * static_cast<int64_t>(bytes_of(bias_type)),
                       bias_length, 1, bias_length),
                matrix(aux_type,
                       static_cast<char*>(is.aux) +
                           i * is.aux_stride * static_cast<int64_t>(bytes_of(aux_type)),
                       m, n, is.aux_ld),
                &from_a, &from_b};
            std::vector<cpu_device::LibraryOperand> operands{operand_of("D", to, false, true),
                                                             operand_of("A", from_a, true, false),
                                                             operand_of("B", from_b, true, false)};
            if (beta_value != 0.0) operands.push_back(operand_of("C", from_c, true, false));
            constexpr unsigned kGradients = kBiasGradient | kBiasGradientOfA | kBiasGradientOfB;
            if ((what & (kBias | kGradients)) != 0) {
                operands.push_back(operand_of("the bias", epilogue.bias, (what & kBias) != 0,
                                              (what & kGradients) != 0));
            }
            if ((what & kAux) != 0) {
                operands.push_back(operand_of("the epilogue's matrix", epilogue.aux,
                                              (what & kGelu) == 0, (what & kGelu) != 0));
            }
            const cudaError_t error = cpu_device::use_operands(name, operands, [&] {
                Product product{from_a,      from_b,     from_c, to, arithmetic_of(is),
                                alpha_value, beta_value, {}};
                if (what != CUBLASLT_EPILOGUE_DEFAULT) {
                    product.finish = [&](std::vector<double>& values) { epilogue(values, m, n); };
                }
                multiply(product);
            });
            if (error != cudaSuccess) return error;
        }
        return cudaSuccess;
    });
}
