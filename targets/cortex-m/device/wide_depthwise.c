// Depthwise convolutions of int16 activations: channels side by side, no copies.
#include <stddef.h>

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/wide_dot.h"
#include "intarsia/targets/cortex_m/wide_results.h"

enum { kDspLanes = 4, kMveLanes = 8 };

// The part of a window that lies inside of the image.
struct part {
  int32_t offset;  // of its first element in the image
  int32_t tap;     // number of that element's weights
  int32_t rows, columns;
  int32_t row_step, column_step;  // of input, in elements
};

// How many taps have that distance, rounded up. Most windows are not dilated, and at edges the divisions would be half of the work.
INTARSIA_INLINE int32_t taps_within(int32_t distance, int32_t dilation) {
  return dilation == 1 ? distance : (distance + dilation - 1) / dilation;
}
INTARSIA_INLINE int32_t first_inside(int32_t start, int32_t dilation) {
  return start >= 0 ? 0 : taps_within(-start, dilation);
}
INTARSIA_INLINE int32_t end_inside(int32_t start, int32_t dilation, int32_t kernel,
                                   int32_t extent) {
  const int32_t room = extent - start;
  return room <= 0 ? 0 : intarsia_min_i32(kernel, taps_within(room, dilation));
}

INTARSIA_INLINE struct part part_at(const struct intarsia_wide *w, int32_t oy, int32_t ox) {
  const int32_t top = oy * w->stride_h - w->pad_top, left = ox * w->stride_w - w->pad_left;
  const int32_t ky = first_inside(top, w->dilation_h), kx = first_inside(left, w->dilation_w);
  struct part part;
  part.rows = end_inside(top, w->dilation_h, w->kernel_h, w->in_h) - ky;
  part.columns = end_inside(left, w->dilation_w, w->kernel_w, w->in_w) - kx;
  part.row_step = w->dilation_h * w->in_w * w->in_c;
  part.column_step = w->dilation_w * w->in_c;
  part.tap = ky * w->kernel_w + kx;
  if (part.rows <= 0 || part.columns <= 0) part.rows = part.columns = part.tap = 0;
  part.offset = part.rows == 0
                    ? 0
                    : ((top + ky * w->dilation_h) * w->in_w + left + kx * w->dilation_w) * w->in_c;
  return part;
}

// ---- four channels with the DSP extension ----

struct four {
  int32_t a, b, c, d;
};

// One element of the window; both pointers move on. As one piece of assembly: the compiler would load ahead and
// spill.
INTARSIA_INLINE struct four tap(struct four sums, const int16_t **x, const int8_t **weight,
                                int32_t step) {
#if INTARSIA_HAS_DSP_WORDS
  uint32_t ab, cd, low, high;
  __asm__ volatile(
      "ldr %[high], [%[weight]], #4\n"
      "ldr %[cd], [%[x], #4]\n"
      "ldr %[ab], [%[x]]\n"
      "sxtb16 %[low], %[high]\n"
      "sxtb16 %[high], %[high], ror #8\n"
      "smlabb %[a], %[ab], %[low], %[a]\n"
      "smlatt %[b], %[ab], %[low], %[b]\n"
      "smlabb %[c], %[cd], %[high], %[c]\n"
      "smlatt %[d], %[cd], %[high], %[d]\n"
      : [a] "+r"(sums.a), [b] "+r"(sums.b), [c] "+r"(sums.c), [d] "+r"(sums.d),
        [weight] "+r"(*weight), [ab] "=&r"(ab), [cd] "=&r"(cd), [low] "=&r"(low), [high] "=&r"(high)
      : [x] "r"(*x)
      : "memory");
#else
  const uint32_t word = intarsia_load_word(*weight), low = intarsia_even_pair(word),
                 high = intarsia_odd_pair(word);
  const uint32_t ab = intarsia_load_halves(*x), cd = intarsia_load_halves(*x + 2);
  sums.a += (int16_t)ab * (int16_t)low, sums.b += (int16_t)(ab >> 16) * (int16_t)(low >> 16);
  sums.c += (int16_t)cd * (int16_t)high, sums.d += (int16_t)(cd >> 16) * (int16_t)(high >> 16);
  *weight += kDspLanes;
#endif
  *x += step;
  return sums;
}

