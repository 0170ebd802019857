# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What is on this machine, what is missing and how to get it. Needs nothing that a bare one lacks.

row() {
    printf '  %-26s %s\n' "$1" "$2"
}

describe_system() {
    local name
    name=$(sed -n 's/^PRETTY_NAME="\?\([^"]*\)"\?$/\1/p' /etc/os-release 2>/dev/null || true)
    printf 'This machine\n'
    row system "${name:-$(uname -s)}, $(uname -m)"
    row "cores, memory" "$(nproc), $(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo)"
}

# What each need of a group finds here: describe_needs TITLE GROUP
describe_needs() {
    local group what in_words
    printf '\n%s\n' "$1"
    while read -r group what _ in_words; do
        [[ $group != "$2" ]] || row "$in_words" "$(probe "$what" || echo MISSING)"
    done <<<"$needs"
}

# nvidia-smi speaks through the driver; the list of PCI devices shows a card without one.
describe_gpu() {
    local gpu tool path nvcc
    nvcc=$(find_nvcc)
    printf '\nNeeded for an NVIDIA GPU (without one the kernels run on the CPU device)\n'
    if [[ -n $(list_gpus) ]]; then
        row driver "$(first_line "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader)")"
        while read -r gpu; do row "${gpu%%:*}" "${gpu#*: }"; done < <(list_gpus | sed 's/ (UUID.*//')
    elif grep -qsi '^0x10de' /sys/bus/pci/devices/*/vendor; then
        row "GPU, driver" "MISSING: an NVIDIA card is here, but no driver answers"
    else
        row "GPU, driver" none
    fi
    if [[ -n $nvcc ]]; then
        row "nvcc $oldest_cuda or newer" "$(version_of "$nvcc") ($nvcc)"
    else
        row "nvcc $oldest_cuda or newer" MISSING
    fi

    printf '\nOptional tools\n'
    for tool in cuda-gdb compute-sanitizer ncu; do
        path=$(PATH=$PATH:${nvcc%/*} && type -P "$tool") || path="not here"
        row "$tool" "$path"
    done
}

# The command that brings what is missing of some groups: describe_cure PURPOSE GROUP...
describe_cure() {
    local purpose=$1 missing
    shift
    missing=$(missing_in "$@")
    [[ -n $missing ]] || return 0
    if has_apt; then
        printf '\nMissing for %s; it installs them itself, or you with:\n' "$purpose"
        print_install_command "$(cut -d' ' -f1 <<<"$missing" | paste -sd' ')"
    else
        printf '\nMissing for %s; install with the package manager of this system:\n' "$purpose"
        cut -d' ' -f2- <<<"$missing" | sed 's/^/    /'
    fi
}

doctor() {
    local reason
    reason=$(cuda_obstacle)
    (($# == 0)) || fail 2 "doctor takes no words: ./stages doctor"
    device=auto
    choose_device

    describe_system
    describe_needs "Needed by every verb but list, header and doctor" build
    describe_needs "Needed by test" test
    describe_needs "Needed by debug" debug
    describe_needs "Needed by lint" lint
    describe_needs "Wanted for pictures (without: their scripts and numbers)" plot
    describe_gpu

    printf '\nDevice\n'
    case $device in
        cuda) row cuda "nvcc and a GPU are here" ;;
        cpu) row cpu "$reason" ;;
    esac

    describe_cure "\`./stages run\`" build
    describe_cure "\`./stages test\`" test
    describe_cure "\`./stages debug\`" debug
    describe_cure "\`./stages lint\`" lint
    describe_cure "\`./stages plot\`" plot
    if [[ $reason == nvcc* && -n $(list_gpus) ]]; then
        printf '\nA GPU without a compiler for it. Get the CUDA toolkit (%s or newer; not the driver again):\n' "$oldest_cuda"
        printf '    https://developer.nvidia.com/cuda-downloads\n'
        printf 'The packages cuda-nvcc, cuda-cudart-dev, cuda-cccl and libcublas-dev of one version do.\n'
    fi
    [[ -z $(missing_in build) ]]
}
