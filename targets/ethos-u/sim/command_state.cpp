#include "intarsia/targets/ethos_u/command_state.h"

#include "intarsia/targets/ethos_u/command_text.h"

namespace intarsia::simulators::ethos_u {
namespace {

constexpr uint32_t kCodes = 1024;
constexpr uint8_t kNoCommand = 0xFF;

struct Lookup {
  std::array<std::array<uint8_t, kCodes>, 2> commands;  // [has a payload][code]
  std::array<uint16_t, kCommandCount> parameter_mask;   // bits that a table names
};

Lookup make_lookup() {
  Lookup lookup;
  for (auto& form : lookup.commands) form.fill(kNoCommand);
  static_assert(kCommandCount < kNoCommand);
  const auto table = command_table();
  for (size_t i = 0; i < table.size(); ++i) {
    lookup.commands[table[i].form != Form::OneWord][table[i].code] = static_cast<uint8_t>(i);
    lookup.parameter_mask[i] = table[i].form == Form::Address ? 0xFF : 0;
  }
  for (const FieldRow& row : field_table())
    lookup.parameter_mask[static_cast<size_t>(row.command)] |= static_cast<uint16_t>(row.mask());
  return lookup;
}

const Lookup& lookup() {
  static const Lookup table = make_lookup();
  return table;
}

bool is_stride(const CommandRow& row) {
  return row.form == Form::Address &&
         std::string_view(row.name).find("_STRIDE_") != std::string_view::npos;
}

uint32_t word_at(std::span<const uint8_t> stream, size_t at) {
  return stream[at] | stream[at + 1] << 8 | stream[at + 2] << 16 |
         static_cast<uint32_t>(stream[at + 3]) << 24;
}

}  // namespace

std::optional<Fault> decode(std::span<const uint8_t> stream, uint32_t offset, Product product,
                            DecodedCommand& decoded) {
  const auto fault = [&](const char* name, std::string what) {
    return Fault{Cause::Stream, offset, name, std::move(what)};
  };
  if (offset % 4 != 0 || offset >= stream.size() || stream.size() - offset < 4)
    return fault("", "the stream ends here without OP_STOP");
  const uint32_t word = word_at(stream, offset);
  const uint32_t form = word >> 14 & 3;
  const uint8_t index = form > 1 ? kNoCommand : lookup().commands[form][word % kCodes];
  if (index == kNoCommand || (word >> 10 & 15) != 0)
    return fault("", "the word " + hex(word) + " is no command of Ethos-U55 or U65");
  const CommandRow& row = command_table()[index];
  if (row.u65_only && product != Product::U65)
    return fault(row.name, "an Ethos-U55 does not have this command");

  decoded = {};
  decoded.command = static_cast<Command>(index);
  decoded.offset = offset;
  decoded.parameter = static_cast<uint16_t>(word >> 16);
  uint32_t named = lookup().parameter_mask[index];
  if (row.form != Form::OneWord) {
    if (stream.size() - offset < 8) return fault(row.name, "the stream ends before the payload");
    decoded.words = 2;
    decoded.payload = word_at(stream, offset + 4);
  }
  // Addresses of 32 bits; a negative stride may come with its sign in all forty.
  if (row.form == Form::Address && product == Product::U55)
    named = is_stride(row) && decoded.payload >> 31 != 0 && decoded.parameter == 0xFF ? 0xFF : 0;
  if ((decoded.parameter & ~named) != 0)
    return fault(row.name,
                 "the parameter " + hex(decoded.parameter) + " sets bits without a meaning");
  return std::nullopt;
}

void CommandState::apply(const DecodedCommand& command) {
  values_[index(command.command)] = {true, command.parameter, command.payload};
}

}  // namespace intarsia::simulators::ethos_u
