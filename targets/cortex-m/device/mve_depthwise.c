// Depthwise convolution on cores with Helium. VMLADAVA adds sixteen products of one channel, so channels
// become planes first, 16 at a time: column by column, with the rows that a strip of outputs sees side by
// side. A load then holds the windows of up to four outputs, which differ in where the weights begin.
#include "intarsia/targets/cortex_m/mve_depthwise.h"

#include <stddef.h>
#include <string.h>

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
  int32_t columns;     // of outputs
  int32_t swapped;     // rows 0, 1 of the strip lie after rows 2, 3
  int32_t round;       // of the channel, where no register is left for it
  int32_t group_step;  // from eight results to the next eight
  int32_t count;       // of channels
  int32_t held_step;   // what r12 holds: of wide windows the pixel's step, of others the group's
  uint16_t offsets[kResults];
  int16_t positions[kResults];  // columns of the results, less those of eight; beyond all for none
  int32_t pixel_step;           // of the plane
  int32_t vectors;              // of a channel's weights
};

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct strip, plane_step) == 8 && offsetof(struct strip, plane) == 16 &&
                   offsetof(struct strip, columns) == 24 && offsetof(struct strip, round) == 32 &&
                   offsetof(struct strip, group_step) == 36 &&
                   offsetof(struct strip, count) == 40 && offsetof(struct strip, offsets) == 48 &&
                   offsetof(struct strip, positions) == 64,
               "the assembly's numbers");

// What is added before the shift: in r9, or loaded whenever it is needed.
#if INTARSIA_FREE_R9
#define ROUND "r9"
#define ROUND_CLOBBER "r9",
#define TABLE_ROW "ldm r2!, {r5, r7, r8, r9}\n"
#define ROUND_LATER
#else
#define ROUND "r0"
#define ROUND_CLOBBER
#define TABLE_ROW           \
  "ldm r2!, {r5, r7, r8}\n" \
  "ldr r4, [r2], #4\n"      \
  "str r4, [r11, #32]\n"
#define ROUND_LATER "ldr r0, [r11, #32]\n"
#endif

// Four sums, of a load, go to q7, the next four to q4. As soon as both of a pair are there, the next sums take their
// registers; and each of the two chains of results (mve_results.h) fills the waits of the other one. The multiplier is
// the channel's, so that VQRDMLAH adds a product to the sign.
#define FIRST_HALF(to) "vmov " to "[2], " to "[0], r0, r4\n"
#define SECOND_HALF(to) "vmov " to "[3], " to "[1], r2, r6\n"
#define CHANNELS(weights, before, sums, results, from, offsets)                                  \
  __asm__ volatile(INTARSIA_SAVE_R7                                                              \
                   "ldrd r0, r12, [r11, #40]\n"                                                  \
                   "dls lr, r0\n"                                                                \
                   "ldrd r1, r3, [r11, #16]\n"                                                   \
                   "ldr r0, [r11, #36]\n"                                                        \
                   "sub r3, r3, r0\n"                                                            \
                   "vldrh.16 q6, [r11, #48]\n"                                                   \
                   "vldrh.16 q5, [r11, #64]\n"                                                   \
                   "1: ldrd r0, r2, [r11]\n" weights TABLE_ROW                                   \
                   "strd r0, r2, [r11]\n"                                                        \
                   "ldrd r10, r4, [r11, #24]\n" before "2:\n" sums results                       \
                   "vpt.s16 lt, q5, r10\n"                                                       \
                   "vstrbt.16 " from ", [r3, " offsets                                           \
                   "]\n"                                                                         \
                   "bgt.w 2b\n"                                                                  \
                   "ldrd r0, r2, [r11, #8]\n"                                                    \
                   "add r1, r1, r0\n"                                                            \
                   "add r3, r3, r2\n"                                                            \
                   "le lr, 1b\n" INTARSIA_RESTORE_R7                                             \
                   : "+r"(s)                                                                     \
                   :                                                                             \
                   : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8",        \
                     ROUND_CLOBBER "r10", "r12", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", \
                     "q7" INTARSIA_CLOBBERS_PREDICATE, "cc", "memory")
