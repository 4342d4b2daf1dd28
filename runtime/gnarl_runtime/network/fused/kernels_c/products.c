/* Products of a long table with a small one: out = start + in * weight. Tables of a round are long
   and thin; with 32 registers this is faster than torch's product, which packs them first. */

#include "tiles.h"

#define STRIP 96 /* rows that stay in the first cache; a multiple of ROWS */

/* Rows lie a stride apart; weight (depth, columns) without gaps. `start` is one row (start_stride
   0), or a table, which may be `out`. */
typedef struct {
    int64_t rows, depth, columns; /* columns: a multiple of 32 */
    const float *in;
    int64_t in_stride;
    const float *weight, *start;
    int64_t start_stride;
    float *out;
    int64_t out_stride;
} Product;

INLINE void product_tile(const Product *of, int64_t row, int64_t column, int rows, int registers) {
    const float *in = of->in + row * of->in_stride, *weight = of->weight + column;
    const float *start = of->start + row * of->start_stride + column;
    float *out = of->out + row * of->out_stride + column;
    int64_t in_stride = of->in_stride, columns = of->columns;
    vec sum[ROWS][WIDE];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++)
            sum[i][j] = load(start + i * of->start_stride + j * LANES);
    for (int64_t k = 0; k < of->depth; k++, weight += columns) {
        vec right[WIDE];
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++) right[j] = load(weight + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
            for (int j = 0; j < registers; j++) sum[i][j] += all(in[i * in_stride + k]) * right[j];
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++) store(out + i * of->out_stride + j * LANES, sum[i][j]);
}

INLINE void product_strip(const Product *of, int64_t first, int64_t last, int64_t column,
                          int registers) {
    int64_t row = first;
    for (; row + ROWS <= last; row += ROWS) product_tile(of, row, column, ROWS, registers);
    for (; row < last; row++) product_tile(of, row, column, 1, registers);
}

void product(const Product *of) {
    for (int64_t first = 0; first < of->rows; first += STRIP) {
        int64_t last = first + STRIP < of->rows ? first + STRIP : of->rows, column = 0;
        for (; column + WIDE * LANES <= of->columns; column += WIDE * LANES)
            product_strip(of, first, last, column, WIDE);
        for (; column < of->columns; column += PAIR) product_strip(of, first, last, column, 2);
    }
}
