// SPDX-License-Identifier: MIT
// Work that may fail, and being watched while it runs.
#pragma once
#include <new>
#include <optional>
#include <string>

#include "common/runner/device.hpp"
#include "common/runner/doing.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/probe.hpp"
#include "common/runner/stage_run.hpp"

namespace runner {

// While one exists, the probe counts, and looks for races.
class Observation {
public:
    Observation() { probe().start(); }
    Observation(const Observation&) = delete;
    Observation& operator=(const Observation&) = delete;
    ~Observation() { probe().stop(); }
    std::optional<Counts> counts() { return probe().stop(); }
};

// While one exists, what the device says of a failed kernel is printed by us, once.
class KeptErrors {
public:
    KeptErrors() { probe().keep_errors(true); }
    KeptErrors(const KeptErrors&) = delete;
    KeptErrors& operator=(const KeptErrors&) = delete;
    ~KeptErrors() { probe().keep_errors(false); }
};

void note_launcher_error(Validation& validation, const std::string& where,
                         const LauncherError& error);
void note_cuda_error(Validation& validation, const std::string& where, const CudaError& error);

// Does the work. What keeps it from its end is no end of the run: a lack of memory leaves it out, a kernel
// that failed is wrong. Only a GPU does not survive the latter.
template <class Work>
void attempt(Validation& validation, const std::string& where, Work work) {
    const Doing doing(where);
    try {
        work();
    } catch (const LauncherError& error) {
        note_launcher_error(validation, where, error);
    } catch (const std::bad_alloc&) {
        validation.add_not_run(where, "memory is short");
    } catch (const CudaError& error) {
        note_cuda_error(validation, where, error);
    }
}

// The same of a measurement: what goes wrong in it is said below the table.
template <class Work>
void attempt_to_measure(StageRun& run, const Variant& variant, const Shape& shape, DType dtype,
                        Work work) {
    Validation validation;
    attempt(validation, "measured, " + text_of(shape) + ", " + name_of(dtype),
            [&] { work(validation); });
    run.verdict = std::max(run.verdict, validation.verdict());
    for (const std::string& line : validation.remarks(variant.name)) run.warnings.push_back(line);
}

// Keeps what was found while a launch was watched. Hazards that were said before are not said again.
void note_hazards(StageRun& run, const std::optional<Counts>& counts, Validation& validation,
                  const std::string& where, const Validation* said_before = nullptr);

}  // namespace runner
