// SPDX-License-Identifier: MIT
// Schema 1: the fields that a file of records and a record may have, in the order in which they are written. A record has
// its sizes beside them: "shape": {"batch": 16, "m": 512, ...}, and rows and columns at its top where they come of it.
// A timeline has no figures but "kernels": [{"name": .., "grid": .., "block": .., "begin_us": .., "end_us": ..}, ...].
#pragma once
#include <vector>

#include "common/records/record.hpp"

namespace records {

inline constexpr int kSchema = 1;

enum class Words {
    free,     // any, or none
    name,     // letters, digits and underscores, or none
    stage,    // NN_name, as a stage's folder is called; required
    variant,  // few; required
};

// What a number may be.
struct Range {
    double least, most;
    bool whole = false;
};

struct HeaderField {
    const char* key;
    std::string File::*value;
    const char* usual;  // what a file means that does not say it
};
const std::vector<HeaderField>& header_fields();
const std::vector<const char*>& libraries();  // whose versions a header may have

struct WordField {
    const char* key;
    std::string Record::*value;
    Words words;
    const char* usual;    // what a record means that does not say it
    bool always = false;  // each record of today says it
};
const std::vector<WordField>& word_fields();

struct Figure {
    const char* key;
    Range range;
    bool of_times = false;     // each record of today that was timed has it
    bool may_be_null = false;  // as JSON has what is infinite or no number
    bool counts = false;       // written as a whole number where it is one
    bool unread = false;       // no page, test or picture reads it: committed files do without
};
const std::vector<Figure>& figures();

struct Flag {
    const char* key;
    bool Record::*value;
};
const std::vector<Flag>& flags();

// Sizes that stand at a record's top.
const std::vector<const char*>& flat_sizes();

}  // namespace records