INTARSIA_INLINE struct four four_channels(const struct part *part, const int16_t *input,
                                          const int8_t *weights, int32_t kernel_w) {
  const int32_t columns = part->columns, step = part->column_step;
  const int32_t row_rest = part->row_step - columns * step,
                weight_rest = kDspLanes * (kernel_w - columns);
  struct four sums = {0, 0, 0, 0};
  for (int32_t rows = part->rows; rows > 0; --rows, input += row_rest, weights += weight_rest) {
    if (columns == 3) {  // most windows have three
      sums = tap(sums, &input, &weights, step);
      sums = tap(sums, &input, &weights, step);
      sums = tap(sums, &input, &weights, step);
    } else {
      for (int32_t left = columns; left > 0; --left) sums = tap(sums, &input, &weights, step);
    }
  }
  return sums;
}

INTARSIA_INLINE void dsp_depthwise(const struct intarsia_wide *w, const int16_t *input,
                                   int16_t *output, const int8_t *weights,
                                   const struct intarsia_wide_channel *channels, int32_t least,
                                   int32_t most) {
  const int32_t out_c = w->out_c, kernel_w = w->kernel_w,
                block_bytes = kDspLanes * w->kernel_h * kernel_w;
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * out_c)
    for (int32_t oy = 0; oy < w->out_h; ++oy)
      for (int32_t ox = 0; ox < w->out_w; ++ox, output += out_c) {
        const struct part part = part_at(w, oy, ox);
        const int8_t *block = weights + kDspLanes * part.tap;
        for (int32_t next = 0; next < out_c; next += kDspLanes, block += block_bytes) {
          const int32_t first = next + kDspLanes <= out_c ? next : out_c - kDspLanes;
          const struct four sums =
              four_channels(&part, input + part.offset + first, block, kernel_w);
          const struct intarsia_wide_channel *channel = channels + first;
          int16_t *results = output + first;
          results[0] = intarsia_short_result(sums.a, &channel[0], least, most);
          results[1] = intarsia_short_result(sums.b, &channel[1], least, most);
          results[2] = intarsia_short_result(sums.c, &channel[2], least, most);
          results[3] = intarsia_short_result(sums.d, &channel[3], least, most);
        }
      }
}

// Limits that are those of int16 are one instruction as constants.
void intarsia_dsp_wide_depthwise_s16(const struct intarsia_wide *w, const int16_t *input,
                                     int16_t *output, const int8_t *weights,
                                     const int32_t *channel_words) {
  const struct intarsia_wide_channel *channels =
      (const struct intarsia_wide_channel *)channel_words;
  if (w->low == INT16_MIN && w->high == INT16_MAX)
    dsp_depthwise(w, input, output, weights, channels, INT16_MIN, INT16_MAX);
  else
    dsp_depthwise(w, input, output, weights, channels, w->low, w->high);
}

// ---- eight channels with Helium ----

