#include "commands/memory_marks.h"

#include <fmt/format.h>

#include "intarsia/targets/ethos_u/marks.h"

namespace intarsia::targets::ethos_u {

std::string memory_marks(std::span<const uint8_t> words, const CommandStream& stream,
                         std::span<const int64_t> sizes, std::span<const KnownBytes> holds,
                         std::span<const KnownBytes> yields) {
  const uint64_t key = isa::ethos_u::stream_key(words);
  std::string text;
  for (size_t i = 0; i < stream.regions.size(); ++i)
    text += fmt::format("{:016x} region {} {}{}\n", key, i, sizes[i],
                        stream.regions[i].kind == StreamRegion::Kind::Constants ? " const" : "");
  for (const KnownBytes& known : holds)
    text += fmt::format("{:016x} holds {} {} {}\n", key, known.region, known.offset, known.bytes);
  for (const KnownBytes& wanted : yields)
    text +=
        fmt::format("{:016x} yields {} {} {}\n", key, wanted.region, wanted.offset, wanted.bytes);
  return text;
}

std::string shared_region_mark(std::span<const uint8_t> words, std::string_view how,
                               size_t region) {
  return fmt::format("{:016x} {} {}\n", isa::ethos_u::stream_key(words), how, region);
}

}  // namespace intarsia::targets::ethos_u
