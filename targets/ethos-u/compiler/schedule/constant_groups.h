// Constants that operations read as feature maps, put together so that one transfer fetches many.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace intarsia::targets::ethos_u {

struct ConstantGroup {
  struct Member {
    int32_t tensor = -1;
    int64_t offset = 0;  // in the group's bytes
  };
  std::vector<Member> members;
  std::vector<uint8_t> bytes;
};

// Groups of what operations close to each other read. Aliases of constants, and constants that a
// convolution reads, are in none. No operation reads from two groups.
std::vector<ConstantGroup> constant_groups(const Program& program);

}  // namespace intarsia::targets::ethos_u
