// Functions of launches as words for a driver, once every buffer has its place.
#pragma once

#include <span>

#include "intarsia/gpu/dialect.h"
#include "intarsia/plugin/stream_places.h"
#include "intarsia/plugin/target_kind.h"

namespace intarsia::gpu {

// The words of a launch: the kernel's number, the range's three extents, how many arguments; then a region and an offset in it
// for each argument.
inline constexpr size_t kLaunchHeaderWords = 5;

// Bytes of a region that a launch reads, writes, or both.
struct Use {
  StreamPlace place;
  int64_t bytes = 0;
  tir::Access access = tir::Access::Read;
  tir::BufferId buffer;  // of the function
};

struct Launches {
  std::vector<uint32_t> words;
  std::vector<std::vector<Use>> uses;  // of each launch, in order
  std::vector<uint8_t> source;         // ends with a zero byte
  std::vector<int64_t> region_bytes;   // of each region, what the launches use
  CommandStream stream;                // all but its commands
};

// `constant_alignment`: bytes that every constant begins at a multiple of.
Launches launches_of(const Dialect& dialect, const Target& device, const tir::Module& module,
                     const Plan& plan, const tir::Func& func, size_t constant_alignment);

// A stream for each function of the device, made by `stream_of`. The driver has bases for `most_regions`, one of
// which is the constants'.
Result<Artifacts> make_streams(
    const Target& device, const tir::Module& module, const Plan& plan, size_t most_regions,
    const std::function<Result<CommandStream>(const tir::Func&)>& stream_of);

// Words as bytes, little-endian.
void append_words(std::span<const uint32_t> words, std::vector<uint8_t>& bytes);

// Reads a stream word by word, for disassemblers.
class WordReader {
 public:
  explicit WordReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool has(size_t word) const { return word < bytes_.size() / 4; }
  uint32_t word(size_t index) const {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(bytes_[4 * index + i]) << 8 * i;
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
};

// `count` launches from word `at` on, a line each; nothing where the stream ends within launch `broken`.
std::optional<std::string> launches_text(const WordReader& in, size_t at, size_t count,
                                         size_t& broken);

}  // namespace intarsia::gpu
