// SPDX-License-Identifier: MIT
#include "count_unrolled.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "counter.hpp"

namespace xray {
namespace {

bool is_global(AccessKind kind) {
    return kind == AccessKind::global_load || kind == AccessKind::global_store;
}

// Where all lanes of all warps take part each time, they make the same trips: nothing changes.
bool lanes_part(const Counts& counts) {
    return counts.accesses != 32 * counts.requests;
}

// The unrolled loops of one kernel.
void add_loops(const KernelCounts& kernel, const UnrollingOf& unrolling_of,
               UnrolledLoops& unrolled) {
    struct Found {
        Unrolling unrolling;
        uint32_t sites = 0;
        bool part = false;
    };
    std::map<std::tuple<AccessKind, std::string, Loops::Id>, Found> all;
    for (const auto& [site, counts] : kernel.sites) {
        const std::optional<Unrolling> unrolling =
            is_global(site.kind) ? unrolling_of(kernel, site) : std::nullopt;
        const Loops::Id loop = unrolled.loops().around_place(site.place);
        if (!unrolling || loop == Loops::kNone) continue;
        Found& found = all[{site.kind, unrolling->line, loop}];
        found.unrolling = *unrolling;
        found.sites++;
        found.part = found.part || lanes_part(counts);
    }
    for (const auto& [key, found] : all) {
        Loops::Id loop = std::get<Loops::Id>(key);
        if (!found.part) continue;
        // An inner loop of known length makes several accesses of one that is written once.
        uint32_t heads = 1;
        if (found.unrolling.accesses > found.sites) {
            if (unrolled.loops().comes_back_from_several(loop)) {
                heads = found.unrolling.accesses / found.sites;
            } else {
                loop = unrolled.loops().around(loop);
            }
        }
        if (loop != Loops::kNone) unrolled.add(loop, found.unrolling.sections, heads);
    }
}

}  // namespace

void count_unrolled(std::vector<KernelCounts>& kernels, Loops loops,
                    const std::function<void()>& launch, const UnrollingOf& unrolling_of) {
    UnrolledLoops unrolled(std::move(loops));
    for (const KernelCounts& kernel : kernels) add_loops(kernel, unrolling_of, unrolled);
    if (unrolled.empty()) return;
    Counter counter(nullptr, &unrolled);
    {
        const Counting counting(counter);
        launch();
    }
    for (KernelCounts& kernel : kernels) {
        for (const KernelCounts& again : counter.kernels()) {
            if (again.name != kernel.name) continue;
            for (auto& [site, counts] : kernel.sites) {
                const auto found = again.sites.find(site);
                if (found == again.sites.end()) continue;
                counts.unrolled_requests = found->second.unrolled_requests;
                counts.unrolled_sectors = found->second.unrolled_sectors;
            }
        }
    }
}

}  // namespace xray
