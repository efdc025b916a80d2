// Lanes of two 256-bit registers; VPMADDWD of elements and weights widened to 16 bits. VPMADDUBSW would take bytes, but its sums of two
// products saturate.
#ifndef INTARSIA_CORTEX_M_LANES_AVX2_H_
#define INTARSIA_CORTEX_M_LANES_AVX2_H_

#include <immintrin.h>

enum {
  kIntarsiaRaise = 0,
  kIntarsiaPixels = 2,
  kIntarsiaWidePixels = 2,
  kIntarsiaWideBlocks = 1,
  kIntarsiaTwoBlocks = 0
};

struct intarsia_sums {
  __m256i lanes[2];
};
// Two sums of each lane.
struct intarsia_dots {
  __m256i pairs[4];
};
struct intarsia_elements {
  __m256i fours;
};
struct intarsia_weights {
  __m256i fours[4];
};

INTARSIA_INLINE __m256i intarsia_eight(const int32_t *words) {
  return _mm256_loadu_si256((const __m256i *)(const void *)words);
}
INTARSIA_INLINE __m128i intarsia_sixteen(const int8_t *bytes) {
  return _mm_loadu_si128((const __m128i *)(const void *)bytes);
}

INTARSIA_INLINE void intarsia_stage(int8_t *to, const int8_t *from, int32_t count) {
  memcpy(to, from, (size_t)count);
}

INTARSIA_INLINE struct intarsia_dots intarsia_dots_begin(const int32_t *table) {
  (void)table;
  const __m256i none = _mm256_setzero_si256();
  return (struct intarsia_dots){{none, none, none, none}};
}

INTARSIA_INLINE struct intarsia_elements intarsia_elements(const int8_t *staged) {
  int32_t four;
  memcpy(&four, staged, sizeof four);
  return (struct intarsia_elements){
      _mm256_broadcastq_epi64(_mm_cvtepi8_epi16(_mm_cvtsi32_si128(four)))};
}

INTARSIA_INLINE struct intarsia_weights intarsia_weights(const int8_t *weights) {
  return (struct intarsia_weights){{_mm256_cvtepi8_epi16(intarsia_sixteen(weights)),
                                    _mm256_cvtepi8_epi16(intarsia_sixteen(weights + 16)),
                                    _mm256_cvtepi8_epi16(intarsia_sixteen(weights + 32)),
                                    _mm256_cvtepi8_epi16(intarsia_sixteen(weights + 48))}};
}

INTARSIA_INLINE __m256i intarsia_products(__m256i sums, __m256i weights, __m256i elements) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(weights, elements));
}

INTARSIA_INLINE void intarsia_dot(struct intarsia_dots *dots, struct intarsia_elements elements,
                                  struct intarsia_weights weights) {
  dots->pairs[0] = intarsia_products(dots->pairs[0], weights.fours[0], elements.fours);
  dots->pairs[1] = intarsia_products(dots->pairs[1], weights.fours[1], elements.fours);
  dots->pairs[2] = intarsia_products(dots->pairs[2], weights.fours[2], elements.fours);
  dots->pairs[3] = intarsia_products(dots->pairs[3], weights.fours[3], elements.fours);
}

INTARSIA_INLINE void intarsia_four_taps(struct intarsia_dots *dots, const int8_t *a,
                                        const int8_t *b, const int8_t *c, const int8_t *d,
                                        const int8_t *weights) {
  const struct intarsia_weights scales = intarsia_weights(weights);
  const __m128i first = intarsia_sixteen(a), second = intarsia_sixteen(b),
                third = intarsia_sixteen(c), fourth = intarsia_sixteen(d);
  const __m128i low = _mm_unpacklo_epi8(first, second), high = _mm_unpackhi_epi8(first, second),
                other_low = _mm_unpacklo_epi8(third, fourth),
                other_high = _mm_unpackhi_epi8(third, fourth);
  dots->pairs[0] = intarsia_products(dots->pairs[0], scales.fours[0],
                                     _mm256_cvtepi8_epi16(_mm_unpacklo_epi16(low, other_low)));
  dots->pairs[1] = intarsia_products(dots->pairs[1], scales.fours[1],
                                     _mm256_cvtepi8_epi16(_mm_unpackhi_epi16(low, other_low)));
  dots->pairs[2] = intarsia_products(dots->pairs[2], scales.fours[2],
                                     _mm256_cvtepi8_epi16(_mm_unpacklo_epi16(high, other_high)));
  dots->pairs[3] = intarsia_products(dots->pairs[3], scales.fours[3],
                                     _mm256_cvtepi8_epi16(_mm_unpackhi_epi16(high, other_high)));
}

INTARSIA_INLINE __m256i intarsia_pair_sums(__m256i first, __m256i second, const int32_t *bias) {
  const __m256i mixed = _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, second), 0xd8);
  return _mm256_add_epi32(mixed, intarsia_eight(bias));
}

INTARSIA_INLINE struct intarsia_sums intarsia_dots_end(const struct intarsia_dots *dots,
                                                       const int32_t *table) {
  return (struct intarsia_sums){{intarsia_pair_sums(dots->pairs[0], dots->pairs[1], table),
                                 intarsia_pair_sums(dots->pairs[2], dots->pairs[3], table + 8)}};
}

INTARSIA_INLINE void intarsia_store_sums(const struct intarsia_sums *sums, int32_t *to) {
  _mm256_storeu_si256((__m256i *)(void *)to, sums->lanes[0]);
  _mm256_storeu_si256((__m256i *)(void *)(to + 8), sums->lanes[1]);
}

