// SPDX-License-Identifier: MIT
#include "memory_model.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace xray {
namespace {

constexpr unsigned kWidestAccess = 16;

// Calls f(lane, address) for every lane of the request.
template <class Function>
void for_each_lane(const Request& request, Function f) {
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        f(lane, request.address[lane]);
    }
}

// The addresses in ascending order. Nearly always they are so already.
struct SortedAddresses {
    std::array<uintptr_t, 32> address;
    unsigned count = 0;

    explicit SortedAddresses(const Request& request) {
        bool ascending = true;
        for_each_lane(request, [&](unsigned, uintptr_t next) {
            ascending &= count == 0 || address[count - 1] <= next;
            address[count++] = next;
        });
        if (!ascending) std::sort(address.begin(), address.begin() + count);
    }
};

// Whether every lane of the request wants the same as the one whose number differs in the bit `distance`.
bool lanes_agree(const Request& request, unsigned distance) {
    bool agree = true;
    for_each_lane(request, [&](unsigned lane, uintptr_t address) {
        const unsigned other = lane ^ distance;
        const bool takes_part = (request.lanes >> other & 1) != 0;
        agree &= !takes_part || request.address[other] == address;
    });
    return agree;
}

// Wavefronts for the lanes of one group: the most different words in one bank.
unsigned wavefronts_of_group(const Request& group) {
    std::array<uintptr_t, kBanks> first_word;  // of each bank that is wanted
    std::array<uint8_t, kBanks> words{};
    std::array<uintptr_t, kBanks * kWidestAccess / kBankBytes> others;
    size_t other_count = 0;
    unsigned most = 0;
    for_each_lane(group, [&](unsigned, uintptr_t address) {
        const uintptr_t last = (address + group.bytes - 1) / kBankBytes;
        for (uintptr_t word = address / kBankBytes; word <= last; word++) {
            const unsigned bank = word % kBanks;
            if (words[bank] == 0) {
                first_word[bank] = word;
            } else {
                if (first_word[bank] == word) continue;
                const auto end = others.begin() + other_count;
                if (std::find(others.begin(), end, word) != end) continue;
                others[other_count++] = word;
            }
            most = std::max<unsigned>(most, ++words[bank]);
        }
    });
    return most;
}

}  // namespace

Touched touched_by(const Request& request) {
    const SortedAddresses sorted(request);
    Touched touched;
    uintptr_t next_sector = 0, next_byte = 0;  // those below are counted already
    for (unsigned i = 0; i < sorted.count; i++) {
        const uintptr_t first = sorted.address[i];
        const uintptr_t end = first + request.bytes;
        const uintptr_t first_sector = std::max(first / kSectorBytes, next_sector);
        const uintptr_t end_sector = (end - 1) / kSectorBytes + 1;
        if (end_sector > first_sector) {
            touched.sectors += static_cast<unsigned>(end_sector - first_sector);
        }
        if (end > next_byte)
            touched.bytes += static_cast<unsigned>(end - std::max(first, next_byte));
        next_sector = std::max(next_sector, end_sector);
        next_byte = std::max(next_byte, end);
    }
    return touched;
}

unsigned sectors_of_copy(const Request& load, const Request& copy) {
    std::array<std::pair<uintptr_t, uintptr_t>, 32> filled;  // by which line, which sector
    unsigned count = 0;
    for_each_lane(load, [&](unsigned lane, uintptr_t address) {
        filled[count++] = {address / kLineBytes, copy.address[lane] / kSectorBytes};
    });
    std::sort(filled.begin(), filled.begin() + count);
    const auto end = std::unique(filled.begin(), filled.begin() + count);
    return static_cast<unsigned>(end - filled.begin());
}

void AsynchronousCopies::load(const Request& request) {
    constexpr uint16_t kBypassing = 16;  // copies of fewer bytes come through the L1 cache
    forget(request.lanes);
    if (request.bytes == kBypassing) loads_.push_back(request);
}

void AsynchronousCopies::forget(unsigned lanes) {
    const auto is_of_them = [lanes](const Request& each) { return (each.lanes & lanes) != 0; };
    loads_.erase(std::remove_if(loads_.begin(), loads_.end(), is_of_them), loads_.end());
}