// sums: of channels 0, 2, 4, 6, then 1, 3, 5, 7. `lanes` channels are there to be read.
INTARSIA_OUTLINE void eight_channels(const struct part *part, const int16_t *input,
                                     const int8_t *weights, int32_t kernel_w, int32_t lanes,
                                     int32_t sums[kMveLanes]) {
#if INTARSIA_HAS_MVE
  const int16_t *x;
  const int8_t *weight;
  int32_t rows = part->rows;
  __asm__ volatile(
      "vmov.i32 q2, #0\n"
      "vmov.i32 q3, #0\n"
      "cbz %[rows], 3f\n"
      "vctp.16 %[lanes]\n"
      "1: mov %[x], %[input]\n"
      "mov %[weight], %[weights]\n"
      "dls lr, %[columns]\n"
      "2: vldrb.s16 q1, [%[weight]], #8\n"
      "vpst\n"
      "vldrht.u16 q0, [%[x]]\n"
      "add %[x], %[column_bytes]\n"
      "vmullb.s16 q4, q0, q1\n"
      "vmullt.s16 q5, q0, q1\n"
      "vadd.i32 q2, q2, q4\n"
      "vadd.i32 q3, q3, q5\n"
      "le lr, 2b\n"
      "add %[input], %[row_bytes]\n"
      "add %[weights], %[weight_bytes]\n"
      "subs %[rows], #1\n"
      "bne 1b\n"
      "3: vstrw.32 q2, [%[sums]]\n"
      "vstrw.32 q3, [%[sums], #16]\n"
      : [input] "+r"(input), [weights] "+r"(weights), [rows] "+l"(rows), [x] "=&l"(x),
        [weight] "=&l"(weight)
      : [lanes] "r"(lanes), [columns] "r"(part->columns), [column_bytes] "r"(2 * part->column_step),
        [row_bytes] "r"(2 * part->row_step), [weight_bytes] "r"(kMveLanes * kernel_w),
        [sums] "r"(sums)
      : "q0", "q1", "q2", "q3", "q4", "q5", "lr" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
#else
  for (int32_t i = 0; i < kMveLanes; ++i) sums[i] = 0;
  for (int32_t row = 0; row < part->rows; ++row)
    for (int32_t column = 0; column < part->columns; ++column)
      for (int32_t lane = 0; lane < lanes; ++lane)
        sums[lane % 2 * 4 + lane / 2] +=
            input[row * part->row_step + column * part->column_step + lane] *
            weights[(row * kernel_w + column) * kMveLanes + lane];
#endif
}

void intarsia_mve_wide_depthwise_s16(const struct intarsia_wide *w, const int16_t *input,
                                     int16_t *output, const int8_t *weights,
                                     const int32_t *channel_words) {
  const struct intarsia_wide_channel *channels =
      (const struct intarsia_wide_channel *)channel_words;
  const int32_t least = w->low, most = w->high;
  const int32_t out_c = w->out_c, block_bytes = kMveLanes * w->kernel_h * w->kernel_w;
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * out_c)
    for (int32_t oy = 0; oy < w->out_h; ++oy)
      for (int32_t ox = 0; ox < w->out_w; ++ox, output += out_c) {
        const struct part part = part_at(w, oy, ox);
        const int8_t *block = weights + kMveLanes * part.tap;
        for (int32_t first = 0; first < out_c; first += kMveLanes, block += block_bytes) {
          const int32_t lanes = intarsia_min_i32(kMveLanes, out_c - first);
          int32_t sums[kMveLanes];
          eight_channels(&part, input + part.offset + first, block, w->kernel_w, lanes, sums);
          for (int32_t lane = 0; lane < lanes; ++lane)
            output[first + lane] = intarsia_short_result(sums[lane % 2 * 4 + lane / 2],
                                                         &channels[first + lane], least, most);
        }
      }
}

// ---- eight channels with Helium whose sums and products are of 32 bits ----

enum { kTableBytes = 32 };  // of eight words

// Windows with the same taps inside of the image, two at a time, each `pixel_step` behind the one before; the assembly knows the
// layout. Steps and rests in bytes.
struct wide_taps {
  const int16_t *x;  // the first window's first element
  const int8_t *weights;
  int32_t rows, columns;
  int32_t step, row_rest;  // of the input
  int32_t weights_rest;
  int32_t lanes;
  const int8_t *biases, *scales;
  int16_t *output;
  int32_t low, high;
  int32_t pairs;
  int32_t pixel_step, output_step;
  uint16_t places[kMveLanes];  // of elements in a pixel, from the first one, in bytes
};

#if INTARSIA_HAS_MVE
_Static_assert(
    offsetof(struct wide_taps, weights) == 4 && offsetof(struct wide_taps, columns) == 12 &&
        offsetof(struct wide_taps, step) == 16 && offsetof(struct wide_taps, weights_rest) == 24 &&
        offsetof(struct wide_taps, lanes) == 28 && offsetof(struct wide_taps, biases) == 32 &&
        offsetof(struct wide_taps, scales) == 36 && offsetof(struct wide_taps, output) == 40 &&
        offsetof(struct wide_taps, low) == 44 && offsetof(struct wide_taps, pairs) == 52 &&
        offsetof(struct wide_taps, pixel_step) == 56 &&
        offsetof(struct wide_taps, output_step) == 60 && offsetof(struct wide_taps, places) == 64,
    "the assembly's numbers");
