// The table of limits as the compiler reads it (isa/limits.def).
#pragma once

#include <cstdint>

namespace intarsia::targets::ethos_u {

#define LIMIT(name, value) inline constexpr int64_t kMost##name = value;
#define SPLIT_DEPTH(channels) inline constexpr int64_t kSplitDepth = channels;
#define OPERAND_TYPES(...)
#include "intarsia/targets/ethos_u/limits.def"
#undef LIMIT
#undef SPLIT_DEPTH
#undef OPERAND_TYPES

}  // namespace intarsia::targets::ethos_u
