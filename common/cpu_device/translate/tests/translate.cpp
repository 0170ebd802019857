// SPDX-License-Identifier: MIT
// The translator as text in, text out. launches.cu compiles and runs what it makes of real
// launches.
#include "common/cpu_device/translate/translate.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/cpu_device/translate/notes.hpp"
#include "common/testing/catch.hpp"

using translate::TranslationError;

namespace {

// The translation behind the #line with which it begins.
std::string body(const std::string& source) {
    const std::string text = translate::translate(source, "k.cu"), line = "#line 1 \"k.cu\"\n";
    return text.substr(text.find(line) + line.size());
}

// What a launch of the kernel `name` becomes, up to its configuration.
std::string launch_of(const std::string& name) {
    return "::cpu_device::named_kernel(\"" + name + "\", [=](auto... kernel_values) { " + name +
           "(kernel_values...); }, [=](auto ask_kernel) -> decltype(ask_kernel(" + name +
           ")) { return ask_kernel(" + name + "); })";
}

std::string launch_of_value(const std::string& expression) {
    return "::cpu_device::named_kernel(\"" + expression + "\", " + expression + ")";
}

size_t lines_of(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the first line names the original, quotes and backslashes escaped") {
    CHECK(translate::translate("int x;\n", "a/k.cu") == "#line 1 \"a/k.cu\"\nint x;\n");
    CHECK(translate::translate("", R"(odd\"name.cu)") == "#line 1 \"odd\\\\\\\"name.cu\"\n");
}

TEST_CASE("a launch becomes a call in place, and its arguments stay") {
    CHECK(body("k<<<g, b>>>(x, y);") == launch_of("k") + ".configured(g, b)(x, y);");
    CHECK(body("k<<<g, b, s, st>>>();") == launch_of("k") + ".configured(g, b, s, st)();");
    CHECK(body("{ n::k<a, b> <<< 1, 2 >>> (x); }") ==
          "{ " + launch_of("n::k<a, b>") + " .configured( 1, 2 ) (x); }");
}

TEST_CASE("every piece keeps its line") {
    const std::string source = "k<1,  // one\n  2>\n  <<<g,\n  b>>>(\n  x,\n  y);\nint z;\n";
    const std::string translation = body(source);
    CHECK(lines_of(translation) == lines_of(source));
    CHECK_THAT(translation, ContainsSubstring("\"k<1, 2>\""));
    CHECK_THAT(translation, EndsWith(".configured(g,\n  b)(\n  x,\n  y);\nint z;\n"));
}

TEST_CASE("what the kernel is") {
    for (const std::string name :
         {"k", "::k", "n::m::k", "k<3>", "k<A<B<3>>>", "k<(a > b)>", "n<T>::template k<3>",
          "k<'>'>", "k<1'000>", "k<sizeof(a[1])>", "n::A<T, U>::k<x>"}) {
        CHECK(body("return " + name + "<<<1, 2>>>(x);") ==
              "return " + launch_of(name) + ".configured(1, 2)(x);");
    }
    for (const std::string expression :
         {"table[i]", "pick(3)", "f<g<3>>(x)", "(*p)", "a.k", "a->k", "this->k", "a.b[2]->k",
          "(*this).k", "a.template k<3>", "decltype(a)::k", "static_cast<P>(k)", "f(x)(y)"}) {
        CHECK(body("x = 1, " + expression + "<<<1, 2>>>(x);") ==
              "x = 1, " + launch_of_value(expression) + ".configured(1, 2)(x);");
    }
}

TEST_CASE("what stands before the kernel") {
    for (const std::string before :
         {"if (a) ", "else ", "do ", "case 3: ", "while (a(b)) ", "for (;;) ", "a ? ", "a, ", "!",
          "if constexpr (a) ", "(void)", "not "}) {
        CHECK(body(before + "k<<<1, 2>>>(x);") ==
              before + launch_of("k") + ".configured(1, 2)(x);");
        CHECK(body("if (a) (*p)<<<1, 2>>>(x);") ==
              "if (a) " + launch_of_value("(*p)") + ".configured(1, 2)(x);");
    }
}

TEST_CASE("what the configuration is") {
    for (const std::string configuration :
         {"g", "dim3(1, 2, 3), 4", "dim3{1, 2, 3}, dim3{4}, 5, 6", "f<A<B<C>>>(2), 32",
          "f<1, 2, 3, 4>(5), 6", "n >> 3, 2", "(n >> 3), 2", "n<m ? 1 : 2, 3", "n < m, 3",
          "n > m, 3", "[&] { int a, b, c, d; return 1; }(), 2", "V<32>{}, 2", "1, V<32>"}) {
        CHECK(body("k<<<" + configuration + ">>>(x);") ==
              launch_of("k") + ".configured(" + configuration + ")(x);");
    }
}

TEST_CASE("launches in arguments, and several on a line") {
    const std::string launch = launch_of("k") + ".configured(1)()";
    CHECK(body("k<<<1>>>(); CHECK((k<<<1>>>(), 0)); k<<<1>>>();") ==
          launch + "; CHECK((" + launch + ", 0)); " + launch + ";");
    CHECK(body("k<<<1>>>([] { k<<<1>>>(); return 2; }());") ==
          launch_of("k") + ".configured(1)([] { " + launch + "; return 2; }());");
}

TEST_CASE("in a macro the kernel's name is made text by the preprocessor") {
    const std::string call =
        "[=](auto... kernel_values) { k(kernel_values...); }, "
        "[=](auto ask_kernel) -> decltype(ask_kernel(k)) { return ask_kernel(k); })";
    CHECK(body("#define RUN(k, ...) k<<<1, \\\n 2>>>(__VA_ARGS__)\n") ==
          "#define RUN(k, ...) ::cpu_device::named_kernel(CPU_DEVICE_TEXT(k), " + call +
              ".configured(1, \\\n 2)(__VA_ARGS__)\n");
    CHECK(body("#define HALF(k) k<<<1, 2>>>\n") ==
          "#define HALF(k) ::cpu_device::named_kernel(CPU_DEVICE_TEXT(k), " + call +
              ".configured(1, 2)\n");
    CHECK_THAT(body("#define PASTE(a) a##_k<<<1>>>()\n"),
               ContainsSubstring("CPU_DEVICE_TEXT(a##_k)"));
}

TEST_CASE("all else stays, byte for byte") {
    for (const std::string source : {"// k<<<1, 2>>>(x);\n",
                                     "/* k<<<1, 2>>>(x);\n */\n",
                                     "// ends in a backslash \\\n k<<<1>>>(x);\n",
                                     "auto a = \"k<<<1, 2>>>(x)\";\n",
                                     "auto a = \"\\\"k<<<1>>>()\";\n",
                                     "auto a = '\"'; // <<<\n",
                                     "auto a = R\"(\" k<<<1, 2>>>(x))\";\n",
                                     "auto a = R\"x()\" <<< )x\";\n",
                                     "auto a = u8R\"(<<< \\\n)\"; auto b = L\"<<<\";\n",
                                     "#error don't launch k<<<1>>>()\n",
                                     "#include <a.cuh>\n#pragma unroll\n",
                                     "friend O& operator<<<T>(O&, T);\n",
                                     "bool b = 1'0 < 2 && \"<<<\"[0] << 3;\n",
                                     "#if 0\nit's k<<<\n#endif\n",
                                     "#if 0\n#if A\n<<<\n#else\n<<<\n#endif\n#endif\n",
                                     "__shared__ float tile[32];\r\n",
                                     "extern __device__ float table[];\n",
                                     "int x = a >>> b;",
                                     "__device__ void f(int* y) { TILE y[threadIdx.x] = 1; }\n",
                                     "a\0b",
                                     "\xc3\xa4 = 1;",
                                     "'",
                                     "\"",
                                     "R\"(",
                                     "/*",
                                     "#",
                                     "#define",
                                     "\\"}) {
        CHECK(body(source) == source);
    }
    CHECK(body("#if 0\n<<<\n#else\nk<<<1>>>();\n#endif\n") ==
          "#if 0\n<<<\n#else\n" + launch_of("k") + ".configured(1)();\n#endif\n");
}

TEST_CASE("lambdas in device functions are always inlined") {
    const std::string inlined = " __attribute__((always_inline))";
    const auto device = [](const std::string& statement) {
        return "template <int n> __device__ void f() {\n" + statement + "\n}\n";
    };
    for (const auto& [before, behind] : {std::pair("auto a = [&](int i)", " { return i; };"),
                                         {"auto a = [n]() mutable", " -> int {};"},
                                         {"auto a = [=](auto x) noexcept(true)", " {};"},
                                         {"g([](float4 x)", " { return x; });"},
                                         {"return [&](int i)", " { return g(g(x[i](i))); };"},
                                         {"else [n]() throw()", " {};"},
                                         {"if (x) { [&]()", " {}(); }"}}) {
        CHECK(body(device(std::string(before) + behind)) ==
              device(std::string(before) + inlined + behind));
    }
    CHECK(body(device("auto a = [&] { return 1; };")) ==
          device("auto a = [&]()" + inlined + " { return 1; };"));
    CHECK(body(device("auto a = [](int i) { return [i](int k) { return k; }(i); };")) ==
          device("auto a = [](int i)" + inlined + " { return [i](int k)" + inlined +
                 " { return k; }(i); };"));
    for (const std::string statement :
         {"x[i](1);", "int a[3]{};", "int (&a)[2][3] = b;", "if (x) [[likely]] { y; }",
          "else [[unlikely]] { y; }", "[[maybe_unused]] int a;", "auto [a, b] = c;",
          "auto a = [&] __device__ (int i) {};", "const auto& [a, b]{c};", "auto&& [a, b](c);",
          "Two{f, g}[i](x);", "kTwo<float>[i](x);",
          "auto a = [](auto self, int i) -> int { return self(self, i - 1); };"}) {
        CHECK(body(device(statement)) == device(statement));
    }
    for (const std::string source : {"void host() { auto a = [&](int i) { return i; }; }",
                                     "auto a = [](int i) { return i; };"}) {
        CHECK(body(source) == source);
        CHECK(body("__device__ int f() {}\n" + source) == "__device__ int f() {}\n" + source);
    }
}

TEST_CASE("dynamic shared memory in functions") {
    const auto reference = [](const std::string& type, const std::string& dimensions) {
        return "{ [[maybe_unused]] extern " + type + " extern___shared___needs_one_type_for_t" +
               dimensions + "; [[maybe_unused]] auto& t = ::cpu_device::dynamic_shared<" + type +
               " " + dimensions + ">(); }";
    };
    CHECK(body("{ extern __shared__ float t[]; }") == reference("float", "[]"));
    CHECK(body("{ extern __shared__ T t[][33]; }") == reference("T", "[][33]"));
    CHECK_THAT(
        body("#define F(T, t) __device__ T* f() { extern __shared__ T t[]; return t; }\n"),
        ContainsSubstring("{ [[maybe_unused]] auto& t = ::cpu_device::dynamic_shared<T []>(); "
                          "return t; }\n"));
    for (const std::string specifiers :
         {"extern __shared__ __align__(16) unsigned char",
          "extern __align__(16) __shared__ unsigned char",
          "alignas(16) extern __shared__ unsigned char",
          "extern __shared__ alignas(16) unsigned char", "__shared__ extern unsigned char",
          "extern unsigned char __shared__",
          "extern __shared__ unsigned char __align__(sizeof(float4))"}) {
        CHECK(body("{ " + specifiers + " t[]; }") == reference("unsigned char", "[]"));
    }
    CHECK(
        body("{ extern __shared__ typename A<T>::B\n  t [] __align__(16); }") ==
        "{ [[maybe_unused]] extern typename A < T > :: B extern___shared___needs_one_type_for_t[]; "
        "[[maybe_unused]] auto& t = ::cpu_device::dynamic_shared<typename A < T > :: B "
        "[]>()\n; }");
    CHECK_THAT(body("template <class T> struct S { __device__ T* f() { extern __shared__ int t[]; "
                    "return t; } };"),
               ContainsSubstring("dynamic_shared<int []>()"));
}

TEST_CASE("dynamic shared memory in namespaces") {
    const std::string declaration = "extern __shared__ __align__(16) unsigned char bytes[]";
    const std::string alias = declaration +
                              " __asm__(\"shared_bytes\"); [[maybe_unused]] extern unsigned char "
                              "extern___shared___needs_one_type_for_bytes[];";
    for (const std::string around :
         {"@", "namespace n { @ }", "inline namespace n { namespace { @ } }", "extern \"C\" { @ }",
          "void f() { if (a) { } } @", "template <class T> struct S { int a; }; @",
          "namespace n::m { void f(); @ }",
          "\n#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n} @"}) {
        const size_t at = around.find('@');
        const auto with = [&](const std::string& text) {
            return around.substr(0, at) + text + around.substr(at + 1);
        };
        CHECK(body(with(declaration + ";")) == with(alias));
    }
    CHECK(body("extern __shared__ float t[][4] __align__(8);") ==
          "extern __shared__ float t[][4] __asm__(\"shared_bytes\") __align__(8); [[maybe_unused]] "
          "extern float "
          "extern___shared___needs_one_type_for_t[][4];");
}

TEST_CASE("the first read of a loop around an exchange becomes volatile") {
    CHECK(body("__device__ void f(int* a) { int b, o = *a, c = *a; o = atomicCAS(a, c, o); }") ==
          "__device__ void f(int* a) { int b, o = ::cpu_device::volatile_read(*a), c = *a; o = "
          "atomicCAS(a, c, o); }");
    CHECK(body("__device__ void f(int* a) { int o = a[i + 1]; o = atomicCAS(&a[i + 1], o, 2); }") ==
          "__device__ void f(int* a) { int o = ::cpu_device::volatile_read(a[i + 1]); o = "
          "atomicCAS(&a[i + 1], o, 2); }");
    const std::string other = "__device__ void f(int* a) { int o = *b; o = atomicCAS(a, o, *a); }";
    CHECK(body(other) == other);
}

TEST_CASE("the alignment behind __shared__ goes to the beginning, where C++ has it") {
    CHECK(body("__device__ void f() { static __shared__ alignas(T) float t[n]; }") ==
          "__device__ void f() { alignas(T) static __shared__  float t[n]; }");
    CHECK(body("__device__ void f() { __shared__ __align__(16) float t[n]; }") ==
          "__device__ void f() { __shared__ __align__(16) float t[n]; }");
}

TEST_CASE("a kernel begins with a call that knows its bounds") {
    CHECK(body("__global__ void k(int* x) {\n    x[0] = 1;\n}\n") ==
          "__global__ void k(int* x) {\n    CPU_DEVICE_BEGIN_KERNEL(\"k\", (~0ull)) x[0] = "
          "1;\n}\n");
    CHECK_THAT(
        body("template <int n = (1 > 0)> __global__ void __launch_bounds__(f(n, 2), 3) k() {}"),
        ContainsSubstring("BEGIN_KERNEL(\"k\", (f(n, 2)), (3)) }"));
    CHECK_THAT(body("__global__ void __launch_bounds__(n<T, 2>, 3) k() {}"),
               ContainsSubstring("BEGIN_KERNEL(\"k\", (n<T, 2>), (3)) }"));
    for (const std::string source :
         {"__global__ void k();", "__device__ int f() { return 1; }",
          "template <class T> struct S { void k() {} int x = 1; };", "void host() { k(); }"}) {
        CHECK(body(source) == source);
    }
}

TEST_CASE("clusters that a kernel names are made known behind it") {
    CHECK(body("__global__ void __cluster_dims__(2, 1) k() { x(); }") ==
          "__global__ void __cluster_dims__(2, 1) k() { CPU_DEVICE_BEGIN_KERNEL(\"k\", (~0ull)) "
          "::cpu_device::require_clusters(2, 1); x(); } [[maybe_unused]] static const "
          "::cpu_device::KnownClusters cpu_device_clusters_of_k(\"k\", 2, 1);");
    CHECK_THAT(
        body("template <int n, class T> __global__ void __cluster_dims__(n, f<n, 2>()) k() {}"),
        EndsWith("require_clusters(n, f<n, 2>()); struct cpu_device_clusters {}; "
                 "(void)::cpu_device::clusters_of_instance<cpu_device_clusters, (n), (f<n, "
                 "2>())>.kernel; }"));
}

TEST_CASE(
    "a kernel whose address an auto variable keeps is made known, as one that is cast to void*") {
    const std::string kernel = "template <class T> __global__ void k(T x) {}\n";
    CHECK_THAT(body(kernel + "void f() { auto* p = &k<decltype(x)>; }"),
               EndsWith("auto* p = ::cpu_device::known_kernel(&k<decltype(x)>); }"));
    CHECK_THAT(body(kernel + "void f() { constexpr auto p = k<int>; void (*q)(int) = k<int>; }"),
               EndsWith("constexpr auto p = k<int>; void (*q)(int) = k<int>; }"));
}

TEST_CASE("classes, and types of shared variables, are made known") {
    for (const std::string source :
         {"struct S { int x; };", "class alignas(16) S : B<int> { int x; };", "union S { int x; };",
          "struct S final { int x; };", "typedef struct T { int x; } S, *P;",
          "typedef struct { int x; } S;"}) {
        CHECK(body(source) == source + " CPU_DEVICE_KNOW_CLASS(S)");
    }
    for (const std::string source :
         {"struct S;", "struct S f() { return x; }", "template <class T> struct S { T x; };",
          "enum class S { a };", "struct { int x; } s;", "struct S s = {1};", "struct S s{1};"}) {
        CHECK(body(source) == source);
    }
    CHECK(body("__device__ void f() { __shared__ Pair<int, T> s[4], t; }") ==
          "__device__ void f() { __shared__ Pair<int, T> s[4], t; CPU_DEVICE_KNOW_TYPE_OF(s) }");
}

TEST_CASE("a __shared__ variable of a class that is defined with it stays as it is") {
    const std::string source = "__device__ void f() { __shared__ union { int a; T b; } x; }";
    CHECK(body(source) == source);
}

TEST_CASE("variables of the device are made known behind their declarations") {
    const std::string aligned =
        " CPU_DEVICE_CONSTINIT __attribute__((aligned(::cpu_device::kVariableAlignment)))";
    const auto known = [](const std::string& name) {
        return " [[maybe_unused]] static const ::cpu_device::KnownVariable cpu_device_knows_" +
               name + "(&" + name + ", sizeof " + name + ", \"" + name + "\");";
    };
    CHECK(body("namespace n {\n__constant__ float c[] = {1, 2};\n}") ==
          "namespace n {\n__constant__" + aligned + " float c[] = {1, 2};" + known("c") + "\n}");
    CHECK(body("static __device__ unsigned a = f(1), b[3];") ==
          "static __device__" + aligned + " unsigned a = f(1), b[3];" + known("a") + known("b"));
    CHECK(body("__managed__ int m;") ==
          "__managed__" + aligned + " int m; [[maybe_unused]] static const ::cpu_device::" +
              "KnownVariable cpu_device_knows_m(&m, sizeof m, \"m\", true);");
    for (const std::string source : {"extern __device__ int x;", "extern __constant__ int x[];",
                                     "__shared__ int x[3];", "int x;"}) {
        CHECK(body(source) == source);
    }
}

TEST_CASE("what calls itself is really called") {
    CHECK(body("__device__ int f(int n) { return n ? f(n - 1) : 0; }") ==
          " int f(int n) { return n ? f(n - 1) : 0; }");
    const std::string overloads =
        "__device__ int f(int n) { return n; }\n__device__ int f(int2 n) { return f(n.x); }";
    CHECK(body(overloads) == overloads);
}

TEST_CASE("what another file may define is really called") {
    CHECK(body("__device__ int f(int x);\nstruct S { __device__ int g() const; };") ==
          " int f(int x);\nstruct S {  int g() const; }; CPU_DEVICE_KNOW_CLASS(S)");
    for (const std::string source :
         {"__device__ int f(int x) { return x; }", "template <class T> __device__ T f(T x);",
          "__device__ S::S() = default;", "__global__ void k(int* x);"}) {
        CHECK(body(source) == source);
    }
}

TEST_CASE("kernels lose the casts behind which their parameters are unknown") {
    CHECK(body("cudaLaunchKernel((const void*)k, g, b, a);") == "cudaLaunchKernel(k, g, b, a);");
    CHECK(body("cudaLaunchKernel(reinterpret_cast<void*>(&k<float>), g, b, a);") ==
          "cudaLaunchKernel((&k<float>), g, b, a);");
}

// The C++ of an asm statement in a device function, without the namespaces.
std::string of_asm(const std::string& statement) {
    std::string text = body("__device__ void f() { " + statement + " }");
    for (size_t at = 0; (at = text.find("::cpu_device::ptx::")) != std::string::npos;)
        text.erase(at, std::string("::cpu_device::ptx::").size());
    for (size_t at = 0; (at = text.find("cpu_device_")) != std::string::npos;)
        text.erase(at, std::string("cpu_device_").size());
    const size_t open = text.find('{') + 2;
    return text.substr(open, text.rfind('}') - 1 - open);
}

TEST_CASE("inline PTX becomes a call an instruction, with its suffixes as types") {
    CHECK(of_asm(R"(asm("bar.sync 0;");)") ==
          "do { { op_bar<mods<dot_sync>>(Integer{static_cast<long long>(0ull)}); } } while (0);");
    CHECK(
        of_asm(R"(asm volatile("add.s32 %0, %0, %1;" : "+r"(x[1]) : "r"(f(a, b)) : "memory");)") ==
        "do { auto&& o0 = (x[1]); auto r0 = old<'r'>(o0); [[maybe_unused]] const auto r1 = "
        "take<'r'>(f(a, b)); { op_add<mods<dot_s32>>(r0, r0, r1); } give<'r'>(o0, r0); } while "
        "(0);");
    CHECK_THAT(
        of_asm(R"(asm("{ .reg .pred p; @!p ld.global.L1::no_allocate.v2.b32 {%0, _}, [%1 + -8]; }"
                          : "=f"(x) : "l"(y));)"),
        ContainsSubstring("Register<dot_pred> v_p_1{}; ") &&
            ContainsSubstring("if (!v_p_1) { op_ld<mods<dot_global, dot_L1_no_allocate, "
                              "dot_v2, dot_b32>>(list(r0, Sink{}), at(sum(r1, "
                              "Integer{static_cast<long long>(-8ll)}))); }") &&
            ContainsSubstring("old<'f'>"));
    CHECK_THAT(of_asm(R"(asm("L: mov.f32 %0, 0f3F800000; bra L;" : "=f"(x));)"),
               StartsWith("do { __label__ l_L_0; ") &&
                   ContainsSubstring("l_L_0: __attribute__((unused)); { op_mov<mods<dot_f32>>(r0, "
                                     "Single{0x3F800000u}); } { goto l_L_0; } "));
    CHECK_THAT(of_asm(R"(asm("mov.u32 %0, %%tid.x;" : "=r"(x)); asm("trap;");)"),
               ContainsSubstring("(r0, special_tid_x())") &&
                   EndsWith("{ op_trap<mods<>>(); } } while (0);"));
    // Macros: parts of the text, which their parameters may be, and of the operands.
    CHECK(body("#define BOTH \"sync.\"\n#define F(op, x) asm(\"redux.\" BOTH #op \".s32 %0, %0, "
               "-1;\" \\\n : \"+r\"(x))\n")
              .find("dot_sync, ::cpu_device::ptx::dot_##op, ::cpu_device::ptx::dot_s32>>(") !=
          std::string::npos);
    CHECK_THAT(body("#define F(x) asm(\"mov.b32 %0, 1;\" \\\n : \"=r\"(x))\nint y;\n"),
               EndsWith("while (0)\\\n\nint y;\n"));
}