// A load one word later brings odd lanes to where products take even ones.
INTARSIA_INLINE __m256i intarsia_scaled(__m256i sums, const int32_t *table) {
  const __m256i half = _mm256_set1_epi64x(INT64_C(1) << 31);
  const __m256i doubled = _mm256_add_epi32(sums, sums);
  const int32_t *multipliers = table + kIntarsiaMultipliers * kIntarsiaVector;
  const __m256i even =
      _mm256_add_epi64(_mm256_mul_epi32(doubled, intarsia_eight(multipliers)), half);
  const __m256i odd = _mm256_add_epi64(
      _mm256_mul_epi32(_mm256_srli_epi64(doubled, 32), intarsia_eight(multipliers + 1)), half);
  const __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  const __m256i rounded =
      _mm256_add_epi32(_mm256_add_epi32(high, _mm256_srai_epi32(high, 31)),
                       intarsia_eight(table + kIntarsiaRoundings * kIntarsiaVector));
  return _mm256_srav_epi32(rounded, intarsia_eight(table + kIntarsiaShifts * kIntarsiaVector));
}

INTARSIA_INLINE void intarsia_limit(__m256i low, __m256i high, struct intarsia_range range,
                                    int8_t *output) {
  const __m256i words = _mm256_packs_epi32(low, high);
  const __m256i halves = _mm256_permute4x64_epi64(words, 0xd8);
  const __m128i bytes =
      _mm_packs_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
  const __m128i limited = _mm_min_epi8(_mm_max_epi8(bytes, _mm_set1_epi8((char)range.low)),
                                       _mm_set1_epi8((char)range.high));
  _mm_storeu_si128((__m128i *)(void *)output, limited);
}

INTARSIA_INLINE void intarsia_finish(const struct intarsia_sums *sums, const int32_t *table,
                                     struct intarsia_range range, int8_t *output) {
  intarsia_limit(intarsia_scaled(sums->lanes[0], table), intarsia_scaled(sums->lanes[1], table + 8),
                 range, output);
}

INTARSIA_INLINE struct intarsia_sums intarsia_each(int32_t value) {
  const __m256i all = _mm256_set1_epi32(value);
  return (struct intarsia_sums){{all, all}};
}

INTARSIA_INLINE struct intarsia_sums intarsia_widened(const int8_t *bytes) {
  const __m128i sixteen = intarsia_sixteen(bytes);
  return (struct intarsia_sums){
      {_mm256_cvtepi8_epi32(sixteen), _mm256_cvtepi8_epi32(_mm_srli_si128(sixteen, 8))}};
}

INTARSIA_INLINE struct intarsia_sums intarsia_added(struct intarsia_sums a,
                                                    struct intarsia_sums b) {
  return (struct intarsia_sums){
      {_mm256_add_epi32(a.lanes[0], b.lanes[0]), _mm256_add_epi32(a.lanes[1], b.lanes[1])}};
}

INTARSIA_INLINE struct intarsia_sums intarsia_multiplied(struct intarsia_sums a,
                                                         struct intarsia_sums b) {
  return (struct intarsia_sums){
      {_mm256_mullo_epi32(a.lanes[0], b.lanes[0]), _mm256_mullo_epi32(a.lanes[1], b.lanes[1])}};
}

INTARSIA_INLINE struct intarsia_sums intarsia_shifted(struct intarsia_sums a, int32_t right) {
  const __m128i count = _mm_cvtsi32_si128(right);
  return (struct intarsia_sums){
      {_mm256_sra_epi32(a.lanes[0], count), _mm256_sra_epi32(a.lanes[1], count)}};
}

INTARSIA_INLINE __m256i intarsia_high_eight(__m256i lanes, __m256i multiplier) {
  const __m256i half = _mm256_set1_epi64x(INT64_C(1) << 31);
  const __m256i doubled = _mm256_add_epi32(lanes, lanes);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(doubled, multiplier), half);
  const __m256i odd =
      _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(doubled, 32), multiplier), half);
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

INTARSIA_INLINE struct intarsia_sums intarsia_high(struct intarsia_sums a,
                                                   struct intarsia_sums multiplier) {
  return (struct intarsia_sums){{intarsia_high_eight(a.lanes[0], multiplier.lanes[0]),
                                 intarsia_high_eight(a.lanes[1], multiplier.lanes[1])}};
}

INTARSIA_INLINE void intarsia_narrowed(struct intarsia_sums a, struct intarsia_range range,
                                       int8_t *bytes) {
  intarsia_limit(a.lanes[0], a.lanes[1], range, bytes);
}

struct intarsia_pairs {
  __m256i words[2];
};

INTARSIA_INLINE struct intarsia_pairs intarsia_paired(const int8_t *a, const int8_t *b) {
  const __m128i first = intarsia_sixteen(a), second = intarsia_sixteen(b);
  return (struct intarsia_pairs){{_mm256_cvtepi8_epi16(_mm_unpacklo_epi8(first, second)),
                                  _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(first, second))}};
}

INTARSIA_INLINE struct intarsia_sums intarsia_pair_products(struct intarsia_pairs pairs,
                                                            int32_t factors) {
  const __m256i all = _mm256_set1_epi32(factors);
  return (struct intarsia_sums){
      {_mm256_madd_epi16(pairs.words[0], all), _mm256_madd_epi16(pairs.words[1], all)}};
}

INTARSIA_INLINE void intarsia_greater(const int8_t *bytes, int8_t *most) {
  _mm_storeu_si128((__m128i *)(void *)most,
                   _mm_max_epi8(intarsia_sixteen(most), intarsia_sixteen(bytes)));
}

#endif  // INTARSIA_CORTEX_M_LANES_AVX2_H_