#else
INTARSIA_INLINE void eight_results(const struct wide_taps *taps, const int16_t *first,
                                   int16_t *output) {
  for (int32_t lane = 0; lane < taps->lanes; ++lane) {
    const int32_t at = 4 * (lane % 2 * 4 + lane / 2);
    const int16_t *x = first + taps->places[lane] / 2;
    const int8_t *weight = taps->weights + lane;
    int32_t sum, multiplier, left;
    memcpy(&sum, taps->biases + at, sizeof sum);
    memcpy(&multiplier, taps->scales + at, sizeof multiplier);
    memcpy(&left, taps->scales + kTableBytes + at, sizeof left);
    for (int32_t row = 0; row < taps->rows; ++row) {
      for (int32_t column = 0; column < taps->columns; ++column) {
        sum += *x * *weight;
        x += taps->step / 2, weight += kMveLanes;
      }
      x += taps->row_rest / 2, weight += taps->weights_rest;
    }
    const int32_t scaled = (int32_t)(((int64_t)sum * multiplier) >> 32);
    output[lane] =
        (int16_t)intarsia_clamp_i32((scaled + (1 << (-left - 1))) >> -left, taps->low, taps->high);
  }
}
#endif

// Results as mve_wide_conv.c makes them; q0 and q1 have those of the even and of the odd channels of a window, q2 and q3 those of the
// next one.
INTARSIA_OUTLINE void pairs_of_eights(struct wide_taps *taps) {
#if INTARSIA_HAS_MVE
  register struct wide_taps *at __asm__("r12") = taps;
  __asm__ volatile(
      "ldr.w r8, [r12, #28]\n"
      "vctp.16 r8\n"
      "ldr.w r11, [r12]\n"
      "ldrd r4, r5, [r12, #16]\n"
      "ldr.w r8, [r12, #12]\n"
      "ldr.w r10, [r12, #52]\n"
      "1: ldr.w r6, [r12, #32]\n"
      "vldrw.32 q0, [r6]\n"
      "ldrd r2, r3, [r12, #4]\n"
      "vldrw.32 q1, [r6, #16]\n"
      "ldr.w r1, [r12, #56]\n"
      "mov r0, r11\n"
      "vmov q2, q0\n"
      "add r1, r11\n"
      "vmov q3, q1\n"
      "cmp r3, #0\n"
      "beq.w 4f\n"
      "ldr.w r6, [r12, #24]\n"
      "2: dls lr, r8\n"
      "3: vldrb.s16 q4, [r2], #8\n"
      "vpstt\n"
      "vldrht.u16 q5, [r0]\n"
      "vldrht.u16 q6, [r1]\n"
      "vmullb.s16 q7, q5, q4\n"
      "add r0, r4\n"
      "vmullt.s16 q5, q5, q4\n"
      "vadd.i32 q0, q0, q7\n"
      "vmullb.s16 q7, q6, q4\n"
      "vadd.i32 q1, q1, q5\n"
      "vmullt.s16 q6, q6, q4\n"
      "vadd.i32 q2, q2, q7\n"
      "add r1, r4\n"
      "vadd.i32 q3, q3, q6\n"
      "le lr, 3b\n"
      "add r0, r5\n"
      "add r1, r5\n"
      "add r2, r6\n"
      "subs r3, #1\n"
      "bne 2b\n"
      "4: ldr.w r6, [r12, #36]\n"
      "vldrw.32 q4, [r6]\n"
      "vmulh.s32 q0, q0, q4\n"
      "vldrw.32 q5, [r6, #16]\n"
      "vmulh.s32 q2, q2, q4\n"
      "vldrw.32 q4, [r6, #32]\n"
      "vmulh.s32 q1, q1, q5\n"
      "vrshl.s32 q0, q0, q4\n"
      "vmulh.s32 q3, q3, q5\n"
      "vldrw.32 q5, [r6, #48]\n"
      "vrshl.s32 q2, q2, q4\n"
      "ldrd r2, r3, [r12, #44]\n"
      "vrshl.s32 q1, q1, q5\n"
      "vqmovnb.s32 q6, q0\n"
      "vrshl.s32 q3, q3, q5\n"
      "vqmovnb.s32 q7, q2\n"
      "ldr.w r6, [r12, #40]\n"
      "vqmovnt.s32 q6, q1\n"
      "vdup.16 q4, r2\n"
      "vqmovnt.s32 q7, q3\n"
      "vdup.16 q5, r3\n"
      "vmax.s16 q6, q6, q4\n"
      "ldrd r1, r2, [r12, #56]\n"
      "vmax.s16 q7, q7, q4\n"
      "vmin.s16 q6, q6, q5\n"
      "add r3, r6, r2\n"
      "vmin.s16 q7, q7, q5\n"
      "vpstt\n"
      "vstrht.16 q6, [r6]\n"
      "vstrht.16 q7, [r3]\n"
      "add.w r11, r11, r1, lsl #1\n"
      "add r3, r2\n"
      "str.w r3, [r12, #40]\n"
      "subs.w r10, r10, #1\n"
      "bne.w 1b\n"
      : "+r"(at)
      :
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r11", "lr", "q0", "q1", "q2", "q3",
        "q4", "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory");
#else
  const int16_t *x = taps->x;
  int16_t *output = taps->output;
  for (int32_t left = 2 * taps->pairs; left > 0; --left) {
    eight_results(taps, x, output);
    x += taps->pixel_step / 2, output += taps->output_step / 2;
  }
#endif
}

