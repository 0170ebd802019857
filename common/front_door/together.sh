# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Several launchers in one program, each in a namespace of its own, graded as `check` does: one compilation is cheaper
# than many, and one run. `build` is the build folder, `family` that of their operations.

# begin_together FOLDER: the program under way is made there.
begin_together() {
    together=$1
    mkdir -p "$together"
    rm -f "$together"/{includes,launchers,stages}
}

# add_together NAME HEADER SHOWN OPERATION LAUNCHER DTYPE OVERFLOWS: adds the launcher of a header that reads as one in
# my/ does; its lines are shown as those of SHOWN. The last three may be empty. Its includes come first, and the one name
# that all dynamic shared memory has.
add_together() {
    local name=$1 shown=$3 operation=$4 overflows=$7 space=e${1//[^A-Za-z0-9]/_} translated=$together/translated.cuh
    local -a described
    "$build/translate_launches" "$2" "$translated" || return
    "$build/my_operation_$family" "$operation" "$2" "$5" "$6" >"$together/described" || return
    mapfile -t described <"$together/described"
    sed -nE "s,^#include \"\.\./,#include \"$build/translated/,; /^(#include|extern __shared__)/p" "$translated" >>"$together/includes"
    {
        # A header may share its namespace with those that it includes, which stay outside.
        sed -nE "s/^namespace ([a-z_]+) \{.*/namespace \1 {} namespace $space { namespace \1 { using namespace ::\1; } }/p" "$2" | sort -u
        echo "namespace $space {"
        sed -E "s,^(#line [0-9]+) .*,\1 \"$shown\",; s,^(#include|#pragma once|extern __shared__).*,," "$translated"
        cat <<END_OF_LAUNCHER
struct Launcher {
    template <class... Arguments>
    auto operator()(Arguments... arguments) const -> decltype(${described[3]}(arguments...)) { return ${described[3]}(arguments...); }
};
struct Signature {
    template <class T>
    using Operands = my::Types<${described[0]}>;
    static constexpr size_t kSizes = ${described[1]}, kOptions = ${described[2]};
};
}
END_OF_LAUNCHER
    } >>"$together/launchers"
    echo "my::tried<$space::Launcher, $space::Signature${described[4]:+, ${described[4]}}>(\"$name\", {&my::operation_called(\"$operation\"), \"${described[5]}\", ${overflows:+true}})," >>"$together/stages"
}

# Compiles it, unless it is there already and newer than all that it is made of.
make_together() {
    local -a made_from=("$root"/[0-9][0-9]_*)
    {
        sort -u "$together/includes"  # `#` comes before `e`
        echo '#include "common/course/my/try.hpp"'
        cat "$together/launchers"
        echo 'std::vector<runner::Stage> runner::all_stages() { return {'
        cat "$together/stages"
        echo '}; }'
    } >"$together/program.new"
    ! cmp -s "$together/program.new" "$together/program.cu" || ! is_current "$together/program" "" || return 0
    mv "$together/program.new" "$together/program.cu"
    rm -f "$together/program"
    "${CXX:-g++}" "@$build/my/compile" -x c++ -c "$together/program.cu" -o "$together/program.o" || return
    objcopy "${hooked_functions[@]}" "$together/program.o"
    "${CXX:-g++}" "$together/program.o" -x none "@$build/my/link_check_$family" -o "$together/program" || return
    echo >"$together/program.flags"
}

# grade_together VERDICT [--only WORD] [--input NAME]: grades what was added, or those with a word in their name; see
# common/course/check/grade_main.cpp.
grade_together() {
    rm -f "$1"
    STAGES_MY_ENDING=$together/ending CPU_DEVICE_WATCHDOG_SECONDS=${CPU_DEVICE_WATCHDOG_SECONDS:-2} "$together/program" --verdict "$@"
}
