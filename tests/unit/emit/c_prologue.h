// What the text of an emitted function needs around it to be a translation unit.
#pragma once

namespace intarsia::testing {

inline constexpr const char* kPrologue = R"(
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
static inline int32_t intarsia_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t intarsia_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int64_t intarsia_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t intarsia_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline uint32_t intarsia_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t intarsia_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline float intarsia_min_f32(float a, float b) { return a < b ? a : b; }
static inline float intarsia_max_f32(float a, float b) { return a > b ? a : b; }
)";

}  // namespace intarsia::testing