TEST_CASE("inline PTX keeps its lines, and what is unknown stops the compiler at its own") {
    const std::string text =
        "__device__ void f() {\n    asm(\"mov.b32 %0, %1;\"\n        : \"=r\"(x)\n        : "
        "\"r\"(a[\n            i]));\n    y;\n}\n";
    CHECK_THAT(body(text), ContainsSubstring("\n#line 3\nauto&& cpu_device_o0 = (x\n#line 2\n") &&
                               ContainsSubstring("take<'r'>(a[ i]\n#line 2\n") &&
                               EndsWith("while (0)\n#line 5\n;\n    y;\n}\n"));
    const auto refused = [](const std::string& statement) {
        const std::string said = of_asm(statement);
        const std::string begins =
            "do { struct Inline_ptx { __attribute__((noinline, error(\"inline PTX that the CPU "
            "device does not know: ";
        return said.compare(0, begins.size(), begins) == 0
                   ? said.substr(begins.size(), said.find('"', begins.size()) - begins.size())
                   : "";
    };
    CHECK(refused(R"(asm("tcgen05.fence::after_thread_sync;");)") ==
          "the instruction 'tcgen05.fence::after_thread_sync'");
    CHECK(refused(R"(asm("st.bulk.weak.shared::cta [%0], 8, 0;" :: "r"(x));)") ==
          "the instruction 'st.bulk.weak.shared::cta'");
    CHECK_THAT(
        body("#define F asm(\"tcgen05.wait::ld.sync.aligned;\" ::: \"memory\")\n"),
        StartsWith(
            "#define F do { struct Inline_ptx { __attribute__((noinline, error(\"inline PTX"));
    CHECK(refused(R"(asm("mov.b32 %1, 0;" : "=r"(x));)") == "'%1', and it has 1 operands");
    CHECK(refused(R"(asm("mov.b32 %0, y;" : "=r"(x));)") == "'y' is declared nowhere in it");
    CHECK(refused(R"(asm("mov.b32 %0, %%tid.w;" : "=r"(x));)") == "the register %tid.w");
    CHECK(refused(R"(asm("mov.b32 %0, 0" : "=r"(x));)") == "no ';' behind 'mov.b32 %0, 0'");
    CHECK(refused(R"(asm("mov.b32 %0, 0;" : "=m"(x));)") ==
          "the constraint  =m ; it knows h, r, l, q, f, d and n");
    CHECK(refused(R"(asm("{ mov.b32 %0, 0;" : "=r"(x));)") == "a '{' that nothing closes");
    // The host's own, and a barrier for the compiler.
    CHECK(body("void f() { asm(\"pause\"); }") == "void f() { asm(\"pause\"); }");
    CHECK(of_asm(R"(asm volatile("" ::: "memory");)") == "do { } while (0);");
    CHECK(of_asm(R"(asm volatile("// c" : "+f"(c[i]), "=r"(x) : "r"(y) : "memory");)") ==
          "do { [[maybe_unused]] auto&& o0 = (c[i]); [[maybe_unused]] auto&& o1 = (x); "
          "static_cast<void>(sizeof(y)); } while (0);");
}

TEST_CASE("wgmma gets its accumulators themselves, and its immediates as types") {
    const std::string tf32 =
        R"(asm("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1}, %2, %2, 1, -1, %3;")";
    CHECK(of_asm(tf32 + R"( : "+f"(c[0]), "+f"(c[1]) : "l"(d), "n"(N));)") ==
          "do { auto&& o0 = (c[0]); auto&& o1 = (c[1]); [[maybe_unused]] const auto r2 = "
          "take<'l'>(d); [[maybe_unused]] constexpr Integer r3{static_cast<long long>(N)}; { "
          "op_wgmma_mma_async<mods<dot_sync, dot_aligned, dot_m64n8k8, dot_f32, dot_tf32, "
          "dot_tf32>>(list(r2, r2, Constant<Integer{static_cast<long long>(1ull)}.value>{}, "
          "Constant<Integer{static_cast<long long>(-1ll)}.value>{}, Constant<r3.value>{}), "
          "accumulator<'f'>(o0), accumulator<'f'>(o1)); } } while (0);");
    CHECK_THAT(body("#define F(N) asm(\"wgmma.mma_async.sync.aligned.m64n\" #N \"k16.f32.f16.f16 "
                    "{%0}, %1, %1, 1, 1, 1, 0, 0;\" : \"+f\"(x) : \"l\"(d))\n"),
               ContainsSubstring("dot_m64n##N##k16, "));
    CHECK_THAT(of_asm(R"(asm("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0}, %1, %1, 1, "
                             "1, 1; mov.b32 %0, 0;" : "+f"(x) : "l"(d));)"),
               ContainsSubstring("'%0' is an accumulator of its wgmma"));
    CHECK_THAT(of_asm(R"(asm("{ .reg .f32 x; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 "
                             "{x}, %0, %0, 1, 1, 1; }" :: "l"(d));)"),
               ContainsSubstring("wgmma's accumulator 'x'"));
    CHECK_THAT(of_asm(R"(asm("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0}, %1, %1, "
                             "x, 0, 1, 1, 1, 0, 0;" : "+f"(x) : "l"(d));)"),
               ContainsSubstring("the instruction 'wgmma.mma_async.sp."));
    CHECK(of_asm(R"(asm("setmaxnreg.dec.sync.aligned.u32 40;");)") ==
          "do { { op_setmaxnreg<mods<dot_dec, dot_sync, dot_aligned, dot_u32>>("
          "Constant<Integer{static_cast<long long>(40ull)}.value>{}); } } while (0);");
}

