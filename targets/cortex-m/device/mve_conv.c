// Convolution on cores with Helium: VMLADAVA adds sixteen products to a register. Two pixels by two
// channels share their loads, eight instructions for 64 products; four results are one vector.
#include "cortex_m/mve_conv.h"

#include "cortex_m/mve_vector.h"
#include "cortex_m/optimise.h"

enum { kVector = 16 };

struct place {
  const int8_t *image;
  int32_t y, x;
};

INTARSIA_INLINE int8_t *copy(int8_t *to, const int8_t *from, int32_t count) {
#if INTARSIA_HAS_MVE
  if (count <= 0) return to;
  int8_t *end = to + count;
  __asm__ volatile(
      "dlstp.8 lr, %[count]\n"
      "1: vldrb.8 q0, [%[from]], #16\n"
      "vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [count] "r"(count)
      : "q0", "lr", "memory");
  return end;
#else
  for (; count > 0; --count) *to++ = *from++;
  return to;
#endif
}

INTARSIA_INLINE int8_t *fill(int8_t *to, int32_t value, int32_t count) {
#if INTARSIA_HAS_MVE
  if (count <= 0) return to;
  int8_t *end = to + count;
  __asm__ volatile(
      "vdup.8 q0, %[value]\n"
      "dlstp.8 lr, %[count]\n"
      "1: vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to)
      : [count] "r"(count), [value] "r"(value)
      : "q0", "lr", "memory");
  return end;
#else
  for (; count > 0; --count) *to++ = (int8_t)value;
  return to;
#endif
}

// The window of one output pixel as one run.
INTARSIA_OUTLINE void gather(const struct intarsia_window *w, const struct place *at, int8_t *to) {
  const int32_t channels = w->in_c, run = w->kernel_w * channels;
  const int32_t x = at->x * w->stride_w - w->pad_left;
  int32_t y = at->y * w->stride_h - w->pad_top;
  const int32_t first = x < 0 ? -x : 0;
  const int32_t last = w->in_w - x < w->kernel_w ? w->in_w - x : w->kernel_w;
  for (int32_t ky = 0; ky < w->kernel_h; ++ky, y += w->dilation_h) {
    const int8_t *row = at->image + (y * w->in_w + x) * channels;
    if (y < 0 || y >= w->in_h || first >= last) {
      to = fill(to, w->in_zero, run);
      continue;
    }
    to = fill(to, w->in_zero, first * channels);
    to = copy(to, row + first * channels, (last - first) * channels);
    to = fill(to, w->in_zero, (w->kernel_w - last) * channels);
  }
}

INTARSIA_INLINE void advance(const struct intarsia_window *w, struct place *at) {
  if (++at->x < w->out_w) return;
  at->x = 0;
  if (++at->y < w->out_h) return;
  at->y = 0;
  at->image += w->in_h * w->in_w * w->in_c;
}