#define RECTIFIED_CHANNELS(weights, before, sums, columns)                            \
  CHANNELS(weights, before, sums,                                                     \
           "subs r10, r10, #" columns                                                 \
           "\n"                                                                       \
           "vqrdmulh.s32 q7, q7, r5\n" FIRST_HALF("q4") SECOND_HALF("q4") ROUND_LATER \
           "vadd.i32 q7, q7, " ROUND                                                  \
           "\n"                                                                       \
           "add r3, r3, r12\n"                                                        \
           "vadd.i32 q4, q4, r8\n"                                                    \
           "vqrdmulh.s32 q4, q4, r5\n"                                                \
           "vqshl.s32 q7, r7\n"                                                       \
           "vadd.i32 q4, q4, " ROUND                                                  \
           "\n"                                                                       \
           "vqshl.s32 q4, r7\n"                                                       \
           "vsri.32 q4, q7, #16\n"                                                    \
           "vshr.u16 q4, q4, #8\n",                                                   \
           "q4", "q6")
#define OTHER_CHANNELS(weights, before, sums, columns, load_step, step)                            \
  CHANNELS(weights, before, sums,                                                                  \
           "subs r10, r10, #" columns                                                              \
           "\n"                                                                                    \
           "vshr.s32 q6, q7, #31\n" FIRST_HALF("q4") "vqrdmlah.s32 q6, q7, r5\n" SECOND_HALF("q4") \
               ROUND_LATER                                                                         \
           "vadd.i32 q4, q4, r8\n"                                                                 \
           "vadd.i32 q6, q6, " ROUND                                                               \
           "\n"                                                                                    \
           "vshr.s32 q7, q4, #31\n"                                                                \
           "vqrdmlah.s32 q7, q4, r5\n"                                                             \
           "vldrh.16 q4, [r11, #48]\n"                                                             \
           "vqshl.s32 q6, r7\n"                                                                    \
           "vadd.i32 q7, q7, " ROUND "\n" load_step "add r3, r3, " step                            \
           "\n"                                                                                    \
           "vqshl.s32 q7, r7\n"                                                                    \
           "vsri.32 q7, q6, #16\n"                                                                 \
           "vshr.u16 q7, q7, #8\n",                                                                \
           "q7", "q4")

#define PRODUCTS(sum, weights, data) "vmladav.s8 " sum ", " weights ", " data "\n"
// Twice two columns by two rows of outputs.
#define DENSE_EIGHT                                                                             \
  "vldrb.8 q4, [r1], #8\n" PRODUCTS("r0", "q0", "q4") PRODUCTS("r4", "q2", "q4")                \
      PRODUCTS("r2", "q1", "q4") FIRST_HALF("q7")                                               \
          PRODUCTS("r6", "q3", "q4") "vldrb.8 q4, [r1], #8\n" PRODUCTS("r0", "q0", "q4")        \
              SECOND_HALF("q7")                                                                 \
                  PRODUCTS("r4", "q2", "q4") "vadd.i32 q7, q7, r8\n" PRODUCTS("r2", "q1", "q4") \
                      PRODUCTS("r6", "q3", "q4")
// Four times one column by two rows.
#define HALVING_EIGHT                                                                         \
  "vldrb.8 q4, [r1], #10\n" PRODUCTS("r0", "q0", "q4") "vldrb.8 q2, [r1], #10\n" PRODUCTS(    \
      "r2", "q1",                                                                             \
      "q4") "vldrb.8 q3, [r1], #10\n" PRODUCTS("r4", "q0",                                    \
                                               "q2") "vldrb.8 q4, [r1], #10\n" PRODUCTS("r6", \
                                                                                        "q1", \
                                                                                        "q2") \
      FIRST_HALF("q7") PRODUCTS("r0", "q0", "q3") SECOND_HALF("q7")                           \
          PRODUCTS("r4", "q0", "q4") "vadd.i32 q7, q7, r8\n" PRODUCTS("r2", "q1", "q3")       \
              PRODUCTS("r6", "q1", "q4")
// One output each.
#define WIDE_1(sum) "vldrb.8 q4, [r1]\n" PRODUCTS(sum, "q0", "q4")
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
#define WIDE_EIGHT(one)                                                                  \
  one("r0") NEXT one("r2") NEXT one("r4") NEXT one("r6") NEXT FIRST_HALF("q7") one("r0") \
      NEXT SECOND_HALF("q7") one("r2") NEXT "vadd.i32 q7, q7, r8\n" one("r4") NEXT one("r6") NEXT
#endif

#if INTARSIA_HAS_MVE
#define DENSE_WEIGHTS      \
  "vldrb.8 q3, [r0]\n"     \
  "vldrb.8 q1, [r0, #1]\n" \
  "vldrb.8 q2, [r0, #4]\n" \
  "vldrb.8 q0, [r0, #5]\n" \
  "add r0, r0, #16\n"
