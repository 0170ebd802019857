// SPDX-License-Identifier: MIT
// Keys as they are pressed at a terminal; where standard input is none, a line for each.
#pragma once
#include <functional>
#include <string>

namespace course {

// Changes how the terminal works as long as it lives; one at a time.
class Keys {
public:
    Keys();
    ~Keys();
    Keys(const Keys&) = delete;
    Keys& operator=(const Keys&) = delete;

    static const char* const kRedraw;     // the terminal has another size
    static const char* const kInterrupt;  // Ctrl-C

    // Enter as "", arrows as "n" and "b", other keys as themselves, and digits up to Enter as a number, which begins
    // with "g" if that came before: as they are pressed where `takes_digits`, else behind a g alone. "q" at the end of
    // the input. Asks now and then whether the screen has to be drawn again.
    std::string next(bool takes_digits, const std::function<bool()>& is_outdated) const;

    // Whether n or Ctrl-C was pressed. All other keys that were pressed are dropped.
    bool stop() const;
    // Drops what was typed.
    void drop() const;

    // For a program that needs the terminal as it was.
    void take();
    void give_back();

private:
    bool is_terminal_;
};

// Where a signal ends the program: the terminal gets back how it worked, and the running command ends.
void end_by_signals();

}  // namespace course
