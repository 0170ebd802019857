// SPDX-License-Identifier: MIT
//
// An exercise: a stage's kernel with its idea left open. It lies in the stage's folder, exercises/: NN.K.cuh, which the
// learner gets as my/NN.K.cuh, with the task in its head, and NN.K.json beside it:
//   operation         what launch() computes, as ./stages try --as names it
//   hints             three, each more direct
//   solution          the lines for the open part, which are lines of the stage
//   counted           by the name of a measure (measures.hpp) what is said where it is more than the solution's;
//                     accesses and launches count in every exercise
//   mistakes          by the name of an input, or of a check that finds something (bugs/caught.hpp: "race", "in place"), what
//                     is said besides where that is wrong first: may be left out
//   learned           what is said where all is right
//   shape, overflows  where they are counted, and whether results may overflow as stage 01's do: both may be left out
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace course {

struct Exercise {
    std::string id;     // "03.1"
    std::string stage;  // "03_online_softmax"
    std::filesystem::path handed_out, own;
    std::string own_name;  // "my/03.1.cuh"

    std::string title, operation, shape, learned;
    bool overflows = false;
    std::vector<std::string> hints, solution;
    std::vector<std::pair<std::string, std::string>> counted;   // measure, sentence
    std::vector<std::pair<std::string, std::string>> mistakes;  // input or cause, sentence
};

// Every exercise of the repository at `root`, in order. FileError where a file of one makes no sense.
std::vector<Exercise> all_exercises(const std::filesystem::path& root);

// Whether it is the first of its stage: on the fast track.
bool is_first_of_stage(const Exercise& exercise);

// The lines between the two marks of an exercise's text, first to last, counted from 1; last is first - 1 where there
// are none. FileError, which names `path`, where the marks are not there.
struct OpenPart {
    size_t first = 0, last = 0;
};
OpenPart open_part_of(const std::vector<std::string>& lines, const std::filesystem::path& path);

// The exercise as handed out, with the solution in place of the open part.
std::string solved_text(const Exercise& exercise);

// What its head says: the comment above the first line of code, without the licence.
std::string task_of(const Exercise& exercise);

// Where in the stage's own sources the solution begins: "03_online_softmax/online_softmax.cuh:44"; empty: nowhere.
std::string source_of_solution(const Exercise& exercise);

}  // namespace course
