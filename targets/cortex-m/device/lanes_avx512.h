// Lanes of one 512-bit register; VPDPBUSD multiplies unsigned elements with signed weights: inputs are staged 128 larger.
#ifndef INTARSIA_CORTEX_M_LANES_AVX512_H_
#define INTARSIA_CORTEX_M_LANES_AVX512_H_

#include <immintrin.h>

enum {
  kIntarsiaRaise = 0x80,
  kIntarsiaPixels = 8,
  kIntarsiaWidePixels = 4,
  kIntarsiaWideBlocks = 4,
  kIntarsiaTwoBlocks = 8,
  kIntarsiaLine = 64,
};

struct intarsia_sums {
  __m512i lanes;
};
struct intarsia_dots {
  __m512i lanes;
};
struct intarsia_elements {
  __m512i fours;
};
struct intarsia_weights {
  __m512i fours;
};

INTARSIA_INLINE void intarsia_stage(int8_t *to, const int8_t *from, int32_t count) {
  const __m512i raise = _mm512_set1_epi8((char)kIntarsiaRaise);
  for (; count >= 64; count -= 64, to += 64, from += 64)
    _mm512_storeu_si512(to, _mm512_xor_si512(_mm512_loadu_si512(from), raise));
  // Stores under a mask take many cycles on some processors.
  for (; count >= 16; count -= 16, to += 16, from += 16)
    _mm_storeu_si128((__m128i *)(void *)to,
                     _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)from),
                                   _mm512_castsi512_si128(raise)));
  if (count == 0) return;
  const __mmask16 some = (__mmask16)((1u << count) - 1);
  _mm_mask_storeu_epi8(
      to, some, _mm_xor_si128(_mm_maskz_loadu_epi8(some, from), _mm512_castsi512_si128(raise)));
}

INTARSIA_INLINE struct intarsia_dots intarsia_dots_begin(const int32_t *table) {
  return (struct intarsia_dots){_mm512_loadu_si512(table + kIntarsiaRaisedBias * kIntarsiaVector)};
}

INTARSIA_INLINE struct intarsia_elements intarsia_elements(const int8_t *staged) {
  int32_t four;
  memcpy(&four, staged, sizeof four);
  return (struct intarsia_elements){_mm512_set1_epi32(four)};
}

INTARSIA_INLINE struct intarsia_weights intarsia_weights(const int8_t *weights) {
  return (struct intarsia_weights){_mm512_loadu_si512(weights)};
}

INTARSIA_INLINE void intarsia_dot(struct intarsia_dots *dots, struct intarsia_elements elements,
                                  struct intarsia_weights weights) {
  dots->lanes = _mm512_dpbusd_epi32(dots->lanes, elements.fours, weights.fours);
}

// What sums of sixteen channels are scaled by. Their table is at `table`; rows are `width` words apart.
struct intarsia_scales {
  __m512i even, odd, roundings, shifts;
  __m128i low, high;
  struct intarsia_range range;
  const int32_t *table;
};

// A load one word later brings odd lanes to where products take even ones.
INTARSIA_INLINE struct intarsia_scales intarsia_scales(const int32_t *table, int32_t width,
                                                       struct intarsia_range range) {
  const int32_t *multipliers = table + kIntarsiaMultipliers * width;
  return (struct intarsia_scales){_mm512_loadu_si512(multipliers),
                                  _mm512_loadu_si512(multipliers + 1),
                                  _mm512_loadu_si512(table + kIntarsiaRoundings * width),
                                  _mm512_loadu_si512(table + kIntarsiaShifts * width),
                                  _mm_set1_epi8((char)range.low),
                                  _mm_set1_epi8((char)range.high),
                                  range,
                                  table};
}

// Results before they are limited.
INTARSIA_INLINE __m512i intarsia_scaled(__m512i sums, const struct intarsia_scales *scales) {
  const __m512i half = _mm512_set1_epi64(INT64_C(1) << 31);
  const __m512i doubled = _mm512_add_epi32(sums, sums);
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(doubled, scales->even), half);
  const __m512i odd =
      _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(doubled, 32), scales->odd), half);
  __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
  if (!scales->range.rectified) high = _mm512_add_epi32(high, _mm512_srai_epi32(high, 31));
  return _mm512_srav_epi32(_mm512_add_epi32(high, scales->roundings), scales->shifts);
}

