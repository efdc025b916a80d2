#include "intarsia/kernels/quantize_row.h"

#include "intarsia/kernels/float_functions.h"

// The least and the largest of the values and 0.
static void range_of(const float* input, int32_t count, float* least, float* largest) {
  float low = 0.0f;
  float high = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    if (input[i] < low) low = input[i];
    if (input[i] > high) high = input[i];
  }
  *least = low;
  *largest = high;
}

// Rounded half away from zero. What is no number counts as the least.
static int8_t nearest(float steps, int32_t least) {
  if (!(steps > (float)least)) return (int8_t)least;
  if (steps >= 127.0f) return 127;
  const int32_t whole = (int32_t)steps;
  const float fraction = steps - (float)whole; /* exact */
  return (int8_t)(whole + (fraction >= 0.5f) - (fraction <= -0.5f));
}

void intarsia_quantize_row(const float* input, int8_t* output, float* scale, int32_t* zero_point,
                           int32_t count) {
  float least;
  float largest;
  range_of(input, count, &least, &largest);
  const float range = -least > largest ? -least : largest;
  const float steps = range > 0.0f ? 127.0f / range : 0.0f;
  *scale = range > 0.0f ? range / 127.0f : 1.0f;
  *zero_point = 0;
  for (int32_t i = 0; i < count; ++i) output[i] = nearest(input[i] * steps, -127);
}

// The scale and the zero point are computed in double precision, as TFLite does; the values are not.
void intarsia_quantize_row_asymmetric(const float* input, int8_t* output, float* scale,
                                      int32_t* zero_point, int32_t count) {
  float least;
  float largest;
  range_of(input, count, &least, &largest);
  if (!(largest > least)) {
    *scale = 1.0f;
    *zero_point = 0;
    for (int32_t i = 0; i < count; ++i) output[i] = 0;
    return;
  }
  const double step = ((double)largest - (double)least) / 255.0;
  // -128 stands for the least value, or 127 for the largest: what leaves the smaller error.
  const double below = (double)least / step;
  const double above = (double)largest / step;
  const double zero = 128.0 - below < 127.0 + above ? -128.0 - below : 127.0 - above;
  // Of an infinite row it is no number, which counts as the least.
  int32_t whole = -128;
  if (zero >= 127.0) {
    whole = 127;
  } else if (zero > -128.0) {
    whole = (int32_t)zero;
    const double fraction = zero - (double)whole;
    whole += (fraction >= 0.5) - (fraction <= -0.5);
  }
  *scale = (float)step;
  *zero_point = whole;
  const float steps = 1.0f / *scale;
  const float offset = (float)whole;
  for (int32_t i = 0; i < count; ++i) output[i] = nearest(offset + input[i] * steps, -128);
}

// Between two whole numbers that a float holds; halves to the even one. What is no number counts as the least.
static int32_t nearest_even(float steps, int32_t least, int32_t largest) {
  if (!(steps > (float)least)) return least;
  if (steps >= (float)largest) return largest;
  return (int32_t)intarsia_round_even_f32(steps);
}

void intarsia_quantize_rows_together(const float* input, int8_t* output, float* scales,
                                     int32_t* zero_points, int32_t rows, int32_t count) {
  float least;
  float largest;
  range_of(input, count, &least, &largest);
  const float step = largest > least ? (largest - least) / 255.0f : 1.0f;
  const int32_t zero = nearest_even(0.0f - least / step, 0, 255);
  for (int32_t row = 0; row < rows; ++row) {
    scales[row] = step;
    zero_points[row] = zero - 128;
  }
  for (int32_t i = 0; i < count; ++i)
    output[i] = (int8_t)(nearest_even(input[i] / step, -zero, 255 - zero) + zero - 128);
}
