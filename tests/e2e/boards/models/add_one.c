/* A model by hand: out[i] = in[i] + 1 over 16 bytes, on a path that a broken board does not
 * survive: through both ends of an array in every RAM memory, with initialised data, a zeroed
 * counter, floating point, 64-bit division, and a loop whose length the input sets. */
#include <stdint.h>

#include "intarsia/contract/model_descriptor.h"
#include "intarsia/contract/placement.h"
#include "pools.h"

enum { kBytes = 16, kStackBytes = 600 };

static uint8_t input_bytes[kBytes];
static uint8_t output_bytes[kBytes];
static const uint8_t ones[kBytes] INTARSIA_WEIGHTS = {1, 1, 1, 1, 1, 1, 1, 1,
                                                      1, 1, 1, 1, 1, 1, 1, 1};
static volatile int32_t initialised = 12345;
static volatile int32_t zeroed;
static volatile float half = 0.5f;
static volatile int64_t dividend = INT64_C(30000000000);

static int32_t init(void) {
  int32_t i;
  if (initialised != 12345 || zeroed != 0) return 1;
  if ((int32_t)(half * 8.0f) != 4) return 2;
  if (dividend / (int64_t)initialised != INT64_C(2430133)) return 3;
  for (i = 0; i < pool_count; ++i) {
    if (pools[i].bytes < 2 * kBytes) return 4;
  }
  return 0;
}

static void copy(volatile uint8_t* to, const volatile uint8_t* from) {
  int32_t i;
  for (i = 0; i < kBytes; ++i) to[i] = from[i];
}

/* Two instructions per turn on emulated targets. */
static void spin(uint32_t turns) {
#if defined(__arm__)
  __asm__ volatile(".syntax unified\n1: subs %0, %0, #1\n bne 1b" : "+l"(turns) : : "cc");
#elif defined(__riscv)
  __asm__ volatile("1: addi %0, %0, -1\n bnez %0, 1b" : "+r"(turns));
#else
  volatile uint32_t left = turns;
  while (left > 0) --left;
#endif
}

static int32_t run(void) {
  volatile uint8_t scratch[kStackBytes];
  int32_t i;
  copy(scratch, input_bytes);
  copy(scratch + kStackBytes - kBytes, scratch);
  for (i = 0; i < pool_count; ++i) {
    volatile uint8_t* const first = pools[i].start;
    volatile uint8_t* const last = first + pools[i].bytes - kBytes;
    copy(first, scratch + kStackBytes - kBytes);
    copy(last, first);
    copy(scratch + kStackBytes - kBytes, last);
  }
  for (i = 0; i < kBytes; ++i) {
    output_bytes[i] = (uint8_t)(scratch[kStackBytes - kBytes + i] + ones[i]);
  }
  spin((input_bytes[0] + 1u) * 1000u);
  return 0;
}

static void* input(int32_t index) {
  return index == 0 ? input_bytes : 0;
}
static const void* output(int32_t index) {
  return index == 0 ? output_bytes : 0;
}

static const struct intarsia_tensor_info inputs[] = {{"in", kBytes}};
static const struct intarsia_tensor_info outputs[] = {{"out", kBytes}};

const struct intarsia_model_descriptor intarsia_model = {
    "add_one", 1, 1, inputs, outputs, init, input, output, run, 0, 0, 0};