// Lanes: channel 0, channel 1 of the first pixel, then of the second.
INTARSIA_INLINE intarsia_lanes dot_2x2(const int8_t *first, const int8_t *second, const int8_t *weights,
                                       int32_t vectors, int32_t bias0, int32_t bias1) {
#if INTARSIA_HAS_MVE
  int32_t first0 = bias0, first1 = bias1, second0 = bias0, second1 = bias1;
#define INTARSIA_VECTOR                        \
  "vldrb.8 q0, [%[first]], #16\n"              \
  "vldrb.8 q2, [%[weights]], #16\n"            \
  "vmladava.s8 %[first0], q0, q2\n"            \
  "vldrb.8 q1, [%[second]], #16\n"             \
  "vmladava.s8 %[second0], q1, q2\n"           \
  "vldrb.8 q3, [%[weights]], #16\n"            \
  "vmladava.s8 %[first1], q0, q3\n"            \
  "vmladava.s8 %[second1], q1, q3\n"
  intarsia_lanes sums;
  int32_t count;
  __asm__ volatile(
      "lsrs %[count], %[vectors], #2\n"
      "wls lr, %[count], 2f\n"
      "1:\n" INTARSIA_VECTOR INTARSIA_VECTOR INTARSIA_VECTOR INTARSIA_VECTOR
      "le lr, 1b\n"
      "2: and %[count], %[vectors], #3\n"
      "wls lr, %[count], 4f\n"
      "3:\n" INTARSIA_VECTOR
      "le lr, 3b\n"
      "4: vmov %q[sums][2], %q[sums][0], %[first0], %[second0]\n"
      "vmov %q[sums][3], %q[sums][1], %[first1], %[second1]\n"
      : [first0] "+Te"(first0), [first1] "+Te"(first1), [second0] "+Te"(second0), [second1] "+Te"(second1),
        [first] "+r"(first), [second] "+r"(second), [weights] "+r"(weights), [count] "=&r"(count),
        [sums] "=&w"(sums)
      : [vectors] "r"(vectors)
      : "q0", "q1", "q2", "q3", "lr", "cc", "memory");
#undef INTARSIA_VECTOR
  return sums;
#else
  intarsia_lanes sums = {{bias0, bias1, bias0, bias1}};
  for (int32_t i = 0; i < vectors * kVector; ++i) {
    const int8_t *pair = weights + i / kVector * 2 * kVector + i % kVector;
    sums.lane[0] += first[i] * pair[0];
    sums.lane[1] += first[i] * pair[kVector];
    sums.lane[2] += second[i] * pair[0];
    sums.lane[3] += second[i] * pair[kVector];
  }
  return sums;
#endif
}

// Results of two pixels `apart` bytes from each other; apart is 0 when they are the same one.
INTARSIA_OUTLINE void two_pixels(const struct intarsia_window *w, const int8_t *first, const int8_t *second,
                                 int8_t *output, int32_t apart, const int8_t *weights, const int32_t *channels,
                                 int32_t vectors) {
  static const uint32_t multipliers[4] = {2, 3, 2, 3}, shifts[4] = {4, 5, 4, 5};
  const uint32_t at[4] = {0, 1, (uint32_t)apart, (uint32_t)apart + 1};
  const int32_t zero = w->out_zero, low = w->low, high = w->high;
  for (int32_t left = w->out_c; left > 0; left -= 2, channels += 6, weights += 2 * kVector * vectors, output += 2) {
    if (left == 1) --output;  // the last pair overlaps
    const intarsia_lanes sums = dot_2x2(first, second, weights, vectors, channels[0], channels[1]);
    const intarsia_lanes results =
        intarsia_requantize_lanes(sums, intarsia_gather_lanes(channels, multipliers),
                                  intarsia_gather_lanes(channels, shifts), zero, low, high);
    intarsia_scatter_bytes(output, at, results);
  }
}

void intarsia_mve_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output, int8_t *scratch,
                          const int8_t *weights, const int32_t *channels) {
  const int32_t vectors = (w->kernel_h * w->kernel_w * w->in_c + kVector - 1) / kVector;
  const bool direct = w->kernel_h == 1 && w->kernel_w == 1 && w->in_c % kVector == 0;
  const int8_t *runs[2] = {scratch, scratch + vectors * kVector};
  struct place at = {input, 0, 0};
  for (int32_t pixels = w->batches * w->out_h * w->out_w; pixels > 0; pixels -= 2) {
    const int32_t both = pixels > 1 ? 2 : 1;
    for (int32_t i = 0; i < both; ++i, advance(w, &at)) {
      if (direct)
        runs[i] = at.image + (at.y * w->stride_h * w->in_w + at.x * w->stride_w) * w->in_c;
      else
        gather(w, &at, scratch + i * vectors * kVector);
    }
    two_pixels(w, runs[0], runs[both - 1], output, both == 2 ? w->out_c : 0, weights, channels, vectors);
    output += both * w->out_c;
  }
}
