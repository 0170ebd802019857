// SPDX-License-Identifier: MIT
#include "common/course/my/watcher.hpp"

#include <algorithm>

#include "common/cpu_device/strict.hpp"

namespace my {

std::vector<FirstScenes::KernelScenes> FirstScenes::kernels() const {
    std::vector<KernelScenes> result;
    for (size_t i = 0; i < names_.size(); i++) result.push_back({names_[i], scenes_.kernels()[i]});
    return result;
}

void FirstScenes::on_launch(const cpu_device::ObservedLaunch& launch) {
    is_first_ = std::find(names_.begin(), names_.end(), launch.kernel_name) == names_.end();
    if (!is_first_) return;
    names_.emplace_back(launch.kernel_name);
    scenes_.on_launch(launch);
}

void FirstScenes::on_request(uint3 block, unsigned warp, const xray::Request& request) {
    if (is_first_ && block.x + block.y + block.z == 0) scenes_.on_request(block, warp, request);
}

void FirstScenes::on_fused_request(uint3 block, unsigned warp, const xray::Request& request) {
    if (is_first_ && block.x + block.y + block.z == 0)
        scenes_.on_fused_request(block, warp, request);
}

void FirstScenes::on_asynchronous(uint3 block, const cpu_device::AsynchronousEvent& event) {
    if (is_first_) scenes_.on_asynchronous(block, event);
}

namespace {

std::string threads_of(dim3 extent) {
    std::string text = std::to_string(extent.x);
    if (extent.y * extent.z > 1) text += " x " + std::to_string(extent.y);
    if (extent.z > 1) text += " x " + std::to_string(extent.z);
    return text;
}

size_t size_of(dim3 extent) {
    return size_t{extent.x} * extent.y * extent.z;
}

// New memory is full of 0xFF: what the host may write unseen is taken for unwritten only where it still is.
bool is_as_allocated(uintptr_t low, size_t bytes) {
    const auto* const at = reinterpret_cast<const unsigned char*>(low);
    return std::all_of(at, at + bytes, [](unsigned char byte) { return byte == 0xFF; });
}

}  // namespace

void Watcher::begin_launch(const cpu_device::ObservedLaunch& launch) {
    launches_.push_back(
        {launch.kernel_name, launch.configuration.grid, launch.configuration.block});
    Counter::begin_launch(launch);
}

void Watcher::read_by_host(uintptr_t low, size_t bytes, bool to_host) {
    const xray::GlobalShadow::Unwritten unwritten = global_.unwritten(low, bytes);
    if (unwritten.bytes == 0) return;
    if (unwritten.host_may_write && !(to_host && unwritten.is_tail &&
                                      is_as_allocated(low + unwritten.first, unwritten.bytes))) {
        return;
    }
    const std::string line = cpu_device::calling_line();
    constexpr size_t kMost = 8;
    if (!to_host) {
        if (!read_already_.insert({low, bytes}).second || notes_.size() >= kMost) return;
        notes_.push_back("cudaMemcpy copies " + std::to_string(bytes) +
                         " bytes of device memory, " + std::to_string(unwritten.bytes) +
                         " of which nobody has written, the first of them byte " +
                         std::to_string(unwritten.first) + ", at " + line);
        return;
    }
    auto find = std::find_if(finds_.begin(), finds_.end(),
                             [&](const Find& each) { return each.line == line; });
    if (find == finds_.end()) find = finds_.insert(find, {line, unwritten});
    find->read += bytes;
    find->unwritten += unwritten.bytes;
    find->times++;
}

std::string Watcher::words_on_writer(const Find& find) const {
    const xray::GlobalShadow::Unwritten& first = find.first;
    if (first.last_launch == 0 || first.last_launch > launches_.size())
        return "; no kernel has written any of that allocation";
    const Launch& writer = launches_[first.last_launch - 1];
    const size_t blocks = size_of(writer.grid);
    std::string text = "; the last to write there was kernel " + writer.kernel +
                       ", launched with " + threads_of(writer.grid) +
                       (blocks == 1 ? " block of " : " blocks of ") + threads_of(writer.block) +
                       " threads";
    // A grid rounded down leaves less than what one more block would have written.
    const size_t written = first.offset + first.first;
    if (first.is_tail && written != 0 && find.unwritten < written / blocks + 1) {
        text +=
            ": only the end is unwritten, so the grid may be rounded down; (n + block - 1) / "
            "block rounds it up";
    }
    return text;
}

std::string Watcher::text_of(const Find& find) const {
    std::string text = "the host reads " + std::to_string(find.read) + " bytes of device memory, " +
                       std::to_string(find.unwritten) + " of which nobody has written";
    if (find.times > 1) text += ", in " + std::to_string(find.times) + " pieces";
    const size_t at = find.first.offset + find.first.first;
    text += ", at " + find.line + ": the first of them is byte " + std::to_string(at);
    if (at % sizeof(float) == 0)
        text += " (of 4 bytes each, element " + std::to_string(at / 4) + ")";
    text += " of the allocation";
    return text + words_on_writer(find);
}

std::vector<std::string> Watcher::findings() const {
    constexpr size_t kMost = 8;
    std::vector<std::string> texts;
    for (const Find& find : finds_) {
        if (texts.size() == kMost) break;
        texts.push_back(text_of(find));
    }
    if (finds_.size() > kMost)
        texts.push_back("and " + std::to_string(finds_.size() - kMost) + " more such lines");
    return texts;
}

}  // namespace my