// The same of one window; products are added while the next ones' factors are loaded. `load` takes eight elements from r0 on; where
// they lie anywhere, `places` loads q6 for it.
// clang-format off
#define INTARSIA_ONE_OF_EIGHTS(places, load) \
  register struct wide_taps *at __asm__("r12") = taps; \
  __asm__ volatile( \
      "ldr r6, [r12, #32]\n" \
      "vldrw.32 q2, [r6]\n" \
      "vldrw.32 q3, [r6, #16]\n" \
      "ldm.w r12, {r0, r1, r2, r3, r4, r5}\n" places \
      "ldr.w r8, [r12, #28]\n" \
      "vmov.i32 q4, #0\n" \
      "vctp.16 r8\n" \
      "vmov.i32 q5, #0\n" \
      "cbz r2, 3f\n" \
      "ldr.w r6, [r12, #24]\n" \
      "1: dls lr, r3\n" \
      "2: vldrb.s16 q1, [r1], #8\n" \
      "vadd.i32 q2, q2, q4\n" \
      "vpst\n" \
      load \
      "add r0, r4\n" \
      "vmullb.s16 q4, q0, q1\n" \
      "vadd.i32 q3, q3, q5\n" \
      "vmullt.s16 q5, q0, q1\n" \
      "le lr, 2b\n" \
      "add r0, r5\n" \
      "add r1, r6\n" \
      "subs r2, #1\n" \
      "bne 1b\n" \
      "3: ldr.w r6, [r12, #36]\n" \
      "vadd.i32 q2, q2, q4\n" \
      "vldrw.32 q0, [r6]\n" \
      "vadd.i32 q3, q3, q5\n" \
      "vmulh.s32 q2, q2, q0\n" \
      "vldrw.32 q1, [r6, #16]\n" \
      "vmulh.s32 q3, q3, q1\n" \
      "vldrw.32 q0, [r6, #32]\n" \
      "vrshl.s32 q2, q2, q0\n" \
      "vldrw.32 q1, [r6, #48]\n" \
      "vrshl.s32 q3, q3, q1\n" \
      "ldrd r2, r3, [r12, #44]\n" \
      "vqmovnb.s32 q4, q2\n" \
      "ldr.w r6, [r12, #40]\n" \
      "vdup.16 q0, r2\n" \
      "vqmovnt.s32 q4, q3\n" \
      "vdup.16 q1, r3\n" \
      "vmax.s16 q4, q4, q0\n" \
      "vmin.s16 q4, q4, q1\n" \
      "vpst\n" \
      "vstrht.16 q4, [r6]\n" \
      : "+r"(at) \
      : \
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", \
        "q5", "q6" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory")
