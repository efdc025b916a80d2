// Convolution on cores with the 31 registers of RISC-V: four pixels in two words by two channels, 32 products in
// 60 instructions and three of the loop.
#include "intarsia/targets/cortex_m/rv32_conv.h"

#include "intarsia/targets/cortex_m/optimise.h"

// Products in the order of these sources: GCC would first load all that a block reads, for which there are not enough
// registers.
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("no-schedule-insns", "no-tree-ter")
#endif

#include "intarsia/targets/cortex_m/pixel_windows.h"

enum { kChannels = 2, kBlock = 4 };

// Sums of two pixels: that of all words of products, modulo 2^32, and the upper one of the two.
struct sums {
  uint32_t words;
  int32_t upper;
};

INTARSIA_INLINE struct sums begin(int32_t lower, int32_t upper) {
  return (struct sums){(uint32_t)lower + ((uint32_t)upper << kIntarsiaHalf), upper};
}
INTARSIA_INLINE int32_t lower_of(const struct sums *sums) {
  return (int32_t)(sums->words - ((uint32_t)sums->upper << kIntarsiaHalf));
}

// Products of a block, both of whose halves fit 16 bits.
INTARSIA_INLINE void add(struct sums *sums, int32_t products) {
  sums->words += (uint32_t)products;
  sums->upper += (products + (1 << (kIntarsiaHalf - 1))) >> kIntarsiaHalf;
}

// Four weights of a channel with four words of each pair of pixels.
struct products {
  int32_t of[2];
};
INTARSIA_INLINE struct products multiply(const int8_t *weights, const int32_t x[2 * kBlock]) {
  const int32_t weight0 = weights[0], weight1 = weights[1], weight2 = weights[2],
                weight3 = weights[3];
  return (struct products){{x[0] * weight0 + x[2] * weight1 + x[4] * weight2 + x[6] * weight3,
                            x[1] * weight0 + x[3] * weight1 + x[5] * weight2 + x[7] * weight3}};
}

struct words {
  int32_t of[2 * kBlock];
};
INTARSIA_INLINE struct words load(const int32_t *pairs) {
  return (struct words){
      {pairs[0], pairs[1], pairs[2], pairs[3], pairs[4], pairs[5], pairs[6], pairs[7]}};
}

// A block of one channel.
INTARSIA_INLINE void add_four(struct sums sums[2], const int8_t *weights, const struct words *x) {
  const struct products products = multiply(weights, x->of);
  add(&sums[0], products.of[0]);
  add(&sums[1], products.of[1]);
}
// Two elements more of a block of both channels, whose weights are kBlock apart.
struct block {
  int32_t of[2 * kChannels];
};
INTARSIA_INLINE void add_two(struct block *block, const int8_t *weights, const int32_t *pairs) {
  const int32_t x0 = pairs[0], x1 = pairs[1], x2 = pairs[2], x3 = pairs[3];
  const int32_t weight0 = weights[0], weight1 = weights[1], weight2 = weights[kBlock],
                weight3 = weights[kBlock + 1];
  block->of[0] += x0 * weight0 + x2 * weight1;
  block->of[1] += x1 * weight0 + x3 * weight1;
  block->of[2] += x0 * weight2 + x2 * weight3;
  block->of[3] += x1 * weight2 + x3 * weight3;
}

// Blocks of four weights of both channels; returns where they end. Written out, since what is in arrays that loops go
// through is not in registers.
INTARSIA_INLINE const int8_t *by_four(struct sums sums[2 * kChannels], const int32_t *pairs,
                                      const int32_t *last, const int8_t *weights) {
  for (; pairs != last; pairs += 2 * kBlock, weights += kChannels * kBlock) {
    const struct words x = load(pairs);
    add_four(&sums[0], weights, &x);
    add_four(&sums[2], weights + kBlock, &x);
  }
  return weights;
}

// Blocks of eight.
INTARSIA_INLINE const int8_t *by_eight(struct sums sums[2 * kChannels], const int32_t *pairs,
                                       const int32_t *last, const int8_t *weights) {
  for (; pairs != last; pairs += 4 * kBlock, weights += 2 * kChannels * kBlock) {
    struct block block = {{0, 0, 0, 0}};
    add_two(&block, weights, pairs);
    add_two(&block, weights + 2, pairs + kBlock);
    add_two(&block, weights + 2 * kBlock, pairs + 2 * kBlock);
    add_two(&block, weights + 2 * kBlock + 2, pairs + 3 * kBlock);
    add(&sums[0], block.of[0]);
    add(&sums[1], block.of[1]);
    add(&sums[2], block.of[2]);
    add(&sums[3], block.of[3]);
  }
  return weights;
}

// What was taken off weights for their block to fit.
INTARSIA_INLINE const int8_t *add_excesses(struct sums sums[2], const int32_t *pairs,
                                           const int8_t *excesses, int32_t count) {
  for (; count > 0; --count, excesses += 2) {
    pairs += 2 * (uint8_t)excesses[0];
    const int32_t weight = excesses[1];
    add(&sums[0], pairs[0] * weight);
    add(&sums[1], pairs[1] * weight);
  }
  return excesses;
}

