// Depthwise convolution on cores with Helium. VMLADAVA adds sixteen products of one channel, so channels
// become planes first, 16 at a time: column by column, with the rows that a strip of outputs sees side by
// side. A load then holds the windows of up to four outputs, which differ in where the weights begin.
#include "intarsia/targets/cortex_m/mve_depthwise.h"

#include <stddef.h>

#include "intarsia/targets/cortex_m/bytes.h"
#include "intarsia/targets/cortex_m/mve_results.h"
#include "intarsia/targets/cortex_m/no_frame_pointer.h"

enum { kVector = 16, kResults = 8, kHalf = 4, kMostVectors = 4 };
enum family { DENSE, HALVING, WIDE };

// Outputs of a strip, channel by channel; the assembly knows the layout.
struct strip {
  const int8_t *weights;
  const int32_t *channels;
  int32_t plane_step;   // from the end of a plane's loads to the next plane
  int32_t output_step;  // from the end of a channel's results to the next channel's
  const int8_t *plane;
  int8_t *output;
  int32_t columns;  // of outputs
  int32_t swapped;  // rows 0, 1 of the strip lie after rows 2, 3
  int32_t zero;
  int32_t group_step;  // from eight results to the next eight
  int32_t general;     // mve_results.h
  int32_t count;       // of channels
  int32_t pixel_step;  // of the plane
  uint16_t offsets[kResults];
  int16_t positions[kResults];  // columns of the eight results, from the first; beyond all for none
  int8_t low[kVector], high[kVector];
  int32_t vectors;  // of a channel's weights
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct strip, plane_step) == 8 && offsetof(struct strip, plane) == 16 &&
                   offsetof(struct strip, columns) == 24 && offsetof(struct strip, zero) == 32 &&
                   offsetof(struct strip, group_step) == 36 &&
                   offsetof(struct strip, count) == 44 && offsetof(struct strip, offsets) == 52 &&
                   offsetof(struct strip, positions) == 68 && offsetof(struct strip, low) == 84 &&
                   offsetof(struct strip, high) == 100,
               "the assembly's numbers");

// The output's zero point: in r9, or loaded whenever it is needed.
#if INTARSIA_FREE_R9
#define ZERO "r9"
#define ZERO_CLOBBER "r9",
#define ZERO_FIRST "ldr r9, [r11, #32]\n"
#define ZERO_LATER
#else
#define ZERO "r2"
#define ZERO_CLOBBER
#define ZERO_FIRST
#define ZERO_LATER "ldr r2, [r11, #32]\n"
#endif

// Four sums become q7, the next four q4; then results.
#define SUMS(to)        \
  "vmov " to "[2], " to \
  "[0], r0, r4\n"       \
  "vmov " to "[3], " to "[1], r2, r6\n"
