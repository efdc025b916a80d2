#include "encode/payload.h"

#include <bit>
#include <string_view>

#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

struct ActionRow {
  std::string_view name;
  uint32_t id;
};
struct FieldRow {
  std::string_view action, field;
  size_t word;
  uint32_t low_bit, bits;
};

constexpr ActionRow kActions[] = {
#define MAGIC(value)
#define ACTION(name, id, words) {#name, id},
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef ACTION
#undef ACTION_FIELD
};
constexpr FieldRow kFields[] = {
#define ACTION(...)
#define ACTION_FIELD(action, field, word, low_bit, bits) {#action, #field, word, low_bit, bits},
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
};
constexpr uint32_t kMagic =
#define MAGIC(value) value
#define ACTION(...)
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
    ;
constexpr uint32_t kProductU55 = 0, kProductU65 = 1;

uint32_t id_of(std::string_view action) {
  for (const ActionRow& row : kActions)
    if (row.name == action) return row.id;
  INTARSIA_CHECK(false, "actions are those of the table");
}

class Action {
 public:
  Action(std::string_view name, size_t words) : name_(name), words_(words, 0) {
    words_[0] = id_of(name);
  }
  Action& set(std::string_view field, uint32_t value) {
    for (const FieldRow& row : kFields)
      if (row.action == name_ && row.field == field) {
        INTARSIA_CHECK(value >> row.bits == 0, "values of actions fit their field");
        words_[row.word] |= value << row.low_bit;
        return *this;
      }
    INTARSIA_CHECK(false, "fields are those of the table");
  }
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  std::string_view name_;
  std::vector<uint32_t> words_;
};

}  // namespace

std::vector<uint8_t> make_payload(const Hardware& hardware, std::span<const uint32_t> stream) {
  std::vector<uint32_t> words = {kMagic};
  const auto append = [&](const Action& action) {
    words.insert(words.end(), action.words().begin(), action.words().end());
  };
  Action config("OPTIMIZER_CONFIG", 3);
  config.set("release", 0).set("patch", 1);
  config.set("macs_per_cc",
             static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(hardware.macs)) - 1));
  config.set("cmd_stream_version", 0);
  config.set("shram_size", static_cast<uint32_t>(hardware.banks * hardware.cores));
  config.set("product", hardware.is_u65 ? kProductU65 : kProductU55);
  config.set("arch_major_rev", kArchWord >> 28).set("arch_minor_rev", kArchWord >> 20 & 255);
  config.set("arch_patch_rev", kArchWord >> 16 & 15);
  append(config);
  // The stream begins at a multiple of 16 bytes.
  while (words.size() % 4 != 3) append(Action("NOP", 1));
  const auto length = static_cast<uint32_t>(stream.size());
  append(Action("COMMAND_STREAM", 1)
             .set("length_low", length & 0xFFFF)
             .set("length_high", length >> 16));
  words.insert(words.end(), stream.begin(), stream.end());
  std::vector<uint8_t> bytes;
  bytes.reserve(words.size() * 4);
  for (const uint32_t word : words)
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<uint8_t>(word >> (8 * byte)));
  return bytes;
}

}  // namespace intarsia::targets::ethos_u
