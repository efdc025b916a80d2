// Files that may never end: a device, or a pipe that somebody goes on writing into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/result.h"

namespace intarsia {

// The most that is read of what has no known size. No model and no sample of one is longer.
constexpr size_t kMostOfUnknownSize = size_t{1} << 30;

// Of a file whose size is known without reading it.
std::optional<uint64_t> known_size(const std::string& path);

// The first `most` bytes, and one more where there are more.
Result<std::vector<uint8_t>> read_beginning(const std::string& path, size_t most);

}  // namespace intarsia
