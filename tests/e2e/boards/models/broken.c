/* A model that fails the way its one input byte says: s for a status, a for a bad address, o for a
 * stack overflow, i for an undefined instruction, u for an access that is not aligned. */
#include <stdint.h>

#include "intarsia/contract/model_descriptor.h"

static uint8_t byte;

static int32_t init(void) {
  return 0;
}

static volatile int32_t forever = 1;

static __attribute__((noinline)) int32_t deeper(int32_t depth) {
  volatile uint8_t frame[64];
  frame[0] = (uint8_t)depth;
  if (forever == 0) return depth;
  return deeper(depth + 1) + frame[0];
}
static int32_t run(void) {
  switch (byte) {
    case 's':
      return 7;
    case 'o':
      return deeper(1);
#if defined(__arm__) || defined(__riscv)
    case 'a': /* on none of the boards: in Arm's vendor system space */
      *(volatile uint32_t*)(uintptr_t)0xE8000000u = 1;
      return 0;
#endif
#if defined(__riscv)
    case 'i':
      __asm__ volatile("unimp");
      return 0;
#elif defined(__arm__)
    case 'u': {
      static const uint32_t words[2] = {1, 2};
      uint32_t value;
      __asm__ volatile("ldr %0, [%1]" : "=l"(value) : "l"((const char*)words + 1));
      return value == 0;
    }
    case 'i':
      __asm__ volatile("udf #0");
      return 0;
#endif
    default:
      return 0;
  }
}

static void* input(int32_t index) {
  return index == 0 ? &byte : 0;
}
static const void* output(int32_t index) {
  return index == 0 ? &byte : 0;
}

static const struct intarsia_tensor_info tensor = {"byte", 1};

const struct intarsia_model_descriptor intarsia_model = {
    "broken", 1, 1, &tensor, &tensor, init, input, output, run, 0, 0, 0};
