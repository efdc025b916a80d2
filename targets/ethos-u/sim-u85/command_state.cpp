#include "intarsia/targets/ethos_u85/command_state.h"

#include <cstdio>
#include <string>

namespace intarsia::simulators::ethos_u85 {
namespace {

constexpr uint32_t kU85Codes = 1024;
constexpr uint8_t kNoU85Command = 0xFF;

struct U85Lookup {
  std::array<std::array<uint8_t, kU85Codes>, 2> commands;            // [has a payload][code]
  std::array<uint32_t, kCommandCount> parameter_mask, payload_mask;  // bits that a table names
};

U85Lookup make_u85_lookup() {
  U85Lookup lookup;
  for (auto& form : lookup.commands) form.fill(kNoU85Command);
  static_assert(kCommandCount < kNoU85Command);
  const auto table = command_table();
  for (size_t i = 0; i < table.size(); ++i) {
    const Form form = table[i].form;
    lookup.commands[form != Form::OneWord][table[i].code] = static_cast<uint8_t>(i);
    lookup.parameter_mask[i] = form == Form::Address ? 0xFF : 0;
    lookup.payload_mask[i] = form == Form::Address || form == Form::Length ? 0xFFFFFFFF : 0;
  }
  for (const FieldRow& row : field_table())
    (row.of_payload ? lookup.payload_mask
                    : lookup.parameter_mask)[static_cast<size_t>(row.command)] |= row.mask();
  return lookup;
}

const U85Lookup& u85_lookup() {
  static const U85Lookup table = make_u85_lookup();
  return table;
}

uint32_t u85_word_at(std::span<const uint8_t> stream, size_t at) {
  return stream[at] | stream[at + 1] << 8 | stream[at + 2] << 16 |
         static_cast<uint32_t>(stream[at + 3]) << 24;
}

std::string u85_hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", value);
  return text;
}

}  // namespace

std::optional<Fault> decode(std::span<const uint8_t> stream, uint32_t offset,
                            DecodedCommand& decoded) {
  const auto fault = [&](const char* name, std::string what) {
    return Fault{Cause::Stream, offset, name, std::move(what)};
  };
  if (offset % 4 != 0 || offset >= stream.size() || stream.size() - offset < 4)
    return fault("", "the stream ends here without OP_STOP");
  const uint32_t word = u85_word_at(stream, offset);
  const uint32_t form = word >> 14 & 3;
  const uint8_t index = form > 1 ? kNoU85Command : u85_lookup().commands[form][word % kU85Codes];
  if (index == kNoU85Command || (word >> 10 & 15) != 0)
    return fault("", "the word " + u85_hex(word) + " is no command of Ethos-U85");
  const CommandRow& row = command_table()[index];
  decoded = {};
  decoded.command = static_cast<Command>(index);
  decoded.offset = offset;
  decoded.parameter = static_cast<uint16_t>(word >> 16);
  if (row.form != Form::OneWord) {
    if (stream.size() - offset < 8) return fault(row.name, "the stream ends before the payload");
    decoded.words = 2;
    decoded.payload = u85_word_at(stream, offset + 4);
  }
  if ((decoded.parameter & ~u85_lookup().parameter_mask[index]) != 0)
    return fault(row.name,
                 "the parameter " + u85_hex(decoded.parameter) + " sets bits without a meaning");
  if ((decoded.payload & ~u85_lookup().payload_mask[index]) != 0)
    return fault(row.name,
                 "the payload " + u85_hex(decoded.payload) + " sets bits without a meaning");
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u85
