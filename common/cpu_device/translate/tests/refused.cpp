// SPDX-License-Identifier: MIT
//
// What nvcc refuses and g++ would take, and what looks like it and nvcc takes. Each source was given to nvcc 13.0.
#include <string>
#include <vector>

#include "common/cpu_device/translate/translate.hpp"
#include "common/testing/catch.hpp"

namespace {

// What is said of the source, with its line; empty where it is taken.
std::string said_of(const std::string& source) {
    try {
        translate::translate(source, "k.cu");
    } catch (const translate::TranslationError& error) {
        return std::to_string(error.line()) + ": " + error.what();
    }
    return {};
}

std::string kernel(const std::string& body, const std::string& before = "") {
    return before + "\n__global__ void k(float* x, int n) { " + body + " }\nint main() {}\n";
}

constexpr const char* kArray = "const float w[3] = {1, 2, 3};";
constexpr const char* kConstants =
    "constexpr int w[3] = {1, 2, 3}; const int n3 = 3; constexpr float f = 1.5f;";

}  // namespace

TEST_CASE("an array, a pointer or a variable of the host in device code is refused at its line") {
    for (const std::string& source : std::vector<std::string>{
             kernel("x[0] = w[threadIdx.x];", kArray),
             kernel("x[0] = w[1];", kArray),
             kernel("x[0] = w[threadIdx.x];", "constexpr int w[2] = {1, 2};"),
             kernel("x[0] = n * w[0];", kArray),
             kernel("x[0] = w[0][1];", "const int w[1][2] = {{1, 2}};"),
             kernel("x[0] = max(n, w[0]);", kArray),
             kernel("int i = n; x[0] = i, x[1] = w[0];", kArray),
             kernel("x[0] = w[0];", "inline constexpr float w[1] = {1};"),
             kernel("x[0] = w[0];", "const char w[] = \"abc\";"),
             kernel("x[0] = w[0];", "const char* const w = \"abc\";"),
             kernel("x[0] = w;", "int w = 3;"),
             kernel("x[0] = w;", "static float w = 3;"),
             kernel("x[0] = w;", "thread_local int w;"),
             kernel("w[0] = 1;", "float* w;"),
             kernel("x[0] = w;", "const int w = atoi(\"3\");"),
             kernel("x[0] = w;", "int made() { return 3; } const int w = made();"),
             kernel("x[0] = w.x;", "const float2 w = make_float2(1, 2);"),
             kernel("x[0] = w;", "extern const int w;"),
             kernel("x[0] = P::w[n];", "struct P { static constexpr int w[2] = {1, 2}; };"),
             kernel("x[0] = P::w;", "struct P { static int w; }; int P::w = 3;"),
             std::string("const float w[3] = {1, 2, 3};\n") +
                 "__host__ __device__ float get(int i) { return w[i]; }"}) {
        CAPTURE(source);
        CHECK_THAT(said_of(source), StartsWith("2: '"));
        CHECK_THAT(said_of(source), ContainsSubstring("of the host") &&
                                        ContainsSubstring("write __constant__ or __device__"));
    }
    CHECK_THAT(
        said_of("const float w[3] = {1, 2, 3};\nint main() {\n  each([] __device__ (int i) { "
                "return w[i]; });\n}"),
        StartsWith("3: 'main'"));
}

TEST_CASE("the address of a host's constant is refused in device code, its value is not") {
    for (const std::string& body : std::vector<std::string>{
             "const int* p = &n3;", "const float& r = f;", "take(f);", "take(n, n3);"}) {
        const std::string takes =
            "__device__ int take(const float& a) { return a; } __device__ int take(int a, const "
            "int& b) { return a + b; }";
        CAPTURE(body);
        CHECK_THAT(said_of(kernel(body, kConstants + takes)),
                   ContainsSubstring("needs the address of"));
    }
    CHECK_THAT(
        said_of(kernel("x[0] = p.b[n];", "struct P { int a, b[3]; }; constexpr P p = {1, {}};")),
        ContainsSubstring("needs the address of 'p'"));
}