TEST_CASE("operands may stand in macros") {
    const std::string macros =
        "#define TWO(i) \"+f\"(d[i]), \"+f\"(d[(i) + 1])\n"
        "#define FOUR(i) TWO(i), TWO(i + 2)\n";
    const std::string text = "asm(\"add.f32 %0, %1, %2; add.f32 %3, %3, %4;\" : ";
    const auto of = [&](const std::string& operands) {
        std::string code = body(macros + "__device__ void f(float* d, float x) { " + text +
                                operands + " : \"f\"(x)); }\n");
        code.erase(std::remove(code.begin(), code.end(), ' '), code.end());
        return code.substr(code.find("void"));
    };
    CHECK(of("FOUR(4)") ==
          of("\"+f\"(d[4]), \"+f\"(d[(4) + 1]), \"+f\"(d[4 + 2]), \"+f\"(d[(4 + 2) + 1])"));
    CHECK_THAT(of("FOUR(4)"), ContainsSubstring("cpu_device_o3=(d[(4+2)+1])"));
    CHECK_THAT(of("\"+f\"(d[0]), TWO(1), \"+f\"(d[9])"), ContainsSubstring("cpu_device_o3=(d[9])"));
}

TEST_CASE("text of inline PTX may stand in macros that use each other") {
    const std::string macros =
        "#define FIRST \"%0\"\n#define BOTH FIRST \", %1\"\n#define ROUND BOTH ROUND\n";
    const auto of = [&](const std::string& operands) {
        const std::string code =
            body(macros + "__device__ void f(int& x, int y) { asm(\"mov.b32 \" " + operands +
                 " \";\" : \"=r\"(x) : \"r\"(y)); }\n");
        return code.substr(code.find("void"));
    };
    CHECK(of("BOTH") == of("\"%0, %1\""));
    CHECK_THAT(of("ROUND"), ContainsSubstring("its text is no string literal"));
}

