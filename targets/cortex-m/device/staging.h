// How columns are staged for a convolution (staged_conv.h), and its results put where they belong.
#ifndef INTARSIA_CORTEX_M_STAGING_H_
#define INTARSIA_CORTEX_M_STAGING_H_

#include <stdbool.h>

#include "intarsia/targets/cortex_m/staged_conv.h"

// The results under way: a part of a row, or some rows, of one phase of one group.
struct intarsia_piece {
  const struct intarsia_staged *s;
  const int8_t *input, *end;  // of the image; of all images
  int8_t *output, *scratch;
  const int8_t *weights;  // of the group
  const int32_t *channels;
  int32_t batch, group, phase, row, column;  // rows and columns counted in results
  // For the convolution, and where its results belong.
  struct intarsia_window w;
  const int8_t *from;
  int8_t *results, *to;
  int32_t rows, count;
  bool together;
};

// The first piece, its columns staged.
void intarsia_begin_staging(struct intarsia_piece *piece, const struct intarsia_staged *staged,
                            const int8_t *input, int8_t *output, int8_t *scratch,
                            const int8_t *weights, const int32_t *channels);
// The results of a piece go to their places, and the next begins. False behind the last.
bool intarsia_next_piece(struct intarsia_piece *piece);

// The body of a function of staged_conv.h.
#define INTARSIA_BY_STAGES(convolution)                                                        \
  struct intarsia_piece p;                                                                     \
  intarsia_begin_staging(&p, staged, input, output, scratch, weights, channels);               \
  do {                                                                                         \
    convolution(&p.w, p.from, p.results, scratch + staged->scratch_at, p.weights, p.channels); \
  } while (intarsia_next_piece(&p))

#endif  // INTARSIA_CORTEX_M_STAGING_H_
