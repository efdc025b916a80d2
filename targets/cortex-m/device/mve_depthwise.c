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
  int32_t unused;      // keeps what follows in pairs
  int32_t swapped;     // rows 0, 1 of the strip lie after rows 2, 3
  int32_t further;     // groups of eight results behind the first
  int32_t group_step;  // from eight results to the next eight
  int32_t count;       // of channels
  int32_t held_step;   // what r12 holds: of wide windows the pixel's step, of others the group's
  uint16_t offsets[kResults];
  uint32_t written
      [2];  // which of eight results are, two bits for each: of all but the last eight, and of those
  int32_t pixel_step;  // of the plane
  int32_t vectors;     // of a channel's weights
};

// Columns of a wide strip's results, of each half.
INTARSIA_INLINE int32_t wide_column(int32_t of_half) {
  return of_half % 2 * 2 + of_half / 2;
}

#if INTARSIA_HAS_MVE
_Static_assert(offsetof(struct strip, plane_step) == 8 && offsetof(struct strip, plane) == 16 &&
                   offsetof(struct strip, swapped) == 28 && offsetof(struct strip, further) == 32 &&
                   offsetof(struct strip, group_step) == 36 &&
                   offsetof(struct strip, count) == 40 && offsetof(struct strip, offsets) == 48 &&
                   offsetof(struct strip, written) == 64,
               "the assembly's numbers");

// Four sums, of a load, go to one vector, the next four to another: r0, r4, r2, r6 in the order of their products. While the
// products of eight results are added up, those of the eight before become results (mve_results.h) in the instructions between:
// VMLADAV keeps one unit busy for two cycles, and every second cycle is free for another one. The last eight have no products behind
// them but the loads of the next channel; there alone some of the eight may be none. P0 has which of them are written.
//
// r5, r7, r8 and r10 are the channel's multiplier, shift, bias and rounding. The first four sums, with their bias, are in q5.
#define FIRST_HALF(to) "vmov " to "[2], " to "[0], r0, r4\n"
#define SECOND_HALF(to) "vmov " to "[3], " to "[1], r2, r6\n"
#define RECTIFIED_OFFSETS "vldrh.16 q7, [r11, #48]\n"
#define RECTIFIED(a, b, c, d, e, f, g, h)                                        \
  FIRST_HALF("q6")                                                               \
  "vqrdmulh.s32 q5, q5, r5\n" a SECOND_HALF("q6") b                              \
      "vadd.i32 q6, q6, r8\n" c                                                  \
      "vadd.i32 q5, q5, r10\n"                                                   \
      "vqrdmulh.s32 q6, q6, r5\n"                                                \
      "vqshl.s32 q5, r7\n" d "vadd.i32 q6, q6, r10\n" e "vqshl.s32 q6, r7\n" f g \
      "vsri.32 q6, q5, #16\n" h
#define RECTIFIED_SUMS "q5"
#define RECTIFIED_BYTES "vshr.u16 q6, q6, #8\n"
#define RECTIFIED_STORE "vpst\nvstrbt.16 q6, [r3, q7]\n"
#define RECTIFIED_BIAS "vadd.i32 q5, q5, r8\n"
// A product is added to the sum's sign.
#define ROUNDED_OFFSETS
#define ROUNDED(a, b, c, d, e, f, g, h)                                                       \
  "vshr.s32 q7, q5, #31\n" FIRST_HALF("q6") "vqrdmlah.s32 q7, q5, r5\n" a SECOND_HALF("q6") b \
      "vadd.i32 q6, q6, r8\n" c                                                               \
      "vshr.s32 q5, q6, #31\n"                                                                \
      "vadd.i32 q7, q7, r10\n"                                                                \
      "vqrdmlah.s32 q5, q6, r5\n"                                                             \
      "vqshl.s32 q7, r7\n" d                                                                  \
      "vadd.i32 q5, q5, r10\n"                                                                \
      "vldrh.16 q6, [r11, #48]\n" e "vqshl.s32 q5, r7\n" f g "vsri.32 q5, q7, #16\n" h
