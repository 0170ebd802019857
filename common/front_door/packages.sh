# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What has to be on the machine, how that is found out, and how what is missing gets there.

# A line for each need: group, probe, Debian or Ubuntu package, the same in words. Probes ask for
# the thing itself, not for the package, so that any distribution and any way to install will do:
#   command:NAME,OTHER[:VERSION]   one of these programs (from that version on)
#   header:PATH,OTHER              one of these headers
#   library:FILE,OTHER             one of these files where the linker looks
# `plot` is optional: without it pictures are left as scripts with their numbers (see plot.sh). So is `made`: without it
# the Makefile of a folder of one's own is not read.
readonly needs="
build  command:${CXX:-g++}:11       g++                      g++ 11 or newer
build  command:cmake:3.22           cmake                    CMake 3.22 or newer
build  command:ninja                ninja-build              Ninja
build  header:CLI/CLI.hpp           libcli11-dev             CLI11
build  header:nlohmann/json.hpp     nlohmann-json3-dev       nlohmann-json
test   header:catch2/catch_all.hpp,catch2/catch.hpp  catch2  Catch2, version 2 or 3
test   command:make                 make                     make
made   command:make                 make                     make
debug  command:gdb                  gdb                      gdb
lint   command:git                  git                      git
lint   command:clang-format         clang-format             clang-format (14 decides)
lint   command:clang-tidy           clang-tidy               clang-tidy
lint   command:clangd               clangd                   clangd
lint   command:shellcheck           shellcheck               shellcheck
plot   command:gnuplot              gnuplot-nox              gnuplot
plot   header:gnuplot-iostream.h    libgnuplot-iostream-dev  gnuplot-iostream
plot   library:libboost_iostreams.so  libboost-iostreams-dev   Boost.Iostreams
"

