// SPDX-License-Identifier: MIT
#include <stdlib.h>
int thrice(int x) {
    int* new = malloc(sizeof *new);
    *new = 3 * x;
    x = *new;
    free(new);
    return x;
}
