// SPDX-License-Identifier: MIT
#include "common/runner/attempt.hpp"

#include <algorithm>

namespace runner {
namespace {

// What failures with this text have in common: the line of the source, or all but the numbers.
std::string cause_of(const std::string& text) {
    const size_t place = text.rfind(", at ");
    if (place != std::string::npos) return text.substr(place);
    std::string cause = text;
    const auto is_digit = [](char each) { return each >= '0' && each <= '9'; };
    cause.erase(std::remove_if(cause.begin(), cause.end(), is_digit), cause.end());
    return cause;
}

}  // namespace

void note_launcher_error(Validation& validation, const std::string& where,
                         const LauncherError& error) {
    validation.add_failure(where, error.what(), error.cause());
    validation.stopped = true;
}

void note_cuda_error(Validation& validation, const std::string& where, const CudaError& error) {
    const std::string said = probe().take_error();
    if (error.code() == cudaErrorMemoryAllocation)
        return validation.add_not_run(where, std::string("memory is short: ") + error.what());
    if (on_gpu()) throw error;
    const std::string text = said.empty() ? error.what() : said;
    validation.add_failure(where, text, std::to_string(error.code()) + cause_of(text));
    validation.stopped = true;
    validation.timed_out |= error.code() == cudaErrorLaunchTimeout;
}

void note_hazards(StageRun& run, const std::optional<Counts>& counts, Validation& validation,
                  const std::string& where, const Validation* said_before) {
    if (!counts) return;
    ++run.watch.launches;
    run.watch.in_clusters = run.watch.in_clusters || counts->in_clusters;
    run.watch.global = run.watch.global || counts->global_watched;
    run.watch.found = run.watch.found || !counts->hazards.empty();
    for (const Counts::Hazard& hazard : counts->hazards) {
        if (said_before == nullptr || !said_before->has_failure(hazard.cause))
            validation.add_failure(where, hazard.text, hazard.cause, hazard.harmless);
    }
}

}  // namespace runner