#define CHANNELS(weights, before, sums, results) \
  __asm__ volatile(                                                                               \
      INTARSIA_SAVE_R7 "ldrd r0, r12, [r11, #44]\n" \
      "dls lr, r0\n"                                                                              \
      "ldrd r1, r3, [r11, #16]\n"                                                                 \
      ZERO_FIRST \
      "vldrh.16 q6, [r11, #52]\n"                                                                 \
      "vldrh.16 q5, [r11, #68]\n"                                                                 \
      "1: ldrd r0, r2, [r11]\n"                                                                   \
      weights                                                                                     \
      "ldm r2!, {r5, r7, r8}\n"                                                                   \
      "strd r0, r2, [r11]\n"                                                                      \
      "ldrd r10, r4, [r11, #24]\n"                                                                \
      before                                                                                      \
      "2:\n" sums                                                                                 \
      "ldrd r0, r4, [r11, #36]\n"                                                                 \
      "vadd.i32 q7, q7, r8\n"                                                                     \
      "vadd.i32 q4, q4, r8\n"                                                                     \
      "vqrdmulh.s32 q7, q7, r5\n"                                                                 \
      "vqrdmulh.s32 q4, q4, r5\n"                                                                 \
      "cbnz r4, 4f\n"                                                                             \
      "vrshl.s32 q7, r7\n"                                                                        \
      "vrshl.s32 q4, r7\n" ZERO_LATER INTARSIA_MVE_NARROW("q7", "q4", ZERO)                                  \
      "3: vpt.s16 lt, q5, r10\n"                                                                  \
      "vstrbt.16 q7, [r3, q6]\n"                                                                  \
      "add r3, r3, r0\n"                                                                          \
      "subs r10, r10, #" results "\n"                                                             \
      "bgt.w 2b\n"                                                                                \
      "ldrd r0, r2, [r11, #8]\n"                                                                  \
      "add r1, r1, r0\n"                                                                          \
      "add r3, r3, r2\n"                                                                          \
      "le lr, 1b\n"                                                                               \
      "b.w 5f\n"                                                                                  \
      "4:\n" INTARSIA_MVE_FIX("q7", "q4", "q6")                                                   \
      "vldrh.16 q6, [r11, #52]\n"                                                                 \
      "vrshl.s32 q7, r7\n"                                                                        \
      "vrshl.s32 q4, r7\n" ZERO_LATER INTARSIA_MVE_NARROW("q7", "q4", ZERO)                                  \
      INTARSIA_MVE_LIMIT("q7", "q4", "84", "100")                                                 \
      "b.w 3b\n"                                                                                  \
      "5:\n" INTARSIA_RESTORE_R7 \
      : "+r"(s)                                                                                   \
      :                                                                                           \
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", ZERO_CLOBBER "r10", "r12", "lr", "q0", "q1", "q2", \
        "q3", "q4", "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory")

// Two columns by two rows of outputs.
#define DENSE_FOUR(to)      \
  "vldrb.8 q4, [r1], #8\n"  \
  "vmladav.s8 r0, q0, q4\n" \
  "vmladav.s8 r2, q1, q4\n" \
  "vmladav.s8 r4, q2, q4\n" \
  "vmladav.s8 r6, q3, q4\n" SUMS(to)
// One column by two rows, twice.
#define HALVING_FOUR(to)    \
  "vldrb.8 q4, [r1], #10\n" \
  "vmladav.s8 r0, q0, q4\n" \
  "vmladav.s8 r2, q1, q4\n" \
  "vldrb.8 q4, [r1], #10\n" \
  "vmladav.s8 r4, q0, q4\n" \
  "vmladav.s8 r6, q1, q4\n" SUMS(to)
// One output each.
#define WIDE_1(sum)    \
  "vldrb.8 q4, [r1]\n" \
  "vmladav.s8 " sum ", q0, q4\n"
#define WIDE_2(sum)         \
  WIDE_1(sum)               \
  "vldrb.8 q4, [r1, #16]\n" \
  "vmladava.s8 " sum ", q1, q4\n"
#define WIDE_4(sum)         \
  WIDE_2(sum)               \
  "vldrb.8 q4, [r1, #32]\n" \
  "vmladava.s8 " sum        \
  ", q2, q4\n"              \
  "vldrb.8 q4, [r1, #48]\n" \
  "vmladava.s8 " sum ", q3, q4\n"
#define NEXT "add r1, r1, r12\n"
#define WIDE_FOUR(one, to) one("r0") NEXT one("r2") NEXT one("r4") NEXT one("r6") NEXT SUMS(to)
#endif

#if INTARSIA_HAS_MVE
INTARSIA_OUTLINE void dense_channels(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  CHANNELS(
      "vldrb.8 q3, [r0]\n"
      "vldrb.8 q1, [r0, #1]\n"
      "vldrb.8 q2, [r0, #4]\n"
      "vldrb.8 q0, [r0, #5]\n"
      "add r0, r0, #16\n",
      "cbz r4, 2f\n"
      "vrev32.16 q0, q0\n"
      "vrev32.16 q1, q1\n"
      "vrev32.16 q2, q2\n"
      "vrev32.16 q3, q3\n",
      DENSE_FOUR("q7") DENSE_FOUR("q4"), "4");
}

INTARSIA_OUTLINE void halving_channels(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  CHANNELS(
      "vldrb.8 q1, [r0]\n"
      "vldrb.8 q0, [r0, #2]\n"
      "add r0, r0, #16\n",
      "", HALVING_FOUR("q7") HALVING_FOUR("q4"), "4");
}

INTARSIA_OUTLINE void wide_channels(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  if (strip->vectors == 1) {
    CHANNELS("vldrb.8 q0, [r0], #16\n", "", WIDE_FOUR(WIDE_1, "q7") WIDE_FOUR(WIDE_1, "q4"), "8");
  } else if (strip->vectors == 2) {
    CHANNELS(
        "vldrb.8 q0, [r0], #16\n"
        "vldrb.8 q1, [r0], #16\n",
        "", WIDE_FOUR(WIDE_2, "q7") WIDE_FOUR(WIDE_2, "q4"), "8");
  } else {
    CHANNELS(
        "vldrb.8 q0, [r0], #16\n"
        "vldrb.8 q1, [r0], #16\n"
        "vldrb.8 q2, [r0], #16\n"
        "vldrb.8 q3, [r0], #16\n",
        "", WIDE_FOUR(WIDE_4, "q7") WIDE_FOUR(WIDE_4, "q4"), "8");
  }
}
#else
// Weights of the results of a load, as bytes beyond the channel's first.
static const uint8_t kDenseShifts[4] = {5, 1, 4, 0}, kHalvingShifts[2] = {2, 0};

INTARSIA_INLINE void all_channels(struct strip *s, enum family family) {
  const int32_t bytes = s->vectors * kVector, columns = family == WIDE ? kResults : kHalf;
  for (; s->count > 0; --s->count, s->weights += bytes, s->channels += 3) {
    const int32_t groups = (s->columns + columns - 1) / columns;
    for (int32_t group = 0; group < groups; ++group) {
      for (int32_t lane = 0; lane < kResults; ++lane) {
        if (s->positions[lane] >= s->columns - group * columns) continue;
        const int32_t of_half = lane / 2, half = lane % 2;
        const int8_t *seen = s->plane, *weights = s->weights;
        if (family == DENSE) {
          seen += group * 16 + half * 8;
          weights += kDenseShifts[of_half];
        } else if (family == HALVING) {
          seen += group * 40 + half * 20 + of_half / 2 * 10;
          weights += kHalvingShifts[of_half % 2];
        } else {
          seen += (group * kResults + half * kHalf + of_half) * s->pixel_step;
        }
        int32_t sum = s->channels[2];
        for (int32_t i = 0; i < bytes; ++i) sum += seen[i] * weights[s->swapped != 0 ? i ^ 2 : i];
        s->output[group * s->group_step + s->offsets[lane]] = intarsia_mve_result(
            sum, s->channels[0], s->channels[1], s->zero, s->general != 0, s->low[0], s->high[0]);
      }
    }
    s->plane += groups * columns * s->pixel_step + s->plane_step;
    s->output += groups * s->group_step + s->output_step;
  }
}

static void dense_channels(struct strip *s) {
  all_channels(s, DENSE);
}
static void halving_channels(struct strip *s) {
  all_channels(s, HALVING);
}
static void wide_channels(struct strip *s) {
  all_channels(s, WIDE);
}
#endif

// A row of `columns` >= 1 pixels, `channels` of each: one every `step` bytes of its plane.
INTARSIA_OUTLINE void turn(const int8_t *from, int32_t from_step, int8_t *to, int32_t step,
                           int32_t pitch, int32_t columns, int32_t channels) {
#if INTARSIA_HAS_MVE
  for (; channels >= 16; channels -= 16, from += 16, to += 16 * pitch) {
    const int8_t *source = from;
    int8_t *target = to;
    uint32_t lane = 0;
    __asm__ volatile(
        "vidup.u16 q2, %[lane], #1\n"
        "vmul.i16 q2, q2, %[pitch]\n"
        "vadd.i16 q3, q2, %[half]\n"
        "dls lr, %[columns]\n"
        "1: vldrb.u16 q0, [%[source]]\n"
        "vldrb.u16 q1, [%[source], #8]\n"
        "add %[source], %[source], %[from_step]\n"
        "vstrb.16 q0, [%[target], q2]\n"
        "vstrb.16 q1, [%[target], q3]\n"
        "add %[target], %[target], %[step]\n"
        "le lr, 1b\n"
        : [source] "+l"(source), [target] "+r"(target), [lane] "+Te"(lane)
        : [pitch] "r"(pitch), [half] "r"(8 * pitch), [columns] "r"(columns),
          [from_step] "r"(from_step), [step] "r"(step)
        : "q0", "q1", "q2", "q3", "lr", "memory");
  }
  for (; channels > 0; channels -= 8, from += 8, to += 8 * pitch) {
    const int8_t *source = from;
    int8_t *target = to;
    uint32_t lane = 0;
    __asm__ volatile(
        "vidup.u16 q2, %[lane], #1\n"
        "vmul.i16 q2, q2, %[pitch]\n"
        "vctp.16 %[channels]\n"
        "dls lr, %[columns]\n"
        "1: vpstt\n"
        "vldrbt.u16 q0, [%[source]]\n"
        "vstrbt.16 q0, [%[target], q2]\n"
        "add %[source], %[source], %[from_step]\n"
        "add %[target], %[target], %[step]\n"
        "le lr, 1b\n"
        : [source] "+l"(source), [target] "+r"(target), [lane] "+Te"(lane)
        : [pitch] "r"(pitch), [channels] "r"(channels), [columns] "r"(columns),
          [from_step] "r"(from_step), [step] "r"(step)
        : "q0", "q2", "lr" INTARSIA_CLOBBERS_PREDICATE, "memory");
  }
#else
  for (; columns > 0; --columns, from += from_step, to += step)
    for (int32_t c = 0; c < channels; ++c) to[c * pitch] = from[c];
#endif
}

// Where the eight results of a group go, and which columns of outputs they are.
static void place_results(struct strip *s, enum family family, int32_t row, int32_t column,
                          int32_t rows) {
  for (int32_t lane = 0; lane < kResults; ++lane) {
    const int32_t of_half = lane / 2, half = lane % 2;
    const int32_t x = family == DENSE     ? half * 2 + of_half % 2
                      : family == HALVING ? half * 2 + of_half / 2
                                          : half * kHalf + of_half;
    const int32_t y = family == DENSE ? of_half / 2 : family == HALVING ? of_half % 2 : 0;
    s->offsets[lane] = (uint16_t)(y * row + x * column);
    s->positions[lane] = (int16_t)(y < rows ? x : INT16_MAX);
  }
}

INTARSIA_INLINE void depthwise(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channels,
                               enum family family) {
  const int32_t in_c = w->in_c, out_c = w->out_c, multiplier = out_c / in_c;
  const bool transposed = w->transposed != 0;
  const int32_t in_column = transposed ? w->in_h * in_c : in_c,
                in_row = transposed ? in_c : w->in_w * in_c;
  const int32_t out_column = transposed ? w->out_h * out_c : out_c,
                out_row = transposed ? out_c : w->out_w * out_c;
  const int32_t rows = family == DENSE ? 4 : family == HALVING ? 5 : w->kernel_h;  // of a strip
  const int32_t out_rows = family == WIDE ? 1 : 2, results = family == WIDE ? kResults : kHalf;
  const int32_t wanted = (w->kernel_h * w->kernel_w + kVector - 1) / kVector;
  const int32_t vectors = family != WIDE ? 1 : wanted == 3 ? kMostVectors : wanted;
  const int32_t groups = (w->out_w + results - 1) / results;
  const int32_t pixel_step = w->stride_w * rows, travel = groups * results * pixel_step;
  const int32_t pitch = travel + (family == WIDE ? kMostVectors * kVector : kVector);
  const int32_t used = (w->out_w - 1) * w->stride_w + w->kernel_w - w->pad_left;
  const int32_t columns = used < w->in_w ? used : w->in_w;
  int8_t padding[kVector];
  intarsia_fill(padding, w->in_zero, kVector);
  struct strip s;
  s.zero = w->out_zero;
  s.columns = w->out_w;
  s.pixel_step = pixel_step;
  s.vectors = vectors;
  s.general = intarsia_mve_is_general(w);
  intarsia_mve_limits(w, s.low, s.high);
  s.group_step = results * out_column;
  s.output_step = 1 - groups * s.group_step;
  s.plane_step = multiplier == 1 ? pitch - travel : -travel;
  for (int32_t n = 0; n < w->batches; ++n) {
    for (int32_t c = 0; c < in_c; c += w->group) {
      const int32_t together = in_c - c < w->group ? in_c - c : w->group;
      intarsia_fill(scratch, w->in_zero, together * pitch);
      place_results(&s, family, out_row, out_column, out_rows);
      for (int32_t oy = 0; oy < w->out_h; oy += out_rows) {
        const int32_t y = oy * w->stride_h - w->pad_top;
        // Of the dense strip, two rows are those of the strip before.
        for (int32_t row = family == DENSE && oy > 0 ? 2 : 0; row < rows && columns > 0; ++row) {
          const int32_t iy = y + row * w->dilation_h;
          const bool inside = iy >= 0 && iy < w->in_h;
          turn(inside ? input + iy * in_row + c : padding, inside ? in_column : 0,
               scratch + w->pad_left * rows + (family == DENSE ? (row + (oy & 2)) & 3 : row), rows,
               pitch, columns, together);
        }
        if (family != WIDE && oy + 1 == w->out_h) place_results(&s, family, out_row, out_column, 1);
        s.swapped = family == DENSE ? oy & 2 : 0;
        s.weights = weights + c * multiplier * vectors * kVector;
        s.channels = channels + c * multiplier * 3;
        s.output = output + oy * out_row + c * multiplier;
        for (int32_t plane = 0; plane < together; plane += multiplier == 1 ? together : 1) {
          s.plane = scratch + plane * pitch;
          s.count = multiplier == 1 ? together : multiplier;
          int8_t *next = s.output + multiplier;
          if (family == DENSE)
            dense_channels(&s);
          else if (family == HALVING)
            halving_channels(&s);
          else
            wide_channels(&s);
          s.output = next;
        }
      }
    }
    input += w->in_h * w->in_w * in_c;
    output += w->out_h * w->out_w * out_c;
  }
}

#define INTARSIA_DEFINE(name, family)                                                              \
  void name(const struct intarsia_window *w, const int8_t *input, int8_t *output, int8_t *scratch, \
            const int8_t *weights, const int32_t *channels) {                                      \
    depthwise(w, input, output, scratch, weights, channels, family);                               \
  }
INTARSIA_DEFINE(intarsia_mve_depthwise_dense_s8, DENSE)
INTARSIA_DEFINE(intarsia_mve_depthwise_halving_s8, HALVING)
INTARSIA_DEFINE(intarsia_mve_depthwise_wide_s8, WIDE)
