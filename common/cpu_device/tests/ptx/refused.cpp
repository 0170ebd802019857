// SPDX-License-Identifier: MIT
// Inline PTX that ptxas refuses: each instruction stops the compiler at its line, by its name.
#include <string>
#include <vector>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/shell.hpp"

namespace {

// An asm's text, in which %0 has 32 bits, %1 has 16, %2 has 64, %3 is a float and %4 a double.
struct Refused {
    const char* text;
    const char* complaint;
};
const std::vector<Refused> kRefused = {
    {"add.sat.u32 %0, %0, %0;", "add has no such form"},
    {"add.rn.s32 %0, %0, %0;", "add has no such form"},
    {"add.rn.rn.f32 %3, %3, %3;", "add has no such form"},
    {"add.rz.f16 %1, %1, %1;", "add has no such form"},
    {"add.approx.f32 %3, %3, %3;", "add has no such form"},
    {"add.ftz.f64 %4, %4, %4;", "add has no such form"},
    {"add.sat.bf16x2 %0, %0, %0;", "add has no such form"},
    {"add.cc.u16 %1, %1, %1;", "add.cc has no such form"},
    {"sub.u16x2 %0, %0, %0;", "sub has no such form"},
    {"subc.hi.s32 %0, %0, %0;", "subc has no such form"},
    {"mul.u32 %0, %0, %0;", "mul has no such form"},
    {"mul.u32.lo %0, %0, %0;", "mul has no such form"},
    {"mul.wide.u64 %2, %2, %2;", "mul has no such form"},
    {"mad.lo.sat.s32 %0, %0, %0, %0;", "mad has no such form"},
    {"mad.f32 %3, %3, %3, %3;", "mad has no such form"},
    {"madc.wide.u32 %2, %0, %0, %2;", "madc has no such form"},
    {"mul24.u32 %0, %0, %0;", "mul24 has no such form"},
    {"mad24.lo.sat.s32 %0, %0, %0, %0;", "mad24 has no such form"},
    {"fma.f32 %3, %3, %3, %3;", "fma has no such form"},
    {"fma.rn.sat.relu.f16x2 %0, %0, %0, %0;", "fma has no such form"},
    {"div.f32 %3, %3, %3;", "div has no such form"},
    {"div.rn.f16 %1, %1, %1;", "div has no such form"},
    {"rem.f32 %3, %3, %3;", "rem has no such form"},
    {"abs.u32 %0, %0;", "abs has no such form"},
    {"neg.u32 %0, %0;", "neg has no such form"},
    {"min.relu.u32 %0, %0, %0;", "min has no such form"},
    {"max.NaN.f64 %4, %4, %4;", "max has no such form"},
    {"max.abs.f32 %3, %3, %3;", "max has no such form"},
    {"sad.f32 %3, %3, %3, %3;", "sad has no such form"},
    {"popc.u32 %0, %0;", "popc has no such form"},
    {"clz.s32 %0, %0;", "clz has no such form"},
    {"bfind.b32 %0, %0;", "bfind has no such form"},
    {"brev.u32 %0, %0;", "brev has no such form"},
    {"fns.u32 %0, %0, %0, %0;", "fns has no such form"},
    {"bfe.b32 %0, %0, %0, %0;", "bfe has no such form"},
    {"bfi.u32 %0, %0, %0, %0, %0;", "bfi has no such form"},
    {"bmsk.b32 %0, %0, %0;", "bmsk has no such form"},
    {"szext.wrap.b32 %0, %0, %0;", "szext has no such form"},
    {"shl.u32 %0, %0, %0;", "shl has no such form"},
    {"shr.b8 %1, %1, %0;", "shr has no such form"},
    {"shf.l.b32 %0, %0, %0, %0;", "shf has no such form"},
    {"and.u32 %0, %0, %0;", "and has no such form"},
    {"or.s32 %0, %0, %0;", "or has no such form"},
    {"xor.f32 %3, %3, %3;", "xor has no such form"},
    {"not.u32 %0, %0;", "not has no such form"},
    {"cnot.s32 %0, %0;", "cnot has no such form"},
    {"lop3.u32 %0, %0, %0, %0, 1;", "lop3 has no such form"},
    {"lop3.b32 %0, %0, %0, %0, %0;", "lop3 takes its table as an immediate"},
    {"prmt.b32.rc4 %0, %0, %0, %0;", "dot_rc4"},
    {"prmt.u32 %0, %0, %0, %0;", "prmt has no such form"},
    {"dp4a.u32 %0, %0, %0, %0;", "dp4a has no such form"},
    {"dp2a.lo.u32 %0, %0, %0, %0;", "dp2a has no such form"},
    {"vadd.s16.u32.s32 %0, %0, %0;", "vadd has no such form"},
    {"vsub.s32.u32 %0, %0, %0;", "vsub has no such form"},
    {"vabsdiff.s32.u32.s32.add.min %0, %0, %0, %0;", "vabsdiff has no such form"},
    {"vmin.s32.u32.s32.add %0, %0, %0;", "a second operation needs the operand c"},
    {"vmax.s32.u32.s32.add %0.b0, %0, %0, %0;", "a part or a second operation, not both"},
    {"vadd.s32.s32.s32 %0.h1, %0, %0;", "a part of the result needs the operand c"},
    {"vadd.u32.u32.u32 %0, %0.b4, %0;", "a part of a register is .b0 to .b3, .h0 or .h1"},
    {"vadd.u32.s32.u32 %0, -%0, %0;", "a sign, where the instruction takes neither"},
    {"vset.u32.u32.lt.sat %0, %0, %0;", "vset has no such form"},
    {"vset.s32.s32.lo %0, %0, %0;", "vset has no such form"},
    {"vshl.u32.u32.u32 %0, %0, %0;", "vshl has no such form"},
    {"vshr.s32.s32.s32.clamp %0, %0, %0;", "vshr has no such form"},
    {"vmad.u32.u32.u32.add %0, %0, %0, %0;", "vmad has no such form"},
    {"vmad.u32.u32.u32 %0, -%0, %0, -%0;", "vmad negates one of a and b, or c, not both"},
    {"vmad.u32.u32.s32.po %0, %0, -%0, %0;", "vmad.po negates nothing"},
    {"vadd4.s32.u32.s32.sat.add %0, %0, %0, %0;", "vadd4 has no such form"},
    {"vavrg2.s32.u32.s32.min %0, %0, %0, %0;", "vavrg2 has no such form"},
    {"vset4.u32.u32.lt.sat %0, %0, %0, %0;", "vset4 has no such form"},
    {"vmin4.u32.u32.u32 %0.b01, %0, %0, %0;", "the lanes of a result are named in falling order"},
    {"vmax2.u32.u32.u32 %0, %0.h1, %0, %0;", "a selector names each lane's source"},
    {"vsub4.u32.u32.u32 %0, %0, 7, %0;", "take registers of 32 bits alone"},
    {"add.u32 %0.b0, %0, %0;", "Selected<"},
    {"exit.uni;", "exit has no suffixes"},
    {"add.s32 %0, %0, 0f3F800000;", "a float where the instruction takes an integer"},
    {"mov.u32 %0, 0f3F800000;", "a float where the instruction takes an integer"},
    {"add.s64 %2, %2, 0d3FF0000000000000;", "a float where the instruction takes an integer"},
    {"cvt.rn.f32.u64 %3, 1.0;", "a float where the instruction takes an integer"},
    {"add.f16x2 %0, %0, 0f3F800000;", "0f... is a float, or 32 bits"},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%3, %3, %3, %3}, {%0, %0}, {%0, %0}, "
     "{%3, %3, %3, %3}, %0, 0;",
     "mma.sp: there is no product of that shape for these types"},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%3, %3, %3, %3}, {%0, %0}, {%0, %0}, "
     "{%3, %3, %3, %3}, %0, %0;",
     "mma.sp takes its selector as an immediate"},
    {"rcp.f32 %3, %3;", "rcp has no such form"},
    {"sqrt.approx.f64 %4, %4;", "sqrt has no such form"},
    {"rsqrt.rn.f32 %3, %3;", "rsqrt has no such form"},
    {"sin.f32 %3, %3;", "sin has no such form"},
    {"cos.approx.f64 %4, %4;", "cos has no such form"},
    {"lg2.approx.f16 %1, %1;", "lg2 has no such form"},
    {"ex2.approx.bf16 %1, %1;", "ex2 has no such form"},
    {"tanh.approx.ftz.f32 %3, %3;", "tanh has no such form"},
    {"copysign.f16 %1, %1, %1;", "copysign has no such form"},
    {"{ .reg .pred p; testp.nan.f32 p, %3; }", "testp has no such form"},
    {"{ .reg .pred p; setp.lt.b32 p, %0, %0; }", "setp has no such form"},
    {"{ .reg .pred p; setp.lo.s32 p, %0, %0; }", "setp has no such form"},
    {"{ .reg .pred p; setp.equ.u32 p, %0, %0; }", "setp has no such form"},
    {"{ .reg .pred p; setp.eq.and.u32 p, %0, %0; }", "setp has no such form"},
    {"{ .reg .pred p; setp.eq.f16x2 p, %0, %0; }", "setp of a pair of numbers writes two"},
    {"{ .reg .pred p, q; setp.eq.f16 p|q, %1, %1; }", "setp of 16 bits writes one"},
    {"set.lt.u16.s32 %1, %0, %0;", "set has no such form"},
    {"{ .reg .pred p; selp.f16 %1, %1, %1, p; }", "selp has no such form"},
    {"slct.u32.u32 %0, %0, %0, %0;", "slct has no such form"},
    {"mov.f16 %1, %1;", "mov has no such form"},
    {"mov.f32 %3, {%1, %1};", "mov packs 2 or 4 registers"},
    {"cvt.f32.s32 %3, %0;", "cvt has no such form of one operand"},
    {"cvt.rn.s32.f32 %0, %3;", "cvt has no such form of one operand"},
    {"cvt.s32.f32 %0, %3;", "cvt has no such form of one operand"},
    {"cvt.f32.f64 %3, %4;", "cvt has no such form of one operand"},
    {"cvt.rn.f64.f32 %4, %3;", "cvt has no such form of one operand"},
    {"cvt.sat.u32.u16 %0, %1;", "cvt has no such form of one operand"},
    {"cvt.rn.f16x2.f32 %0, %3;", "cvt has no such form of one operand"},
    {"cvt.rn.e4m3x2.f32 %1, %3, %3;", "cvt has no such form of two operands"},
    {"cvt.rn.tf32.f32.f32 %0, %3;", "cvt has no such form of one operand"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%2], "
     "32, [%0], %1;",
     "cp.async.bulk has no such form"},
    {"cp.async.bulk.shared::cluster.shared::cta.bulk_group [%0], [%0], 32;",
     "cp.async.bulk has no such form"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
     "[%2], 32, [%0];",
     "a 16-bit mask of blocks stands with .multicast::cluster"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%2], [%0], 32;",
     "cp.reduce.async.bulk has no such form"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%2], [%0], 32;",
     "cp.reduce.async.bulk has no such form"},
    {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%0], {%2, %2, %2, %2}, "
     "[%0];",
     "st.async is .weak.shared::cluster"},
    {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b16 [%0], %1, [%0];",
     "st.async is .weak.shared::cluster"},
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u64 [%0], %2, "
     "[%0];",
     "red.async is .relaxed.cluster"},
    {"cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster "
     "[%0], [%2, {%0, %0}], [%0], %1;",
     "cp.async.bulk.tensor has no such form"},
    {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%2, {%0}], [%0];",
     "as many coordinates as its .1d to .5d says"},
    {"cp.async.bulk.wait_group %0;", "the number of groups as an immediate"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%3, %3, %3, %3}, %2, %2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async has no such form"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%3, %3}, %2, %2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async has no such form"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.satfinite {%3, %3, %3, %3}, %2, %2, 1, 1, "
     "1, 0, 0;",
     "wgmma.mma_async has no such form"},
    {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {%0, %0, %0, %0}, %2, %2, 1;",
     "wgmma.mma_async has no such form"},
    {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%3, %3, %3, %3}, %2, %2, 1, 1, 1, 0, 0;",
     "dot_m64n12k16"},
    {"wgmma.mma_async.sync.aligned.m64n8k32.f32.f16.f16 {%3, %3, %3, %3}, %2, %2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async has no such shape"},
    {"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%0, %0, %0, %0}, %2, %2, 1;",
     "wgmma.mma_async has no such shape"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%3, %3, %3, %3}, %2, %2, 1, 1, 1;",
     "after scale-d come imm-scale-a"},
    {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%3, %3, %3, %3}, %2, %2, 1, 1, 1, 0, 0;",
     "after scale-d come imm-scale-a"},
    {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%3, %3, %3, %3}, %2, %2, 1, 0, 1;",
     "imm-scale-a and imm-scale-b are the immediates 1 or -1"},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%3, %3, %3, %3}, %2, %2, 1, 1, 1, 2, 0;",
     "imm-trans-a and imm-trans-b are the immediates 0 or 1"},
    {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %0, %0, %0}, %2, %2, 2;",
     "scale-d is a predicate, 0 or 1"},
    {"wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%0, %0, %0, %0}, %2, %2, %1;",
     "scale-d is a predicate or an immediate"},
    {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%3, %3, %3}, %2, %2, 1, 1, 1;",
     "d has n / 2 registers"},
    {"wgmma.wait_group.sync.aligned %0;", "takes the number of groups as an immediate"},
    {"wgmma.fence.sync;", "wgmma.fence is .sync.aligned"},
    {"setmaxnreg.inc.sync.aligned.u32 20;", "a multiple of 8 from 24 to 256"},
    {"setmaxnreg.inc.sync.aligned.u32 %0;", "a multiple of 8 from 24 to 256"},
    {"setmaxnreg.sync.aligned.u32 24;", "setmaxnreg is .inc or .dec"},
    // Operands that do not fit the instruction's type. The compiler says one sentence once, of the first that it is true
    // of: each of these differs from all others in its sizes.
    {"add.u32 %0, %0, %1;", "another size than the instruction's type"},
    {"add.u64 %2, %2, %0;", "another size than the instruction's type"},
    {"mul.wide.u32 %0, %0, %0;", "another size than the instruction's type"},
    {"fma.rn.f32 %4, %3, %3, %3;", "another size than the instruction's type"},
    {"popc.b64 %2, %2;", "another size than the instruction's type"},
    {"shl.b64 %2, %2, %2;", "another size than the instruction's type"},
    {"mov.b32 %0, {%1, %0};", "another size than the instruction's type"},
    {"cvt.f32.bf16 %3, %0;", "another size than the instruction's type"},
    {"cvt.u32.u64 %1, %2;", "the register is smaller than the type"},
    {"add.f32 %3, %3, 1;", "an integer where the instruction takes a float"},
    {"{ .reg .pred p; add.u32 p, %0, %0; }", "a predicate where a register must stand"},
    {"selp.b32 %0, %0, %0, %0;", "a predicate where a register must stand"},
};

