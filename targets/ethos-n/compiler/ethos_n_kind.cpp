// Kind `ethosn`: Arm Ethos-N78.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "disassembly/disassemble.h"
#include "estimate.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/plugin/target_kind.h"
#include "lower.h"
#include "network/import_network.h"
#include "network/network_file.h"
#include "network/network_function.h"
#include "network/payload.h"
#include "program/tables.h"

namespace intarsia::targets::ethos_n {
namespace {

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "ethosn";
  spec.summary = "Arm Ethos-N78 NPUs";
  spec.role = Role::Accelerator;
  std::vector<std::string> words, with_kernels;
  for (const Variant& row : variants()) with_kernels.push_back(word_of(row.tag));
  words = with_kernels;
  for (const std::string_view tag : variants_without_kernels()) words.push_back(word_of(tag));
  spec.attributes = {
      AttributeSpec::word("variant", std::string("4tops-4ple"), words,
                          "tera-operations a second, and the ratio of PLEs"),
      AttributeSpec::boolean("rewrites", false,
                             "take what Arm's stack does not support, in operators that it does")};
  spec.validate = [with_kernels](const Attributes& attributes) -> Result<void> {
    const std::string& variant = attributes.get_string("variant");
    if (std::find(with_kernels.begin(), with_kernels.end(), variant) != with_kernels.end())
      return {};
    return Diagnostics("",
                       fmt::format("no PLE kernels exist for the Ethos-N78 variant {}", variant),
                       fmt::format("write -variant={}", fmt::join(with_kernels, " or -variant=")));
  };
  for (const Variant& row : variants())
    spec.tags.push_back({std::string(row.tag),
                         fmt::format("{} TOPS, {} compute engines, {} KiB of SRAM", row.tops,
                                     row.ces, row.sram_bytes() / 1024),
                         fmt::format("ethosn -variant={}", word_of(row.tag)), "c"});
  std::vector<std::string_view> tags;
  for (const Variant& row : variants()) tags.push_back(row.tag);
  for (const std::string_view tag : variants_without_kernels())
    spec.absent_tags.push_back({std::string(tag), "no PLE kernels exist for this Ethos-N78 variant",
                                fmt::format("write {}", fmt::join(tags, " or "))});
  return spec;
}

std::vector<Pattern> all_patterns(const Target& device) {
  std::vector<Pattern> patterns = operator_patterns(device);
  patterns.push_back(compiled_network_pattern(device));
  return patterns;
}

Result<tir::LoweredFunction> graph_to_tir(const Target& device, const graph::Module& module,
                                          const graph::Function& function, const LoweringOptions&) {
  if (is_compiled_network(function)) return lower_compiled_network(module, function);
  return lower(device, module, function);
}

std::vector<std::string> notes(const Target& device, const graph::Module& module,
                               const graph::Function& function) {
  return is_compiled_network(function) ? std::vector<std::string>{}
                                       : streaming_notes(device, module, function);
}

// It rounds once, half up. Nothing is computed where bytes only move or the greatest of them is taken.
int32_t tolerance(const Target&, const graph::Node& node) {
  using enum graph::OpKind;
  const bool moves = node.kind == Reshape || node.kind == Concat || node.kind == Split ||
                     node.kind == DepthToSpace || node.kind == SpaceToDepth || node.kind == Pack ||
                     node.kind == Unpack || node.kind == Slice || node.kind == Transpose;
  return moves || node.kind == MaxPool2d || node.kind == Maximum || node.kind == Minimum ? 0 : 1;
}

// The bare file is what a stream of ours holds behind the places of its buffers.
Result<std::vector<uint8_t>> bare_network(std::span<const uint8_t> commands) {
  INTARSIA_TRY(const PayloadView view, read_payload(commands));
  return std::vector<uint8_t>(view.network.begin(), view.network.end());
}

DeviceDriver driver(const Target&) {
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/ethos_n/driver.h",
          .driver_type = "struct intarsia_ethos_n",
          .open_function = "intarsia_ethos_n_open"};
}

DeviceSimulator simulator(const Target& device) {
  return {.header = "intarsia/targets/ethos_n/simulator.h",
          .attach_expression =
              fmt::format("intarsia_ethos_n_simulator(\"{}\")", variant_of(device).tag),
          .open_bus_function = "intarsia_ethos_n_open_bus"};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.patterns = all_patterns;
  kind.graph_to_tir = graph_to_tir;
  kind.tir_to_runtime = make_streams;
  kind.cost = estimate;
  // The NPU reads what the host wrote where it lies; what is left is the mailbox there and back.
  kind.transfer_microseconds = [](const Target&, int64_t) { return 2.0; };
  kind.notes = notes;
  kind.tolerance = tolerance;
  kind.driver = driver;
  kind.simulator = simulator;
  kind.disassemble = disassemble;
  kind.foreign_formats.files = {
      {.is_one = is_network, .read = import_network, .extension = "encn", .write = bare_network}};
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::ethos_n
