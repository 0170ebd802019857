# SPDX-License-Identifier: MIT

# folders_included(RESULT PATTERN FILE...): what the group of PATTERN matches in the files' lines
# #include "PATTERN...", each once. A stage is linked to what its files include.
function(folders_included result pattern)
    set(found "")
    foreach(file IN LISTS ARGN)
        file(STRINGS "${file}" includes REGEX "^#include \"${pattern}")
        list(TRANSFORM includes REPLACE "^#include \"${pattern}.*" "\\1")
        list(APPEND found ${includes})
    endforeach()
    list(REMOVE_DUPLICATES found)
    set(${result} "${found}" PARENT_SCOPE)
endfunction()