TEST_CASE("what nvcc takes of the host's constants is taken") {
    for (const std::string& body : std::vector<std::string>{
             "x[0] = n3 + f * n3;", "x[0] = n & n3;",
             "float y[w[2]]; y[0] = sizeof(w) / sizeof(w[0]);", "constexpr int q = w[1]; x[0] = q;",
             "x[0] = g<w[1]>();", "static_assert(w[0] == 1, \"\");",
             "switch (n) { case w[0]: x[0] = 1; }", "float w[3]; w[n] = 1;",
             "const float* w = x; x[0] = w[n];", "for (int w = 0; w < n; w++) x[w] = w;",
             "float a = f(1, 2), w = 3, v; x[0] = w;", "float b[2] = {1, 2}, *w = b; x[0] = w[n];",
             "for (int i = 0, w = 1; i < n; i++) x[i] = w;", "const auto [w, v] = pair; x[0] = w;",
             "x[0] = threadIdx.x ? n3 : n;", "atomicAdd(x, f); float y[2] = {f, f}; x[0] = y[n];",
             "auto g = [w = n](int i) { return w; };", "x[0] = s.w[n] + s->w[n];",
             "x[0] = other::w(n);"}) {
        CAPTURE(body);
        CHECK(said_of(kernel(body, kConstants)).empty());
    }
    for (const std::string& source : std::vector<std::string>{
             kernel("x[0] = w[n];", "__constant__ const float w[3] = {1, 2, 3};"),
             kernel("x[0] = w[n];", "static __device__ constexpr float w[3] = {1, 2, 3};"),
             kernel("x[0] = w[n];", "CONSTANT float w[3] = {1, 2, 3};"),
             kernel("x[0] = w[n];",
                    "#ifdef A\n__constant__ float w[3];\n#else\nconst float w[3] = {1};\n#endif"),
             kernel("x[0] = w[1];", "constexpr const char* w = \"abc\";"),
             kernel("x[0] = w == x;", "float* const w = nullptr;"),
             kernel("x[0] = w.a + w.get();", "struct P { int a; }; constexpr P w = {1};"),
             kernel("x[0] = w;",
                    "constexpr int square(int n) { return n * n; } const int w = square(3);"),
             kernel(
                 "x[0] = 1;",
                 "const float w[1] = {1}; template <class T> __device__ T get() { return w[0]; }"),
             kernel(
                 "x[0] = 1;",
                 "const float w[1] = {1}; static __device__ inline float get() { return w[0]; }"),
             std::string(
                 "const float w[1] = {1}; template <class T> __global__ void k(T w) { w[0] = 1; }"),
             std::string("const float w[1] = {1}; struct S { float w[3]; __device__ float f() { "
                         "return w[1]; } };"),
             std::string("const float w[1] = {1}; float of_host(int i) { return w[i]; }"),
             std::string("const float w[1] = {1}; __host__ __device__ float f() {\n#ifdef "
                         "__CUDA_ARCH__\nreturn 1;\n"
                         "#else\nreturn w[0];\n#endif\n}"),
             std::string(
                 "int main() { const float w[1] = {1}; each([=] __device__ (int i) { return "
                 "w[i]; }); }")}) {
        CAPTURE(source);
        CHECK(said_of(source).empty());
    }
}

TEST_CASE("an array whose size is known only as the kernel runs is refused") {
    for (const std::string& body : std::vector<std::string>{
             "__shared__ float s[warpSize];", "float s[warpSize];", "float s[n];",
             "__shared__ float s[blockDim.x];", "int m = 4; half s[2 * m];"}) {
        CAPTURE(body);
        CHECK_THAT(said_of(kernel(body)), ContainsSubstring("the array 's' has"));
    }
    for (const std::string& body :
         std::vector<std::string>{"float s[kCount];", "constexpr int m = 4; float s[m];",
                                  "float s[sizeof(n)];", "using T = A; float s[T::m];",
                                  "const int m = 4; float s[m];", "int m = 3; x[m] = n;"}) {
        CAPTURE(body);
        CHECK(said_of(kernel(body)).empty());
    }
    // The compiler has to say it.
    CHECK_THAT(translate::translate(kernel("const int m = n; float s[m];"), "k.cu"),
               ContainsSubstring("-Wvla"));
    CHECK_THAT(translate::translate(kernel("x[0] = warpSize;"), "k.cu"),
               ContainsSubstring("x[0] = ::cpu_device::warp_size();"));
    CHECK_THAT(translate::translate(kernel("x[0] = p.warpSize; int warpSize = 3;"), "k.cu"),
               !ContainsSubstring("warp_size()"));
}

