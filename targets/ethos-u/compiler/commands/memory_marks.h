// What a stream's memory is, for those who watch a run on a simulated device (isa/marks.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/plugin/artifacts.h"

namespace intarsia::targets::ethos_u {

// Bytes of a region that have a value before the stream begins, or are to have one when it has ended.
struct KnownBytes {
  int32_t region;
  int64_t offset, bytes;
};

// Lines for the stream, whose commands are `words` as bytes; one size per region, in bytes.
std::string memory_marks(std::span<const uint8_t> words, const CommandStream& stream,
                         std::span<const int64_t> sizes, std::span<const KnownBytes> holds,
                         std::span<const KnownBytes> yields = {});

// The line for a region that streams of a model share one after another: `how` is leaves or finds.
std::string shared_region_mark(std::span<const uint8_t> words, std::string_view how, size_t region);

}  // namespace intarsia::targets::ethos_u
