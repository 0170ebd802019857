# SPDX-License-Identifier: MIT
# `./stages header`: headers of the repository as one file to copy. Text work, so that nothing is built for it.
#   awk -v headers="03_online_softmax/online_softmax.cuh 06_softmax_topk/further/topk.cuh" -f header.awk
# runs in the repository and prints these headers, in front of each those of the repository that it includes, each once
# and in an include guard of its own: printed files go into one translation unit, whatever parts they share. Licence
# lines stand once, on top, and then, of one header, its card; then come the includes from CUDA and C++. Where
# something cannot be taken in, prints a line that says what and why, and nothing else, and exits with 1.

function refuse(why) {
    print why
    exit 1
}

function starts_with(text, prefix) {
    return substr(text, 1, length(prefix)) == prefix
}

function is_licence(line) {
    return starts_with(line, "// SPDX-") || starts_with(line, "// Copyright")
}

function add_licence(line) {
    if (!(line in known)) licence = licence line "\n"
    known[line]
}

function add_include(line) {
    if (!(line in known)) includes = includes line "\n"
    known[line]
}

# 02_b/further/../../01_a/a.cuh as 01_a/a.cuh.
function normal(path) {
    gsub(/\/\.\//, "/", path)
    while (match(path, /(^|\/)[^\/.][^\/]*\/\.\.\//))
        path = substr(path, 1, RSTART - 1) (RSTART > 1 ? "/" : "") substr(path, RSTART + RLENGTH)
    return path
}

# SOFTMAX_STAGES_01_A_A_CUH for 01_a/a.cuh.
function guard_of(path) {
    gsub(/[^A-Za-z0-9]/, "_", path)
    return "SOFTMAX_STAGES_" toupper(path)
}

# opening: the comment that the file begins with is the whole result's card.
function take_in(path, opening,    line, word, rest, number, conditionals, status, body, blank) {
    taken_in[path]
    while ((status = (getline line < path)) > 0) {
        ++number
        if (opening && starts_with(line, "//")) {
            if (is_licence(line)) add_licence(line)
            else card = card line "\n"
            continue
        }
        opening = 0
        word = rest = ""
        if (line ~ /^[ \t]*#/) {
            rest = line
            sub(/^[ \t]*#[ \t]*/, "", rest)
            word = rest
            sub(/[ \t].*/, "", word)
            sub(/^[^ \t]+[ \t]*/, "", rest)
        }
        if (starts_with(word, "if")) ++conditionals
        if (word == "endif") --conditionals

        if (word == "include" && starts_with(rest, "\"")) {
            if (conditionals > 0) refuse(path ":" number ": an include of the course's own under #if")
            take_in_once(path, substr(rest, 2, index(substr(rest, 2), "\"") - 1))
        } else if (word == "include" && conditionals == 0) {
            add_include(line)
        } else if (is_licence(line)) {
            add_licence(line)
        } else if (line == "") {
            blank = body == "" ? "" : "\n"
        } else if (word != "pragma" || !starts_with(rest, "once")) {
            body = body blank line "\n"
            blank = ""
        }
    }
    if (status < 0) refuse(path ": cannot be read")
    close(path)
    sources = sources (sources == "" ? "" : ", ") path
    parts = parts "\n#ifndef " guard_of(path) "\n#define " guard_of(path) "\n" body "#endif\n"
}

function take_in_once(from, name,    folder, path) {
    folder = from
    sub(/[^\/]*$/, "", folder)
    path = normal(folder name)
    if (!(path in taken_in)) take_in(path, 0)
}

BEGIN {
    count = split(headers, all, " ")
    for (i = 1; i <= count; ++i)
        if (!(all[i] in taken_in)) take_in(all[i], count == 1)
    print licence card "//\n// One file made of: " sources "\n#pragma once\n" includes parts
}
