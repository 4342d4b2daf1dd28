/* What happens between nodes and the graph they are in: pooling, and the distance of each node
   to a point of its graph. Nodes of a graph are consecutive rows. */

#include <math.h>

#include "rows.h"

/* The largest of each segment's rows per channel, and which row it is; 0 and -1 if empty. */
void largest(int64_t segments, int64_t width, const int64_t *offsets, const float *values,
             float *best, int32_t *winner) {
    for (int64_t s = 0; s < segments; s++, best += width, winner += width) {
        start_row(width, best, winner);
        for (int64_t row = offsets[s]; row < offsets[s + 1]; row++)
            if (row == offsets[s])
                take_row(values + row * width, (int32_t)row, width, best, winner);
            else
                keep_largest(values + row * width, (int32_t)row, width, best, winner);
    }
}

/* Its gradient: slopes (segments, width) go to the winning rows of `to`, which holds zeros. */
void largest_backward(int64_t segments, int64_t width, const float *slopes,
                      const int32_t *winner, float *to) {
    for (int64_t s = 0; s < segments; s++)
        for (int64_t c = 0; c < width; c++)
            if (winner[s * width + c] >= 0)
                to[winner[s * width + c] * width + c] = slopes[s * width + c];
}

/* The root of the summed squares of rows - points[segment], plus `least`, which keeps the slope
   of the root finite. */
void distances(int64_t segments, int64_t width, const int64_t *offsets, const float *rows,
               const float *points, float least, float *out) {
    for (int64_t s = 0; s < segments; s++)
        for (int64_t row = offsets[s]; row < offsets[s + 1]; row++) {
            vec sum = {0};
            for (int64_t c = 0; c < width; c += LANES) {
                vec gap = load(rows + row * width + c) - load(points + s * width + c);
                sum += gap * gap;
            }
            out[row] = sqrtf(total(sum) + least);
        }
}

/* Their gradients; `points_slope` holds zeros. */
void distances_backward(int64_t segments, int64_t width, const int64_t *offsets,
                        const float *rows, const float *points, const float *distance,
                        const float *slopes, float *rows_slope, float *points_slope) {
    for (int64_t s = 0; s < segments; s++)
        for (int64_t row = offsets[s]; row < offsets[s + 1]; row++) {
            vec by = all(slopes[row] / distance[row]);
            for (int64_t c = 0; c < width; c += LANES) {
                float *point = points_slope + s * width + c;
                vec pull = by * (load(rows + row * width + c) - load(points + s * width + c));
                store(rows_slope + row * width + c, pull);
                store(point, load(point) - pull);
            }
        }
}