// clang-format on
INTARSIA_OUTLINE void one_of_eights(struct wide_taps *taps) {
#if INTARSIA_HAS_MVE
  INTARSIA_ONE_OF_EIGHTS(, "vldrht.u16 q0, [r0]\n");
#else
  eight_results(taps, taps->x, taps->output);
#endif
}
INTARSIA_OUTLINE void one_of_shared(struct wide_taps *taps) {
#if INTARSIA_HAS_MVE
  INTARSIA_ONE_OF_EIGHTS("add.w r6, r12, #64\nvldrh.u16 q6, [r6]\n", "vldrht.u16 q0, [r0, q6]\n");
#else
  eight_results(taps, taps->x, taps->output);
#endif
}

// Windows from one on, in a row or below each other, all as far inside of the image: what is the same for all blocks of channels.
// Offsets in elements of the first block, `tap` in weights.
struct wide_run {
  int32_t x, output, tap;
  int32_t rows, columns;
  int32_t count;  // negative: below each other
};
enum { kMostRuns = 16 };  // of them lie behind the block in scratch, as the compiler knows
_Static_assert(sizeof(struct wide_run) == 24, "the compiler's number");

// An odd number of windows has a pair at its end that overlaps the one before. `pixels` and `results` in bytes: from one window to
// the next, in a row and below each other.
INTARSIA_INLINE void run_of_windows(struct wide_taps *taps, const struct wide_run *run,
                                    const int32_t *pixels, const int32_t *results, bool is_shared) {
  const int32_t down = run->count < 0, count = down ? -run->count : run->count;
  const int32_t pixel = pixels[down], result = results[down];
  if (is_shared) {
    for (int32_t left = count; left > 0; --left) {
      one_of_shared(taps);
      taps->x += pixel / 2, taps->output += result / 2;
    }
    return;
  }
  if (count == 1) {
    one_of_eights(taps);
    return;
  }
  const int16_t *x = taps->x;
  int16_t *output = taps->output;
  taps->pixel_step = pixel, taps->output_step = result;
  taps->pairs = count / 2;
  pairs_of_eights(taps);
  if (count % 2 == 0) return;
  taps->x = x + (count - 2) * (pixel / 2);
  taps->output = output + (count - 2) * (result / 2);
  taps->pairs = 1;
  pairs_of_eights(taps);
}

// The windows that lie within an axis of the image: [begin, end).
struct inside {
  int32_t begin, end;
};
INTARSIA_INLINE struct inside windows_inside(int32_t in, int32_t out, int32_t reach, int32_t stride,
                                             int32_t pad) {
  const int32_t last = in - 1 - reach + pad;
  struct inside inside;
  inside.begin = intarsia_min_i32((pad + stride - 1) / stride, out);
  inside.end = last < 0 ? 0 : intarsia_min_i32(last / stride + 1, out);
  if (inside.end < inside.begin) inside.end = inside.begin;
  return inside;
}

// Columns at an edge of the image, and a single one inside of it, are taken from top to bottom, the others row by row.
struct wide_grid {
  struct inside rows, columns;
  int32_t row_runs, column_runs, all_runs;  // column_runs: of one column
};

INTARSIA_INLINE struct wide_grid grid_of(const struct intarsia_wide *w) {
  struct wide_grid grid;
  grid.rows =
      windows_inside(w->in_h, w->out_h, (w->kernel_h - 1) * w->dilation_h, w->stride_h, w->pad_top);
  grid.columns = windows_inside(w->in_w, w->out_w, (w->kernel_w - 1) * w->dilation_w, w->stride_w,
                                w->pad_left);
  if (grid.columns.end - grid.columns.begin == 1) grid.columns.end = grid.columns.begin;
  const int32_t inner = grid.columns.end - grid.columns.begin,
                down = grid.rows.end - grid.rows.begin;
  grid.row_runs = inner > 0 ? w->out_h : 0;
  grid.column_runs = w->out_h - down + (down > 0 ? 1 : 0);
  grid.all_runs = grid.row_runs + (w->out_w - inner) * grid.column_runs;
  return grid;
}

