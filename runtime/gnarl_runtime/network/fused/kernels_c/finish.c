/* What a node's update adds up to in, its new embedding out: the share that each message brings if
   there is one, relu, layer norm if there is a gain. The update's rows lie `stride` floats apart,
   in a wider table. */

#include <math.h>

#include "vectors.h"

#define PART 1024 /* rows whose slopes are summed apart, which keeps long sums precise */

typedef struct {
    int64_t nodes, width, stride;
    float *before;              /* (nodes, stride) */
    const int64_t *rowptr;      /* (nodes + 1) */
    const float *per_message;   /* (width), or null */
    const float *gain, *offset; /* (width), or null */
    float least;                /* added to the variance */
} Update;

INLINE void normalise(const Update *update, int64_t width, float *row, float *stats) {
    vec sum = {0}, squares = {0};
    for (int64_t c = 0; c < width; c += LANES) sum += load(row + c);
    float mean = total(sum) / (float)width;
    for (int64_t c = 0; c < width; c += LANES) {
        vec gap = load(row + c) - all(mean);
        squares += gap * gap;
    }
    float by = 1.0f / sqrtf(total(squares) / (float)width + update->least);
    for (int64_t c = 0; c < width; c += LANES) {
        vec unit = (load(row + c) - all(mean)) * all(by);
        store(row + c, unit * load(update->gain + c) + load(update->offset + c));
    }
    stats[0] = mean;
    stats[1] = by;
}

static inline vec messages_into(const Update *update, int64_t v) {
    return all((float)(update->rowptr[v + 1] - update->rowptr[v]));
}

/* out (nodes, width) and, with a gain, stats (nodes, 2) are filled; `before` gets what is added. */
INLINE void finish_rows(const Update *update, int64_t width, float *stats, float *out) {
    for (int64_t v = 0; v < update->nodes; v++, out += width) {
        float *before = update->before + v * update->stride;
        vec messages = messages_into(update, v);
        for (int64_t c = 0; update->per_message && c < width; c += LANES)
            store(before + c, load(before + c) + messages * load(update->per_message + c));
        for (int64_t c = 0; c < width; c += LANES) store(out + c, relu(load(before + c)));
        if (update->gain) normalise(update, width, out, stats + 2 * v);
    }
}

/* The usual width is a constant of its own, here and below. */
void finish(const Update *update, float *stats, float *out) {
    if (update->width == USUAL_WIDTH)
        finish_rows(update, USUAL_WIDTH, stats, out);
    else
        finish_rows(update, update->width, stats, out);
}

/* The slopes of a normalised row become those of the row before, both in `slope`. */
INLINE void normalise_backward(const Update *update, int64_t width, const float *before,
                               const float *stats, const float *slopes, float *slope,
                               float *gain_part, float *offset_part) {
    vec mean = all(stats[0]), by = all(stats[1]), sum = {0}, along = {0};
    for (int64_t c = 0; c < width; c += LANES) {
        vec given = load(slopes + c), own = given * load(update->gain + c);
        vec unit = (relu(load(before + c)) - mean) * by;
        store(gain_part + c, load(gain_part + c) + given * unit);
        store(offset_part + c, load(offset_part + c) + given);
        sum += own;
        along += own * unit;
    }
    vec shift = all(total(sum) / (float)width), turn = all(total(along) / (float)width);
    for (int64_t c = 0; c < width; c += LANES) {
        vec own = load(slopes + c) * load(update->gain + c);
        vec unit = (relu(load(before + c)) - mean) * by;
        store(slope + c, by * (own - shift - unit * turn));
    }
}

/* Slopes of per_message, gain and offset, (width) each, one after another. */
static void move_parts(float *part, float *sum, int64_t width) {
    add_row(sum, part, 3 * width);
    memset(part, 0, floats(3 * width));
}

INLINE void finish_rows_backward(const Update *update, int64_t width, const float *stats,
                                 const float *slopes, float *into, float *weights, float *part) {
    for (int64_t v = 0; v < update->nodes; v++, slopes += width) {
        const float *before = update->before + v * update->stride, *given = slopes;
        float *slope = into + v * update->stride;
        vec messages = messages_into(update, v);
        if (update->gain) {
            normalise_backward(update, width, before, stats + 2 * v, slopes, slope, part + width,
                               part + 2 * width);
            given = slope;
        }
        for (int64_t c = 0; c < width; c += LANES) {
            vec own = where_positive(load(given + c), load(before + c));
            store(slope + c, own);
            store(part + c, load(part + c) + messages * own);
        }
        if ((v + 1) % PART == 0) move_parts(part, weights, width);
    }
    move_parts(part, weights, width);
}

/* From slopes (nodes, width) to those of `before`, in rows of `into` that are `stride` apart; those
   of the weights, (3, width), are added to. Returns 1 if there is no memory. */
int finish_backward(const Update *update, const float *stats, const float *slopes, float *into,
                    float *weights) {
    int64_t width = update->width;
    float *part = calloc((size_t)(3 * width), sizeof(float));
    if (!part) return 1;
    if (width == USUAL_WIDTH)
        finish_rows_backward(update, USUAL_WIDTH, stats, slopes, into, weights, part);
    else
        finish_rows_backward(update, width, stats, slopes, into, weights, part);
    free(part);
    return 0;
}
