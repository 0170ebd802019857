// SPDX-License-Identifier: MIT
#include "counted_variant.hpp"

#include <cstdlib>
#include <functional>
#include <utility>

#include "count_unrolled.hpp"
#include "counter.hpp"
#include "recorded_loops.hpp"
#include "report_words.hpp"
#include "variant_run.hpp"

namespace xray {
namespace {

// What a variant's kernels do to shared memory, by the GPU's kinds of instructions.
struct SharedAccesses {
    Counts loads, stores, matrices;

    explicit SharedAccesses(const Counted& counted) {
        for (const KernelCounts& kernel : counted.kernels) {
            const Split of_loads = split(kernel, counted.sources, AccessKind::shared_load);
            loads += of_loads.own;
            loads += of_loads.cub;
            matrices += of_loads.matrices;
            for (const auto& [site, counts] : kernel.sites) {
                // A GPU's counters of stores do not have stmatrix.
                if (site.kind == AccessKind::shared_store &&
                    !counted.sources.moves_matrices(site.place))
                    stores += counts;
            }
        }
    }
};

// Of the wavefronts that a GPU took for so many requests, those beyond the fewest that they need.
int64_t recorded_conflicts(int64_t requests, int64_t wavefronts, const SharedCost& cost) {
    if (cost.requests == 0) return wavefronts;
    const int64_t fewest = cost.wavefronts - cost.conflicts;
    // The compiled kernel may have other requests than were counted: some of each kind, where it keeps in
    // registers what was written; or a reduction's, of one wavefront each. Taken as what fits better.
    const int64_t of_each = wavefronts - requests * fewest / cost.requests;
    const int64_t of_one = wavefronts - (fewest + requests - cost.requests);
    return std::abs(of_each - cost.conflicts) < std::abs(of_one - cost.conflicts) ? of_each
                                                                                  : of_one;
}

}  // namespace

CountedVariant count(const std::string& stage, const runner::Variant& variant,
                     const runner::Shape& shape, runner::DType dtype) {
    VariantRun run(variant, shape, dtype);
    Counter counter;
    {
        const Counting counting(counter);
        run();
    }
    std::vector<KernelCounts> kernels = counter.kernels();
    SourceMap sources(kernels);
    count_unrolled(kernels, counter.loops(), std::ref(run),
                   [&](const KernelCounts&, const Site& site) {
                       return recorded_loops().find(sources, site);
                   });
    return {{std::move(kernels), std::move(sources), variant.shared_accesses_fuse},
            stage,
            &variant,
            shape,
            dtype};
}

runner::Traffic CountedVariant::traffic() const {
    const auto per_element = [&](const Counts& counts) {
        return static_cast<double>(counts.bytes) / static_cast<double>(runner::size_of(dtype)) /
               static_cast<double>(variant->operation->elements(shape));
    };
    return {per_element(global_loads(kernels)), per_element(global_stores(kernels))};
}

bool traffic_agrees(const CountedVariant& counted) {
    return runner::is_traffic_of(*counted.variant, counted.shape, counted.dtype, counted.traffic());
}

int64_t counted_conflicts(const CountedVariant& counted) {
    int64_t sum = 0;
    for (const KernelCounts& kernel : counted.kernels) sum += conflicts_of(kernel, counted);
    return sum;
}

SharedCost counted_matrix_loads(const CountedVariant& counted) {
    return SharedAccesses(counted).matrices.as_written();
}

std::vector<Conflicts> conflicts(const CountedVariant& counted, const records::Profile& recorded) {
    const auto [loads, stores, matrices] = SharedAccesses(counted);
    // Where nvcc loads operands by ordinary loads, those are counted as such loads are.
    const bool by_ldmatrix = matrices.requests != 0 && recorded.sum("matrix_load_requests") != 0;
    Counts ordinary = loads;
    if (!by_ldmatrix) ordinary += matrices;
    std::vector<Conflicts> all;
    const auto add = [&](const std::string& kind, const SharedCost& cost) {
        const auto sum = [&](const char* what) {
            return static_cast<int64_t>(recorded.sum(kind + what));
        };
        all.push_back(
            {kind, cost.conflicts, recorded_conflicts(sum("_requests"), sum("_wavefronts"), cost)});
    };
    add("shared_load", counted.compiled(ordinary));
    add("shared_store", counted.compiled(stores));
    if (by_ldmatrix) add("matrix_load", matrices.as_written());
    return all;
}

}  // namespace xray
