/* Steps of a maximum over rows, per channel, and of who won it. */

#ifndef GNARL_ROWS_H
#define GNARL_ROWS_H

#include "vectors.h"

/* What an empty maximum or sum is: 0, won by nobody. */
static inline void start_row(int64_t width, float *best, int32_t *winner) {
    memset(best, 0, floats(width));
    if (winner) memset(winner, 255, sizeof(int32_t) * (size_t)width);
}

/* A row meets the largest so far; ties stay with the one that came first. */
static inline void keep_largest(const float *restrict row, int32_t number, int64_t width,
                                float *restrict best, int32_t *restrict winner) {
    for (int64_t c = 0; c < width; c++) {
        int larger = row[c] > best[c];
        best[c] = larger ? row[c] : best[c];
        winner[c] = larger ? number : winner[c];
    }
}

static inline void take_row(const float *restrict row, int32_t number, int64_t width,
                            float *restrict best, int32_t *restrict winner) {
    memcpy(best, row, floats(width));
    if (winner)
        for (int64_t c = 0; c < width; c++) winner[c] = number;
}

#endif
