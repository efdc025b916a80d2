#include "intarsia/kernels/detect_boxes.h"

#include "intarsia/kernels/arithmetic.h"

void intarsia_decode_boxes(const float* boxes, const float* anchors, float* corners, float y_scale,
                           float x_scale, float h_scale, float w_scale, int32_t width,
                           int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const float* box = &boxes[i * width];
    const float* anchor = &anchors[4 * i];
    float* corner = &corners[4 * i];
    const float y = box[0] / y_scale * anchor[2] + anchor[0];
    const float x = box[1] / x_scale * anchor[3] + anchor[1];
    const float half_height = 0.5f * intarsia_exp_f32(box[2] / h_scale) * anchor[2];
    const float half_width = 0.5f * intarsia_exp_f32(box[3] / w_scale) * anchor[3];
    corner[0] = y - half_height;
    corner[1] = x - half_width;
    corner[2] = y + half_height;
    corner[3] = x + half_width;
  }
}

static float area(const float* box) {
  return (box[2] - box[0]) * (box[3] - box[1]);
}

// How much of the lines a0..a1 and b0..b1 is of both.
static float common(float a0, float a1, float b0, float b1) {
  const float begin = a0 > b0 ? a0 : b0;
  const float end = a1 < b1 ? a1 : b1;
  return end > begin ? end - begin : 0.0f;
}

// Intersection over union; boxes that are turned inside out overlap nothing.
static float overlap(const float* a, const float* b) {
  const float area_a = area(a);
  const float area_b = area(b);
  if (area_a <= 0.0f || area_b <= 0.0f) return 0.0f;
  const float both = common(a[0], a[2], b[0], b[2]) * common(a[1], a[3], b[1], b[3]);
  return both / (area_a + area_b - both);
}

struct boxes {
  const float* corners;
  const float* scores; /* a row of `columns` each */
  uint8_t* open;       /* of each: whether it can still be found */
  int32_t count;
  int32_t columns;
  int32_t first_column; /* that compete for a box */
  int32_t last_column;
  float most_overlap;
};

static int32_t best_column(const struct boxes* b, int32_t box) {
  const float* scores = &b->scores[box * b->columns];
  int32_t best = b->first_column;
  for (int32_t column = best + 1; column <= b->last_column; ++column)
    if (scores[column] > scores[best]) best = column;
  return best;
}

static float best_score(const struct boxes* b, int32_t box) {
  return b->scores[box * b->columns + best_column(b, box)];
}

static void open_all(const struct boxes* b, float least_score) {
  for (int32_t i = 0; i < b->count; ++i)
    b->open[i] = best_score(b, i) >= least_score ? (uint8_t)1 : (uint8_t)0;
}

// The best of those that are left, the first of equal ones; -1 where none is. What it overlaps is left out from now on.
static int32_t take_best(const struct boxes* b) {
  int32_t best = -1;
  for (int32_t i = 0; i < b->count; ++i)
    if (b->open[i] != 0u && (best < 0 || best_score(b, i) > best_score(b, best))) best = i;
  if (best < 0) return -1;
  b->open[best] = 0;
  for (int32_t i = 0; i < b->count; ++i)
    if (b->open[i] != 0u && overlap(&b->corners[4 * best], &b->corners[4 * i]) > b->most_overlap)
      b->open[i] = 0;
  return best;
}

static void copy_box(const float* from, float* to) {
  for (int32_t i = 0; i < 4; ++i) to[i] = from[i];
}

static void clear_from(int32_t first, int32_t most, float* boxes, float* classes, float* scores) {
  for (int32_t i = first; i < most; ++i) {
    static const float no_box[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    copy_box(no_box, &boxes[4 * i]);
    classes[i] = 0.0f;
    scores[i] = 0.0f;
  }
}

void intarsia_detect_boxes(const float* corners, const float* scores, float* found_boxes,
                           float* found_classes, float* found_scores, float* found, uint8_t* open,
                           float least_score, float most_overlap, int32_t count, int32_t columns,
                           int32_t classes, int32_t most) {
  const int32_t first = columns - classes;
  const struct boxes b = {corners, scores, open, count, columns, first, columns - 1, most_overlap};
  open_all(&b, least_score);
  int32_t taken = 0;
  for (; taken < most; ++taken) {
    const int32_t box = take_best(&b);
    if (box < 0) break;
    copy_box(&corners[4 * box], &found_boxes[4 * taken]);
    found_classes[taken] = (float)(best_column(&b, box) - first);
    found_scores[taken] = best_score(&b, box);
  }
  clear_from(taken, most, found_boxes, found_classes, found_scores);
  found[0] = (float)taken;
}

void intarsia_detect_boxes_by_class(const float* corners, const float* scores, float* found_boxes,
                                    float* found_classes, float* found_scores, float* found,
                                    uint8_t* open, float least_score, float most_overlap,
                                    int32_t count, int32_t columns, int32_t classes, int32_t most,
                                    int32_t most_of_class) {
  int32_t taken = 0;
  for (int32_t class_ = 0; class_ < classes; ++class_) {
    const int32_t column = columns - classes + class_;
    const struct boxes b = {corners, scores, open, count, columns, column, column, most_overlap};
    open_all(&b, least_score);
    for (int32_t i = 0; i < most_of_class; ++i) {
      const int32_t box = take_best(&b);
      if (box < 0) break;
      // Behind all that are as good; the last of all drops out where there is no room.
      const float score = best_score(&b, box);
      int32_t place = taken;
      while (place > 0 && found_scores[place - 1] < score) --place;
      if (place >= most) break;
      if (taken < most) ++taken;
      for (int32_t to = taken - 1; to > place; --to) {
        copy_box(&found_boxes[4 * (to - 1)], &found_boxes[4 * to]);
        found_classes[to] = found_classes[to - 1];
        found_scores[to] = found_scores[to - 1];
      }
      copy_box(&corners[4 * box], &found_boxes[4 * place]);
      found_classes[place] = (float)class_;
      found_scores[place] = score;
    }
  }
  clear_from(taken, most, found_boxes, found_classes, found_scores);
  found[0] = (float)taken;
}