TEST_CASE("inline PTX with an #if inside becomes a statement a branch") {
    // As lines: what the preprocessor would leave of the body for these macros.
    const auto chosen = [](const std::string& source) {
        std::string text = body("__device__ void f() {\n" + source + "\n}\n");
        for (size_t at = 0; (at = text.find("::cpu_device::ptx::")) != std::string::npos;)
            text.erase(at, std::string("::cpu_device::ptx::").size());
        return text;
    };
    const std::string two = chosen(
        "asm volatile(\n#if A && __CUDA_ARCH__ >= 800\n\"mov.b32 %0, 1;\" : "
        "\"=r\"(x),\n#else\n\"mov.b32 %0, "
        "%1;\" : \"=r\"(y),\n#endif\n\"+r\"(z));\nw;");
    CHECK_THAT(
        two,
        StartsWith("__device__ void f() {\n\n#line 3\n\n#if A && DEVICE_ARCH__ >= 800\n#line 2\n"));
    CHECK_THAT(
        two,
        ContainsSubstring(
            "{ op_mov<mods<dot_b32>>(cpu_device_r0, Integer{static_cast<long long>(1ull)}); }"));
    CHECK_THAT(two, ContainsSubstring("while (0)\n#else\n#line 2\ndo { "));
    CHECK_THAT(two, ContainsSubstring("{ op_mov<mods<dot_b32>>(cpu_device_r0, cpu_device_r1); }"));
    CHECK_THAT(two, EndsWith("while (0)\n#endif\n#line 2\n\n#line 8\n;\nw;\n}\n"));
    CHECK(two.find("(y\n#line") > two.find("#else"));
    // Without #else, and one inside of the other.
    const std::string nested = chosen(
        "asm(\"{\"\n#ifdef A\n\"mov.b32 %0, 1;\"\n#if B\n\"trap;\"\n#elif "
        "C\n\"nothing.of;\"\n#endif\n#endif\n\"}\" : "
        "\"=r\"(x));");
    CHECK_THAT(nested, ContainsSubstring("op_trap"));
    CHECK_THAT(nested, ContainsSubstring("\n#elif C\n"));
    CHECK_THAT(nested, ContainsSubstring(
                           "inline PTX that the CPU device does not know: the instruction "
                           "'nothing.of'\"))) static void unknown() { asm volatile(\"\"); } }; "
                           "Inline_ptx::unknown(); } while (0)\n#else\n"));
    CHECK_THAT(nested, EndsWith("while (0)\n#endif\n#line 2\n\n#line 11\n;\n}\n"));
}

