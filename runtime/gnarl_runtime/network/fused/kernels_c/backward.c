/* Slopes of what every node hears in, slopes of all that it was made from out.

   With max only the first largest message of each (node, channel) has a slope: `winner`
   remembers it, and hidden values are computed again for these messages alone. */

#include "plain_sum.h"
#include "winners.h"

typedef struct {
    float *projected, *edge, *a, *a_bias, *b, *b_bias; /* added to; shapes as in Network */
} Gradients;

/* Weights collect thousands of small numbers: these are summed apart, a part at a time, which
   keeps the rounding error of a long sum in single precision small. */
typedef struct {
    const Gradients *total;
    Gradients part; /* its `projected` is the total's: few numbers meet there */
    int64_t messages, width, columns;
} Sums;

static int open_sums(Sums *sums, const Network *net, const Gradients *total) {
    int64_t width = net->width, square = width * width, columns = net->columns;
    float *room = calloc((size_t)(columns * width + 2 * square + 2 * width), sizeof(float));
    if (!room) return 1;
    sums->total = total;
    sums->messages = 0;
    sums->width = width;
    sums->columns = columns;
    sums->part.projected = total->projected;
    sums->part.edge = room;
    sums->part.a = room + columns * width;
    sums->part.b = sums->part.a + square;
    sums->part.a_bias = sums->part.b + square;
    sums->part.b_bias = sums->part.a_bias + width;
    return 0;
}

static void move_part(float *part, float *total, int64_t count) {
    if (!total) return;
    add_row(total, part, count);
    memset(part, 0, floats(count));
}

static void flush(Sums *sums) {
    int64_t width = sums->width, square = width * width;
    move_part(sums->part.edge, sums->total->edge, sums->columns * width);
    move_part(sums->part.a, sums->total->a, square);
    move_part(sums->part.b, sums->total->b, square);
    move_part(sums->part.a_bias, sums->total->a_bias, width);
    move_part(sums->part.b_bias, sums->total->b_bias, width);
    sums->messages = 0;
}

static inline void count_messages(Sums *sums, int64_t messages) {
    sums->messages += messages;
    if (sums->messages >= FLUSH) flush(sums);
}

static void close_sums(Sums *sums) {
    flush(sums);
    free(sums->part.edge);
}

/* Take the slope of a message's hidden values to everything that made them. */
static void spread(const Network *net, const Gradients *to, int64_t message, int64_t v,
                   const float *restrict hidden, float *restrict slope) {
    int64_t width = net->width;
    const float *raw = net->edge_raw + message * net->columns;
    float *receiver = to->projected + net->stride * v;
    float *sender = to->projected + net->stride * net->src[message] + width;
    for (int64_t c = 0; c < width; c += LANES) {
        vec own = where_positive(load(slope + c), load(hidden + c));
        store(slope + c, own);
        store(receiver + c, load(receiver + c) + own);
        store(sender + c, load(sender + c) + own);
    }
    for (int64_t k = 0; k < net->columns; k++) {
        if (raw[k] == 0.0f) continue; /* most columns are bits */
        vec by = all(raw[k]);
        float *edge = to->edge + k * width;
        for (int64_t c = 0; c < width; c += LANES)
            store(edge + c, load(edge + c) + by * load(slope + c));
    }
}

/* ---- the four networks ---- */

/* Each channel that a message won pulls on the values (width) that its layer read; for some
   registers' worth of them, a constant number after inlining. */
INLINE void pull_part(
    const int32_t *channel, int64_t channels, const float *slopes, const float *weight,
    int64_t width, const float *values, float *slope, float *weight_slope, int registers) {
    vec sum[4] = {0}, value[4];
#pragma GCC unroll 4
    for (int j = 0; j < registers; j++) value[j] = load(values + j * LANES);
    for (int64_t k = 0; k < channels; k++) {
        int64_t row = channel[k] * width;
        vec by = all(slopes[channel[k]]);
#pragma GCC unroll 4
        for (int j = 0; j < registers; j++) {
            float *into = weight_slope + row + j * LANES;
            sum[j] += by * load(weight + row + j * LANES);
            store(into, load(into) + by * value[j]);
        }
    }
#pragma GCC unroll 4
    for (int j = 0; j < registers; j++) store(slope + j * LANES, sum[j]);
}

static inline void pull(const int32_t *channel, int64_t channels, const float *slopes,
                        const float *weight, int64_t width, const float *values, float *slope,
                        float *weight_slope) {
    int64_t at = 0;
    for (; at + 4 * LANES <= width; at += 4 * LANES)
        pull_part(channel, channels, slopes, weight + at, width, values + at, slope + at,
                   weight_slope + at, 4);
    for (; at < width; at += PAIR)
        pull_part(channel, channels, slopes, weight + at, width, values + at, slope + at,
                   weight_slope + at, 2);
}

/* The slopes of a block's hidden values are known: take them further, and empty the block. */
static void spread_block(const Network *net, Sums *to, Block *block) {
    int64_t width = net->width;
    for (int64_t i = 0; i < block->count; i++)
        spread(net, &to->part, block->message[i], block->node[i], block->hidden + i * width,
               block->slope + i * width);
    count_messages(to, block->count);
    block->count = 0;
}

/* sum, 0 layers: every message has the slope of its sum. */
static void flush_plain_sum(const Network *net, const float *slopes, Sums *to, Block *block) {
    int64_t width = net->width;
    fill_hidden(net, block);
    for (int64_t i = 0; i < block->count; i++)
        memcpy(block->slope + i * width, slopes + block->node[i] * width, floats(width));
    spread_block(net, to, block);
}

