/* Sums of hidden values, without a layer per message: forward and backward, nothing stored per
   message. The last layer of the message network commutes with the sum and is the caller's. */

#ifndef GNARL_PLAIN_SUM_H
#define GNARL_PLAIN_SUM_H

#include "network.h"

#define REGISTERS_FOR(columns) ((columns) <= 3 ? WIDE : 2) /* of channels, so that all fits */

/* Weights of raw edge columns for some registers of channels, a constant number of both. */
typedef struct {
    vec row[MOST_COLUMNS][WIDE];
} EdgeWeights;

INLINE EdgeWeights load_edge(const Network *net, int64_t c, int64_t columns, int registers) {
    EdgeWeights edge;
#pragma GCC unroll 8
    for (int64_t k = 0; k < columns; k++)
#pragma GCC unroll 4
        for (int j = 0; j < registers; j++)
            edge.row[k][j] = load(net->edge + k * net->width + c + j * LANES);
    return edge;
}

/* Before its relu: channels c .. of the message, in register j */
INLINE vec before_relu(const float *from, const float *raw, vec own, const EdgeWeights *edge,
                       int64_t columns, int j) {
    vec sum = own + load(from + j * LANES);
#pragma GCC unroll 8
    for (int64_t k = 0; k < columns; k++) sum += all(raw[k]) * edge->row[k][j];
    return sum;
}

INLINE void sum_part(const Network *net, int64_t c, int64_t columns, int registers, float *heard) {
    EdgeWeights edge = load_edge(net, c, columns, registers);
    for (int64_t v = net->begin; v < net->nodes; v++) {
        vec own[WIDE], sum[WIDE] = {0};
#pragma GCC unroll 4
        for (int j = 0; j < registers; j++)
            own[j] = load(receiver_of(net, v) + c + j * LANES);
        for (int64_t e = net->rowptr[v]; e < net->rowptr[v + 1]; e++) {
            const float *from = sender_of(net, e) + c, *raw = net->edge_raw + e * columns;
#pragma GCC unroll 4
            for (int j = 0; j < registers; j++)
                sum[j] += relu(before_relu(from, raw, own[j], &edge, columns, j));
        }
#pragma GCC unroll 4
        for (int j = 0; j < registers; j++) store(heard + v * net->width + c + j * LANES, sum[j]);
    }
}

/* Sums in registers go to the totals, now and then: see Sums of backward.c. */
INLINE void flush_edge(EdgeWeights *sums, float *total, int64_t width, int64_t c, int64_t columns,
                       int registers) {
#pragma GCC unroll 8
    for (int64_t k = 0; k < columns; k++)
#pragma GCC unroll 4
        for (int j = 0; j < registers; j++) {
            float *into = total + k * width + c + j * LANES;
            store(into, load(into) + sums->row[k][j]);
            sums->row[k][j] = (vec){0};
        }
}

INLINE void sum_backward_part(const Network *net, int64_t c, int64_t columns, int registers,
                              const float *slopes, float *projected, float *total) {
    int64_t width = net->width, since = 0;
    EdgeWeights edge = load_edge(net, c, columns, registers), sums = {0};
    for (int64_t v = 0; v < net->nodes; v++) {
        vec own[WIDE], slope[WIDE], received[WIDE] = {0};
#pragma GCC unroll 4
        for (int j = 0; j < registers; j++) {
            own[j] = load(receiver_of(net, v) + c + j * LANES);
            slope[j] = load(slopes + v * width + c + j * LANES);
        }
        for (int64_t e = net->rowptr[v]; e < net->rowptr[v + 1]; e++) {
            const float *from = sender_of(net, e) + c, *raw = net->edge_raw + e * columns;
            float *sender = projected + (from - net->projected);
#pragma GCC unroll 4
            for (int j = 0; j < registers; j++) {
                vec pull = where_positive(
                    slope[j], before_relu(from, raw, own[j], &edge, columns, j));
                received[j] += pull;
                store(sender + j * LANES, load(sender + j * LANES) + pull);
#pragma GCC unroll 8
                for (int64_t k = 0; k < columns; k++) sums.row[k][j] += all(raw[k]) * pull;
            }
        }
#pragma GCC unroll 4
        for (int j = 0; j < registers; j++)
            store(projected + net->stride * v + c + j * LANES, received[j]);
        since += net->rowptr[v + 1] - net->rowptr[v];
        if (since >= FLUSH || v + 1 == net->nodes) {
            flush_edge(&sums, total, width, c, columns, registers);
            since = 0;
        }
    }
}

INLINE void sum_of(const Network *net, int64_t columns, float *heard) {
    int64_t c = 0, step = REGISTERS_FOR(columns) * LANES;
    for (; c + step <= net->width; c += step)
        sum_part(net, c, columns, REGISTERS_FOR(columns), heard);
    for (; c < net->width; c += PAIR) sum_part(net, c, columns, 2, heard);
}

INLINE void sum_backward_of(const Network *net, int64_t columns, const float *slopes,
                            float *projected, float *edge) {
    int64_t c = 0, step = REGISTERS_FOR(columns) * LANES;
    for (; c + step <= net->width; c += step)
        sum_backward_part(net, c, columns, REGISTERS_FOR(columns), slopes, projected, edge);
    for (; c < net->width; c += PAIR)
        sum_backward_part(net, c, columns, 2, slopes, projected, edge);
}

#define EACH_COLUMNS(call) /* call(n) with n as a constant */ \
    switch (net->columns) {                                   \
    case 1: call(1); break;                                   \
    case 2: call(2); break;                                   \
    case 3: call(3); break;                                   \
    case 4: call(4); break;                                   \
    case 5: call(5); break;                                   \
    case 6: call(6); break;                                   \
    case 7: call(7); break;                                   \
    case 8: call(8); break;                                   \
    }

static inline int is_plain_sum(const Network *net) {
    return !net->is_max && !net->a && 1 <= net->columns && net->columns <= MOST_COLUMNS;
}

/* heard (nodes, width) is filled. */
static inline void plain_sum(const Network *net, float *heard) {
#define CALL(n) sum_of(net, n, heard)
    EACH_COLUMNS(CALL)
#undef CALL
}

/* From slopes (nodes, width) to those of projections and edge weights, which hold zeros. */
static inline void plain_sum_backward(const Network *net, const float *slopes, float *projected,
                                      float *edge) {
#define CALL(n) sum_backward_of(net, n, slopes, projected, edge)
    EACH_COLUMNS(CALL)
#undef CALL
}

#endif
