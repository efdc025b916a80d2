// Rows of an image with the columns around it, staged once and read by every window that they are in. As many are kept as a window
// spans, and one more that is outside of the image.
#ifndef INTARSIA_CORTEX_M_LANES_ROWS_H_
#define INTARSIA_CORTEX_M_LANES_ROWS_H_

#include "intarsia/targets/cortex_m/lanes.h"

struct intarsia_rows {
  const struct intarsia_window *w;
  int8_t *slots;
  int32_t span, bytes;  // rows that are kept, and what each takes
  int32_t columns, channels;
  // Column x is in part x % parts of a row: for windows that step over columns, so that what neighbours read lies side by side.
  int32_t parts, part_bytes;
  int32_t next;  // the first row of the image that is not staged
};

INTARSIA_INLINE void intarsia_fill(int8_t *to, int32_t count, int32_t value) {
  memset(to, (uint8_t)value ^ kIntarsiaRaise, (size_t)count);
}

// As compiler/lanes.cpp counts them; a register may be read behind the last element.
static struct intarsia_rows intarsia_make_rows(const struct intarsia_window *w, int8_t *slots,
                                               int32_t parts) {
  struct intarsia_rows rows = {w, slots, 0, 0, 0, w->in_c, parts, 0, 0};
  if (parts != 0) rows.channels = w->out_c;  // depthwise: each element as often as it is multiplied
  if (parts == 0) rows.parts = 1;
  rows.span = (w->kernel_h - 1) * w->dilation_h + 1;
  rows.columns = (w->out_w - 1) * w->stride_w + (w->kernel_w - 1) * w->dilation_w + 1;
  rows.part_bytes = (rows.columns + rows.parts - 1) / rows.parts * rows.channels;
  rows.bytes = rows.parts * rows.part_bytes + 64;
  intarsia_fill(slots + rows.span * rows.bytes, rows.bytes, w->in_zero);
  return rows;
}

static void intarsia_stage_column(const struct intarsia_rows *rows, const int8_t *from,
                                  int8_t *to) {
  if (rows->channels == rows->w->in_c) {
    intarsia_stage(to, from, rows->channels);
    return;
  }
  const int32_t times = rows->channels / rows->w->in_c;
  for (int32_t channel = 0; channel < rows->channels; ++channel)
    to[channel] = (int8_t)((uint8_t)from[channel / times] ^ kIntarsiaRaise);
}

static void intarsia_stage_row(const struct intarsia_rows *rows, const int8_t *row, int8_t *to) {
  const struct intarsia_window *w = rows->w;
  const int32_t channels = rows->channels, left = w->pad_left;
  if (rows->parts == 1 && channels == w->in_c) {
    const int32_t room = rows->columns - left;
    const int32_t inside = room < w->in_w ? room : w->in_w;
    if (inside > 0) {
      intarsia_fill(to, left * channels, w->in_zero);
      intarsia_stage(to + left * channels, row, inside * channels);
      intarsia_fill(to + (left + inside) * channels, (room - inside) * channels, w->in_zero);
    } else {
      intarsia_fill(to, rows->columns * channels, w->in_zero);
    }
    return;
  }
  for (int32_t part = 0; part < rows->parts; ++part) {
    int8_t *at = to + part * rows->part_bytes;
    for (int32_t x = part - left; x < rows->columns - left; x += rows->parts, at += channels) {
      if (x >= 0 && x < w->in_w)
        intarsia_stage_column(rows, row + x * w->in_c, at);
      else
        intarsia_fill(at, channels, w->in_zero);
    }
  }
}

// Where the rows of the windows of an output row begin.
static void intarsia_find_rows(struct intarsia_rows *rows, const int8_t *image, int32_t out_y,
                               const int8_t **found) {
  const struct intarsia_window *w = rows->w;
  const int32_t first = out_y * w->stride_h - w->pad_top;
  const int32_t end = first + rows->span < w->in_h ? first + rows->span : w->in_h;
  if (rows->next < first) rows->next = first;
  for (; rows->next < end; ++rows->next)
    intarsia_stage_row(rows, image + rows->next * w->in_w * w->in_c,
                       rows->slots + rows->next % rows->span * rows->bytes);
  for (int32_t ky = 0; ky < w->kernel_h; ++ky) {
    const int32_t y = first + ky * w->dilation_h;
    const bool inside = y >= 0 && y < w->in_h;
    found[ky] = rows->slots + (inside ? y % rows->span : rows->span) * rows->bytes;
  }
}

#endif  // INTARSIA_CORTEX_M_LANES_ROWS_H_