TEST_CASE("a macro's parameter may be a part of inline PTX's text") {
    const std::string macro =
        "  #define F(op, x, y) do { asm(\"add.\" op \" %0, %1, 1;\" : \"=r\"(x) : \"r\"(y)); } "
        "while (0)\n";
    std::string text = body(macro +
                            "#define ALL F(\"s32\", a, b)\n__device__ void f() { F(\"u\" \"32\", "
                            "c[1, 2], g(d, e)); ALL; F(\"s32\", h, i); }\n");
    for (size_t at = 0; (at = text.find("::cpu_device::ptx::")) != std::string::npos;)
        text.erase(at, std::string("::cpu_device::ptx::").size());
    CHECK_THAT(text, StartsWith("  #define F_cpu_device_0(op, x, y) do {"));
    CHECK_THAT(text, ContainsSubstring("{ op_add<mods<dot_u32>>(cpu_device_r0, cpu_device_r1, "
                                       "Integer{static_cast<long long>(1ull)}); }"));
    CHECK_THAT(text, ContainsSubstring("take<'r'>(y); { op_add<mods<dot_s32>>"));
    CHECK_THAT(text, ContainsSubstring("\n#line 1\n#define F(op, x, y)"));
    CHECK_THAT(text, ContainsSubstring("#define ALL F_cpu_device_1(\"s32\", a, b)\n"));
    CHECK_THAT(text, EndsWith("F_cpu_device_0(\"u\" \"32\", c[1, 2], g(d, e)); ALL; "
                              "F_cpu_device_1(\"s32\", h, i); }\n"));
    // Of anything else it says nothing.
    CHECK_THAT(body(macro + "#define G(op) F(op, a, b)\n"),
               EndsWith("#define G(op) F(op, a, b)\n"));
}

TEST_CASE("a byte order mark goes, several barriers of one line are told apart") {
    CHECK(body("\xEF\xBB\xBFint x;\n") == "int x;\n");
    CHECK(body("if (a) __syncthreads(); else __syncthreads();\n__syncthreads();") ==
          "if (a) __syncthreads(); else ::cpu_device::block_barrier_of_line(1);\n__syncthreads();");
}