LaneGroups lanes_at_once(const Request& request) {
    const unsigned size = request.bytes <= 4 ? 32 : request.bytes == 8 ? 16 : 8;
    LaneGroups groups;
    const auto add = [&](unsigned first, unsigned count) {
        const unsigned all = count == 32 ? ~0u : ((1u << count) - 1) << first;
        if ((request.lanes & all) != 0) groups.lanes[groups.count++] = request.lanes & all;
    };
    if (size == 32) return add(0, 32), groups;
    Request two = request;
    for (unsigned first = 0; first < 32; first += 2 * size) {
        const unsigned all = size == 16 ? ~0u : 0xffffu << first;
        two.lanes = request.lanes & all;
        if (request.kind != AccessKind::shared_store &&
            (lanes_agree(two, 1) || lanes_agree(two, 2))) {
            add(first, 2 * size);
        } else {
            add(first, size);
            add(first + size, size);
        }
    }
    return groups;
}

Wavefronts wavefronts_of(const Request& request) {
    Wavefronts wavefronts;
    Request group = request;
    for (const unsigned lanes : lanes_at_once(request)) {
        group.lanes = lanes;
        wavefronts.taken += wavefronts_of_group(group);
        wavefronts.fewest++;
    }
    return wavefronts;
}

Collision collision_of(const Request& request) {
    Collision worst;
    Request group = request;
    for (const unsigned at_once : lanes_at_once(request)) {
        group.lanes = at_once;
        std::array<std::set<uintptr_t>, kBanks> words;
        std::array<unsigned, kBanks> lanes{};
        for_each_lane(group, [&](unsigned lane, uintptr_t address) {
            const uintptr_t last = (address + request.bytes - 1) / kBankBytes;
            for (uintptr_t word = address / kBankBytes; word <= last; word++) {
                words[word % kBanks].insert(word);
                lanes[word % kBanks] |= 1u << lane;
            }
        });
        for (unsigned bank = 0; bank < kBanks; bank++) {
            const auto count = static_cast<unsigned>(words[bank].size());
            if (count > worst.words) worst = {bank, count, lanes[bank]};
        }
    }
    return worst;
}

void AccessFusion::add(const Request& request, std::vector<Request>& done) {
    if (is_repeated(request)) return;
    if (!chains_.empty() && (chains_.front().request.kind != request.kind ||
                             chains_.front().request.lanes != request.lanes)) {
        end(done);
    }
    for (Chain& chain : chains_) {
        if (join(chain, request)) return;
    }
    if (chains_.size() == kMostChains) end(done);
    chains_.push_back({request, request.bytes});
}

void AccessFusion::end(std::vector<Request>& done) {
    for (const Chain& chain : chains_) append_pieces(chain, done);
    chains_.clear();
}

// Whether it reads what the same instruction of the same lanes read last, and nobody wrote since.
bool AccessFusion::is_repeated(const Request& request) {
    if (request.kind != AccessKind::shared_load) {
        reads_.clear();
        return false;
    }
    for (Request& read : reads_) {
        if (read.place != request.place) continue;
        bool same = read.lanes == request.lanes;
        for_each_lane(request, [&](unsigned lane, uintptr_t address) {
            same = same && read.address[lane] == address;
        });
        if (!same) read = request;
        return same;
    }
    if (reads_.size() == kMostReads) reads_.clear();
    reads_.push_back(request);
    return false;
}

bool AccessFusion::join(Chain& chain, const Request& next) {
    Request& request = chain.request;
    if (chain.piece != next.bytes || request.bytes + next.bytes > kWidestAccess) return false;
    bool follows = true;
    for_each_lane(next, [&](unsigned lane, uintptr_t address) {
        follows &= address == request.address[lane] + request.bytes;
    });
    if (follows) request.bytes = static_cast<uint16_t>(request.bytes + next.bytes);
    return follows;
}

// Cuts the chain into accesses of the widths that exist, as wide as every lane's address allows.
void AccessFusion::append_pieces(const Chain& chain, std::vector<Request>& done) {
    for (unsigned offset = 0; offset < chain.request.bytes;) {
        uintptr_t low_bits = 0;
        for_each_lane(chain.request,
                      [&](unsigned, uintptr_t address) { low_bits |= address + offset; });
        unsigned width = kWidestAccess;
        while (width > chain.piece &&
               (offset + width > chain.request.bytes || (low_bits & (width - 1)) != 0)) {
            width /= 2;
        }
        Request piece = chain.request;
        piece.bytes = static_cast<uint16_t>(width);
        for_each_lane(chain.request, [&](unsigned lane, uintptr_t address) {
            piece.address[lane] = address + offset;
        });
        done.push_back(piece);
        offset += width;
    }
}

}  // namespace xray
