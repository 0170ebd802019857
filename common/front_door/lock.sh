# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Installing, configuring and building are for one at a time in a clone: another waits and says so.
# Programs run without the lock.

locked=

# Locks are for the processes of this machine and user; build/ is where all of them write.
lock() {
    [[ ! $locked ]] || return 0
    mkdir -p "$root/build" 2>/dev/null || true
    [[ -w $root/build ]] || fail 1 "$root/build cannot be written to: nothing can be installed or built from here"
    if command -v flock >/dev/null; then
        [[ -e $root/build/lock ]] || : >"$root/build/lock"
        exec {locked}<"$root/build/lock"  # for reading: it may be another user's
        flock -n "$locked" || { say_waiting && attend flock "$locked"; }
    else
        lock_by_folder
    fi
}

# Whether another process holds the lock.
is_locked() {
    [[ ! $locked ]] || return 1
    if command -v flock >/dev/null; then
        [[ -e $root/build/lock ]] && ! flock -n 0 <"$root/build/lock"
    else
        [[ -e $root/build/lock.held ]]
    fi
}

# In a process that may outlive the script's hold on the lock: closes its own.
leave_lock() {
    [[ ! $locked =~ ^[0-9]+$ ]] || exec {locked}<&-
}

say_waiting() {
    say "another ./stages is installing or building in this clone: waiting for it ..."
}

# Where there is no flock: a folder can be made only once. Who made it may have been killed since.
lock_by_folder() {
    local folder=$root/build/lock.held holder said=
    until mkdir "$folder" 2>/dev/null; do
        holder=$(cat "$folder/holder" 2>/dev/null) || holder=
        if [[ $holder ]] && ! kill -0 "$holder" 2>/dev/null; then
            rm -rf "$folder"
            continue
        fi
        [[ $said ]] || say_waiting
        said=yes
        sleep 1
    done
    echo "$BASHPID" >"$folder/holder"
    locked=$folder
    trap unlock EXIT
}

unlock() {
    case $locked in
        "") ;;
        /*) rm -rf "$locked" ;;
        *) exec {locked}>&- ;;
    esac
    locked=
}
