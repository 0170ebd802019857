// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/ptx_instructions.hpp"

#include <algorithm>
#include <set>

namespace translate {
namespace {

const std::set<std::string>& instructions() {
    static const std::set<std::string> names = {
        // integers and bits
        "add", "addc", "sub", "subc", "mul", "mul24", "mad", "mad24", "madc", "div", "rem", "abs",
        "neg", "min", "max", "sad", "popc", "clz", "bfind", "brev", "bfe", "bfi", "bmsk", "szext",
        "fns", "dp4a", "dp2a", "lop3", "shf", "shl", "shr", "prmt", "and", "or", "xor", "not",
        "cnot",
        // bytes, halves and words of integers
        "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr", "vmad", "vadd2",
        "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4", "vavrg4",
        "vabsdiff4", "vmin4", "vmax4", "vset4",
        // floats, comparisons
        "fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign", "testp",
        "set", "setp", "selp", "slct",
        // moves and conversions
        "mov", "cvt", "cvta", "isspacep",
        // memory
        "ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", "discard", "applypriority",
        "createpolicy", "membar", "fence", "fence.proxy", "fence.mbarrier_init", "mapa",
        "getctarank", "mbarrier.init", "mbarrier.inval", "mbarrier.expect_tx",
        "mbarrier.complete_tx", "mbarrier.arrive", "mbarrier.arrive.expect_tx",
        "mbarrier.arrive_drop", "mbarrier.arrive_drop.expect_tx", "mbarrier.try_wait",
        "mbarrier.test_wait", "mbarrier.pending_count", "cp.async.mbarrier.arrive",
        "barrier.cluster.arrive", "barrier.cluster.wait", "cp.async", "cp.async.commit_group",
        "cp.async.wait_group", "cp.async.wait_all",
        // bulk copies
        "cp.async.bulk", "cp.async.bulk.prefetch", "cp.async.bulk.commit_group",
        "cp.async.bulk.wait_group", "cp.reduce.async.bulk", "st.async", "red.async",
        "cp.async.bulk.tensor", "cp.async.bulk.prefetch.tensor", "cp.reduce.async.bulk.tensor",
        "fence.proxy.tensormap::generic", "tensormap.replace", "tensormap.cp_fenceproxy",
        // a warp and its matrices
        "shfl", "vote", "match", "activemask", "redux", "elect", "ldmatrix", "stmatrix",
        "movmatrix", "mma", "mma.sp", "mma.sp::ordered_metadata", "wgmma.mma_async", "wgmma.fence",
        "wgmma.commit_group", "wgmma.wait_group",
        // control
        "bar", "barrier", "bar.warp.sync", "bra", "nanosleep", "trap", "brkpt", "exit",
        "setmaxnreg", "griddepcontrol.wait", "griddepcontrol.launch_dependents"};
    return names;
}

// Instructions that are not there, although their names begin like those of others that are. A longer name that begins
// like one of these may be there.
const std::set<std::string>& unknown_instructions() {
    static const std::set<std::string> names = {"st.bulk", "wgmma.mma_async.sp"};
    return names;
}

}  // namespace

size_t parts_of_name(const std::vector<std::string>& opcode) {
    constexpr size_t kMost = 5;
    std::string name;
    size_t longest = 0;
    for (size_t i = 0; i < std::min(opcode.size(), kMost); ++i) {
        name += (i == 0 ? "" : ".") + opcode[i];
        if (unknown_instructions().count(name) != 0) longest = 0;
        if (instructions().count(name) != 0) longest = i + 1;
    }
    return longest;
}

bool is_special_register(const std::string& name) {
    static const std::set<std::string> names = {"tid.x",
                                                "tid.y",
                                                "tid.z",
                                                "ntid.x",
                                                "ntid.y",
                                                "ntid.z",
                                                "ctaid.x",
                                                "ctaid.y",
                                                "ctaid.z",
                                                "nctaid.x",
                                                "nctaid.y",
                                                "nctaid.z",
                                                "laneid",
                                                "warpid",
                                                "nwarpid",
                                                "smid",
                                                "nsmid",
                                                "lanemask_eq",
                                                "lanemask_le",
                                                "lanemask_lt",
                                                "lanemask_ge",
                                                "lanemask_gt",
                                                "clock",
                                                "clock_hi",
                                                "clock64",
                                                "globaltimer",
                                                "globaltimer_lo",
                                                "globaltimer_hi",
                                                "cluster_ctaid.x",
                                                "cluster_ctaid.y",
                                                "cluster_ctaid.z",
                                                "cluster_nctaid.x",
                                                "cluster_nctaid.y",
                                                "cluster_nctaid.z",
                                                "cluster_ctarank",
                                                "cluster_nctarank",
                                                "clusterid.x",
                                                "clusterid.y",
                                                "clusterid.z",
                                                "nclusterid.x",
                                                "nclusterid.y",
                                                "nclusterid.z",
                                                "is_explicit_cluster"};
    return names.count(name) != 0;
}

bool reads_integers(const std::vector<std::string>& opcode) {
    static const std::set<std::string> integers = {"u8", "u16", "u32", "u64",
                                                   "s8", "s16", "s32", "s64"};
    static const std::set<std::string> others = {"b8",  "b16", "b32",  "b64",   "b128",  "f16",
                                                 "f32", "f64", "bf16", "f16x2", "bf16x2"};
    // The last type is that of the sources where the first one is the result's.
    static const std::set<std::string> converting = {"cvt", "set"};
    bool reads = false;
    for (const std::string& part : opcode) {
        const bool is_integer = integers.count(part) != 0;
        if (!is_integer && others.count(part) == 0) continue;
        reads = is_integer;
        if (converting.count(opcode[0]) == 0) break;
    }
    return reads;
}

bool takes_constants(const std::vector<std::string>& opcode) {
    return opcode[0] == "wgmma" || opcode[0] == "setmaxnreg";
}

bool uses_carry(const std::vector<std::string>& opcode) {
    static const std::set<std::string> names = {"addc", "subc", "madc"};
    return names.count(opcode[0]) != 0 ||
           std::find(opcode.begin(), opcode.end(), "cc") != opcode.end();
}

}  // namespace translate
