# SPDX-License-Identifier: MIT
# `./stages header`: any stage's header as one file to copy. Text work, so that nothing is built for it.
#   awk -v header=03_online_softmax/online_softmax.cuh -f header.awk
# runs in the repository and prints that header with every header of the repository that it includes put in its
# place, once. Licence lines stand once, on top; then come the includes from CUDA and C++. Where something cannot be
# taken in, prints a line that says what and why, and nothing else, and exits with 1.

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

function add_blank() {
    if (lines > 0 && body[lines] != "") body[++lines] = ""
}

# 02_b/further/../../01_a/a.cuh as 01_a/a.cuh.
function normal(path) {
    gsub(/\/\.\//, "/", path)
    while (match(path, /(^|\/)[^\/.][^\/]*\/\.\.\//))
        path = substr(path, 1, RSTART - 1) (RSTART > 1 ? "/" : "") substr(path, RSTART + RLENGTH)
    return path
}

# opening: the comment that the file begins with is the whole result's card.
function take_in(path, opening,    line, word, rest, number, conditionals, status) {
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
            add_blank()
        } else if (word != "pragma" || !starts_with(rest, "once")) {
            body[++lines] = line
        }
    }
    if (status < 0) refuse(path ": cannot be read")
    close(path)
    sources = sources (sources == "" ? "" : ", ") path
}

function take_in_once(from, name,    folder, path) {
    folder = from
    sub(/[^\/]*$/, "", folder)
    path = normal(folder name)
    if (path in taken_in) return
    take_in(path, 0)
    add_blank()
}

BEGIN {
    take_in(header, 1)
    print licence card "//\n// One file made of: " sources "\n#pragma once\n" includes
    for (i = 1; i <= lines; ++i) print body[i]
}