static void sum_backward(const Network *net, const float *slopes, Sums *to, Block *block) {
    for (int64_t v = 0; v < net->nodes; v++)
        for (int64_t e = net->rowptr[v]; e < net->rowptr[v + 1]; e++)
            if (enter(block, e, v)) flush_plain_sum(net, slopes, to, block);
    flush_plain_sum(net, slopes, to, block);
}

/* From slopes of the inner layer's results, in block->outer, to everything before them. */
static void inner_backward(const Network *net, Sums *to, Block *block, const float *nothing) {
    int64_t width = net->width, rows = whole_tiles(block->count), used = block->count * width;
    for (int64_t i = 0; i < used; i += LANES)
        store(block->outer + i, where_positive(load(block->outer + i), load(block->inner + i)));
    memset(block->outer + used, 0, floats(rows * width - used));
    for (int64_t i = 0; i < block->count; i++)
        add_row(to->part.a_bias, block->outer + i * width, width);
    add_outer_products(block->outer, block->hidden, block->count, width, to->part.a);
    apply_layer(block->outer, net->a, nothing, rows, width, block->live, block->slope);
    spread_block(net, to, block);
}

/* sum, 1 layer */
static void flush_sum(const Network *net, const float *slopes, Sums *to, Block *block,
                      const float *nothing) {
    int64_t width = net->width;
    fill_block(net, block);
    for (int64_t i = 0; i < block->count; i++)
        memcpy(block->outer + i * width, slopes + block->node[i] * width, floats(width));
    inner_backward(net, to, block, nothing);
}

static void deep_sum_backward(const Network *net, const float *slopes, Sums *to, Block *block,
                              const float *nothing) {
    for (int64_t v = 0; v < net->nodes; v++)
        for (int64_t e = net->rowptr[v]; e < net->rowptr[v + 1]; e++)
            if (enter(block, e, v)) flush_sum(net, slopes, to, block, nothing);
    flush_sum(net, slopes, to, block, nothing);
}

/* Channels of the winners in a block: row i has channel[start[i]] .. channel[start[i + 1] - 1] */
typedef struct {
    int32_t start[BLOCK + 1];
    int32_t *channel; /* (BLOCK * width) */
} Claims;

/* Every channel pulls on what the last layer read of its winner: the hidden values if there is
   one layer, the inner ones if there are two. */
static void flush_max(const Network *net, const float *slopes, Sums *to, Block *block,
                      const Claims *claims, const float *nothing) {
    int64_t width = net->width, deep = net->b != NULL;
    const float *weight = deep ? net->b : net->a, *values = deep ? block->inner : block->hidden;
    float *slope = deep ? block->outer : block->slope;
    if (deep) {
        fill_block(net, block);
        relu_all(block->inner, block->count * width);
    } else {
        fill_hidden(net, block);
    }
    for (int64_t i = 0; i < block->count; i++)
        pull(claims->channel + claims->start[i], claims->start[i + 1] - claims->start[i],
             slopes + block->node[i] * width, weight, width, values + i * width,
             slope + i * width, deep ? to->part.b : to->part.a);
    if (deep)
        inner_backward(net, to, block, nothing);
    else
        spread_block(net, to, block);
}

static void max_backward(const Network *net, const float *slopes, const int32_t *winner,
                         Sums *to, Block *block, Winners *won, Claims *claims,
                         const float *nothing) {
    int64_t width = net->width;
    claims->start[0] = 0;
    for (int64_t v = 0; v < net->nodes; v++) {
        const float *own = slopes + v * width;
        find_winners(won, net, v, winner + v * width);
        if (won->count) add_row(net->b ? to->part.b_bias : to->part.a_bias, own, width);
        for (int64_t i = 0; i < won->count; i++) {
            int32_t channels = won->start[i + 1] - won->start[i];
            int32_t *into = claims->channel + claims->start[block->count];
            memcpy(into, won->channel + won->start[i], sizeof(int32_t) * (size_t)channels);
            claims->start[block->count + 1] = claims->start[block->count] + channels;
            if (enter(block, won->message[i], v))
                flush_max(net, slopes, to, block, claims, nothing);
        }
    }
    flush_max(net, slopes, to, block, claims, nothing);
}

/* Add to the gradients, given slopes (nodes, width) of what nodes heard and the winners that
   `hear` left. Returns 1 if there is no memory. */
int hear_backward(const Network *net, const float *slopes, const int32_t *winner,
                  const Gradients *to) {
    if (is_plain_sum(net)) return plain_sum_backward(net, slopes, to->projected, to->edge), 0;
    Block block = {0};
    Sums sums = {0};
    Winners won = {0};
    Claims claims = {0};
    float *nothing = calloc((size_t)net->width, sizeof(float));
    claims.channel = malloc(sizeof(int32_t) * (size_t)(BLOCK * net->width));
    int failed = !nothing || !claims.channel || open_block(&block, net->width) ||
                 open_winners(&won, net) || open_sums(&sums, net, to);
    if (failed)
        ;
    else if (net->is_max)
        max_backward(net, slopes, winner, &sums, &block, &won, &claims, nothing);
    else if (net->a)
        deep_sum_backward(net, slopes, &sums, &block, nothing);
    else
        sum_backward(net, slopes, &sums, &block);
    if (!failed) close_sums(&sums);
    close_winners(&won);
    close_block(&block);
    free(claims.channel);
    free(nothing);
    return failed;
}
