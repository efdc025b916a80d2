#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "intarsia/compiled_model.h"
#include "intarsia/plugin/c_writer.h"
#include "intarsia/plugin/rounding.h"
#include "multicore/c_names.h"
#include "multicore/multicore.h"
#include "support/c_identifier.h"
#include "support/fingerprint.h"

namespace intarsia {
namespace {

constexpr int64_t kAlignment = 64,
                  kSlots = 2;  // of intarsia/mailbox/mailbox.h, asserted in the text

int64_t slots_bytes(const Channel& channel) {
  return kSlots * round_up(channel.bytes, kAlignment);
}

// Differs when anything of the compilation does: the channels, and what the stages compute with them, down to
// weights, scales, the plan and the devices' streams. Parts of a model that was trained again would exchange
// messages without complaint, and compute nonsense.
uint32_t signature_of(const CompiledModel& model) {
  Fingerprint print;
  print.add(model.multicore.name);
  for (const Channel& channel : model.multicore.channels) {
    print.add(fmt::format("{} {} {} {} {} {}", channel.name, channel.bytes, channel.from,
                          channel.output, channel.to, channel.input));
    print.add(channel.first_message);
  }
  for (const CompiledProgram& program : model.programs) {
    print.add(program.cpu);
    for (const SourceFile& file : program.emitted.sources) {
      print.add(file.path);
      print.add(file.text);
    }
    for (const tir::Constant& constant : program.lowered.constants)
      print.add({constant.bytes.data(), constant.bytes.size()});
    for (const CommandStream& stream : program.emitted.streams) {
      print.add(stream.target);
      print.add(stream.commands);
      print.add(stream.constants);
    }
  }
  return print.word();
}

std::string end_text(const CompiledModel& model, int stage, const char* application) {
  if (stage == kApplication) return application;
  return fmt::format("{} (stage {})", model.programs[static_cast<size_t>(stage)].cpu, stage);
}

std::string header_text(const CompiledModel& model) {
  const MulticorePartition& multicore = model.multicore;
  const std::string& name = multicore.name;
  const std::string prefix = upper_case(name);
  CWriter out;
  out.comment(
      {fmt::format("{}: what its parts share. Generated file, the same in all of them.", name), "",
       "One object of this type lies in memory that all cores see; each part is given its address.",
       "The core that starts the others initialises it before it does."});
  out.directive(fmt::format("#ifndef {}_MAILBOX_H", prefix));
  out.directive(fmt::format("#define {}_MAILBOX_H", prefix));
  out.blank();
  out.directive("#include <stdint.h>");
  out.blank();
  out.directive("#include \"intarsia/contract/status.h\"");
  out.directive("#include \"intarsia/mailbox/mailbox.h\"");
  out.blank();
  out.directive("#ifdef __cplusplus");
  out.directive("extern \"C\" {");
  out.directive("#endif");
  out.blank();
  out.comment({"Of this contract: parts that were not compiled together do not work together."});
  out.directive(fmt::format("#define {}_MAILBOX_SIGNATURE {:#x}u", prefix, signature_of(model)));
  out.blank();
  out.open(fmt::format("struct {}_mailbox", name));
  out.line("uint32_t signature;");
  out.line("uint32_t status; /* the first error of a part, 0 while there is none */");
  out.line("uint8_t padding[INTARSIA_MAILBOX_ALIGNMENT - 2 * sizeof(uint32_t)];");
  for (const Channel& channel : multicore.channels) {
    out.comment({fmt::format("{} bytes from {} to {}", channel.bytes,
                             end_text(model, channel.from, "the application"),
                             end_text(model, channel.to, "the application"))});
    out.line(fmt::format("struct intarsia_channel {};", channel.name));
    out.line(fmt::format("uint8_t {}_slots[{}];", channel.name, slots_bytes(channel)));
  }
  out.close(" __attribute__((aligned(INTARSIA_MAILBOX_ALIGNMENT)));");
  out.blank();
  out.directive("#ifndef __cplusplus");
  out.line(fmt::format(
      "_Static_assert(sizeof(struct {}_mailbox) == {}, \"all parts agree on the layout\");", name,
      mailbox_bytes(multicore)));
  out.directive("#endif");
  out.blank();
  out.comment({"Empties the mailbox. Once, before any part is initialised."});
  out.line(fmt::format("void {0}_mailbox_init(struct {0}_mailbox *mailbox);", name));
  out.blank();
  out.comment(
      {"For the application, on whichever core it runs: submit gives all inputs of one inference,",
       "collect takes all outputs of one, in the order the inputs were given; arrays of pointers "
       "to",
       "dense tensors. INTARSIA_PENDING while a channel has no room, or an output is not there "
       "yet;",
       "a part's error once there was one."});
  out.line(fmt::format(
      "intarsia_status {0}_submit(struct {0}_mailbox *mailbox, const void *const *inputs);", name));
  out.line(fmt::format(
      "intarsia_status {0}_collect(struct {0}_mailbox *mailbox, void *const *outputs);", name));
  out.blank();
  out.directive("#ifdef __cplusplus");
  out.directive("}");
  out.directive("#endif");
  out.blank();
  out.directive("#endif");
  return out.text();
}

void submit_function(CWriter& out, const MulticorePartition& multicore) {
  const std::string& name = multicore.name;
  out.open(fmt::format(
      "intarsia_status {0}_submit(struct {0}_mailbox *mailbox, const void *const *inputs)", name));
  out.line("const uint32_t status = intarsia_mailbox_load(&mailbox->status);");
  out.line("if (status != 0) return (intarsia_status)status;");
  if (std::none_of(multicore.channels.begin(), multicore.channels.end(),
                   [](const Channel& c) { return c.from == kApplication; }))
    out.line("(void)inputs; /* nothing reads any */");
  for (const Channel& channel : multicore.channels)
    if (channel.from == kApplication)
      out.line(fmt::format("if (!intarsia_channel_has_room(&mailbox->{})) return INTARSIA_PENDING;",
                           channel.name));
  for (const Channel& channel : multicore.channels)
    if (channel.from == kApplication)
      out.line(multicore::send(channel, fmt::format("inputs[{}]", channel.output)));
  out.line("return INTARSIA_OK;");
  out.close();
}

void collect_function(CWriter& out, const MulticorePartition& multicore) {
  const std::string& name = multicore.name;
  out.open(fmt::format(
      "intarsia_status {0}_collect(struct {0}_mailbox *mailbox, void *const *outputs)", name));
  out.line("const uint32_t status = intarsia_mailbox_load(&mailbox->status);");
  out.line("if (status != 0) return (intarsia_status)status;");
  for (const Channel& channel : multicore.channels)
    if (channel.to == kApplication)
      out.line(
          fmt::format("if (!intarsia_channel_has_message(&mailbox->{})) return INTARSIA_PENDING;",
                      channel.name));
  for (const Channel& channel : multicore.channels)
    if (channel.to == kApplication)
      out.line(multicore::receive(channel, fmt::format("outputs[{}]", channel.input)));
  out.line("return INTARSIA_OK;");
  out.close();
}

// State before the first inference, for the stage that reads it.
void first_message(CWriter& out, const Channel& channel) {
  constexpr size_t kPerLine = 16;
  const std::vector<uint8_t>& bytes = channel.first_message;
  if (bytes.empty()) return;
  out.open(fmt::format("static const uint8_t {}_first[{}] =", channel.name, bytes.size()));
  for (size_t at = 0; at < bytes.size(); at += kPerLine) {
    const std::span<const uint8_t> row =
        std::span(bytes).subspan(at, std::min(kPerLine, bytes.size() - at));
    out.line(fmt::format("{},", fmt::join(row, ", ")));
  }
  out.close(";");
  out.blank();
}

std::string source_text(const CompiledModel& model) {
  const MulticorePartition& multicore = model.multicore;
  const std::string& name = multicore.name;
  CWriter out;
  out.comment({fmt::format("{}: the mailbox, as the application uses it. Generated file.", name)});
  out.directive(fmt::format("#include \"{}_mailbox.h\"", name));
  out.blank();
  out.line(
      fmt::format("_Static_assert(INTARSIA_MAILBOX_ALIGNMENT == {} && INTARSIA_MAILBOX_SLOTS == "
                  "{}, \"as compiled for\");",
                  kAlignment, kSlots));
  out.blank();
  for (const Channel& channel : multicore.channels) first_message(out, channel);
  out.open(fmt::format("void {0}_mailbox_init(struct {0}_mailbox *mailbox)", name));
  out.line("intarsia_mailbox_store(&mailbox->status, 0);");
  for (const Channel& channel : multicore.channels)
    out.line(fmt::format("intarsia_channel_reset(&mailbox->{});", channel.name));
  for (const Channel& channel : multicore.channels)
    if (!channel.first_message.empty()) out.line(multicore::send(channel, channel.name + "_first"));
  out.line(fmt::format("intarsia_mailbox_store(&mailbox->signature, {}_MAILBOX_SIGNATURE);",
                       upper_case(name)));
  out.close();
  out.blank();
  submit_function(out, multicore);
  out.blank();
  collect_function(out, multicore);
  return out.text();
}

}  // namespace

namespace multicore {

std::string send(const Channel& channel, const std::string& from) {
  return fmt::format("intarsia_channel_send(&mailbox->{0}, mailbox->{0}_slots, {1}u, {2});",
                     channel.name, channel.bytes, from);
}

std::string receive(const Channel& channel, const std::string& to) {
  return fmt::format("intarsia_channel_receive(&mailbox->{0}, mailbox->{0}_slots, {1}u, {2});",
                     channel.name, channel.bytes, to);
}

}  // namespace multicore

int64_t mailbox_bytes(const MulticorePartition& multicore) {
  int64_t bytes = kAlignment;
  for (const Channel& channel : multicore.channels) bytes += 2 * kAlignment + slots_bytes(channel);
  return bytes;
}

std::vector<SourceFile> mailbox_sources(const CompiledModel& model) {
  const std::string& name = model.multicore.name;
  return {{name + "_mailbox.h", header_text(model)}, {name + "_mailbox.c", source_text(model)}};
}

}  // namespace intarsia