// Two channels of a part; returns where what the next two read begins.
INTARSIA_INLINE const int8_t *two_channels(const struct intarsia_part *part, const int8_t *stream,
                                           int32_t kept[kChannels * kIntarsiaPixels]) {
  struct sums sums[2 * kChannels] = {begin(kept[0], kept[2]), begin(kept[1], kept[3]),
                                     begin(kept[4], kept[6]), begin(kept[5], kept[7])};
  const int32_t *pairs = part->pairs, *last = pairs + 2 * part->count;
  const uint8_t *head = (const uint8_t *)stream;
  const int32_t count0 = head[0] + (head[1] << 8), count1 = head[2] + ((head[3] & 127) << 8);
  stream += 4;
  if (head[3] < 128) {
    stream = by_four(sums, pairs, last, stream);
  } else {
    const int32_t *eights = pairs + part->count % (2 * kBlock) * 2;
    stream = by_four(sums, pairs, eights, stream);
    stream = by_eight(sums, eights, last, stream);
  }
  stream = add_excesses(&sums[0], pairs, stream, count0);
  stream = add_excesses(&sums[2], pairs, stream, count1);
  kept[0] = lower_of(&sums[0]), kept[2] = sums[0].upper;
  kept[1] = lower_of(&sums[1]), kept[3] = sums[1].upper;
  kept[4] = lower_of(&sums[2]), kept[6] = sums[2].upper;
  kept[5] = lower_of(&sums[3]), kept[7] = sums[3].upper;
  return stream;
}

INTARSIA_INLINE const int8_t *four_pixels(const struct intarsia_window *w,
                                          const struct intarsia_part *part, int32_t *kept,
                                          int8_t *output, const struct intarsia_channel *channels,
                                          enum intarsia_way way) {
  const int32_t step = part->first && part->last ? 0 : kChannels * kIntarsiaPixels;
  const int8_t *stream = part->weights;
  for (int32_t left = w->out_c; left > 0; left -= kChannels, channels += kChannels, kept += step) {
    if (part->first)
      for (int32_t i = 0; i < kChannels * kIntarsiaPixels; ++i)
        kept[i] = channels[i / kIntarsiaPixels].bias;
    stream = two_channels(part, stream, kept);
    if (!part->last) continue;
    for (int32_t channel = 0; channel < kChannels; ++channel) {
      const struct intarsia_channel marked = channels[channel],
                                    plain = {marked.bias, marked.multiplier, marked.round,
                                             (int8_t)marked.shift};
      int8_t *to = output + (marked.shift >> 16);
      for (int32_t pixel = 0; pixel < kIntarsiaPixels; ++pixel, to += w->out_c)
        *to =
            intarsia_result(kept[channel * kIntarsiaPixels + pixel], &plain, w->low, w->high, way);
    }
  }
  return stream;
}

INTARSIA_INLINE const int8_t *four_whole(const struct intarsia_window *w,
                                         const struct intarsia_part *part, int32_t *kept,
                                         int8_t *output, const struct intarsia_channel *channels) {
  return four_pixels(w, part, kept, output, channels, INTARSIA_WHOLE);
}
INTARSIA_INLINE const int8_t *four_limited(const struct intarsia_window *w,
                                           const struct intarsia_part *part, int32_t *kept,
                                           int8_t *output,
                                           const struct intarsia_channel *channels) {
  return four_pixels(w, part, kept, output, channels, INTARSIA_LIMITED);
}
INTARSIA_INLINE const int8_t *four_any(const struct intarsia_window *w,
                                       const struct intarsia_part *part, int32_t *kept,
                                       int8_t *output, const struct intarsia_channel *channels) {
  return four_pixels(w, part, kept, output, channels, INTARSIA_ANY);
}

INTARSIA_INLINE void convolve(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                              int8_t *scratch, const int8_t *weights, const int32_t *channel_words,
                              enum intarsia_way way) {
  const struct intarsia_channel *channels = (const struct intarsia_channel *)channel_words;
  if (w->strip_h > 0)
    intarsia_by_fours(w, input, output, scratch, weights, channels, kChannels * kIntarsiaPixels,
                      (w->out_c + 1) / kChannels * kChannels * kIntarsiaPixels,
                      way == INTARSIA_WHOLE     ? four_whole
                      : way == INTARSIA_LIMITED ? four_limited
                                                : four_any);
  else
    intarsia_by_pixels(w, input, output, scratch, weights, channels, way);
}

void intarsia_rv32_conv_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                           int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_WHOLE);
}

void intarsia_rv32_conv_limited_s8(const struct intarsia_window *w, const int8_t *input,
                                   int8_t *output, int8_t *scratch, const int8_t *weights,
                                   const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_LIMITED);
}

void intarsia_rv32_conv_any_s8(const struct intarsia_window *w, const int8_t *input, int8_t *output,
                               int8_t *scratch, const int8_t *weights, const int32_t *channels) {
  convolve(w, input, output, scratch, weights, channels, INTARSIA_ANY);
}