TEST_CASE("functions of cuda::ptx that are not there are refused by name, where they are called") {
    struct {
        const char *call, *complaint;
    } const kCalls[] = {
        {"tcgen05_alloc(ptx::cta_group_1, u, ptx::n32_t<64>())", "cuda::ptx::tcgen05_alloc"},
        {"tcgen05_wait_ld()", "cuda::ptx::tcgen05_wait_ld"},
        {"st_bulk(u, 64, ptx::n32_t<0>())", "cuda::ptx::st_bulk"},
        {"get_sreg_smid()", "cuda::ptx::get_sreg_smid"},
        {"tensormap_replace_rank(ptx::space_global, u, 2)", "cuda::ptx::tensormap_replace_rank"},
        {"mbarrier_arrive(ptx::sem_acquire, ptx::scope_cta, ptx::space_shared, b)",
         "mbarrier_arrive is sem_release or sem_relaxed"},
    };
    std::string source = "#include <cuda/ptx>\nnamespace ptx = cuda::ptx;\n";
    for (const auto& each : kCalls) {
        source += std::string("__device__ void f") + std::to_string(&each - kCalls) +
                  "(unsigned* u, uint64_t* b) { ptx::" + each.call + "; }\n";
    }
    const Folder folder;
    folder.write("k.cu", source);
    const std::string said =
        testing::ran_in(folder.path,
                        "'" TRANSLATE_PROGRAM "' k.cu k.cpp && '" CPU_DEVICE_TEST_COMPILER
                        "' -std=c++17 -w -fsyntax-only -include cuda_runtime.h -I "
                        "'" CPU_DEVICE_TEST_INCLUDE "' k.cpp")
            .text;
    for (const auto& each : kCalls) {
        const size_t at = said.find("k.cu:" + std::to_string(&each - kCalls + 3) + ":");
        CAPTURE(each.call);
        REQUIRE(at != std::string::npos);
        CHECK(said.find(each.complaint, at) < said.find("In instantiation", at + 1));
    }
}

