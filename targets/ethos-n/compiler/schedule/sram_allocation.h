// Places in a bank of SRAM for what is there from one step to another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace intarsia::targets::ethos_n {

struct SramRequest {
  int64_t bytes = 0;
  int64_t begin = 0, end = 0;  // the first and last step that needs it
  int64_t address = 0;         // the answer
};

// Gives each an address, so that those whose times meet are apart, and says where the last ends; nothing: it does
// not find a way below `limit`.
std::optional<int64_t> allocate(std::vector<SramRequest>& requests, int64_t limit);

}  // namespace intarsia::targets::ethos_n