# Where the compiler and the linker look.
IFS=: read -ra header_folders <<<"/usr/include:/usr/local/include:${CPATH:-}:${CONDA_PREFIX:-}/include"
IFS=: read -ra library_folders <<<"/usr/lib64:/usr/local/lib:${LIBRARY_PATH:-}:${CONDA_PREFIX:-}/lib"
library_folders+=(/usr/lib /usr/lib/*-linux-gnu)

# The first version number in what a program says about itself.
version_of() {
    local said
    said=$("$1" --version 2>/dev/null) || true
    [[ ! $said =~ [0-9]+(\.[0-9]+)+ ]] || echo "${BASH_REMATCH[0]}"
}

at_least() {
    [[ $(first_line "$(printf '%s\n' "$2" "$1" | sort -V)") == "$2" ]]
}

# Prints what a probe found (a version, or "here"); fails where there is nothing good enough.
probe() {
    local kind names oldest name folder version
    local -a folders=()
    IFS=: read -r kind names oldest <<<"$1"
    [[ $kind == header ]] && folders=("${header_folders[@]}")
    [[ $kind == library ]] && folders=("${library_folders[@]}")
    for name in ${names//,/ }; do
        if [[ $kind == command ]] && command -v "$name" >/dev/null; then
            version=$(version_of "$name")
            at_least "$version" "${oldest:-0}" && echo "$version" && return
        fi
        for folder in "${folders[@]}"; do
            [[ -e $folder/$name ]] && echo here && return
        done
    done
    return 1
}

# The lines "PACKAGE WORDS" of what the groups need and the machine has not.
missing_in() {
    local group what package in_words
    while read -r group what package in_words; do
        [[ " $* " == *" $group "* ]] || continue
        probe "$what" >/dev/null || echo "$package $in_words"
    done <<<"$needs"
}

# Debian, Ubuntu and what is made from them have the packages under these names.
has_apt() {
    command -v apt-get >/dev/null && grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release 2>/dev/null
}

readonly install_command="apt-get install --no-install-recommends"

# The command that a user would type, on as many lines as it needs.
print_install_command() {
    echo "sudo $install_command $*" | fold -s -w 72 | sed 's/^/    /; s/ $/ \\/'
}

# "62 MB" for what apt would download; fails where apt does not know the packages (yet).
download_size() {
    LC_ALL=C $install_command --print-uris -qq "$@" 2>/dev/null |
        awk '{ bytes += $3 } END { printf "%.0f MB", bytes < 1e6 ? 1 : bytes / 1e6 }'
}

# Whether somebody can be asked: where there is a controlling terminal, also if all three streams are
# pipes. (A container or CI has none.)
can_ask() {
    { : <>/dev/tty; } 2>/dev/null
}

# Runs apt-get as root and without questions: of its own, of what it installs, and of sudo where nobody
# could answer. Another apt-get at work is waited for. Where it fails, its last lines say why.
apt_get() {
    local -a as_root=()
    if (($(id -u) != 0)); then
        as_root=(sudo)
        can_ask || as_root+=(-n)
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a apt-get -y -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" 2>&1 </dev/null |
        follow "$root/build/install.log" "$announcement" '^(Get:[0-9]+|Unpacking [^ ]+|Setting up [^ ]+)'
}

apt_failed() {
    tail -n 5 "$root/build/install.log" >&2
    fail 1 "apt-get failed; all it said: $root/build/install.log"
}

# Asks at the terminal, whatever the streams are; no answer is a no: ask_to_install SIZE PACKAGE...
ask_to_install() {
    local answer
    printf '%s ' "$(print_wrapped "Install ${*:2} with apt-get ($1 to download)? [Y/n]")" >/dev/tty
    read -r answer </dev/tty || answer=no
    [[ ${answer:-y} == [Yy]* ]]
}

# Says what apt would install and download, asks where somebody can answer, and installs.
install_packages() {
    local announcement="reading the package lists (apt-get update) ..." size started
    size=$(download_size "$@") || {
        announce "$announcement"
        apt_get update || apt_failed
        size=$(download_size "$@") || fail 2 "apt-get does not know all of: $*"
    }
    if [[ $install == ask ]] && can_ask; then
        ask_to_install "$size" "$@" || fail 2 "nothing was installed"
    fi
    started=$SECONDS
    say "installing with apt-get ($size to download): $*"
    announcement="installing ..."
    # Old lists name packages that the mirror has replaced since: the second try has new lists.
    apt_get install --no-install-recommends "$@" ||
        { apt_get update && apt_get install --no-install-recommends "$@"; } || apt_failed
    say "installed in $((SECONDS - started)) s"
}

# Makes sure that all the groups need is here, or says what to do and exits 2: require VERB GROUP...
require() {
    local verb=$1 missing size
    local -a packages
    shift
    missing=$(missing_in "$@")
    [[ -n $missing ]] || return 0

    if [[ ${CXX:-} && $missing == "g++ "* ]]; then
        fail 2 "CXX=$CXX is version $(version_of "$CXX"); g++ 11 or newer is needed: name another, or unset CXX"
    fi
    if ! has_apt; then
        say "missing for \`./stages $verb\`:"
        say "$(cut -d' ' -f2- <<<"$missing" | sed 's/^/  /')"
        fail 2 "install these with this system's package manager, then try again"
    fi
    mapfile -t packages < <(cut -d' ' -f1 <<<"$missing")
    say "missing for \`./stages $verb\`: ${packages[*]}"
    if [[ $install == no ]]; then
        size=$(download_size "${packages[@]}") || size="size unknown before apt-get update"
        say "download: $size; install with:"
        quote "$(print_install_command "${packages[@]}")"
        exit 2
    fi
    if (($(id -u) != 0)) && ! command -v sudo >/dev/null; then
        fail 2 "only root can install them (no sudo here): $install_command ${packages[*]}"
    fi
    lock
    missing=$(missing_in "$@")  # the one that was waited for may have brought them
    if [[ -n $missing ]]; then
        mapfile -t packages < <(cut -d' ' -f1 <<<"$missing")
        install_packages "${packages[@]}"
        missing=$(missing_in "$@")
    fi
    unlock
    [[ -z $missing ]] || fail 2 "installed, but still not good enough: $(cut -d' ' -f2- <<<"$missing" | paste -sd,)"
}
