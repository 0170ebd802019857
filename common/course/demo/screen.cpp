// SPDX-License-Identifier: MIT
#include "common/course/demo/screen.hpp"

#include <algorithm>
#include <sstream>

#include "common/io/table.hpp"
#include "common/io/text.hpp"

namespace course {
namespace {

class Page {
public:
    explicit Page(Size size) : size_(size) {}

    void add(const std::string& text, Style style = Style::plain) {
        rows_.push_back({text, style});
    }
    // Lines of a text, broken where they are too long.
    void add_wrapped(const std::string& text, Style style = Style::plain, size_t indent = 0) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream parts(io::wrapped(line, size_.columns, indent));
            for (std::string part; std::getline(parts, part);) add(part, style);
        }
    }
    void gap() {
        if (!rows_.empty() && !rows_.back().text.empty()) add("");
    }
    // How many rows are left above the line of keys.
    size_t room() const {
        return rows_.size() + 1 < size_.rows ? size_.rows - rows_.size() - 1 : 0;
    }
    std::vector<Row> take() { return std::move(rows_); }

private:
    Size size_;
    std::vector<Row> rows_;
};

// How far all lines are indented; those of the preprocessor, which begin at the left, are not asked.
size_t common_indent(const std::vector<SourceLine>& lines) {
    size_t indent = std::string::npos;
    for (const SourceLine& line : lines) {
        const size_t first = line.text.find_first_not_of(' ');
        if (first != std::string::npos && line.text[first] != '#') indent = std::min(indent, first);
    }
    return indent == std::string::npos ? 0 : indent;
}

void add_source(Page& page, const Step& step, Size size) {
    const size_t outside = common_indent(step.source);
    page.gap();
    page.add(step.source_name + (step.since.empty() ? "" : ", + not in " + step.since),
             Style::faint);
    for (const SourceLine& line : step.source) {
        const std::string number = std::to_string(line.number);
        const std::string before = std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') +
                                   number + (line.changed ? " + " : "   ");
        const Style style = line.changed ? Style::changed : Style::plain;
        const size_t depth = std::min(line.text.find_first_not_of(' '), line.text.size());
        std::string code =
            io::printable(line.text.substr(std::min(outside, depth)), size.columns * 3);
        const size_t indent = before.size() + depth - std::min(outside, depth) + 4;
        // Where there is no room for both, a comment stands below its code.
        const size_t comment = code.find("  //");
        const bool is_split =
            before.size() + code.size() > size.columns && comment != std::string::npos;
        if (is_split) {
            page.add_wrapped(before + code.substr(0, comment), style, indent);
            code = std::string(indent, ' ') + code.substr(comment + 2);
        }
        page.add_wrapped((is_split ? "" : before) + code, style, indent);
    }
}

// A path, broken behind slashes.
void add_path(Page& page, const std::string& before, const std::string& path, Size size) {
    std::string line = before;
    size_t begin = 0;
    while (begin < path.size()) {
        const size_t slash = path.find('/', begin);
        const size_t end = slash == std::string::npos ? path.size() : slash + 1;
        if (line.size() + end - begin > size.columns) {
            page.add(line, Style::strong);
            line = std::string(before.size(), ' ');
        }
        line += path.substr(begin, end - begin);
        begin = end;
    }
    page.add(line, Style::strong);
}

// The lines of an output that a step wants to be seen, as many as there is room for.
void add_output(Page& page, const Step& step, const std::string& output, Size size) {
    std::vector<std::string> lines;
    std::istringstream stream(output);
    bool begun = step.show.empty() || output.find(step.show) == std::string::npos;
    for (std::string line; std::getline(stream, line);) {
        begun = begun || line.find(step.show) != std::string::npos;
        if (begun) lines.push_back(io::printable(line, size.columns * 3));
    }
    const size_t room = page.room();
    size_t shown = step.lines > 0 ? std::min(step.lines, lines.size()) : lines.size();
    const bool fits = shown == lines.size() ? shown <= room : shown < room;
    if (!fits) shown = room > 0 ? room - 1 : 0;
    for (size_t i = 0; i < shown; ++i) page.add(lines[i].substr(0, size.columns));
    if (shown < lines.size())
        page.add("... " + std::to_string(lines.size() - shown) + " more lines", Style::faint);
}