#define ROUNDED_SUMS "q7"
#define ROUNDED_BYTES "vshr.u16 q5, q5, #8\n"
#define ROUNDED_STORE "vpst\nvstrbt.16 q5, [r3, q6]\n"
#define ROUNDED_BIAS "vadd.i32 q5, q7, r8\n"

// Sums of a channel's first four results. `behind_first` lies behind their first product.
#define FIRST_FOUR(family, behind_first, behind_second, behind_third)                            \
  family##_A family##_1 behind_first family##_2 behind_second family##_3 behind_third family##_4 \
      "ldr lr, [r11, #64]\n" family##_C "vmsr p0, lr\n"
// Weights by r0. Behind the last channel its constants and the first plane are loaded once more, for nothing.
#define CHANNELS(way, family)                                                                    \
  __asm__ volatile(                                                                              \
      INTARSIA_SAVE_R7                                                                           \
      "ldrd r1, r3, [r11, #16]\n"                                                                \
      "ldr r4, [r11, #36]\n"                                                                     \
      "sub r3, r3, r4\n"                                                                         \
      "ldr r12, [r11, #44]\n"                                                                    \
      "ldrd r0, r2, [r11]\n" way##_OFFSETS family##_WEIGHTS family##_MORE_WEIGHTS                \
          family##_STILL_MORE_WEIGHTS family##_LAST_WEIGHTS                                      \
      "ldm r2, {r5, r7, r8, r10}\n" family##_SWAPPED("2")                                        \
          FIRST_FOUR(family, "", "", "") "1: ldr lr, [r11, #32]\n" FIRST_HALF(way##_SUMS)        \
              family##_5 SECOND_HALF(way##_SUMS) family##_6 family##_7 way##_BIAS family##_8     \
      "wls lr, lr, 4f\n"                                                                         \
      "3:\n" way(family##_A, family##_1, family##_2, family##_3, family##_4, family##_C, "", "") \
          FIRST_HALF(way##_SUMS) family##_STEP family##_5 way##_BYTES SECOND_HALF(way##_SUMS)    \
              family##_6 way##_STORE family##_7 way##_BIAS family##_8                            \
      "le lr, 3b\n"                                                                              \
      "4:\n" way("ldr r4, [r11, #40]\n", "ldrd r0, r2, [r11]\n", "subs r4, r4, #1\n",            \
                 "str r4, [r11, #40]\n"                                                          \
                 "itt gt\n"                                                                      \
                 "addgt r0, r0, #" family##_BYTES "\n"                                           \
                                                  "addgt r2, r2, #16\n" family##_WEIGHTS,        \
                 family##_MORE_WEIGHTS, "ldr r4, [r11, #8]\n" family##_STILL_MORE_WEIGHTS,       \
                 "strd r0, r2, [r11]\n",                                                         \
                 "ldr lr, [r11, #68]\n" family##_LAST_WEIGHTS "add r1, r1, r4\n") way##_BYTES    \
      "ldm r2, {r5, r7, r8, r10}\n" family##_STEP                                                \
      "it le\n"                                                                                  \
      "ldrle r1, [r11, #16]\n"                                                                   \
      "vmsr p0, lr\n" family##_SWAPPED("5")                                                      \
          FIRST_FOUR(family, way##_STORE, "ldr lr, [r11, #12]\n",                                \
                     "add r3, r3, lr\n") "bgt.w 1b\n" INTARSIA_RESTORE_R7                        \
      : "+r"(s)                                                                                  \
      :                                                                                          \
      : "r0", "r1", "r2", "r3", "r4", "r5", "r6", INTARSIA_CLOBBERS_R7 "r8", "r10", "r12", "lr", \
        "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" INTARSIA_CLOBBERS_PREDICATE, "cc",        \
        "memory")

#define PRODUCTS(sum, weights, data) "vmladav.s8 " sum ", " weights ", " data "\n"
#define MORE_PRODUCTS(sum, weights, data) "vmladava.s8 " sum ", " weights ", " data "\n"
// Twice two columns by two rows of outputs.
#define DENSE_WEIGHTS "vldrb.8 q3, [r0]\n"
#define DENSE_MORE_WEIGHTS "vldrb.8 q1, [r0, #1]\n"
#define DENSE_STILL_MORE_WEIGHTS "vldrb.8 q2, [r0, #4]\n"
#define DENSE_LAST_WEIGHTS "vldrb.8 q0, [r0, #5]\n"
#define DENSE_BYTES "16"
#define DENSE_SWAPPED(label) \
  "ldr r4, [r11, #28]\n"     \
  "cbz r4, " label           \
  "f\n"                      \
  "vrev32.16 q0, q0\n"       \
  "vrev32.16 q1, q1\n"       \
  "vrev32.16 q2, q2\n"       \
  "vrev32.16 q3, q3\n" label ":\n"
#define DENSE_A "vldrb.8 q4, [r1], #8\n"
#define DENSE_1 PRODUCTS("r0", "q0", "q4")
#define DENSE_2 PRODUCTS("r4", "q2", "q4")
#define DENSE_3 PRODUCTS("r2", "q1", "q4")
#define DENSE_4 PRODUCTS("r6", "q3", "q4")
#define DENSE_C DENSE_A
#define DENSE_5 DENSE_1
#define DENSE_6 DENSE_2
#define DENSE_7 DENSE_3
#define DENSE_8 DENSE_4
#define DENSE_STEP "add r3, r3, r12\n"
// Four times one column by two rows.
#define HALVING_WEIGHTS "vldrb.8 q1, [r0]\n"
#define HALVING_MORE_WEIGHTS "vldrb.8 q0, [r0, #2]\n"
#define HALVING_STILL_MORE_WEIGHTS
#define HALVING_LAST_WEIGHTS
#define HALVING_BYTES "16"
#define HALVING_SWAPPED(label)
#define HALVING_A "vldrb.8 q4, [r1], #10\n"
#define HALVING_1 PRODUCTS("r0", "q0", "q4") "vldrb.8 q2, [r1], #10\n"
#define HALVING_2 PRODUCTS("r4", "q0", "q2")
#define HALVING_3 PRODUCTS("r2", "q1", "q4") "vldrb.8 q3, [r1], #10\n"
#define HALVING_4 PRODUCTS("r6", "q1", "q2")
#define HALVING_C "vldrb.8 q4, [r1], #10\n"
#define HALVING_5 PRODUCTS("r0", "q0", "q3")
#define HALVING_6 PRODUCTS("r4", "q0", "q4")
#define HALVING_7 PRODUCTS("r2", "q1", "q3")
#define HALVING_8 PRODUCTS("r6", "q1", "q4")
#define HALVING_STEP DENSE_STEP
// One output each; r12 is the step to the next one.
#define WIDE_STEP        \
  "ldr r0, [r11, #36]\n" \
  "add r3, r3, r0\n"
#define WIDE_NEXT "add r1, r1, r12\n"
#define WIDE1_LAST(sum) "vldrb.8 q4, [r1]\n" PRODUCTS(sum, "q0", "q4")
#define WIDE2_LAST(sum) \
  WIDE1_LAST(sum)       \
  "vldrb.8 q4, [r1, #16]\n" MORE_PRODUCTS(sum, "q1", "q4")
#define WIDE4_LAST(sum)                    \
  WIDE2_LAST(sum)                          \
  "vldrb.8 q4, [r1, #32]\n" MORE_PRODUCTS( \
      sum, "q2", "q4") "vldrb.8 q4, [r1, #48]\n" MORE_PRODUCTS(sum, "q3", "q4")
#define WIDE1_WEIGHTS "vldrb.8 q0, [r0]\n"
#define WIDE1_MORE_WEIGHTS
#define WIDE1_STILL_MORE_WEIGHTS
#define WIDE1_LAST_WEIGHTS
#define WIDE1_BYTES "16"
#define WIDE1_SWAPPED(label)
#define WIDE1_A
#define WIDE1_C
#define WIDE1_STEP WIDE_STEP
#define WIDE1_1 WIDE1_LAST("r0") WIDE_NEXT
#define WIDE1_2 WIDE1_LAST("r4") WIDE_NEXT
#define WIDE1_3 WIDE1_LAST("r2") WIDE_NEXT
#define WIDE1_4 WIDE1_LAST("r6") WIDE_NEXT
#define WIDE1_5 WIDE1_LAST("r0") WIDE_NEXT
#define WIDE1_6 WIDE1_LAST("r4") WIDE_NEXT
#define WIDE1_7 WIDE1_LAST("r2") WIDE_NEXT
#define WIDE1_8 WIDE1_LAST("r6") WIDE_NEXT
#define WIDE2_WEIGHTS "vldrb.8 q0, [r0]\n"
#define WIDE2_MORE_WEIGHTS "vldrb.8 q1, [r0, #16]\n"
#define WIDE2_STILL_MORE_WEIGHTS
#define WIDE2_LAST_WEIGHTS
#define WIDE2_BYTES "32"
#define WIDE2_SWAPPED(label)
#define WIDE2_A
#define WIDE2_C
#define WIDE2_STEP WIDE_STEP
#define WIDE2_1 WIDE2_LAST("r0") WIDE_NEXT
#define WIDE2_2 WIDE2_LAST("r4") WIDE_NEXT
#define WIDE2_3 WIDE2_LAST("r2") WIDE_NEXT
#define WIDE2_4 WIDE2_LAST("r6") WIDE_NEXT
#define WIDE2_5 WIDE2_LAST("r0") WIDE_NEXT
#define WIDE2_6 WIDE2_LAST("r4") WIDE_NEXT
#define WIDE2_7 WIDE2_LAST("r2") WIDE_NEXT
#define WIDE2_8 WIDE2_LAST("r6") WIDE_NEXT
#define WIDE4_WEIGHTS "vldrb.8 q0, [r0]\n"
#define WIDE4_MORE_WEIGHTS "vldrb.8 q1, [r0, #16]\n"
#define WIDE4_STILL_MORE_WEIGHTS "vldrb.8 q2, [r0, #32]\n"
#define WIDE4_LAST_WEIGHTS "vldrb.8 q3, [r0, #48]\n"
#define WIDE4_BYTES "64"
#define WIDE4_SWAPPED(label)
#define WIDE4_A
#define WIDE4_C
#define WIDE4_STEP WIDE_STEP
#define WIDE4_1 WIDE4_LAST("r0") WIDE_NEXT
#define WIDE4_2 WIDE4_LAST("r4") WIDE_NEXT
#define WIDE4_3 WIDE4_LAST("r2") WIDE_NEXT
#define WIDE4_4 WIDE4_LAST("r6") WIDE_NEXT
#define WIDE4_5 WIDE4_LAST("r0") WIDE_NEXT
#define WIDE4_6 WIDE4_LAST("r4") WIDE_NEXT
#define WIDE4_7 WIDE4_LAST("r2") WIDE_NEXT
#define WIDE4_8 WIDE4_LAST("r6") WIDE_NEXT

INTARSIA_OUTLINE void dense_rectified(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  CHANNELS(RECTIFIED, DENSE);
}

INTARSIA_OUTLINE void dense_rounded(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  CHANNELS(ROUNDED, DENSE);
}

INTARSIA_INLINE void dense_channels(struct strip *s, bool general) {
  if (general)
    dense_rounded(s);
  else
    dense_rectified(s);
}

INTARSIA_OUTLINE void halving_rectified(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  CHANNELS(RECTIFIED, HALVING);
}

INTARSIA_OUTLINE void halving_rounded(struct strip *strip) {
  register struct strip *s __asm__("r11") = strip;
  CHANNELS(ROUNDED, HALVING);
}

INTARSIA_INLINE void halving_channels(struct strip *s, bool general) {
  if (general)
    halving_rounded(s);
  else
    halving_rectified(s);
}

// Rectified results are no others in the general way.
INTARSIA_OUTLINE void wide_channels(struct strip *strip, bool general) {
  (void)general;
  register struct strip *s __asm__("r11") = strip;
  if (strip->vectors == 1) {
    CHANNELS(ROUNDED, WIDE1);
  } else if (strip->vectors == 2) {
    CHANNELS(ROUNDED, WIDE2);
  } else {
    CHANNELS(ROUNDED, WIDE4);
  }
}
#else
// Weights of the results of a load, as bytes beyond the channel's first.
static const uint8_t kDenseShifts[4] = {5, 1, 4, 0}, kHalvingShifts[2] = {2, 0};

INTARSIA_INLINE void all_channels(struct strip *s, enum family family, bool general) {
  const int32_t bytes = s->vectors * kVector, columns = family == WIDE ? kResults : kHalf;
  const int32_t groups = s->further + 1;
  for (; s->count > 0; --s->count, s->weights += bytes, s->channels += 4) {
    for (int32_t group = 0; group < groups; ++group) {
      for (int32_t lane = 0; lane < kResults; ++lane) {
        if ((s->written[group == s->further ? 1 : 0] >> (2 * lane) & 1u) == 0) continue;
        const int32_t of_half = lane / 2, half = lane % 2;
        const int8_t *seen = s->plane, *weights = s->weights;
        if (family == DENSE) {
          seen += group * 16 + half * 8;
          weights += kDenseShifts[of_half];
        } else if (family == HALVING) {
          seen += group * 40 + half * 20 + of_half / 2 * 10;
          weights += kHalvingShifts[of_half % 2];
        } else {
          seen += (group * kResults + half * kHalf + wide_column(of_half)) * s->pixel_step;
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

// Where the eight results of a group go, and which of them are written, of both rows and of the first alone.
INTARSIA_INLINE void place_results(struct strip *s, enum family family, int32_t row, int32_t column,
                                   int32_t last_columns, uint32_t written[2][2]) {
  for (int32_t lane = 0; lane < kResults; ++lane) {
    const int32_t of_half = lane / 2, half = lane % 2;
    const int32_t x = family == DENSE     ? half * 2 + of_half % 2
                      : family == HALVING ? half * 2 + of_half / 2
                                          : half * kHalf + wide_column(of_half);
    const int32_t y = family == DENSE ? of_half / 2 : family == HALVING ? of_half % 2 : 0;
    const uint32_t bits = 3u << (2 * lane);
    for (int32_t rows = 0; rows < 2; ++rows) {
      if (y > 0 && rows == 0) continue;
      written[rows][0] |= bits;
      if (x < last_columns) written[rows][1] |= bits;
    }
    s->offsets[lane] = (uint16_t)(y * row + x * column);
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
  s.further = groups - 1;
  s.pixel_step = pixel_step;
  s.vectors = vectors;
  s.group_step = results * out_column;
  s.held_step = family == WIDE ? pixel_step : s.group_step;
  // Of several channels of the output for each plane, the first of all planes follow each other, then the second ones, unless
  // the planes are fewer than those.
  const bool across = multiplier <= w->group;
  s.output_step = (across ? multiplier : 1) - groups * s.group_step;
  s.plane_step = across ? pitch - travel : -travel;
  uint32_t written[2][2] = {{0, 0}, {0, 0}};
  place_results(&s, family, out_row, out_column, w->out_w - s.further * results, written);
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
          const int32_t iy = y + (row >> w->strip_w) * w->dilation_h;
          const bool inside = iy >= 0 && iy < w->in_h;
          turn(inside ? input + iy * in_row + c : padding, inside ? in_column : 0,
               scratch + w->pad_left * rows + (family == DENSE ? (row + (oy & 2)) & 3 : row), rows,
               pitch, columns, together);
        }
        memcpy(s.written, written[oy + out_rows > w->out_h ? 0 : 1], sizeof s.written);
        s.swapped = family == DENSE ? oy & 2 : 0;
        s.output = output + oy * out_row + c * multiplier;
        for (int32_t part = 0; part < (across ? multiplier : together); ++part) {
          s.count = across ? together : multiplier;
          s.weights = held + part * s.count * vectors * kVector;
          s.channels = table + part * s.count * 4;
          s.plane = across ? scratch : scratch + part * pitch;
          int8_t *next = s.output + (across ? 1 : multiplier);
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