INTARSIA_INLINE void intarsia_results(const struct intarsia_dots *dots,
                                      const struct intarsia_scales *scales, int8_t *output,
                                      int32_t count) {
  if (scales->range.any) {
    int32_t words[kIntarsiaVector];
    _mm512_storeu_si512(words, dots->lanes);
    intarsia_finish_any(words, scales->table, kIntarsiaVector, scales->range, output, count);
    return;
  }
  const __m128i bytes = _mm512_cvtsepi32_epi8(intarsia_scaled(dots->lanes, scales));
  const __m128i limited = _mm_min_epi8(_mm_max_epi8(bytes, scales->low), scales->high);
  if (count == kIntarsiaVector)
    _mm_storeu_si128((__m128i *)(void *)output, limited);
  else
    _mm_mask_storeu_epi8(output, (__mmask16)((1u << count) - 1), limited);
}

INTARSIA_INLINE __m512i intarsia_scaled_part(__m512i sums, const int32_t *table,
                                             struct intarsia_range range) {
  const struct intarsia_scales scales = intarsia_scales(table, kIntarsiaLine, range);
  return intarsia_scaled(sums, &scales);
}

// Taps of 64 elements are laced by fours, which puts elements 4 r .. 4 r + 3 of each sixteen into register r. Weights and tables lie in
// this order (lanes_depthwise.c), and narrowing undoes it.
INTARSIA_INLINE void intarsia_line(const int8_t *const *taps, int32_t at, int32_t steps,
                                   const int8_t *weights, const int32_t *table,
                                   struct intarsia_range range, int8_t *output, int32_t count) {
  const int32_t *bias = table + kIntarsiaRaisedBias * kIntarsiaLine;
  __m512i r0 = _mm512_loadu_si512(bias), r1 = _mm512_loadu_si512(bias + 16),
          r2 = _mm512_loadu_si512(bias + 32), r3 = _mm512_loadu_si512(bias + 48);
  for (int32_t step = 0; step < steps; ++step, taps += 4, weights += 4 * kIntarsiaLine) {
    const __m512i a = _mm512_loadu_si512(taps[0] + at), b = _mm512_loadu_si512(taps[1] + at),
                  c = _mm512_loadu_si512(taps[2] + at), d = _mm512_loadu_si512(taps[3] + at);
    const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b),
                  cd_low = _mm512_unpacklo_epi8(c, d), cd_high = _mm512_unpackhi_epi8(c, d);
    r0 =
        _mm512_dpbusd_epi32(r0, _mm512_unpacklo_epi16(ab_low, cd_low), _mm512_loadu_si512(weights));
    r1 = _mm512_dpbusd_epi32(r1, _mm512_unpackhi_epi16(ab_low, cd_low),
                             _mm512_loadu_si512(weights + 64));
    r2 = _mm512_dpbusd_epi32(r2, _mm512_unpacklo_epi16(ab_high, cd_high),
                             _mm512_loadu_si512(weights + 128));
    r3 = _mm512_dpbusd_epi32(r3, _mm512_unpackhi_epi16(ab_high, cd_high),
                             _mm512_loadu_si512(weights + 192));
  }
  __m512i low, high;
  if (range.any) {
    int32_t sums[kIntarsiaLine], words[kIntarsiaLine];
    int8_t results[kIntarsiaLine];
    _mm512_storeu_si512(sums, r0), _mm512_storeu_si512(sums + 16, r1);
    _mm512_storeu_si512(sums + 32, r2), _mm512_storeu_si512(sums + 48, r3);
    intarsia_finish_any(sums, table, kIntarsiaLine, range, results, kIntarsiaLine);
    for (int32_t i = 0; i < kIntarsiaLine; ++i) words[i] = results[i];
    low = _mm512_packs_epi32(_mm512_loadu_si512(words), _mm512_loadu_si512(words + 16));
    high = _mm512_packs_epi32(_mm512_loadu_si512(words + 32), _mm512_loadu_si512(words + 48));
  } else {
    low = _mm512_packs_epi32(intarsia_scaled_part(r0, table, range),
                             intarsia_scaled_part(r1, table + 16, range));
    high = _mm512_packs_epi32(intarsia_scaled_part(r2, table + 32, range),
                              intarsia_scaled_part(r3, table + 48, range));
  }
  const __m512i bytes = _mm512_packs_epi16(low, high);
  const __m512i limited = _mm512_min_epi8(_mm512_max_epi8(bytes, _mm512_set1_epi8((char)range.low)),
                                          _mm512_set1_epi8((char)range.high));
  if (count >= kIntarsiaLine)
    _mm512_storeu_si512(output, limited);
  else
    _mm512_mask_storeu_epi8(output, ((__mmask64)1 << count) - 1, limited);
}