#define DENSE_SWAPPED  \
  "cbz r4, 2f\n"       \
  "vrev32.16 q0, q0\n" \
  "vrev32.16 q1, q1\n" \
  "vrev32.16 q2, q2\n" \
  "vrev32.16 q3, q3\n"
#define HALVING_WEIGHTS    \
  "vldrb.8 q1, [r0]\n"     \
  "vldrb.8 q0, [r0, #2]\n" \
  "add r0, r0, #16\n"
INTARSIA_OUTLINE void dense_rectified(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  RECTIFIED_CHANNELS(DENSE_WEIGHTS, DENSE_SWAPPED, DENSE_EIGHT, "4");
}

INTARSIA_OUTLINE void dense_other(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  OTHER_CHANNELS(DENSE_WEIGHTS, DENSE_SWAPPED, DENSE_EIGHT, "4", "", "r12");
}

INTARSIA_INLINE void dense_channels(struct strip *s, bool general) {
  if (general)
    dense_other(s);
  else
    dense_rectified(s);
}

INTARSIA_OUTLINE void halving_rectified(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  RECTIFIED_CHANNELS(HALVING_WEIGHTS, "", HALVING_EIGHT, "4");
}

INTARSIA_OUTLINE void halving_other(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  OTHER_CHANNELS(HALVING_WEIGHTS, "", HALVING_EIGHT, "4", "", "r12");
}

INTARSIA_INLINE void halving_channels(struct strip *s, bool general) {
  if (general)
    halving_other(s);
  else
    halving_rectified(s);
}

#define STEP_LOADED "ldr r0, [r11, #36]\n"
// Rectified results are no others in the general way.
INTARSIA_OUTLINE void wide_channels(struct strip *strip, bool general) {
  (void)general;
  register struct strip *s __asm__("r11") = strip;
  if (strip->vectors == 1) {
    OTHER_CHANNELS("vldrb.8 q0, [r0], #16\n", "", WIDE_EIGHT(WIDE_1), "8", STEP_LOADED, "r0");
  } else if (strip->vectors == 2) {
    OTHER_CHANNELS(
        "vldrb.8 q0, [r0], #16\n"
        "vldrb.8 q1, [r0], #16\n",
        "", WIDE_EIGHT(WIDE_2), "8", STEP_LOADED, "r0");
  } else {
    OTHER_CHANNELS(
        "vldrb.8 q0, [r0], #16\n"
        "vldrb.8 q1, [r0], #16\n"
        "vldrb.8 q2, [r0], #16\n"
        "vldrb.8 q3, [r0], #16\n",
        "", WIDE_EIGHT(WIDE_4), "8", STEP_LOADED, "r0");
  }
}
#else
// Weights of the results of a load, as bytes beyond the channel's first.
static const uint8_t kDenseShifts[4] = {5, 1, 4, 0}, kHalvingShifts[2] = {2, 0};

INTARSIA_INLINE void all_channels(struct strip *s, enum family family, bool general) {
  const int32_t bytes = s->vectors * kVector, columns = family == WIDE ? kResults : kHalf;
  for (; s->count > 0; --s->count, s->weights += bytes, s->channels += 4) {
    const int32_t groups = (s->columns + columns - 1) / columns;
    for (int32_t group = 0; group < groups; ++group) {
      for (int32_t lane = 0; lane < kResults; ++lane) {
        if (s->positions[lane] >= s->columns - (group + 1) * columns) continue;
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
        s->output[group * s->group_step + s->offsets[lane]] =
            intarsia_mve_top_result(sum, s->channels[0], s->channels[3], s->channels[1], general);
      }
    }
    s->plane += groups * columns * s->pixel_step + s->plane_step;
    s->output += groups * s->group_step + s->output_step;
  }
}