TEST_CASE("PTX that the CPU device does not know stops the compiler where the program uses it") {
    const Folder folder;
    folder.write("k.cu",
                 "struct Wrapper { static __device__ void unused() { asm(\"vabs4.u32 %0;\" :: "
                 "\"r\"(1)); } };\n"
                 "inline __device__ void writes_input(unsigned x) { asm(\"mov.b32 %0, 1;\" :: "
                 "\"r\"(x)); }\n"
                 "#ifdef USED\n"
                 "__device__ void f(unsigned& x) { asm(\"vabs4.u32.u32.u32 %0, %0, %0, %0;\" : "
                 "\"+r\"(x)); }\n"
                 "__device__ void g(unsigned& x) { asm(\"add.u32 %0, %0, q;\" : \"+r\"(x)); }\n"
                 "__device__ void h(unsigned& x) { asm(\"add.u32 %0, %0, %5;\" : \"+r\"(x)); }\n"
                 "__device__ void j(unsigned& x) { asm(\"st.bulk.weak.shared::cta [%0], 8, 0;\" : "
                 "\"+r\"(x)); }\n"
                 "__device__ void k(unsigned& x, uint64_t l) { asm(\"wgmma.mma_async.sync.aligned."
                 "m64n8k32.s32.u8.s8 {%0, %0, %0, %0}, %1, %1, %0;\" : \"+r\"(x) : \"l\"(l)); }\n"
                 "__device__ void m() { Wrapper::unused(); }\n"
                 "#endif\n"
                 "#ifdef WRITES\n"
                 "__device__ void i(unsigned x) { writes_input(x); }\n"
                 "#endif\n");
    const auto compiled = [&](const std::string& flags) {
        return testing::ran_in(folder.path,
                               "'" TRANSLATE_PROGRAM "' k.cu k.cpp && '" CPU_DEVICE_TEST_COMPILER
                               "' -std=c++17 -w -O1 -c -o k.o -include cuda_runtime.h -I "
                               "'" CPU_DEVICE_TEST_INCLUDE "' " +
                                   flags + " k.cpp")
            .text;
    };
    CHECK(compiled("") == "");
    const std::string said = compiled("-DUSED");
    for (const char* const complaint :
         {"the instruction 'vabs4.u32.u32.u32'", "'q' is declared nowhere in it",
          "'%5', and it has 1 operands", "the instruction 'st.bulk.weak.shared::cta'",
          "'%0' is an accumulator of its wgmma", "the instruction 'vabs4.u32'"}) {
        CAPTURE(complaint);
        CHECK(said.find(complaint) != std::string::npos);
    }
    CHECK(compiled("-DWRITES").find("the instruction writes to an input of the asm") !=
          std::string::npos);
}

