// SPDX-License-Identifier: MIT
// What the program is about, for whoever has to name it where the program itself cannot: a launcher may end it.
#pragma once
#include <string>
#include <utility>

namespace runner {

// While one exists, doing() is this text: a case, as messages name it. The innermost counts.
class Doing {
public:
    explicit Doing(std::string what) : before_(std::exchange(now(), std::move(what))) {}
    ~Doing() { now() = std::move(before_); }
    Doing(const Doing&) = delete;
    Doing& operator=(const Doing&) = delete;

    static std::string& now() {
        static std::string text;
        return text;
    }

private:
    std::string before_;
};

// Empty where nothing was named.
inline const std::string& doing() {
    return Doing::now();
}

}  // namespace runner
