/* Which messages won the channels of a node, from the table that hear.c leaves. */

#ifndef GNARL_WINNERS_H
#define GNARL_WINNERS_H

#include "network.h"

/* The messages that won a channel of a node, each once, and their channels. */
typedef struct {
    int64_t count;
    int32_t *message; /* (width + 1) */
    int32_t *start;   /* (width + 1) winner i has channel[start[i]] .. channel[start[i + 1] - 1] */
    int32_t *channel; /* (width) */
    int32_t *tally;   /* (most messages of a node) */
} Winners;

static inline int64_t most_messages(const Network *net) {
    int64_t most = 1;
    for (int64_t v = 0; v < net->nodes; v++) {
        int64_t own = net->rowptr[v + 1] - net->rowptr[v];
        most = own > most ? own : most;
    }
    return most;
}

static inline int open_winners(Winners *winners, const Network *net) {
    int64_t width = net->width;
    int32_t *room = malloc(sizeof(int32_t) * (size_t)(3 * width + 2 + most_messages(net)));
    if (!room) return 1;
    winners->message = room;
    winners->start = room + width + 1;
    winners->channel = winners->start + width + 1;
    winners->tally = winners->channel + width;
    return 0;
}

static inline void close_winners(Winners *winners) { free(winners->message); }

/* Sorts the channels of a node by winner, counting: no branch depends on who won. */
static inline void find_winners(Winners *winners, const Network *net, int64_t v, const int32_t *winner) {
    int64_t width = net->width, first = net->rowptr[v], messages = net->rowptr[v + 1] - first;
    int32_t *tally = winners->tally, listed = 0;
    winners->count = 0;
    if (!messages) return;
    memset(tally, 0, sizeof(int32_t) * (size_t)messages);
    for (int64_t c = 0; c < width; c++) tally[winner[c] - first]++;
    for (int64_t i = 0; i < messages; i++) {
        int32_t channels = tally[i];
        winners->message[winners->count] = (int32_t)(first + i);
        winners->start[winners->count] = listed;
        winners->count += channels > 0;
        tally[i] = listed;
        listed += channels;
    }
    winners->start[winners->count] = listed;
    for (int64_t c = 0; c < width; c++)
        winners->channel[tally[winner[c] - first]++] = (int32_t)c;
}

#endif
