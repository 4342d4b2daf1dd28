/* Projections of nodes and raw edge columns in, what every node hears out. */

#include <pthread.h>

#include "plain_sum.h"
#include "rows.h"

/* The messages of a block, through all layers; the result is in one of its tables. */
static const float *apply_layers(const Network *net, Block *block) {
    int64_t rows = whole_tiles(block->count);
    fill_block(net, block);
    if (!net->a) return block->hidden;
    if (net->is_max && !net->b) return block->inner;
    relu_all(block->inner, rows * net->width);
    if (!net->b) return block->inner;
    apply_layer(block->inner, net->b_turned, net->b_bias, rows, net->width, block->live,
                block->outer);
    return block->outer;
}

/* Messages first .. last - 1 of a block have one receiver: what it heard before, if anything, and
   the largest of their rows, for some registers of channels. */
INLINE void keep_largest_part(const float *rows, int64_t width, const Block *block, int64_t first,
                              int64_t last, int is_new, float *heard, int32_t *winner,
                              int registers) {
    vec best[WIDE];
    mask won[WIDE];
#pragma GCC unroll 8
    for (int j = 0; j < registers; j++) {
        best[j] = is_new ? load(rows + first * width + j * LANES) : load(heard + j * LANES);
        won[j] = is_new || !winner ? all_numbers((int32_t)block->message[first])
                                   : load_numbers(winner + j * LANES);
    }
    for (int64_t i = first + is_new; i < last; i++)
#pragma GCC unroll 8
        for (int j = 0; j < registers; j++)
            keep_larger(load(rows + i * width + j * LANES),
                        all_numbers((int32_t)block->message[i]), &best[j], &won[j]);
#pragma GCC unroll 8
    for (int j = 0; j < registers; j++) {
        store(heard + j * LANES, best[j]);
        if (winner) store_numbers(winner + j * LANES, won[j]);
    }
}

static void keep_largest_of_run(const Network *net, const Block *block, const float *rows,
                                int64_t first, int64_t last, float *heard, int32_t *winner) {
    int64_t width = net->width, v = block->node[first], c = 0;
    int is_new = block->message[first] == net->rowptr[v];
    float *own = heard + v * width;
    int32_t *won = winner ? winner + v * width : NULL;
    for (; c + WIDE * LANES <= width; c += WIDE * LANES)
        keep_largest_part(rows + c, width, block, first, last, is_new, own + c,
                          won ? won + c : NULL, WIDE);
    for (; c < width; c += PAIR)
        keep_largest_part(rows + c, width, block, first, last, is_new, own + c,
                          won ? won + c : NULL, 2);
}

static void collect(const Network *net, Block *block, float *heard, int32_t *winner) {
    const float *rows = apply_layers(net, block);
    for (int64_t first = 0, last; first < block->count; first = last) {
        int64_t v = block->node[first];
        for (last = first + 1; last < block->count && block->node[last] == v;) last++;
        if (net->is_max)
            keep_largest_of_run(net, block, rows, first, last, heard, winner);
        else
            for (int64_t i = first; i < last; i++)
                add_row(heard + v * net->width, rows + i * net->width, net->width);
    }
    block->count = 0;
}

/* What a part of the nodes hears; 1 if there is no memory. */
static int hear_part(const Network *net, float *heard, int32_t *winner) {
    if (is_plain_sum(net)) return plain_sum(net, heard), 0;
    Block block;
    if (open_block(&block, net->width)) return 1;
    for (int64_t v = net->begin; v < net->nodes; v++) {
        if (!net->is_max || net->rowptr[v] == net->rowptr[v + 1])
            start_row(net->width, heard + v * net->width, winner ? winner + v * net->width : NULL);
        for (int64_t e = net->rowptr[v]; e < net->rowptr[v + 1]; e++)
            if (enter(&block, e, v)) collect(net, &block, heard, winner);
    }
    collect(net, &block, heard, winner);
    close_block(&block);
    return 0;
}

#define MOST_THREADS 64
#define LEAST_SHARE 4096 /* messages that are worth a thread, which takes about as long to start */

typedef struct {
    Network net;
    float *heard;
    int32_t *winner;
    int failed;
} Share;

static void *hear_share(void *given) {
    Share *share = given;
    share->failed = hear_part(&share->net, share->heard, share->winner);
    return NULL;
}

/* The first node before which there are at least so many messages. */
static int64_t node_at(const Network *net, int64_t messages) {
    int64_t low = 0, high = net->nodes;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (net->rowptr[middle] < messages)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* heard (nodes, width) and winner (nodes, width; null if no gradient will be asked for; -1
   where nothing arrives) are filled, by so many threads at most. A node is heard by one of them.
   Returns 1 if there is no memory. */
int hear(const Network *net, float *heard, int32_t *winner, int64_t threads) {
    int64_t messages = net->rowptr[net->nodes], most = messages / LEAST_SHARE;
    threads = threads < most ? threads : most;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    if (threads < 2) return hear_part(net, heard, winner);
    Share share[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    int started[MOST_THREADS], failed = 0;
    for (int64_t k = 0; k < threads; k++) {
        share[k] = (Share){*net, heard, winner, 0};
        share[k].net.begin = k ? share[k - 1].net.nodes : 0;
        share[k].net.nodes =
            k + 1 < threads ? node_at(net, messages * (k + 1) / threads) : net->nodes;
    }
    for (int64_t k = 1; k < threads; k++)
        started[k] = !pthread_create(&thread[k], NULL, hear_share, &share[k]);
    hear_share(&share[0]);
    for (int64_t k = 1; k < threads; k++) {
        if (started[k])
            pthread_join(thread[k], NULL);
        else
            hear_share(&share[k]);
    }
    for (int64_t k = 0; k < threads; k++) failed |= share[k].failed;
    return failed;
}
