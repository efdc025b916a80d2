// Depthwise convolution in single precision: four channels, which lie side by side in the input and in the weights as they are, of
// four pixels that share the weights, or of one. Only what lies inside of the image counts. Sums begin with the bias and follow the
// order of the window; products are rounded before they are added where a fused sum takes longer.
#include "intarsia/targets/cortex_m/staged_conv.h"

#include <stddef.h>

#include "intarsia/targets/cortex_m/optimise.h"

#include "intarsia/targets/cortex_m/assembly.h"
#include "intarsia/targets/cortex_m/float_vectors.h"
#include "intarsia/targets/cortex_m/results.h"
#include "intarsia/targets/cortex_m/window_taps.h"

enum { kFloatPixels = 4, kFloatLanes = 4 };

#if INTARSIA_HAS_ASM && defined(__ARM_FP) && !defined(__SOFTFP__)
#define DEPTHWISE_ASM 1
#else
#define DEPTHWISE_ASM 0
#endif

// Windows of pixels beside one another, of which the same part is inside. Steps in bytes; the assembly knows the layout.
struct float_windows {
  const float *x[kFloatPixels];
  const float *weights;
  int32_t rows, columns;
  int32_t column_step, row_rest;      // of the input
  int32_t weight_step, weights_rest;  // of the weights
  const float *bias;
  float *sums;
};

#if DEPTHWISE_ASM
_Static_assert(offsetof(struct float_windows, weights) == 16 &&
                   offsetof(struct float_windows, rows) == 20 &&
                   offsetof(struct float_windows, column_step) == 28 &&
                   offsetof(struct float_windows, row_rest) == 32 &&
                   offsetof(struct float_windows, weight_step) == 36 &&
                   offsetof(struct float_windows, weights_rest) == 40 &&
                   offsetof(struct float_windows, bias) == 44 &&
                   offsetof(struct float_windows, sums) == 48,
               "the assembly's numbers");

// `tap` has one element of the windows: weights by r4, input by r0 to r3.
#define WINDOWS(start, tap, rest, end)                                                            \
  register const struct float_windows *at __asm__("r12") = windows;                               \
  __asm__ volatile("ldr r6, [r12, #44]\n" start                                                   \
                   "ldm.w r12, {r0, r1, r2, r3, r4, r5}\n"                                        \
                   "ldr.w r8, [r12, #28]\n"                                                       \
                   "ldr.w r10, [r12, #36]\n"                                                      \
                   "1: ldr.w lr, [r12, #24]\n"                                                    \
                   ".balign 4\n"                                                                  \
                   "2:\n" tap                                                                     \
                   "add.w r4, r4, r10\n"                                                          \
                   "subs.w lr, lr, #1\n"                                                          \
                   "bne.w 2b\n"                                                                   \
                   "ldr.w r6, [r12, #32]\n"                                                       \
                   "ldr.w lr, [r12, #40]\n"                                                       \
                   "add.w r0, r0, r6\n" rest                                                      \
                   "add.w r4, r4, lr\n"                                                           \
                   "subs.w r5, r5, #1\n"                                                          \
                   "bne.w 1b\n"                                                                   \
                   "ldr.w r6, [r12, #48]\n" end                                                   \
                   : "+r"(at)                                                                     \
                   :                                                                              \
                   : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "lr", REGISTERS "cc", \
                     "memory")
#define OTHER_RESTS "add.w r1, r1, r6\nadd.w r2, r2, r6\nadd.w r3, r3, r6\n"

#if INTARSIA_FLOAT_VECTORS
#define REGISTERS "q0", "q1", "q2", "q3", "q4", "q5", "q6",
#define NEXT(x, vector) "vldrw.32 " vector ", [" x "]\nadd.w " x ", " x ", r8\n"
#define FOUR_STARTS "vldrw.32 q0, [r6]\nvldrw.32 q1, [r6]\nvldrw.32 q2, [r6]\nvldrw.32 q3, [r6]\n"
// What is loaded is multiplied behind the load of the next.
#define FOUR_TAPS \
  "vldrw.32 q4, [r4]\n" NEXT("r0", "q5") NEXT("r1", "q6")  \
  "vfma.f32 q0, q4, q5\n" NEXT("r2", "q5")                 \
  "vfma.f32 q1, q4, q6\n" NEXT("r3", "q6")                 \
  "vfma.f32 q2, q4, q5\n"                                  \
  "vfma.f32 q3, q4, q6\n"
