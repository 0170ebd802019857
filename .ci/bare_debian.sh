# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A Debian with nothing on it, made anew: what a newcomer's machine is. Needs root; nothing of it outlives
# the script but the folder.

# The mirror that this machine takes its own Debian from, whatever release that is.
debian_mirror() {
    apt-get indextargets --format "\$(REPO_URI) \$(ORIGIN) \$(LABEL)" 'Created-By: Packages' 2>/dev/null |
        awk '$2 == "Debian" && $3 == "Debian" { print $1; exit }'
}

# make_bare FOLDER SUITE: a minimal system of that release, with this machine's way to the packages. Says
# why it cannot be made and fails.
make_bare() {
    local folder=$1 suite=$2 mirror log=$1.log
    mirror=$(debian_mirror)
    rm -rf "$folder"
    mkdir -p "$folder"
    if (($(id -u) != 0)); then
        echo "only root can make it"
    elif [[ -z $mirror ]]; then
        echo "this machine has no Debian mirror among its package sources"
    elif ! command -v debootstrap >/dev/null && ! { apt-get update && apt-get install -y debootstrap; } >"$log" 2>&1; then
        echo "no debootstrap, and apt-get brings none: $log"
    elif ! debootstrap --variant=minbase "$suite" "$folder" "$mirror" >"$log" 2>&1; then
        echo "debootstrap failed: $(tail -n 1 "$log")"
    elif ! in_bare "$folder" true 2>>"$log"; then
        echo "nothing runs in it: $(tail -n 1 "$log")"
    else
        cp /etc/resolv.conf /etc/hosts "$folder/etc/"
        cp /etc/apt/apt.conf.d/* "$folder/etc/apt/apt.conf.d/"
        return 0
    fi
    return 1
}

# in_bare FOLDER WORD...: runs that in its /course, with no terminal and nothing of this machine's
# environment; with --offline as the first word, without a network. What it mounts is gone when it ends.
in_bare() {
    local folder=$1
    local -a network=()
    shift
    if [[ $1 == --offline ]]; then
        network=(--net)
        shift
    fi
    mkdir -p "$folder/course"
    # shellcheck disable=SC2016  # the inner shell expands these
    unshare "${network[@]}" --mount --pid --fork --kill-child setsid --wait env --ignore-environment \
        HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        sh -c 'mount -t proc proc "$1/proc" && mount -t tmpfs shm "$1/dev/shm" &&
               mount -t devpts -o newinstance,ptmxmode=0666 pts "$1/dev/pts" && ln -sf pts/ptmx "$1/dev/ptmx" && folder=$1 && shift &&
               exec chroot "$folder" sh -c '\''cd /course && exec "$@"'\'' sh "$@"' sh "$folder" "$@" </dev/null
}

# Lays the files of this checkout, committed or not, into its /course: what a fresh clone would hold.
put_course_in() {
    local folder=$1
    rm -rf "$folder/course"
    mkdir -p "$folder/course"
    git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from - | tar --extract --directory "$folder/course"
}