TEST_CASE("what cannot be translated is an error that says what can") {
    struct Case {
        std::string source;
        size_t line;
        std::string message;
    };
    const std::vector<Case> cases = {
        {"\n<<<1, 2>>>(x);", 2, "no kernel stands before"},
        {"k +\n<<<1, 2>>>(x);", 2, "no kernel stands before"},
        {"return <<<1, 2>>>(x);", 1, "no kernel stands before"},
        {"#define BLOCKS \\\n <<<1, 2>>>\n", 2, "no kernel stands before"},
        {"[] {}<<<1>>>();", 1, "no kernel stands before"},
        {"int a;\nk>\n<<<1, 2>>>(x);", 2, "no '<' opens"},
        {"k<a > b><<<1, 2>>>(x);", 1, "comparisons"},
        {"k)<<<1, 2>>>(x);", 1, "nothing opens"},
        {"f(\n\nk<<<1, 2>>(x));", 3, "no '>>>' closes"},
        {"k<<<1, 2;\n>>>(x);", 1, "no '>>>' closes"},
        {"k<<<1, 2> >>(x);", 1, "no '>>>' closes"},
        {"\n\nk<<<>>>(x);", 3, "one to four values"},
        {"k<<<1, 2, 3, 4, 5>>>(x);", 1, "one to four values"},
        {"k<<<1, 2>>>;", 1, "arguments must follow"},
        {"k<<<1, 2>>>", 1, "arguments must follow"},
        {"{\n extern __shared__ float x; }", 2, "extern __shared__ T name[]"},
        {"extern __shared__ float a[], b[];", 1, "one array a declaration"},
        {"extern __shared__ float (*a)[];", 1, "extern __shared__ T name[]"},
        {"extern __shared__ a[];", 1, "extern __shared__ T name[]"},
        {"#define S \\\n extern __shared__ int t[];\n", 2, "outside of macros"},
        {"float f(float);\nfloat f(float x) { return x; }\n__device__ float g() {\nreturn f(1); }",
         4, "'g' runs on the device and calls 'f', a function of the host"},
        {"__global__ void k(int** p) {\n*p = new int(3); }", 2, "'new' in a kernel"},
        {"__global__ void k(void** p) {\n*p = malloc(3); }", 2, "'malloc' in a kernel"},
        {"__global__ void k() {\nstd::cout << 1; }", 2,
         "'k' runs on the device and uses 'std::cout'"},
        {"__device__ float f(float x) { return x; }\nint main() {\nreturn f(1); }", 3,
         "'main' runs on the host and calls 'f', a function of the device"},
        {"float at(float* x) {\nreturn x[threadIdx.x]; }", 2,
         "'at' runs on the host and asks for 'threadIdx'"},
        {"__global__ void k(int* x) {\n*x = __shfl_down(*x, 1); }", 2, "has no mask"},
        {"struct A { void add() {} };\n__global__ void k(A* a) {\na->add(); }", 3,
         "'k' runs on the device and calls 'A::add', a function of the host"},
        {"template <class T> class A { public: void add(T); };\n__device__ void f(A<int>& a) {\n"
         "a.add(1); }",
         3, "calls 'A::add', a function of the host"},
        {"struct A { A() {} };\n__global__ void k() {\nA a; }", 3,
         "'k' runs on the device and makes a 'A', whose constructor is a function of the host"},
        {"struct F { int operator()(int x) const { return x; } };\n__device__ int g(F f) {\n"
         "return f(1); }",
         3, "calls 'F', whose operator() is a function of the host"},
        {"struct F { int operator()(int x) const { return x; } };\nint main() {\n"
         "k<<<1, 2>>>(x, F{}); }",
         3, "a kernel gets a 'F', whose operator() is a function of the host"},
        {"int main() {\nk<<<1, 2>>>(x, [=](int i) { return i; }); }", 2, "[=] __device__ (int i)"},
        {"int main() {\nauto f = [](int i) { return i; };\nk<<<1, 2>>>(f, 3); }", 2,
         "a kernel gets a lambda that is a function of the host"},
        {"template <class F> void each(F f, int* x) { k<<<1, 2>>>(f, x); }\nint main() {\n"
         "each([=](int i) { return i; }, x); }",
         3, "a kernel gets a lambda that is a function of the host"},
        {"struct F { int operator()(int x) const { return x; } };\n"
         "template <class T> struct Holds { T held; __device__ T operator()() { return held; } };\n"
         "template <class T> void run(int n, T t) { k<<<1, 2>>>(t); }\n"
         "template <class T> void each(T&& t, int* x) {\n"
         "run<Holds<T>>(2, Holds<T>(std::forward<T>(t))); }\nint main() { F f;\neach(f, x); }",
         7, "a kernel gets a 'F', whose operator() is a function of the host"},
        {"struct F { int operator()(int x) const { return x; } };\n"
         "template <class T> void launch(int n, const T& t, int* x) { k<T><<<1, n>>>(t, x); }\n"
         "template <class T> void each(T&& t, int* x) { launch(32, std::forward<T>(t), x); }\n"
         "int main() {\neach(F{}, nullptr); }",
         5, "a kernel gets a 'F', whose operator() is a function of the host"},
        {"int twice(int x) { return 2 * x; }\nint main() {\nk<<<1, 1>>>(x, twice); }", 3,
         "a kernel gets the address that 'twice' has on the host"},
        {"int main() { std::function<int(int)> any;\nk<<<1, 1>>>(x, any); }", 2,
         "a kernel gets 'any', a std::function"},
        {"__device__ void almost(int* x) {}\nint main() {\nalmost<<<1, 1>>>(nullptr); }", 3,
         "'almost' is launched, and is a function of the device"},
        {"template <class T>\n__global__ void k(const T& by, float* x) {}", 2, "takes a reference"},
        {"__global__ int k(float* x) { return 0; }", 1, "returns something"},
        {"__global__ void k(int* x) {\n__shared__ int count = 0; }", 2, "'count' is __shared__"},
        {"__global__ void k(int* x) {\nx[0] = rand(); }", 2, "calls 'rand'"},
        {"#include <cuda.h>\n#include <cuda_awbarrier.h>", 2, "<cuda_awbarrier.h> is a part of"},
        {"#include <math_functions.h>\n#include \"cuda_awbarrier.h\"", 2,
         "\"cuda_awbarrier.h\" is a part of"},
        {"struct A {\nstatic __global__ void k(int* x) {} };", 2, "'k' is a member of a class"},
        {"\n__global__ void k() { typedef cub::BlockRadixRank<128, 4, false> Rank; }", 2,
         "cub::BlockRadixRank: the CPU device's CUB does not have it"},
        {"#include <vector>\n#include <npp.h>\nint x;", 2, "<npp.h> is a part of the CUDA toolkit"},
        {"__global__ void k(int* x) {\nstd::swap(x[0], x[1]); }", 2, "uses 'std::swap'"},
        {"\ntexture<float, 2, cudaReadModeElementType> t;", 2, "gone from CUDA 12"},
        {"int main() { cuModuleLoadData(m, p); }", 1, "driver API"},
    };
    for (const Case& wrong : cases) {
        INFO(wrong.source);
        try {
            translate::translate(wrong.source, "k.cu");
            FAIL_CHECK("was translated");
        } catch (const TranslationError& error) {
            CHECK(error.line() == wrong.line);
            CHECK_THAT(error.what(), ContainsSubstring(wrong.message));
        }
    }
}

TEST_CASE("a kernel of an included file may be called as a function of this one") {
    const std::string source = "void run() {\nrun<1><<<1, 1>>>(); }";
    const auto header = translate::functions_of("template <int n> __global__ void run() {}");
    CHECK_NOTHROW(translate::translate(source, "k.cu", header));
    CHECK_THROWS(translate::translate(source, "k.cu"));
}

TEST_CASE("what may be called on the host as well is no error there") {
    const std::string overloaded =
        "__device__ int f(int);\n__device__ int f(int x) { return x; }\n"
        "int f(float);\nint main() { return f(1.f); }";
    for (const std::string& source : std::vector<std::string>{
             "__host__ __device__ int f(int x) { return x; }\nint main() { return f(1); }",
             "__device__ constexpr int f() { return 1; }\nint main() { return f(); }",
             "BOTH __device__ int f() { return 1; }\nint main() { return f(); }",
             overloaded,
             "__device__ int f() { return 1; }\nint main() { int f = 2; return f; }",
             "__device__ int f() { return 1; }\nint main() { each([=] __device__() { f(); }); }",
             "template <class T> int g() { return threadIdx.x; }",
             "DEVICE int g() { return threadIdx.x; }",
             "int main() { dim3 threadIdx; return threadIdx.x; }",
             "struct A { void sync() {} };\n__global__ void k(Block b) { b.sync(); }",
             "struct A { __device__ void f() {} void f(int); };\n__global__ void k(A a) { a.f(); }",
             "struct A { HD A() {} HD void add() {} };\n__global__ void k() { A a; a.add(); }",
             "struct A { A() {} };\n__global__ void k(A a) { A b = a; A c(b); A* p = &c; }",
             "struct A { A() = default; };\n__global__ void k() { A a; }",
             "int main() { k<<<1, 2>>>([=] __device__(int i) { return i; }, [] HD(int i) {}); }",
             R"(template <class F> void each(F f, int* x) { k<<<1, 2>>>(f(1), f.x, x); }
int main() { each([](int i) { return i; }, x); })",
             R"(template <class F> void each(F f) { k<<<1, 2>>>(f); }
int main() { each([=] __device__(int i) { return i; }); each(f(1)); })",
             R"(template <class F> void each(F f) { k<<<1, 2>>>(f); }
void each(int, int) {}
int main() { each([](int i) { return i; }, 2); })",
             "#ifdef NPP\n#include <npp.h>\n#endif",
             "#include <cub/util_type.cuh>",
             "template <> __global__ void k<int>(int* x) {}\nint main() { std::string s; }",
             R"(template <> __device__ int f<int>(int x) { return x; }
