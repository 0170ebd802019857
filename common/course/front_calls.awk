# SPDX-License-Identifier: MIT
# A line "NAME HEADER" for each front call of the headers: their cards say which they have, "//   call       NAME, NAME: ...".
/^\/\/   call / {
    sub(/^\/\/   call */, "")
    sub(/:.*/, "")
    for (i = split($0, names, /, */); i > 0; --i) print names[i], FILENAME
}
