// What a detector's network has found: boxes around anchors, the best of those that overlap.
#ifndef INTARSIA_KERNELS_DETECT_BOXES_H_
#define INTARSIA_KERNELS_DETECT_BOXES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// `boxes`: rows of `width` numbers, the first four of them y, x, height and width, relative to the anchors, in units of
// 1 / y_scale ... `corners`: y0, x0, y1, x1.
void intarsia_decode_boxes(const float* boxes, const float* anchors, float* corners, float y_scale,
                           float x_scale, float h_scale, float w_scale, int32_t width,
                           int32_t count);

// Each box counts with the best of its `classes` scores, which are the last of `columns`. The best boxes of at least
// `least_score`, without those that overlap a better one by more than `most_overlap`, in falling order; zeros behind them.
// `open` is memory for a byte per box.
void intarsia_detect_boxes(const float* corners, const float* scores, float* found_boxes,
                           float* found_classes, float* found_scores, float* found, uint8_t* open,
                           float least_score, float most_overlap, int32_t count, int32_t columns,
                           int32_t classes, int32_t most);
// For every class on its own, at most `most_of_class` boxes of each; then the best of all classes.
void intarsia_detect_boxes_by_class(const float* corners, const float* scores, float* found_boxes,
                                    float* found_classes, float* found_scores, float* found,
                                    uint8_t* open, float least_score, float most_overlap,
                                    int32_t count, int32_t columns, int32_t classes, int32_t most,
                                    int32_t most_of_class);

#ifdef __cplusplus
}
#endif

#endif  // INTARSIA_KERNELS_DETECT_BOXES_H_
