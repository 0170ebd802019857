// SPDX-License-Identifier: MIT
#include "common/records/schema.hpp"

namespace records {

const std::vector<HeaderField>& header_fields() {
    static const std::vector<HeaderField> all = {
        {"gpu", &File::gpu, "a GPU without a name"},
        {"driver", &File::driver, ""},
        {"cuda", &File::cuda, ""},
        {"nvcc", &File::nvcc, ""},
        {"commit", &File::commit, ""},
        {"date", &File::date, ""},
    };
    return all;
}

const std::vector<const char*>& libraries() {
    static const std::vector<const char*> all = {"torch", "triton", "cudnn", "cublas",
                                                 "transformers"};
    return all;
}

const std::vector<WordField>& word_fields() {
    static const std::vector<WordField> all = {
        {"stage", &Record::stage, Words::stage, "", true},
        {"variant", &Record::variant, Words::variant, "", true},
        {"role", &Record::role, Words::free, "ours", true},
        {"op", &Record::op, Words::name, "", true},
        {"backend", &Record::backend, Words::free, "", true},
        {"dtype", &Record::dtype, Words::name, "float32", true},
        {"input", &Record::input, Words::free, "normal"},
        {"shown_as", &Record::shown_as, Words::name, ""},
        {"along", &Record::along, Words::free, ""},
        {"options", &Record::options, Words::free, ""},
        {"roof", &Record::roof, Words::name, "copy"},
        {"part", &Record::part, Words::free, ""},
        {"way", &Record::way, Words::free, ""},
        {"baseline", &Record::baseline, Words::free, ""},
    };
    return all;
}

// Times that a launch can take, in microseconds, and speeds that are not nought, which has no logarithm and divides
// nothing.
const std::vector<Figure>& figures() {
    static constexpr Range time{1e-3, 1e11}, host{0, 1e11}, speed{1e-9, 1e9}, accesses{0, 1e9},
        bytes{1, 1e18};
    static const std::vector<Figure> all = {
        {"bytes", bytes, true, false, true},
        {"elements", bytes, false, false, true},
        {"flops", {0, 1e30}, false, false, false, true},
        {"declared_loads_per_element", accesses},
        {"declared_stores_per_element", accesses},
        {"max_rel_err", {0, 1e308}, false, true},
        {"us_median", time, true},
        {"us_min", time, true},
        {"us_p10", time, true},
        {"us_p90", time, true},
        {"us_empty", time, true},
        {"us_host", host, false, false, false, true},
        {"us_host_empty", host, false, false, false, true},
        {"us_in_blocks", time},
        {"us_in_blocks_p10", time, false, false, false, true},
        {"us_in_blocks_p90", time, false, false, false, true},
        {"gbps", speed, true},
        {"roof_gbps", speed, true},
        {"roof_bytes", bytes, false, false, true},
        {"tflops", speed},
        {"roof_tflops", speed},
        {"speedup", speed},
        {"loads_per_element", accesses},
        {"stores_per_element", accesses},
        {"sectors_per_request", accesses},
        {"bytes_moved_per_byte", accesses},
        {"bank_conflicts", {0, 1e18}, false, false, true},
    };
    return all;
}

const std::vector<Flag>& flags() {
    static const std::vector<Flag> all = {{"overflows", &Record::overflows},
                                          {"further", &Record::further},
                                          {"swept", &Record::swept}};
    return all;
}

const std::vector<const char*>& flat_sizes() {
    static const std::vector<const char*> all = {"rows", "cols"};
    return all;
}

}  // namespace records