TEST_CASE("a static variable of device code is initialized by the compiler") {
    for (const std::string& body :
         std::vector<std::string>{"static int m = n;", "static float s[2] = {1, 2};"}) {
        CAPTURE(body);
        CHECK_THAT(translate::translate(kernel(body), "k.cu"),
                   ContainsSubstring("static CPU_DEVICE_CONSTINIT"));
    }
    for (const std::string& source : std::vector<std::string>{
             kernel("static __shared__ float s[2];"), kernel("static constexpr int m = 1;"),
             kernel("struct S { static float f() { return 1; } };"),
             "void f(int n) { static int m = n; }"}) {
        CAPTURE(source);
        CHECK_THAT(translate::translate(source, "k.cu"),
                   !ContainsSubstring("CPU_DEVICE_CONSTINIT"));
    }
}

TEST_CASE("statements that nvcc refuses are refused") {
    for (const std::string& source : std::vector<std::string>{
             kernel("throw 1;"), kernel("if (n) throw 1;"),
             kernel("try { x[0] = 1; } catch (...) {}"), kernel("x[0] = typeid(n) == typeid(x);"),
             kernel("x[0] = dynamic_cast<B*>(a) != nullptr;"), kernel("x[0] = errno;"),
             kernel("__device__ int c = 3;"), kernel("__constant__ int c;"),
             std::string("\nvoid f() { __shared__ int c[3]; }"),
             std::string("\nvoid f() { __device__ int c; }"),
             std::string("\nvoid f(int n) { each([&] __device__ (int i) { return n; }); }"),
             std::string("\nvoid f(int n) { each([=, &n] __device__ (int i) { return n; }); }"),
             std::string("\n__global__ void k(int* x, ...) {}"),
             std::string("\n__global__ auto k(int* x) {}")}) {
        CAPTURE(source);
        CHECK_THAT(said_of(source), StartsWith("2: "));
    }
    for (const std::string& source : std::vector<std::string>{
             kernel("static __device__ int c = 3; x[0] = c;"),
             kernel("auto f = [&] (int i) { return n; };"),
             std::string("__host__ __device__ void f() { throw 1; }"),
             std::string("void f() { try { } catch (...) { } }"),
             std::string(
                 "void f() { struct S { __device__ int operator()(int i) { return i; } }; }"),
             std::string(
                 "void f(int n) { each([=] __device__ (int i) { return n; }, [&] { n = 1; }); }"),
             std::string("template <class... A> __global__ void k(A... a) {}"),
             std::string("__global__ auto k(int* x) -> void {}"),
             std::string("KERNEL void f() { __shared__ int c[3]; }")}) {
        CAPTURE(source);
        CHECK(said_of(source).empty());
    }
}

TEST_CASE("the address of a tensor map of which every thread has a copy is refused") {
    const auto with = [](const std::string& parameters, const std::string& use = "f(&map);") {
        return said_of("template <int n>\n__global__ void k(" + parameters + ") { " + use + " }");
    };
    for (const std::string& parameters : std::vector<std::string>{
             "CUtensorMap map", "const CUtensorMap map, int n", "float* x, const CUtensorMap map",
             "std::array<int, 3> a, CUtensorMap map"}) {
        CAPTURE(parameters);
        CHECK_THAT(with(parameters),
                   StartsWith("2: the kernel 'k' takes the address of the tensor map 'map'") &&
                       EndsWith("write const __grid_constant__ CUtensorMap map"));
    }
    for (const std::string& parameters : std::vector<std::string>{
             "const __grid_constant__ CUtensorMap map", "const CUtensorMap* map",
             "const GRID_CONSTANT CUtensorMap map", "Maps<CUtensorMap> map", "Params map"}) {
        CAPTURE(parameters);
        CHECK(with(parameters).empty());
    }
    CHECK(with("CUtensorMap map", "g(map);").empty());
}