INTARSIA_OUTLINE void run_at(const struct intarsia_wide *w, const struct wide_grid *grid,
                             int32_t number, struct wide_run *run) {
  const struct inside rows = grid->rows, columns = grid->columns;
  int32_t oy = number, ox = columns.begin;
  run->count = columns.end - columns.begin;
  if (number >= grid->row_runs) {
    const int32_t behind = number - grid->row_runs, down = rows.end - rows.begin;
    ox = behind / grid->column_runs, oy = behind % grid->column_runs;
    if (ox >= columns.begin) ox += columns.end - columns.begin;
    run->count = down > 0 && oy == rows.begin ? -down : 1;
    if (down > 0 && oy > rows.begin) oy += down - 1;
  }
  const struct part part = part_at(w, oy, ox);
  run->x = part.offset;
  run->output = (oy * w->out_w + ox) * w->out_c;
  run->tap = kMveLanes * part.tap;
  run->rows = part.rows, run->columns = part.columns;
}

// Block by block, so that its constants are copied once and read without waiting; where windows are, is worked out before that, for
// as many runs as there is room for.
INTARSIA_INLINE void mve_depthwise(const struct intarsia_wide *w, const int16_t *input,
                                   int16_t *output, int8_t *scratch, const int32_t *weights,
                                   int32_t multiplier) {
  const int32_t in_c = w->in_c, out_c = w->out_c;
  const int32_t block_bytes = 3 * kTableBytes + kMveLanes * w->kernel_h * w->kernel_w;
  const int32_t in_image = w->in_h * w->in_w * in_c, out_image = w->out_h * w->out_w * out_c;
  const int32_t row_step = 2 * w->dilation_h * w->in_w * in_c;
  const int32_t pixels[2] = {2 * w->stride_w * in_c, 2 * w->stride_h * w->in_w * in_c};
  const int32_t results[2] = {2 * out_c, 2 * w->out_w * out_c};
  const struct wide_grid grid = grid_of(w);
  struct wide_run *runs = (struct wide_run *)(void *)(scratch + block_bytes);
  const int8_t *block_weights = scratch + kTableBytes;
  struct wide_taps taps;
  taps.low = w->low, taps.high = w->high;
  taps.biases = scratch;
  taps.scales = scratch + block_bytes - 2 * kTableBytes;
  taps.step = 2 * w->dilation_w * in_c;
  for (int32_t begin = 0; begin < grid.all_runs; begin += kMostRuns) {
    const int32_t count = intarsia_min_i32(kMostRuns, grid.all_runs - begin);
    for (int32_t i = 0; i < count; ++i) run_at(w, &grid, begin + i, &runs[i]);
    const int8_t *block = (const int8_t *)weights;
    for (int32_t first = 0; first < out_c; first += kMveLanes, block += block_bytes) {
      taps.lanes = intarsia_min_i32(kMveLanes, out_c - first);
      for (int32_t lane = 0; lane < kMveLanes && (multiplier != 1 || !INTARSIA_HAS_MVE); ++lane)
        taps.places[lane] = (uint16_t)(2 * ((first + lane) / multiplier - first / multiplier));
      (void)intarsia_copy(scratch, block, block_bytes);
      for (int32_t n = 0; n < w->batches; ++n) {
        const int16_t *image = input + n * in_image + first / multiplier;
        int16_t *image_results = output + n * out_image + first;
        for (const struct wide_run *run = runs; run < runs + count; ++run) {
          taps.x = image + run->x;
          taps.output = image_results + run->output;
          taps.rows = run->rows, taps.columns = run->columns;
          taps.weights = block_weights + run->tap;
          taps.weights_rest = kMveLanes * (w->kernel_w - run->columns);
          taps.row_rest = row_step - run->columns * taps.step;
          run_of_windows(&taps, run, pixels, results, multiplier != 1);
        }
      }
    }
  }
}

void intarsia_mve_depthwise_s16(const struct intarsia_wide *w, const int16_t *input,
                                int16_t *output, int8_t *scratch, const int32_t *weights) {
  mve_depthwise(w, input, output, scratch, weights, 1);
}

void intarsia_mve_depthwise_shared_s16(const struct intarsia_wide *w, const int16_t *input,
                                       int16_t *output, int8_t *scratch, const int32_t *weights) {
  mve_depthwise(w, input, output, scratch, weights, w->out_c / w->in_c);
}
