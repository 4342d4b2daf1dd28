/* What hear.c and backward.c share: the message network, blocks of messages, matrix products.

   For a message u -> v with raw columns r, and up to two inner layers (A, a), (B, b):

       hidden = relu(receiver[v] + sender[u] + r * edge)
       max, 1 layer:   heard[v] = max of  A hidden + a
       max, 2 layers:  heard[v] = max of  B relu(A hidden + a) + b
       sum, 0 layers:  heard[v] = sum of  hidden
       sum, 1 layer:   heard[v] = sum of  relu(A hidden + a)

   Messages are sorted by receiver and are processed in blocks that stay in the first cache, so
   memory does not grow with their number. Everything runs in one thread in a fixed order: same
   input, same bits.

   The files are compiled once per instruction set. A matrix product is made of tiles of ROWS
   rows and WIDE registers, or 2 registers at the edge; width is a multiple of 32. */

#ifndef GNARL_NETWORK_H
#define GNARL_NETWORK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX512F__) /* 32 registers */
#define LANES 16         /* floats in a register */
#define WIDE 4
#elif defined(__AVX2__)
#define LANES 8
#define WIDE 2
#else
#define LANES 4
#define WIDE 2
#endif
#define ROWS 6
#define BLOCK 36       /* messages worked on together; a multiple of ROWS */
#define OUTER_ROWS 4   /* divides width */
#define PAIR (2 * LANES) /* floats; divides 32 */
#define ALIGNMENT 64
#define MOST_COLUMNS 8 /* raw edge columns whose weights are kept in registers */
#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline vec load(const float *from) { return *(const vec *)from; }
static inline void store(float *to, vec value) { *(vec *)to = value; }
static inline vec all(float value) { return value - (vec){0}; }
/* x where it is not below 0: a NaN stays one */
static inline vec relu(vec x) { return (vec)((mask)x & ~(mask)(x < (vec){0})); }
/* x where y is above 0 */
static inline vec where_positive(vec x, vec y) { return (vec)((mask)x & (mask)(y > (vec){0})); }

/* What Python fills in; see message_kernel.py. Null pointers where a layer is missing. */
typedef struct {
    int64_t nodes, width, columns;
    const int64_t *rowptr, *src;        /* (nodes + 1), (messages) */
    const float *projected;             /* (nodes, 2 * width): receiver, then sender */
    const float *edge_raw;              /* (messages, columns) */
    const float *edge;                  /* (columns, width) */
    const float *a, *a_turned, *a_bias; /* (out, in), (in, out), (out) */
    const float *b, *b_turned, *b_bias;
    int64_t is_max;
} Network;

/* Rows of messages that are worked on together. */
typedef struct {
    int64_t count;
    int64_t message[BLOCK], node[BLOCK];
    float *hidden, *inner, *outer, *slope; /* (BLOCK, width) each */
} Block;

static inline size_t floats(int64_t count) { return sizeof(float) * (size_t)count; }

static inline int open_block(Block *block, int64_t width) {
    int64_t table = BLOCK * width;
    block->count = 0;
    block->hidden = aligned_alloc(ALIGNMENT, floats(4 * table));
    if (!block->hidden) return 1;
    block->inner = block->hidden + table;
    block->outer = block->inner + table;
    block->slope = block->outer + table;
    memset(block->hidden, 0, floats(4 * table)); /* unused rows must hold numbers */
    return 0;
}

static inline void close_block(Block *block) { free(block->hidden); }

/* Adds a message; whether the block is full now. */
static inline int enter(Block *block, int64_t message, int64_t node) {
    block->message[block->count] = message;
    block->node[block->count++] = node;
    return block->count == BLOCK;
}

static inline int64_t whole_tiles(int64_t rows) { return (rows + ROWS - 1) / ROWS * ROWS; }

/* out = start + a * b for one tile, whose size is constant after inlining; a is read at
   [i * a_row + k * a_step]. `start` is a row (a bias, start_row 0) or, with start_row = out_row,
   a tile to add to. */
INLINE void multiply_tile(int rows, int registers, const float *a, int64_t a_row, int64_t a_step,
                          const float *b, int64_t b_row, int64_t depth, const float *start,
                          int64_t start_row, float *out, int64_t out_row) {
    vec sum[ROWS][WIDE];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++) sum[i][j] = load(start + i * start_row + j * LANES);
    for (int64_t k = 0; k < depth; k++) {
        vec right[WIDE];
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++) right[j] = load(b + k * b_row + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            vec left = all(a[i * a_row + k * a_step]);
#pragma GCC unroll 8
            for (int j = 0; j < registers; j++) sum[i][j] += left * right[j];
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++) store(out + i * out_row + j * LANES, sum[i][j]);
}

