/* What hear.c and backward.c share: the message network, blocks of messages, their first layer.

   For a message u -> v with raw columns r, and up to two inner layers (A, a), (B, b):

       hidden = relu(receiver[v] + sender[u] + r * edge)
       max, 1 layer:   heard[v] = max of  A hidden + a
       max, 2 layers:  heard[v] = max of  B relu(A hidden + a) + b
       sum, 0 layers:  heard[v] = sum of  hidden
       sum, 1 layer:   heard[v] = sum of  relu(A hidden + a)

   Messages are sorted by receiver and are processed in blocks that stay in the first cache, so
   memory does not grow with their number. What a node hears, or a sum over messages, is computed
   by one thread in a fixed order: same input, same bits, however many threads share the nodes.
   The files are compiled once per instruction set. */

#ifndef GNARL_NETWORK_H
#define GNARL_NETWORK_H

#include "tiles.h"

#define MOST_COLUMNS 8 /* raw edge columns whose weights are kept in registers */
#define FLUSH 1024 /* messages whose slopes are summed apart: see Sums of backward.c */

/* What Python fills in; see message_kernel.py. Null pointers where a layer is missing. */
typedef struct {
    int64_t nodes, width, columns;
    int64_t stride;                     /* floats from a row of `projected` to the next */
    const int64_t *rowptr, *src;        /* (nodes + 1), (messages) */
    const float *projected;             /* (nodes, stride): receiver, sender, and more */
    const float *edge_raw;              /* (messages, columns) */
    const float *edge;                  /* (columns, width) */
    const float *a, *a_turned, *a_bias; /* (out, in), (in, out), (out) */
    const float *b, *b_turned, *b_bias;
    int64_t is_max;
    int64_t begin;                      /* what nodes hear is found for begin .. nodes - 1 */
} Network;

static inline const float *receiver_of(const Network *net, int64_t node) {
    return net->projected + net->stride * node;
}

static inline const float *sender_of(const Network *net, int64_t message) {
    return net->projected + net->stride * net->src[message] + net->width;
}

/* Rows of messages that are worked on together. */
typedef struct {
    int64_t count;
    int64_t message[BLOCK], node[BLOCK];
    float *hidden, *inner, *outer, *slope; /* (BLOCK, width) each */
    uint64_t *live; /* (BLOCK, words of width): scratch of tiles.h */
} Block;

static inline int open_block(Block *block, int64_t width) {
    int64_t table = BLOCK * width;
    size_t words = sizeof(uint64_t) * (size_t)(BLOCK * words_of(width));
    block->count = 0;
    block->hidden = aligned_alloc(ALIGNMENT, floats(4 * table));
    block->live = malloc(words);
    if (!block->hidden || !block->live) return 1;
    block->inner = block->hidden + table;
    block->outer = block->inner + table;
    block->slope = block->outer + table;
    memset(block->hidden, 0, floats(4 * table)); /* unused rows must hold numbers */
    return 0;
}

static inline void close_block(Block *block) {
    free(block->hidden);
    free(block->live);
}

/* Adds a message; whether the block is full now. */
static inline int enter(Block *block, int64_t message, int64_t node) {
    block->message[block->count] = message;
    block->node[block->count++] = node;
    return block->count == BLOCK;
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
        const float *to = receiver_of(net, block->node[i]) + c;
        const float *from = sender_of(net, message) + c;
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
        const float *to = receiver_of(net, block->node[i]) + c;
        const float *from = sender_of(net, message) + c;
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
                    block->live, block->inner);
}

#endif