#define FOUR_ENDS \
  "vstrw.32 q0, [r6]\nvstrw.32 q1, [r6, #16]\nvstrw.32 q2, [r6, #32]\nvstrw.32 q3, [r6, #48]\n"
#define ONE_START "vldrw.32 q0, [r6]\n"
#define ONE_TAP "vldrw.32 q4, [r4]\n" NEXT("r0", "q5") "vfma.f32 q0, q4, q5\n"
#define ONE_END "vstrw.32 q0, [r6]\n"
#else
#define REGISTERS                                                                                \
  "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", \
      "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27",
// As float_conv.c: which of the two takes longer.
#if __ARM_ARCH >= 8 || (__ARM_FP & 8)
#define PRODUCTS(a, b, c, d) \
  "vfma.f32 " a              \
  ", s16, s20\n"             \
  "vfma.f32 " b              \
  ", s17, s21\n"             \
  "vfma.f32 " c              \
  ", s18, s22\n"             \
  "vfma.f32 " d ", s19, s23\n"
#else
#define PRODUCTS(a, b, c, d) \
  "vmul.f32 s24, s16, s20\n" \
  "vmul.f32 s25, s17, s21\n" \
  "vmul.f32 s26, s18, s22\n" \
  "vmul.f32 s27, s19, s23\n" \
  "vadd.f32 " a ", " a       \
  ", s24\n"                  \
  "vadd.f32 " b ", " b       \
  ", s25\n"                  \
  "vadd.f32 " c ", " c       \
  ", s26\n"                  \
  "vadd.f32 " d ", " d ", s27\n"
#endif
#define NEXT(x) "vldmia " x ", {s20-s23}\nadd.w " x ", " x ", r8\n"
#define FOUR_STARTS \
  "vldmia r6, {s0-s3}\nvldmia r6, {s4-s7}\nvldmia r6, {s8-s11}\nvldmia r6, {s12-s15}\n"
#define FOUR_TAPS                                                                               \
  "vldmia r4, {s16-s19}\n" NEXT("r0") PRODUCTS("s0", "s1", "s2", "s3") NEXT("r1")               \
      PRODUCTS("s4", "s5", "s6", "s7") NEXT("r2") PRODUCTS("s8", "s9", "s10", "s11") NEXT("r3") \
          PRODUCTS("s12", "s13", "s14", "s15")
#define FOUR_ENDS "vstmia r6, {s0-s15}\n"
#define ONE_START "vldmia r6, {s0-s3}\n"
#define ONE_TAP "vldmia r4, {s16-s19}\n" NEXT("r0") PRODUCTS("s0", "s1", "s2", "s3")
#define ONE_END "vstmia r6, {s0-s3}\n"
#endif

INTARSIA_OUTLINE void four_windows(const struct float_windows *windows) {
  WINDOWS(FOUR_STARTS, FOUR_TAPS, OTHER_RESTS, FOUR_ENDS);
}
INTARSIA_OUTLINE void one_window(const struct float_windows *windows) {
  WINDOWS(ONE_START, ONE_TAP, "", ONE_END);
}
#undef PRODUCTS
#undef NEXT
#undef ONE_END
#undef ONE_TAP
#undef ONE_START
#undef FOUR_ENDS
#undef FOUR_TAPS
#undef FOUR_STARTS
#undef REGISTERS
#undef OTHER_RESTS
#undef WINDOWS
#else
INTARSIA_INLINE const float *float_bytes_on(const float *from, int32_t bytes) {
  return (const float *)(const void *)((const int8_t *)(const void *)from + bytes);
}

INTARSIA_INLINE void some_windows(const struct float_windows *w, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    for (int32_t lane = 0; lane < kFloatLanes; ++lane) {
      const float *x = w->x[i], *weight = w->weights;
      float sum = w->bias[lane];
      for (int32_t row = 0; row < w->rows; ++row) {
        for (int32_t column = 0; column < w->columns; ++column) {
          sum += x[lane] * weight[lane];
          x = float_bytes_on(x, w->column_step), weight = float_bytes_on(weight, w->weight_step);
        }
        x = float_bytes_on(x, w->row_rest), weight = float_bytes_on(weight, w->weights_rest);
      }
      w->sums[i * kFloatLanes + lane] = sum;
    }
}
INTARSIA_OUTLINE void four_windows(const struct float_windows *windows) {
  some_windows(windows, kFloatPixels);
}
INTARSIA_OUTLINE void one_window(const struct float_windows *windows) {
  some_windows(windows, 1);
}
#endif

struct float_limits {
  bool some;
  float low, high;  // infinite where there is none
};