/* out (rows, width) = in (rows, width) * weight (width, width) + bias, for rows of a block */
static inline void apply_layer(const float *in, const float *weight, const float *bias,
                               int64_t rows, int64_t width, float *out) {
    int64_t j = 0;
    for (; j + WIDE * LANES <= width; j += WIDE * LANES)
        for (int64_t i = 0; i < rows; i += ROWS)
            multiply_tile(ROWS, WIDE, in + i * width, width, 1, weight + j, width, width,
                          bias + j, 0, out + i * width + j, width);
    for (; j < width; j += PAIR)
        for (int64_t i = 0; i < rows; i += ROWS)
            multiply_tile(ROWS, 2, in + i * width, width, 1, weight + j, width, width, bias + j,
                          0, out + i * width + j, width);
}

static inline void relu_all(float *values, int64_t count) {
    for (int64_t i = 0; i < count; i += LANES) store(values + i, relu(load(values + i)));
}

static inline void add_row(float *restrict sum, const float *restrict row, int64_t width) {
    for (int64_t c = 0; c < width; c += LANES) store(sum + c, load(sum + c) + load(row + c));
}

/* The first layer of a block's messages, for two registers of channels. Inlined with a constant
   number of columns, whose weights then stay in registers. */
INLINE void fill_pair(const Network *net, const Block *block, int64_t c, int64_t columns) {
    vec edge[MOST_COLUMNS][2];
#pragma GCC unroll 16
    for (int64_t k = 0; k < columns; k++)
#pragma GCC unroll 4
        for (int j = 0; j < 2; j++)
            edge[k][j] = load(net->edge + k * net->width + c + j * LANES);
    for (int64_t i = 0; i < block->count; i++) {
        int64_t message = block->message[i];
        const float *to = net->projected + 2 * net->width * block->node[i] + c;
        const float *from = net->projected + (2 * net->src[message] + 1) * net->width + c;
        const float *raw = net->edge_raw + message * columns;
        vec sum[2];
#pragma GCC unroll 4
        for (int j = 0; j < 2; j++) sum[j] = load(to + j * LANES) + load(from + j * LANES);
#pragma GCC unroll 16
        for (int64_t k = 0; k < columns; k++)
#pragma GCC unroll 4
            for (int j = 0; j < 2; j++) sum[j] += all(raw[k]) * edge[k][j];
#pragma GCC unroll 4
        for (int j = 0; j < 2; j++)
            store(block->hidden + i * net->width + c + j * LANES, relu(sum[j]));
    }
}

/* The same for any number of columns. */
static inline void fill_pair_slowly(const Network *net, const Block *block, int64_t c) {
    for (int64_t i = 0; i < block->count; i++) {
        int64_t message = block->message[i];
        const float *to = net->projected + 2 * net->width * block->node[i] + c;
        const float *from = net->projected + (2 * net->src[message] + 1) * net->width + c;
        const float *raw = net->edge_raw + message * net->columns;
        for (int j = 0; j < PAIR; j += LANES) {
            vec sum = load(to + j) + load(from + j);
            for (int64_t k = 0; k < net->columns; k++)
                sum += all(raw[k]) * load(net->edge + k * net->width + c + j);
            store(block->hidden + i * net->width + c + j, relu(sum));
        }
    }
}

static inline void fill_hidden(const Network *net, const Block *block) {
    for (int64_t c = 0; c < net->width; c += PAIR) switch (net->columns) {
        case 1: fill_pair(net, block, c, 1); break;
        case 2: fill_pair(net, block, c, 2); break;
        case 3: fill_pair(net, block, c, 3); break;
        case 4: fill_pair(net, block, c, 4); break;
        case 5: fill_pair(net, block, c, 5); break;
        case 6: fill_pair(net, block, c, 6); break;
        case 7: fill_pair(net, block, c, 7); break;
        case 8: fill_pair(net, block, c, 8); break;
        default: fill_pair_slowly(net, block, c);
        }
}

/* The hidden values of a block's messages and, if there is a first inner layer, its results. */
static inline void fill_block(const Network *net, Block *block) {
    int64_t width = net->width;
    fill_hidden(net, block);
    if (net->a)
        apply_layer(block->hidden, net->a_turned, net->a_bias, whole_tiles(block->count), width,
                    block->inner);
}

#endif
