/* What the functions of a model do that is the same for all models. An instance is as the header of a package declares it:
 * the addresses of its memories (`members` of them, of which the first `pools` are used), then `ready`. */
#ifndef INTARSIA_TARGETS_LLVM_FRAME_H_
#define INTARSIA_TARGETS_LLVM_FRAME_H_

#include <stdint.h>

#include "intarsia/contract/status.h"

intarsia_status intarsia_frame_init(void** model, void* const* resources, int32_t pools,
                                    int32_t members, uint32_t alignment);
/* INTARSIA_OK where the model may run. */
intarsia_status intarsia_frame_check(void* const* model, int32_t members);
/* places: `count` pairs of a memory's number and an offset. */
void* intarsia_frame_place(void* const* model, int32_t members, int32_t index, int32_t count,
                           const int32_t* places);
void intarsia_frame_copy(uint8_t* to, const uint8_t* from, int32_t bytes);
/* `count` elements of `bytes` bytes, which are the low ones of `value`. */
void intarsia_frame_fill(uint8_t* to, int64_t value, int32_t bytes, int32_t count);

#endif