// Four sums as results; what is not a number stays: Helium says that it is less than anything, but nothing is greater than it.
INTARSIA_INLINE void float_results(const float *sums, float *results, struct float_limits limits) {
#if INTARSIA_FLOAT_VECTORS
  float32x4_t values = vldrwq_f32(sums);
  values =
      vpselq_f32(vdupq_n_f32(limits.low), values, vcmpgtq_f32(vdupq_n_f32(limits.low), values));
  values = vpselq_f32(vdupq_n_f32(limits.high), values, vcmpgtq_n_f32(values, limits.high));
  vstrwq_f32(results, values);
#else
  if (!limits.some) {
    for (int32_t lane = 0; lane < kFloatLanes; ++lane) results[lane] = sums[lane];
    return;
  }
  for (int32_t lane = 0; lane < kFloatLanes; ++lane) {
    float value = sums[lane];
    value = value < limits.low ? limits.low : value;
    results[lane] = value > limits.high ? limits.high : value;
  }
#endif
}

// `count` pixels, whose parts of the input begin at `x`, `step` elements apart.
INTARSIA_INLINE void float_pixels(struct float_windows *windows, const float *x, int32_t step,
                                  const float *weights, const float *bias, float *output,
                                  int32_t channels, int32_t count,
                                  const struct float_limits *limits) {
  for (int32_t next = 0; next < channels; next += kFloatLanes) {
    // The last four overlap those before.
    const int32_t c = next + kFloatLanes <= channels ? next : channels - kFloatLanes;
    for (int32_t i = 0; i < count; ++i) windows->x[i] = x + i * step + c;
    windows->weights = weights + c;
    windows->bias = bias + c;
    if (windows->rows == 0) {
      for (int32_t lane = 0; lane < count * kFloatLanes; ++lane)
        windows->sums[lane] = bias[c + lane % kFloatLanes];
    } else if (count == 1) {
      one_window(windows);
    } else {
      four_windows(windows);
    }
    for (int32_t i = 0; i < count; ++i)
      float_results(windows->sums + i * kFloatLanes, output + i * channels + c, *limits);
  }
}

void intarsia_depthwise_f32(const struct intarsia_window *w, const float *input, float *output,
                            const float *weights, const float *table) {
  const struct float_limits limits = {w->low != 0 || w->high != 0,
                                      w->low != 0 ? table[0] : -__builtin_inff(),
                                      w->high != 0 ? table[1] : __builtin_inff()};
  const float *bias = table + 2;
  const int32_t channels = w->in_c, stride = w->stride_w, dilation = w->dilation_w;
  const int32_t reach = (w->kernel_w - 1) * dilation;
  enum { kBytes = sizeof(float) };
  float sums[kFloatPixels * kFloatLanes];
  struct float_windows windows;
  windows.sums = sums;
  windows.column_step = kBytes * dilation * channels;
  windows.weight_step = kBytes * channels;
  for (int32_t n = 0; n < w->batches; ++n, input += w->in_h * w->in_w * channels)
    for (int32_t oy = 0; oy < w->out_h; ++oy) {
      const int32_t top = oy * w->stride_h - w->pad_top;
      const int32_t ky = intarsia_first_tap(top, w->dilation_h);
      const int32_t rows = intarsia_end_of_taps(top, w->dilation_h, w->kernel_h, w->in_h) - ky;
      for (int32_t ox = 0; ox < w->out_w;) {
        const int32_t left = ox * stride - w->pad_left;
        const bool four = ox + kFloatPixels <= w->out_w && left >= 0 &&
                          left + (kFloatPixels - 1) * stride + reach < w->in_w;
        const int32_t count = four ? kFloatPixels : 1;
        const int32_t kx = intarsia_first_tap(left, dilation);
        const int32_t columns = intarsia_end_of_taps(left, dilation, w->kernel_w, w->in_w) - kx;
        const bool sees = rows > 0 && columns > 0;
        windows.rows = sees ? rows : 0;
        windows.columns = columns;
        windows.row_rest =
            kBytes * w->dilation_h * w->in_w * channels - columns * windows.column_step;
        windows.weights_rest = (w->kernel_w - columns) * windows.weight_step;
        const float *x =
            sees ? input + ((top + ky * w->dilation_h) * w->in_w + left + kx * dilation) * channels
                 : input;
        const int32_t tap = sees ? ky * w->kernel_w + kx : 0;
        float_pixels(&windows, x, stride * channels, weights + tap * channels, bias, output,
                     channels, count, &limits);
        output += count * channels;
        ox += count;
      }
    }
}
