#include "disassembly/disassemble.h"

#include <algorithm>

#include <fmt/format.h>

#include "network/network_file.h"
#include "network/payload.h"

namespace intarsia::targets::ethos_n {
namespace {

std::string kernel_text(uint32_t number) {
  for (const Variant& variant : variants())
    if (number / kKernelsOfVariant == variant.number)
      return fmt::format("{}_{}", variant.kernel_prefix,
                         ple_kernels()[static_cast<size_t>(number % kKernelsOfVariant)].text);
  return fmt::format("unknown ({})", number);
}

// The fields of a register that are not zero; the number where the register has none.
std::string register_text(std::string_view name, uint32_t value) {
  if (name == "IFM_TOP_SLOTS" || name == "IFM_MID_SLOTS" || name == "IFM_BOTTOM_SLOTS")
    name = "IFM_SLOTS";
  std::string text;
  bool known = false;
  for (const Field& field : fields()) {
    if (field.register_name != name) continue;
    known = true;
    const int64_t shown = field.get(value);
    const bool is_zero =
        (value >> field.low_bit & ((uint64_t{1} << field.bits) - 1)) == 0 && field.plus == 0;
    if (!is_zero) text += fmt::format("{}{}={}", text.empty() ? "" : " ", field.name, shown);
  }
  return known ? fmt::format("{{{}}}", text) : fmt::format("{:#x}", value);
}

std::string buffers_text(std::string_view kind, const std::vector<FileBuffer>& buffers) {
  std::string text;
  for (const FileBuffer& buffer : buffers)
    text += fmt::format("buffer {:>3}  {:<13} {:>8} bytes at {:>8}  {}\n", buffer.id, kind,
                        buffer.bytes, buffer.offset, buffer.name);
  return text;
}

std::string agent_text(size_t index, const std::vector<uint8_t>& agent) {
  std::string text = fmt::format("agent {:>3}  {}", index, agent_names()[agent[0]]);
  for (const AgentField& field : agent_fields()) {
    if (static_cast<uint8_t>(field.agent) != agent[0]) continue;
    const uint32_t value = agent_value(agent, field);
    const std::string shown = field.name == "kernel" ? kernel_text(value)
                              : field.bytes < 4 || field.name == "kernel_address"
                                  ? fmt::format("{}", value)
                                  : register_text(field.name, value);
    text += fmt::format(" {}={}", field.name, shown);
  }
  return text + "\n";
}

std::string command_text(const StreamFile::Command& command) {
  const CommandRow& row = command_rows()[static_cast<size_t>(command.type)];
  std::string text = fmt::format("{:>7}  {}", command.offset, row.name);
  if (command.type == CommandType::WaitForCounter) {
    const uint32_t counter = command.words[word::Wait_counter];
    return text + fmt::format(" {} {}\n", counter < kCounters ? counter_names()[counter] : "?",
                              command.words[word::Wait_value]);
  }
  for (const WordRow& field : word_rows()) {
    if (field.shape != row.shape) continue;
    text += fmt::format(" {}=", field.name);
    // Arrays whose words are all alike are shown once.
    const auto first = command.words.begin() + static_cast<ptrdiff_t>(field.index);
    const auto end = first + static_cast<ptrdiff_t>(field.count);
    const bool alike = std::all_of(first, end, [&](uint32_t value) { return value == *first; });
    const bool is_plain =
        field.name == "agent" || field.name == "blocks" || field.name == "dram_offset";
    const auto shown = [&](uint32_t value) {
      return is_plain ? fmt::format("{}", value) : register_text(field.name, value);
    };
    if (field.count == 1) {
      text += shown(*first);
    } else if (alike) {
      text += fmt::format("{}x{}", field.count, shown(*first));
    } else {
      text += '[';
      for (auto at = first; at != end; ++at)
        text += fmt::format("{}{}", at == first ? "" : ",", shown(*at));
      text += ']';
    }
  }
  return text + "\n";
}

Result<std::string> network_text(std::span<const uint8_t> bytes) {
  INTARSIA_TRY(const NetworkFile network, read_network(bytes));
  INTARSIA_TRY(const StreamFile stream, read_stream(network));
  const int64_t number = variant_number(stream);
  std::string_view made_for =
      number < 0 ? "a variant that no PLE kernel names" : "no known variant";
  for (const Variant& variant : variants())
    if (variant.number == number) made_for = variant.tag;
  std::string text = fmt::format("Ethos-N network for {}, {} bytes of weights\n", made_for,
                                 network.dma_constants.size());
  text += buffers_text("stream", network.in_control_constants);
  text += buffers_text("input", network.inputs);
  text += buffers_text("output", network.outputs);
  text += buffers_text("weights", network.in_dma_constants);
  text += buffers_text("intermediate", network.intermediates);
  for (size_t i = 0; i < stream.agents.size(); ++i) text += agent_text(i, stream.agents[i]);
  for (size_t queue = 0; queue < kQueues; ++queue) {
    text +=
        fmt::format("queue {}, {} commands\n", queue_names()[queue], stream.queues[queue].size());
    for (const StreamFile::Command& command : stream.queues[queue]) text += command_text(command);
  }
  return text;
}

}  // namespace

std::optional<Result<std::string>> disassemble(std::span<const uint8_t> bytes) {
  if (is_network(bytes)) return network_text(bytes);
  if (!is_payload(bytes)) return std::nullopt;
  INTARSIA_TRY(const PayloadView view, read_payload(bytes));
  std::string text;
  for (const BufferPlace& place : view.places)
    text += fmt::format("place: region {} + {}\n", place.region, place.offset);
  INTARSIA_TRY(const std::string network, network_text(view.network));
  return text + network;
}

}  // namespace intarsia::targets::ethos_n
