#include "commands/cop2.h"

#include <algorithm>

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

namespace cop2 {
#define COP2_NUMBER(name, value) constexpr uint32_t k##name = value;
#define COP2_WORD(name, index) constexpr size_t name = index;
#include "intarsia/targets/ethos_u/cop2.def"
#undef COP2_NUMBER
#undef COP2_WORD
}  // namespace cop2

constexpr size_t kHeadWords = 4, kAlignedWords = 4;

}  // namespace

bool is_cop2(std::span<const uint32_t> words) {
  return !words.empty() && words[cop2::magic] == cop2::kMagic;
}

Result<Cop2Payload> read_cop2(std::span<const uint32_t> words) {
  const auto fail = [](std::string what) { return Diagnostics("", std::move(what)); };
  if (words.size() <= cop2::features)
    return fail("its payload is cut short: it ends before it says for which device it is");
  if (words[cop2::version] != cop2::kVersion ||
      words[cop2::metadata_magic] != cop2::kMetadataMagic ||
      words[cop2::metadata_version] != cop2::kMetadataVersion)
    return fail("its payload is of a version of COP2 that is not known");
  if (words[cop2::entry_type] != cop2::kEntryStream)
    return fail(fmt::format("its payload begins with an entry of type {}, not with a stream",
                            words[cop2::entry_type]));
  // Lengths are in bytes: the metadata's from its own word on, the entry's from behind its word on.
  const size_t metadata_end = cop2::metadata_length + words[cop2::metadata_length] / 4,
               end = cop2::metadata_length + words[cop2::entry_length] / 4,
               whole = kHeadWords + words[cop2::length] / 4;
  const auto first =
      static_cast<size_t>(round_up(static_cast<int64_t>(metadata_end), kAlignedWords));
  if (end > words.size() || whole > words.size() || words[cop2::length + 1] != 0)
    return fail(fmt::format("its payload is cut short: it announces {} words and ends after {}",
                            std::max(end, whole), words.size()));
  if (first >= end) return fail("its payload is cut short: it has no command stream");
  return Cop2Payload{words[cop2::config], words[cop2::id],
                     (words[cop2::features] & cop2::kSeparateRegions) != 0, first, end - first};
}

}  // namespace intarsia::targets::ethos_u
