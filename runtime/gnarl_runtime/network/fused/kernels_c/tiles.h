/* Matrix products of a block of rows, in tiles whose sums stay in registers.

   A tile has ROWS rows and WIDE registers, or 2 registers at the edge; width is a multiple of 32.
   Rows come out of a relu and are about half zeros, and rows that share a receiver have most of
   their zeros in the same channels: a tile skips the channels that are 0 in all of its rows,
   which changes no sum. */

#ifndef GNARL_TILES_H
#define GNARL_TILES_H

#include "vectors.h"

#define ROWS 6
#define BLOCK 36     /* rows worked on together; a multiple of ROWS */
#define OUTER_ROWS 4 /* divides width */
#define WORD 64      /* channels whose presence fits into a word */

static inline int64_t whole_tiles(int64_t rows) { return (rows + ROWS - 1) / ROWS * ROWS; }
static inline int64_t words_of(int64_t width) { return (width + WORD - 1) / WORD; }

/* One word per WORD channels of a tile: which are not 0 in all of its rows. */
INLINE void note_live(const float *in, int64_t width, uint64_t *live) {
    for (int64_t c = 0; c < width; c += LANES) {
        mask seen = {0};
#pragma GCC unroll 8
        for (int64_t i = 0; i < ROWS; i++) seen |= load_numbers((const int32_t *)in + i * width + c);
        uint64_t bits = nonzero_lanes(seen) << (c % WORD);
        live[c / WORD] = c % WORD ? live[c / WORD] | bits : bits;
    }
}

/* out = bias + in * weight for one tile, whose number of registers is constant after inlining */
INLINE void multiply_live(int registers, const float *in, const uint64_t *live,
                          const float *weight, const float *bias, int64_t width, float *out) {
    vec sum[ROWS][WIDE];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++) sum[i][j] = load(bias + j * LANES);
    for (int64_t word = 0; word < words_of(width); word++)
        for (uint64_t left = live[word]; left; left &= left - 1) {
            int64_t k = word * WORD + __builtin_ctzll(left);
            vec right[WIDE];
#pragma GCC unroll 8
            for (int j = 0; j < registers; j++) right[j] = load(weight + k * width + j * LANES);
#pragma GCC unroll 8
            for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
                for (int j = 0; j < registers; j++) sum[i][j] += all(in[i * width + k]) * right[j];
        }
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++) store(out + i * width + j * LANES, sum[i][j]);
}

INLINE void apply_layer_of(const float *in, const float *weight, const float *bias, int64_t rows,
                           int64_t width, uint64_t *live, float *out) {
    int64_t words = words_of(width), j = 0;
    for (int64_t i = 0; i < rows; i += ROWS) note_live(in + i * width, width, live + i * words);
    for (; j + WIDE * LANES <= width; j += WIDE * LANES)
        for (int64_t i = 0; i < rows; i += ROWS)
            multiply_live(WIDE, in + i * width, live + i * words, weight + j, bias + j, width,
                          out + i * width + j);
    for (; j < width; j += PAIR)
        for (int64_t i = 0; i < rows; i += ROWS)
            multiply_live(2, in + i * width, live + i * words, weight + j, bias + j, width,
                          out + i * width + j);
}

/* out (rows, width) = in (rows, width) * weight (width, width) + bias, for rows of a block; `live`
   is scratch of a word per row and WORD channels. The usual width is a constant of its own. */
static inline void apply_layer(const float *in, const float *weight, const float *bias,
                               int64_t rows, int64_t width, uint64_t *live, float *out) {
    if (width == USUAL_WIDTH)
        apply_layer_of(in, weight, bias, rows, USUAL_WIDTH, live, out);
    else
        apply_layer_of(in, weight, bias, rows, width, live, out);
}

/* sum += left^T * right for one tile of OUTER_ROWS rows and 2 registers; both (rows, width) */
INLINE void add_outer_tile(const float *left, const float *right, int64_t rows, int64_t width,
                           float *out) {
    vec sum[OUTER_ROWS][2];
#pragma GCC unroll 8
    for (int i = 0; i < OUTER_ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < 2; j++) sum[i][j] = load(out + i * width + j * LANES);
    for (int64_t k = 0; k < rows; k++) {
        vec by[2];
#pragma GCC unroll 8
        for (int j = 0; j < 2; j++) by[j] = load(right + k * width + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < OUTER_ROWS; i++)
#pragma GCC unroll 8
            for (int j = 0; j < 2; j++) sum[i][j] += all(left[k * width + i]) * by[j];
    }
#pragma GCC unroll 8
    for (int i = 0; i < OUTER_ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < 2; j++) store(out + i * width + j * LANES, sum[i][j]);
}

/* sum (width, width) += left^T * right over the rows of a block, both (rows, width) */
static inline void add_outer_products(const float *left, const float *right, int64_t rows,
                                      int64_t width, float *sum) {
    for (int64_t j = 0; j < width; j += PAIR)
        for (int64_t i = 0; i < width; i += OUTER_ROWS)
            add_outer_tile(left + i, right + j, rows, width, sum + i * width + j);
}

#endif
