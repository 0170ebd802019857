// SPDX-License-Identifier: MIT
// The host's compiler alone reads this: what device code brings with it is not in its way.
#include "host.hpp"

struct dim3 {
    int value;
};
int twice(int x) {
    return dim3{2 * x}.value;
}