static void dense_channels(struct strip *s, bool general) {
  all_channels(s, DENSE, general);
}
static void halving_channels(struct strip *s, bool general) {
  all_channels(s, HALVING, general);
}
static void wide_channels(struct strip *s, bool general) {
  all_channels(s, WIDE, general);
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
        "vidup.u16 q2, %[lane], #2\n"
        "vmul.i16 q2, q2, %[pitch]\n"
        "vadd.i16 q3, q2, %[pitch]\n"
        "dls lr, %[columns]\n"
        "1: vldrb.8 q0, [%[source]]\n"
        "vstrb.16 q0, [%[target], q2]\n"
        "vshr.u16 q1, q0, #8\n"
        "add %[source], %[source], %[from_step]\n"
        "vstrb.16 q1, [%[target], q3]\n"
        "add %[target], %[target], %[step]\n"
        "le lr, 1b\n"
        : [source] "+l"(source), [target] "+r"(target), [lane] "+Te"(lane)
        : [pitch] "r"(pitch), [columns] "r"(columns), [from_step] "r"(from_step), [step] "r"(step)
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

// Where the eight results of a group go, and which columns of outputs they are: of all rows, and of the first alone.
INTARSIA_INLINE void place_results(struct strip *s, enum family family, int32_t row, int32_t column,
                                   int16_t positions[2][kResults]) {
  for (int32_t lane = 0; lane < kResults; ++lane) {
    const int32_t of_half = lane / 2, half = lane % 2;
    const int32_t x = family == DENSE     ? half * 2 + of_half % 2
                      : family == HALVING ? half * 2 + of_half / 2
                                          : half * kHalf + of_half;
    const int32_t y = family == DENSE ? of_half / 2 : family == HALVING ? of_half % 2 : 0;
    s->offsets[lane] = (uint16_t)(y * row + x * column);
    positions[0][lane] = (int16_t)(x - (family == WIDE ? kResults : kHalf));
    positions[1][lane] = y == 0 ? positions[0][lane] : INT16_MAX;
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
  const bool general = intarsia_mve_is_general(w);
  int8_t *const first = output;
  int8_t padding[kVector];
  intarsia_fill(padding, w->in_zero, kVector);
  struct strip s;
  s.columns = w->out_w;
  s.pixel_step = pixel_step;
  s.vectors = vectors;
  s.group_step = results * out_column;
  s.held_step = family == WIDE ? pixel_step : s.group_step;
  s.output_step = 1 - groups * s.group_step;
  s.plane_step = multiplier == 1 ? pitch - travel : -travel;
  int16_t positions[2][kResults];
  place_results(&s, family, out_row, out_column, positions);
  for (int32_t n = 0; n < w->batches; ++n) {
    for (int32_t c = 0; c < in_c; c += w->group) {
      const int32_t together = in_c - c < w->group ? in_c - c : w->group;
      intarsia_fill(scratch, w->in_zero, together * pitch);
      const int8_t *held = weights + c * multiplier * vectors * kVector;
      const int32_t *table = channels + c * multiplier * 4;
      if (w->strip_h !=
          0) {  // a row's neighbour begins with zeros, which the last one's loads reach
        int8_t *copies = scratch + w->group * pitch;
        int8_t *end = intarsia_copy(copies, (const int8_t *)table, together * multiplier * kVector);
        intarsia_copy(end, held, together * multiplier * vectors * kVector + kVector);
        table = (const int32_t *)(const void *)copies;
        held = end;
      }
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
        memcpy(s.positions, positions[oy + out_rows > w->out_h ? 1 : 0], sizeof s.positions);
        s.swapped = family == DENSE ? oy & 2 : 0;
        s.weights = held;
        s.channels = table;
        s.output = output + oy * out_row + c * multiplier;
        for (int32_t plane = 0; plane < together; plane += multiplier == 1 ? together : 1) {
          s.plane = scratch + plane * pitch;
          s.count = multiplier == 1 ? together : multiplier;
          int8_t *next = s.output + multiplier;
          if (family == DENSE)
            dense_channels(&s, general);
          else if (family == HALVING)
            halving_channels(&s, general);
          else
            wide_channels(&s, general);
          s.output = next;
        }
      }
    }
    input += w->in_h * w->in_w * in_c;
    output += w->out_h * w->out_w * out_c;
  }
  if (w->low != -128 || w->high != 127)
    intarsia_mve_clamp(first, (int32_t)(output - first), w->low, w->high);
}

#define INTARSIA_DEFINE(name, family)                                                              \
  void name(const struct intarsia_window *w, const int8_t *input, int8_t *output, int8_t *scratch, \
            const int8_t *weights, const int32_t *channels) {                                      \
    depthwise(w, input, output, scratch, weights, channels, family);                               \
  }
INTARSIA_DEFINE(intarsia_mve_depthwise_dense_s8, DENSE)
INTARSIA_DEFINE(intarsia_mve_depthwise_halving_s8, HALVING)
INTARSIA_DEFINE(intarsia_mve_depthwise_wide_s8, WIDE)
