# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Which device the kernels run on: cuda where nvcc and a GPU are there, else the CPU device.

readonly oldest_cuda=12

# A compiler that the user named is that one or none: nothing is installed in its place.
check_named_compiler() {
    local variable=$1 name=${!1:-}
    [[ -z $name ]] || type -P "$name" >/dev/null ||
        fail 2 "$variable=$name: there is no such compiler; name one that is here, or unset $variable"
}

# The path of nvcc, also where an installer left it off PATH.
find_nvcc() {
    local candidate
    if [[ ${CUDACXX:-} ]]; then
        type -P "$CUDACXX" || true
        return
    fi
    for candidate in "$(type -P nvcc)" "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" \
        /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
        if [[ -x $candidate ]]; then
            echo "$candidate"
            return
        fi
    done
}

# A line for each GPU that the driver sees. Under WSL nvidia-smi is off PATH.
list_gpus() {
    PATH=$PATH:/usr/lib/wsl/lib nvidia-smi -L 2>/dev/null | sed -n '/^GPU/p'
}

# Why cuda cannot be used here; nothing where it can.
cuda_obstacle() {
    local nvcc
    nvcc=$(find_nvcc)
    if [[ -z $nvcc ]]; then
        echo "nvcc (the CUDA toolkit's compiler) is not here"
    elif ! at_least "$(version_of "$nvcc")" $oldest_cuda; then
        echo "nvcc $(version_of "$nvcc") is older than CUDA $oldest_cuda"
    elif [[ -z $(list_gpus) ]]; then
        echo "nvidia-smi shows no GPU"
    fi
}

# Settles `device`, or exits 77 where the one asked for is not there.
choose_device() {
    local obstacle
    case $device in
        cpu) return ;;
        auto | cuda) ;;
        *) fail 2 "--device takes cpu or cuda, not '$device'" ;;
    esac
    check_named_compiler CUDACXX
    obstacle=$(cuda_obstacle)
    if [[ -z $obstacle ]]; then
        device=cuda
    elif [[ $device == auto ]]; then
        device=cpu
    else
        local without="--device cpu needs neither"
        [[ $verb != ncu ]] || without="\`./stages xray\` counts without a GPU"
        [[ $verb != record ]] || without="\`./stages plot\` draws what is recorded"
        fail 77 "no cuda device: $obstacle. \`./stages doctor\` says more; $without"
    fi
}
