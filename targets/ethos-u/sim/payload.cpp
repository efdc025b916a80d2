#include "intarsia/targets/ethos_u/payload.h"

#include <cstdio>

namespace intarsia::simulators::ethos_u {
namespace {

constexpr uint32_t Counted = 0xFFFFFFFF;

enum class Action : uint8_t {
#define MAGIC(value)
#define ACTION(name, id, words) name = id,
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
};

struct ActionRow {
  Action action;
  uint32_t words;
};

constexpr ActionRow kActions[] = {
#define MAGIC(value)
#define ACTION(name, id, words) {Action::name, words},
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
};

#define MAGIC(value) constexpr uint32_t kMagic = value;
#define ACTION(...)
#define ACTION_FIELD(...)
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION_FIELD

struct Place {
  uint32_t word, low_bit, bits;
};

namespace place {  // place::OPTIMIZER_CONFIG_product
#define MAGIC(...)
#define ACTION_FIELD(action, field, word, low_bit, bits) \
  constexpr Place action##_##field{word, low_bit, bits};
#include "intarsia/targets/ethos_u/actions.def"
#undef MAGIC
#undef ACTION
#undef ACTION_FIELD
}  // namespace place

class Words {
 public:
  explicit Words(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size() / 4; }
  uint32_t operator[](size_t i) const {
    const uint8_t* at = bytes_.data() + 4 * i;
    return at[0] | at[1] << 8 | at[2] << 16 | static_cast<uint32_t>(at[3]) << 24;
  }
  uint32_t get(size_t action, const Place& place) const {
    return (*this)[action + place.word] >> place.low_bit &
           static_cast<uint32_t>((uint64_t{1} << place.bits) - 1);
  }

 private:
  std::span<const uint8_t> bytes_;
};

std::string at_word(size_t index) {
  return at_action(static_cast<uint32_t>(4 * index));
}

std::optional<std::string> read_config(const PayloadActions& actions, Payload& payload) {
  // The action's first word says nothing of the device.
  const uint32_t words[] = {0, actions.config, actions.id};
  const auto get = [&](const Place& place) {
    return words[place.word] >> place.low_bit &
           static_cast<uint32_t>((uint64_t{1} << place.bits) - 1);
  };
  const std::string at = at_action(actions.config_offset);
  payload.made_for = find_configuration(actions.config);
  const uint32_t product = get(place::OPTIMIZER_CONFIG_product);
  const uint32_t macs = get(place::OPTIMIZER_CONFIG_macs_per_cc);
  if (payload.made_for == nullptr) {
    const char* family = product == 2 ? " (an Ethos-U85)" : "";
    return at + "the stream was made for product " + std::to_string(product) + family + " with 2^" +
           std::to_string(macs) + " MACs, which is no Ethos-U55 or U65";
  }
  if (get(place::OPTIMIZER_CONFIG_cmd_stream_version) != 0)
    return at + "command stream version " +
           std::to_string(get(place::OPTIMIZER_CONFIG_cmd_stream_version)) + ", only 0 is known";
  const uint32_t shram = get(place::OPTIMIZER_CONFIG_shram_size);
  const auto expected =
      static_cast<uint32_t>(payload.made_for->shram_kib * payload.made_for->cores);
  if (shram != expected)
    return at + std::string(payload.made_for->tag) + " has " + std::to_string(expected) +
           " KiB of SHRAM, not " + std::to_string(shram);
  const uint32_t major = get(place::OPTIMIZER_CONFIG_arch_major_rev);
  if (major != kArchWord >> 28)
    return at + "architecture " + std::to_string(major) + ", only 1 is known";
  return std::nullopt;
}

}  // namespace

bool is_payload(std::span<const uint8_t> bytes) {
  return bytes.size() >= 4 && Words(bytes)[0] == kMagic;
}

std::string at_action(uint32_t offset) {
  return "driver action at byte " + std::to_string(offset) + ": ";
}

std::optional<std::string> read_actions(std::span<const uint8_t> bytes, PayloadActions& actions) {
  actions = {};
  if (!is_payload(bytes)) return "no driver payload: it does not begin with COP1";
  if (bytes.size() % 4 != 0)
    return "the driver payload of " + std::to_string(bytes.size()) +
           " bytes is no whole number of words";
  const Words words(bytes);
  bool found = false;
  for (size_t at = 1; at < words.size();) {
    const ActionRow* row = nullptr;
    for (const ActionRow& candidate : kActions)
      if (static_cast<uint32_t>(candidate.action) == (words[at] & 0xFF)) row = &candidate;
    if (row == nullptr)
      return at_word(at) + "no action has the number " + std::to_string(words[at] & 0xFF);
    size_t following = row->words;
    if (row->action == Action::COMMAND_STREAM)
      following = size_t{words.get(at, place::COMMAND_STREAM_length_high)} << 16 |
                  words.get(at, place::COMMAND_STREAM_length_low);
    if (following > words.size() - at - 1)
      return at_word(at) + "needs " + std::to_string(following) + " more words, there are " +
             std::to_string(words.size() - at - 1);
    if (row->action == Action::OPTIMIZER_CONFIG) {
      actions.has_config = true;
      actions.config = words[at + 1];
      actions.id = words[at + 2];
      actions.config_offset = static_cast<uint32_t>(4 * at);
    }
    if (row->action == Action::COMMAND_STREAM) {
      if (found) return at_word(at) + "a second command stream";
      found = true;
      actions.stream_offset = static_cast<uint32_t>(4 * (at + 1));
      if (actions.stream_offset % kStreamAlignment != 0)
        return at_word(at) + "the stream does not begin at a multiple of 16 bytes";
      actions.stream = bytes.subspan(actions.stream_offset, 4 * following);
    }
    at += 1 + following;
  }
  if (!found) return "the driver payload holds no command stream";
  return std::nullopt;
}

std::optional<std::string> read_payload(std::span<const uint8_t> bytes, Payload& payload) {
  payload = {};
  PayloadActions actions;
  const auto broken = read_actions(bytes, actions);
  // For whom it was made says most.
  if (actions.has_config)
    if (auto failure = read_config(actions, payload)) return failure;
  if (broken) return broken;
  payload.stream = actions.stream;
  payload.stream_offset = actions.stream_offset;
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u
