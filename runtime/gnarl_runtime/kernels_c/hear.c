/* Projections of nodes and raw edge columns in, what every node hears out. */

#include "network.h"
#include "rows.h"

/* The messages of a block, through all layers; the result is in one of its tables. */
static const float *apply_layers(const Network *net, Block *block) {
    int64_t rows = whole_tiles(block->count);
    fill_block(net, block);
    if (!net->a) return block->hidden;
    if (net->is_max && !net->b) return block->inner;
    relu_all(block->inner, rows * net->width);
    if (!net->b) return block->inner;
    apply_layer(block->inner, net->b_turned, net->b_bias, rows, net->width, block->outer);
    return block->outer;
}

static void collect(const Network *net, Block *block, float *heard, int32_t *winner) {
    int64_t width = net->width;
    const float *row = apply_layers(net, block);
    for (int64_t i = 0; i < block->count; i++, row += width) {
        int64_t v = block->node[i], message = block->message[i];
        float *own = heard + v * width;
        int32_t *won = winner ? winner + v * width : NULL;
        if (!net->is_max)
            add_row(own, row, width);
        else if (message == net->rowptr[v])
            take_row(row, (int32_t)message, width, own, won);
        else if (won)
            keep_largest(row, (int32_t)message, width, own, won);
        else
            keep_largest_value(row, width, own);
    }
    block->count = 0;
}

/* heard (nodes, width) and winner (nodes, width; null if no gradient will be asked for; -1
   where nothing arrives) are filled. Returns 1 if there is no memory. */
int hear(const Network *net, float *heard, int32_t *winner) {
    Block block;
    if (open_block(&block, net->width)) return 1;
    for (int64_t v = 0; v < net->nodes; v++) {
        if (!net->is_max || net->rowptr[v] == net->rowptr[v + 1])
            start_row(net->width, heard + v * net->width, winner ? winner + v * net->width : NULL);
        for (int64_t e = net->rowptr[v]; e < net->rowptr[v + 1]; e++)
            if (enter(&block, e, v)) collect(net, &block, heard, winner);
    }
    collect(net, &block, heard, winner);
    close_block(&block);
    return 0;
}