template <class T> T g(const std::string& s) { return 1; })",
             "__global__ void k(int n) { for (int i = 0; i * N < n; i++) { int x[N]; } }",
             R"(namespace a { inline int max(int, int) { return 1; } }
__global__ void k(int* x) { *x = max(1, 2); })",
             "int main() { auto f = [](int i) { return i; }; k<<<1, f(2)>>>(f(3)); }",
             "template <class F> void launch(F f) { k<<<1, 2>>>(f); }",
             "__global__ void k(int* x) { cuda::std::swap(x[0], x[1]); }",
             "__host__ __device__ void f() { std::cout << 1; }"}) {
        INFO(source);
        CHECK_NOTHROW(translate::translate(source, "k.cu"));
    }
}

TEST_CASE("what nvcc takes if it is told to is no error, and is said") {
    const auto said_of = [](const std::string& source) {
        std::string said;
        for (const translate::Note& note : translate::notes_on(source))
            said += std::to_string(note.line) + ": " + note.text + "\n";
        return said;
    };
    CHECK_THAT(
        said_of("__global__ void k(int* x) {\n*x = std::max(x[0], x[1]); }"),
        ContainsSubstring("2: 'k' runs on the device and uses 'std::max', which is constexpr "
                          "and for the host") &&
            ContainsSubstring("--expt-relaxed-constexpr; write the same without std::"));
    CHECK_THAT(said_of("constexpr int half(int x) { return x / 2; }\n"
                       "__device__ int f() {\nreturn half(2) + half(3); }"),
               StartsWith("3: 'f' runs on the device and uses 'half'") &&
                   EndsWith("write __device__ before its definition\n"));
    CHECK_THAT(said_of("__device__ float f() { return -std::numeric_limits<float>::infinity(); }"),
               ContainsSubstring("write INFINITY"));
    for (const char* source :
         {"int main() { return std::max(1, 2); }",
          "__host__ __device__ int f() { return std::max(1, 2); }",
          "__device__ constexpr int f() { return 1; }\n__device__ int g() { return f(); }",
          "__device__ int f(int x) { return cuda::std::max(x, 2); }",
          "__device__ float f(float x) { return std::sqrt(x) + max(x, 2.f); }"})
        CHECK(said_of(source).empty());
}

TEST_CASE("the program leaves a translation or an error, never half of one") {
    const std::string folder = TRANSLATE_TEST_FOLDER;
    const std::string in = folder + "/in.cu";
    const std::string out = folder + "/made/by/it/out.cu";
    const std::string log = folder + "/log";
    const auto run = [&](const std::string& arguments) {
        return std::system((TRANSLATE_PROGRAM " " + arguments + " 2> '" + log + "'").c_str()) / 256;
    };
    const std::string files = "'" + in + "' '" + out + "'";

    std::ofstream(in) << "k<<<1, 2>>>(x);\n";
    CHECK(run(files) == 0);
    CHECK(read(out) == translate::translate(read(in), in));
    CHECK(read(log).empty());

    std::ofstream(in) << "\nk<<<1, 2>>>;\n";
    CHECK(run(files) == 1);
    CHECK_FALSE(std::ifstream(out).is_open());
    CHECK_THAT(read(log), StartsWith(in + ":2: error: "));

    CHECK(run("'" + folder + "/no such file' '" + out + "'") == 1);
    CHECK_THAT(read(log), ContainsSubstring("cannot be read"));
    std::ofstream(in) << "int x;\n";
    CHECK(run("'" + in + "' /proc/out.cu") == 1);
    CHECK_THAT(read(log), ContainsSubstring("/proc/out.cu: error: cannot be written"));
    CHECK(run("") == 2);
    CHECK_THAT(read(log), StartsWith("usage:"));
}

TEST_CASE("macros that stand for __device__ and __global__") {
    const std::string gpu = "#define GPU static __device__\n";
    CHECK(body(gpu + "GPU int f();\n") == gpu + "GPU int f();\n");
    CHECK_THAT(body(gpu + "GPU int f() { return warpSize; }\n"),
               ContainsSubstring("return ::cpu_device::warp_size()"));
    CHECK_THAT(body("#define A B void\n#define B __global__\nA k() {}\n"),
               ContainsSubstring("CPU_DEVICE_BEGIN_KERNEL(\"k\""));
    CHECK_THAT(body("#define GPU __device__\nGPU int a[3];\n"),
               ContainsSubstring("cpu_device_knows_a(&a"));
    CHECK(body("#define F(x) __device__ x\nF(int f()) { return warpSize; }\n") ==
          "#define F(x) __device__ x\nF(int f()) { return warpSize; }\n");
}

TEST_CASE("a macro may be a pragma") {
    CHECK(body("#define UNROLL #pragma unroll (4)\nUNROLL\n") ==
          "#define UNROLL _Pragma(\"unroll (4)\")\nUNROLL\n");
    CHECK(lines_of(body("#define UNROLL \\\n # pragma \\\n unroll\nint x;\n")) == 4);
    CHECK(body("#define TEXT(pragma) #pragma\n") == "#define TEXT(pragma) #pragma\n");
}

namespace {

// A question for __CUDA_ARCH__ of two lines, and its translation where the device's view holds.
const std::string kAsks = "\n#if __CUDA_ARCH__ >= 800 // __CUDA_ARCH__\nx;\n#endif\n";
const std::string kAnswered = "\n#if DEVICE_ARCH__ >= 800 // __CUDA_ARCH__\nx;\n#endif\n";

}  // namespace

TEST_CASE("where __CUDA_ARCH__ is asked for decides whose view holds") {
    for (const std::string around : {
             "@",
             "namespace n {@}",
             "struct S {@};",
             "__device__ void f() {@}",
             "template <class TA> __device__ TA f() { if (g({1})) {@} }",
             "struct ALIGN(16) S : B<g(1)> { int a{1}; __device__ S() : a{2}, b(3) {@} };",
             "struct S { __device__ S& operator=(int) {@} };",
             "struct S { __device__ bool operator()(int) const {@} };",
             "__device__ auto f() -> A<1> {@}",
             "extern \"C\" { __device__ __attribute__((noinline)) void f() {@} }",
             "#define ON_GPU __device__\nON_GPU void f() {@}",
             "#define on_gpu inline gpu\n#define gpu __device__\non_gpu void f() {@}",
             "__device__ void f() { struct L { void m() {@} }; }",
             "int main() { g([=] __device__ (int i) {@}); }",
             "__device__ void f() { g([] __host__ __device__ (int i) {@}); }",
             "#if A\n__device__ void f() {\n#else\n__device__ void g() {\n#endif\n@}",
             "__device__ void f()\n@;",
             "int table[] = {@};",
         }) {
        CAPTURE(around);
        const size_t at = around.find('@');
        const std::string before = around.substr(0, at), after = around.substr(at + 1);
        const std::string translation = body(before + kAsks + after);
        CHECK_THAT(translation, ContainsSubstring(kAnswered));
        CHECK_THAT(translation, !ContainsSubstring(kAsks));
    }
    for (const std::string around : {
             "int main() {@}",
             "static inline void f(FILE* file) {@}",
             "#define INLINE inline\nINLINE void f() {@}",
             "struct S { void m() {@} };",
             "void f() { __device__ void g(); if (true) {@} }",
             "void f() { g([=] (int i) {@}); }",
             "void f() { g([=] __device__ (int i) { return i; }); {@} }",
         }) {
        CAPTURE(around);
        const size_t at = around.find('@');
        const std::string before = around.substr(0, at), after = around.substr(at + 1);
        const std::string translation = body(before + kAsks + after);
        CHECK_THAT(translation, ContainsSubstring(kAsks));
        CHECK_THAT(translation, !ContainsSubstring("DEVICE_ARCH"));
    }
}

