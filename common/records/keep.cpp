// SPDX-License-Identifier: MIT
//
// keep_records TO FROM...: puts what several steps recorded of one stage into one file, as it is committed: without the
// figures that no page, test or picture reads. Counters are taken as they are.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "common/io/files.hpp"
#include "common/records/counters.hpp"
#include "common/records/schema.hpp"
#include "common/records/where.hpp"

namespace {

namespace fs = std::filesystem;

void drop_unread(records::Record& record) {
    for (const records::Figure& figure : records::figures()) {
        if (figure.unread) record.figures.erase(figure.key);
    }
}

void keep(const fs::path& to, const std::vector<fs::path>& from) {
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (to.filename() == records::kCounters) {
        fs::remove(to, error);
        for (const fs::path& path : from) {
            for (records::Recording& each : records::read_counters(path))
                records::save_counters(to, std::move(each));
        }
        return;
    }
    records::File all = records::read(from.front());
    all.records.clear();
    for (const fs::path& path : from) {
        records::File part = records::read(path);
        if (part.gpu != all.gpu || part.commit != all.commit)
            io::refuse(path, "of " + part.gpu + ", commit " + part.commit + "; wanted: " + all.gpu +
                                 ", commit " + all.commit + ", as the first");
        for (records::Record& record : part.records) {
            drop_unread(record);
            all.records.push_back(std::move(record));
        }
    }
    all.path = to;
    all.chosen.clear();
    records::write(all);
}

}  // namespace

int main(int count, char** words) {
    try {
        if (count < 3) throw std::runtime_error("keep_records TO FROM...: files of records");
        keep(words[1], {words + 2, words + count});
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return 1;
    }
}