INTARSIA_INLINE void intarsia_store_sums(const struct intarsia_sums *sums, int32_t *to) {
  _mm512_storeu_si512(to, sums->lanes);
}

INTARSIA_INLINE struct intarsia_sums intarsia_each(int32_t value) {
  return (struct intarsia_sums){_mm512_set1_epi32(value)};
}

INTARSIA_INLINE struct intarsia_sums intarsia_widened(const int8_t *bytes) {
  return (struct intarsia_sums){
      _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)bytes))};
}

INTARSIA_INLINE struct intarsia_sums intarsia_added(struct intarsia_sums a,
                                                    struct intarsia_sums b) {
  return (struct intarsia_sums){_mm512_add_epi32(a.lanes, b.lanes)};
}

INTARSIA_INLINE struct intarsia_sums intarsia_multiplied(struct intarsia_sums a,
                                                         struct intarsia_sums b) {
  return (struct intarsia_sums){_mm512_mullo_epi32(a.lanes, b.lanes)};
}

INTARSIA_INLINE struct intarsia_sums intarsia_shifted(struct intarsia_sums a, int32_t right) {
  return (struct intarsia_sums){_mm512_sra_epi32(a.lanes, _mm_cvtsi32_si128(right))};
}

INTARSIA_INLINE struct intarsia_sums intarsia_high(struct intarsia_sums a,
                                                   struct intarsia_sums multiplier) {
  const __m512i half = _mm512_set1_epi64(INT64_C(1) << 31);
  const __m512i doubled = _mm512_add_epi32(a.lanes, a.lanes);
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(doubled, multiplier.lanes), half);
  const __m512i odd =
      _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(doubled, 32), multiplier.lanes), half);
  return (struct intarsia_sums){_mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB)};
}

INTARSIA_INLINE void intarsia_narrowed(struct intarsia_sums a, struct intarsia_range range,
                                       int8_t *bytes) {
  const __m128i narrow = _mm512_cvtsepi32_epi8(a.lanes);
  _mm_storeu_si128((__m128i *)(void *)bytes,
                   _mm_min_epi8(_mm_max_epi8(narrow, _mm_set1_epi8((char)range.low)),
                                _mm_set1_epi8((char)range.high)));
}

struct intarsia_pairs {
  __m512i words;
};

INTARSIA_INLINE struct intarsia_pairs intarsia_paired(const int8_t *a, const int8_t *b) {
  const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)a),
                second = _mm_loadu_si128((const __m128i *)(const void *)b);
  const __m256i low = _mm256_castsi128_si256(_mm_unpacklo_epi8(first, second));
  return (struct intarsia_pairs){
      _mm512_cvtepi8_epi16(_mm256_inserti128_si256(low, _mm_unpackhi_epi8(first, second), 1))};
}

INTARSIA_INLINE struct intarsia_sums intarsia_pair_products(struct intarsia_pairs pairs,
                                                            int32_t factors) {
  return (struct intarsia_sums){_mm512_madd_epi16(pairs.words, _mm512_set1_epi32(factors))};
}

INTARSIA_INLINE void intarsia_greater(const int8_t *bytes, int8_t *most) {
  __m128i *kept = (__m128i *)(void *)most;
  _mm_storeu_si128(kept, _mm_max_epi8(_mm_loadu_si128(kept),
                                      _mm_loadu_si128((const __m128i *)(const void *)bytes)));
}

#endif  // INTARSIA_CORTEX_M_LANES_AVX512_H_