void add_times(Page& page, const Step& step, const std::string& stage, Facts& facts) {
    std::vector<std::string> variants, shapes;
    for (const Place& place : step.times) {
        const std::string name = (place.stage == stage ? "" : place.stage + "/") + place.variant;
        if (std::find(variants.begin(), variants.end(), name) == variants.end())
            variants.push_back(name);
        if (std::find(shapes.begin(), shapes.end(), place.shape) == shapes.end())
            shapes.push_back(place.shape);
    }
    std::vector<io::Column> columns = {{"us", 12, io::Align::left}};
    for (const std::string& shape : shapes) columns.push_back({shape, 12, io::Align::right});
    io::Table table(columns);
    std::string source;
    for (size_t v = 0; v < variants.size(); ++v) {
        std::vector<std::string> cells = {variants[v]};
        for (size_t s = 0; s < shapes.size(); ++s) {
            const auto known = facts.find("us_median", {step.times[v * shapes.size() + s]});
            cells.push_back(known ? io::number(known->values.front(), 1) : "-");
            if (known) source = known->source;
        }
        table.row(cells);
    }
    page.gap();
    page.add("Microseconds, " + (source.empty() ? "of no GPU yet" : source) + ":", Style::faint);
    page.add_wrapped(table.text());
}

void add_prediction(Page& page, const Prediction& prediction, const Shown& shown, Facts& facts) {
    page.gap();
    page.add_wrapped(prediction.text("Predict: "), Style::asked);
    if (!shown.answered) return;
    page.gap();
    const std::optional<Answer> answer = prediction.answer(facts);
    if (!answer) return page.add("Not known here.");
    page.add_wrapped("It is " + answer->text +
                         (answer->more.empty() ? "" : " (" + answer->more + ")") + ", " +
                         answer->source + ".",
                     Style::strong);
    page.add_wrapped("Why: " + prediction.reason(*answer));
}

}  // namespace

std::vector<Row> rows_of(const Lecture& lecture, size_t number, const Shown& shown, Facts& facts,
                         Size size) {
    const Step& step = lecture.steps[number];
    Page page(size);
    const std::string where =
        "step " + std::to_string(number + 1) + " of " + std::to_string(lecture.steps.size());
    const size_t taken = lecture.stage.size() + where.size();
    page.add(
        lecture.stage + std::string(size.columns > taken ? size.columns - taken : 1, ' ') + where,
        Style::faint);
    page.add(step.title, Style::strong);
    page.gap();
    page.add_wrapped(step.text);
    if (!step.source.empty()) add_source(page, step, size);
    if (!step.times.empty()) add_times(page, step, lecture.stage, facts);
    if (!step.picture.empty()) {
        page.gap();
        add_path(page, "Picture: ", step.picture, size);
    }
    if (!step.run.empty()) {
        page.gap();
        page.add_wrapped("$ ./stages " + step.run, Style::strong, 4);
        if (shown.output) add_output(page, step, *shown.output, size);
    }
    if (step.prediction) add_prediction(page, *step.prediction, shown, facts);
    return page.take();
}

std::string printed(const std::vector<Row>& rows, bool colours) {
    std::string text;
    for (const Row& row : rows) {
        const char* colour = "";
        if (colours) {
            switch (row.style) {
                case Style::plain:
                    break;
                case Style::strong:
                    colour = "\x1b[1m";
                    break;
                case Style::faint:
                    colour = "\x1b[2m";
                    break;
                case Style::changed:
                    colour = "\x1b[1;32m";
                    break;
                case Style::asked:
                    colour = "\x1b[1;33m";
                    break;
            }
        }
        text += colour + row.text + (*colour != '\0' ? "\x1b[0m" : "") + "\n";
    }
    return text;
}

}  // namespace course
