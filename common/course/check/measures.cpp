// SPDX-License-Identifier: MIT
#include "common/course/check/measures.hpp"

namespace course {

const std::vector<Measure>& all_measures() {
    constexpr bool kFollows = true;
    static const std::vector<Measure> measures = {
        {"loads", "loads per element", 2,
         "Some thread loads what it or another has loaded already."},
        {"stores", "stores per element", 2,
         "Each element is written once, when its value is final."},
        {"atomics", "atomic operations", 0,
         "Atomic operations on one word take place one after the other. A reduction needs none."},
        {"load_requests", "load requests", 0,
         "One request loads for all 32 lanes of a warp, up to 16 bytes for each.", kFollows},
        {"store_requests", "store requests", 0,
         "One request stores for all 32 lanes of a warp, up to 16 bytes for each.", kFollows},
        {"shared_requests", "requests to shared memory", 0,
         "A thread keeps in a register what it reads again, and lanes of a warp exchange "
         "registers."},
        {"busiest_warp", "requests of the busiest warp", 0,
         "One warp does more than its share, and the others wait for it. Divide the work among all "
         "threads.",
         kFollows},
        {"load_sectors", "sectors loaded", 0,
         "Neighbouring lanes have to read neighbouring addresses in the same request.", kFollows},
        {"store_sectors", "sectors stored", 0,
         "Neighbouring lanes have to write neighbouring addresses in the same request.", kFollows},
        {"bank_conflicts", "bank conflicts", 0, nullptr},
        {"barriers", "barriers per block", 2, nullptr},
        {"exchanges", "exchanges between lanes per warp", 2, nullptr},
        {"launches", "kernel launches", 0, "One kernel does all of it."},
    };
    return measures;
}

const Measure* measure_called(const std::string& name) {
    for (const Measure& measure : all_measures()) {
        if (measure.name == name) return &measure;
    }
    return nullptr;
}

}  // namespace course
