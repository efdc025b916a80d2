#include "frame.h"

#include <stddef.h>

static int32_t* ready_of(void** model, int32_t members) {
  return (int32_t*)(void*)(model + members);
}

intarsia_status intarsia_frame_init(void** model, void* const* resources, int32_t pools,
                                    int32_t members, uint32_t alignment) {
  int32_t i;
  if (model == NULL || resources == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  *ready_of(model, members) = 0;
  for (i = 0; i < pools; ++i) {
    if (resources[i] == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
    if ((uintptr_t)resources[i] % alignment != 0) return INTARSIA_ERROR_MISALIGNED;
  }
  for (i = 0; i < members; ++i) model[i] = resources[i];
  *ready_of(model, members) = 1;
  return INTARSIA_OK;
}

intarsia_status intarsia_frame_check(void* const* model, int32_t members) {
  if (model == NULL) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!*(const int32_t*)(const void*)(model + members)) return INTARSIA_ERROR_NOT_INITIALISED;
  return INTARSIA_OK;
}

void* intarsia_frame_place(void* const* model, int32_t members, int32_t index, int32_t count,
                           const int32_t* places) {
  if (intarsia_frame_check(model, members) != INTARSIA_OK) return NULL;
  if (index < 0 || index >= count) return NULL;
  return (uint8_t*)model[places[2 * index]] + places[2 * index + 1];
}

void intarsia_frame_copy(uint8_t* to, const uint8_t* from, int32_t bytes) {
  int32_t i;
  for (i = 0; i < bytes; ++i) to[i] = from[i];
}

void intarsia_frame_fill(uint8_t* to, int64_t value, int32_t bytes, int32_t count) {
  int32_t i, b;
  for (i = 0; i < count; ++i)
    for (b = 0; b < bytes; ++b) *to++ = (uint8_t)((uint64_t)value >> (8 * b));
}