TEST_CASE("PTX that ptxas refuses does not compile, and the message names the instruction") {
    std::string source = "#include <cstdint>\n";
    for (const Refused& each : kRefused) {
        source += "__device__ void f" + std::to_string(&each - kRefused.data()) +
                  "(uint32_t& r, uint16_t& h, uint64_t& l, float& f, double& d) { asm(\"" +
                  each.text + "\" : \"+r\"(r), \"+h\"(h), \"+l\"(l), \"+f\"(f), \"+d\"(d)); }\n";
    }
    const Folder folder;
    folder.write("k.cu", source);
    const std::string said =
        testing::ran_in(folder.path,
                        "'" TRANSLATE_PROGRAM "' k.cu k.cpp && '" CPU_DEVICE_TEST_COMPILER
                        "' -std=c++17 -w -fsyntax-only -include cuda_runtime.h -I "
                        "'" CPU_DEVICE_TEST_INCLUDE "' k.cpp")
            .text;
    for (size_t i = 0; i < kRefused.size(); ++i) {
        // What follows the place, up to the next one.
        const std::string place = "k.cu:" + std::to_string(i + 2) + ":";
        bool is_named = false;
        for (size_t at = said.find(place); at != std::string::npos; at = said.find(place, at + 1)) {
            const size_t end = said.find("k.cu:", at + place.size());
            const size_t found = said.find(kRefused[i].complaint, at);
            is_named = is_named || found < end;
        }
        CAPTURE(kRefused[i].text);
        CHECK(is_named);
    }
}

}  // namespace
