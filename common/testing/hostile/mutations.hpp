// SPDX-License-Identifier: MIT
// What a damaged file or a slip of the hand makes of bytes that were good: the same for the same number.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

class Mutations {
public:
    // tokens: what is put in now and then; what means something to the reader that is tried.
    Mutations(std::vector<std::string> seeds, std::vector<std::string> tokens)
        : seeds_(std::move(seeds)), tokens_(std::move(tokens)) {}

    // One of the seeds after one to four changes.
    std::string make(uint64_t number) {
        random_.seed(number);
        std::string bytes = one_of(seeds_);
        for (size_t changes = 1 + below(4); changes > 0; --changes) change(bytes);
        return bytes;
    }

private:
    size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }
    const std::string& one_of(const std::vector<std::string>& all) {
        return all[below(all.size())];
    }

    void change(std::string& bytes) {
        const size_t at = below(bytes.size() + 1);
        const size_t length = below(bytes.size() - at + 1) % (below(4) == 0 ? 1 + bytes.size() : 9);
        switch (below(7)) {
            case 0:  // cut short
                bytes.resize(at);
                break;
            case 1:  // a piece is gone
                bytes.erase(at, length);
                break;
            case 2:  // or there twice, or very often
                for (size_t times = below(8) == 0 ? 1000 : 1; times > 0; --times)
                    bytes.insert(at, bytes.substr(at, length));
                break;
            case 3:  // a bit is wrong
                if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
                break;
            case 4:  // or a byte
                if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
                break;
            case 5:
                bytes.insert(at, one_of(tokens_));
                break;
            default:  // one thing stands in the place of another
                bytes.replace(at, length, one_of(tokens_));
        }
    }

    std::vector<std::string> seeds_, tokens_;
    std::mt19937_64 random_;
};