TEST_CASE("a program that asks for nvcc gets its answer on either side") {
    const std::string asks = "#if defined(__NVCC__) || A // __NVCC__\n#define B __NVCC__\n#endif\n";
    const std::string answered =
        "#if defined(CPU_NVCC) || A // __NVCC__\n#define B CPU_NVCC\n#endif\n";
    CHECK(body(asks) == answered);
    CHECK_THAT(body("int main() {\n" + asks + "}"), ContainsSubstring(answered));
    CHECK_THAT(body("#if !defined(__CUDA_ARCH__) && defined(__NVCC__)\nvoid f();\n#endif\n"),
               ContainsSubstring("defined(CPU_NVCC)") && !ContainsSubstring("__NVCC__"));
}

TEST_CASE("what both sides run stands once for each, on the same lines and columns") {
    CHECK(
        body("int a;\n__host__ __device__ int f() { const int n = 1;" + kAsks + "return n; }") ==
        "int a;\n__host__ __device__ int f() { if (::cpu_device::takes_device_half()) { const int "
        "n = 1;" +
            kAnswered + "return n; } else {\n#line 2 \"k.cu\"\n" + std::string(29, ' ') +
            " const int n = 1;" + kAsks + "return n; }}");
    for (const std::string around :
         {"constexpr int f() {@}", "UNKNOWN void f() {@}", "UNKNOWN(f, g) {@}",
          "#define HD __device__ __host__\nHD void f() {@}",
          "#if A\n__device__\n#else\n__host__ __device__\n#endif\nvoid f() {@}",
          "void f() { g([=] __host__ __device__ (int i) {@}); }",
          "struct S { int a; __host__ __device__ S() : a{1} {@} };"}) {
        CAPTURE(around);
        const size_t at = around.find('@');
        const std::string before = around.substr(0, at), after = around.substr(at + 1);
        const std::string translation = body(before + kAsks + after);
        CHECK_THAT(translation, ContainsSubstring(kAnswered));
        CHECK_THAT(translation, ContainsSubstring(kAsks));
    }
    // The one within the other, with what else is translated.
    const std::string nested =
        body("__host__ __device__ void f() {" + kAsks + "g([=] __host__ __device__ (int i) {" +
             kAsks + "k<<<1, 1>>>();});}");
    const auto count = [&](const std::string& text) {
        size_t found = 0;
        for (size_t at = nested.find(text); at != std::string::npos; at = nested.find(text, at + 1))
            ++found;
        return found;
    };
    CHECK(count(kAnswered) == 3);
    CHECK(count(kAsks) == 3);
    CHECK(count(".configured(1, 1)()") == 4);
    // Without a question it stands once.
    CHECK(body("__host__ __device__ int f() {\n#if A\nx;\n#endif\n}") ==
          "__host__ __device__ int f() {\n#if A\nx;\n#endif\n}");
}

TEST_CASE("what only the host takes of a function for the device may be anything of the host's") {
    const auto refused = [](const std::string& source) {
        try {
            return body(source).find("error(\"inline PTX that") != std::string::npos;
        } catch (const TranslationError&) {
            return true;
        }
    };
    const std::string host =
        "\nasm(\"cpuid\" : \"=a\"(x)); p = malloc(4); q = new int; std::cout << rand();\n";
    for (const std::string marks : {"__device__", "__host__ __device__"}) {
        for (const std::string body :
             {"#ifdef __CUDA_ARCH__\nx;\n#else@#endif", "#ifndef __CUDA_ARCH__@#endif",
              "#if !defined(__CUDA_ARCH__) && A@#endif", "#if (__CUDA_ARCH__ < 700)@#endif",
              "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530\nx;\n#elif A@#endif",
              "#if __CUDA_ARCH__ == 1000 && f(1)@#endif"}) {
            const size_t at = body.find('@');
            const std::string text = marks + " void f(int x) {\n" + body.substr(0, at) + host +
                                     body.substr(at + 1) + "\n}";
            CAPTURE(text);
            CHECK_FALSE(refused(text));
        }
        for (const std::string body :
             {"#ifdef A\nx;\n#else@#endif", "#ifdef __CUDA_ARCH__@#endif",
              "#if !defined(__CUDA_ARCH__) || A@#endif", "#if __CUDA_ARCH__ >= 900@#endif",
              "#if __CUDA_ARCH__ >= 900\nx;\n#else@#endif", "#if !A@#endif"}) {
            const size_t at = body.find('@');
            const std::string text = marks + " void f(int x) {\n" + body.substr(0, at) + host +
                                     body.substr(at + 1) + "\n}";
            CAPTURE(text);
            CHECK(refused(text));
        }
    }
}

TEST_CASE("outside of functions the device's view holds, but hides nothing of the host's") {
    CHECK(body("#if !defined(__CUDA_ARCH__) || \\\n    __CUDA_ARCH__ < 90 // old\nint "
               "f();\n#endif\n") ==
          "#if (!defined(DEVICE_ARCH__) || DEVICE_ARCH__ < 90) || (!defined(__CUDA_ARCH__) || "
          "__CUDA_ARCH__ < 90) \\\n // old\nint f();\n#endif\n");
    for (const std::string block : {"int f() { return 1; }\n", "#include <vector>\n",
                                    "__host__ __device__ int f() { return 1; }\n"}) {
        CHECK(body("#ifndef __CUDA_ARCH__\n" + block + "#endif\n") ==
              "#if (!defined DEVICE_ARCH__) || (!defined __CUDA_ARCH__)\n" + block + "#endif\n");
    }
    for (const std::string block :
         {"#define f(x) (x)\n", "__device__ int f() { return 1; }\n", "int a;\n#else\nint b;\n"}) {
        CHECK(body("#ifndef __CUDA_ARCH__\n" + block + "#endif\n") ==
              "#ifndef DEVICE_ARCH__\n" + block + "#endif\n");
    }
    CHECK(body("#if __CUDA_ARCH__ < 600\nint f();\n#endif\n") ==
          "#if DEVICE_ARCH__ < 600\nint f();\n#endif\n");
    CHECK(body("#define A (__CUDA_ARCH__ / 10 + __CUDA_ARCH_LIST__)\n") ==
          "#define A (DEVICE_ARCH__ / 10 + __CUDA_ARCH_LIST__)\n");
    CHECK(body("#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n#define A\n#endif\n") ==
          "#ifdef DEVICE_ARCH_FEAT_SM90_ALL\n#define A\n#endif\n");

    const auto noted = [](const std::string& source) {
        for (const translate::Note& note : translate::notes_on(source)) {
            if (note.text.find("either side") != std::string::npos) return note.line;
        }
        return size_t{0};
    };
    CHECK(noted("int a;\n#ifdef __CUDA_ARCH__\nint f();\n#else\nint g();\n#endif\n") == 2);
    CHECK(noted("#if __CUDA_ARCH__ >= 800\n__device__ int f();\n#else\n__device__ int "
                "g();\n#endif\n") == 0);
    CHECK(noted("#ifdef __CUDA_ARCH__\n#define A\n#else\nint g();\n#endif\n") == 0);
    CHECK(noted("__device__ void f() {\n#ifdef __CUDA_ARCH__\nx;\n#else\ny;\n#endif\n}") == 0);
}
