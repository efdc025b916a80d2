// Kind `ethos-u`: Arm Ethos-U55 and Ethos-U65.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "disassembly/disassemble.h"
#include "encode/stream.h"
#include "estimate.h"
#include "ethos_u85_kind.h"
#include "foreign/compiled_stream.h"
#include "hardware/configuration.h"
#include "hardware/memory_systems.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/plugin/check.h"
#include "legalise/elementwise.h"
#include "legalise/patterns.h"
#include "lower.h"
#include "work.h"

namespace intarsia::targets::ethos_u {
namespace {

std::vector<std::string> memory_modes() {
  return {
#define SYSTEM(...)
#define SYSTEM_MEMORY(...)
#define MEMORY_MODE(name, tag, constants, arena, cache, bytes) tag,
#include "intarsia/targets/ethos_u/memory_systems.def"
#undef SYSTEM
#undef SYSTEM_MEMORY
#undef MEMORY_MODE
  };
}

// The memory systems of a product, or of both; the first of a product is what is meant without a word.
std::vector<std::string> memory_systems(std::string_view only = {}) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view product, const char* name) {
    if (only.empty() || only == product) names.emplace_back(name);
  };
  constexpr std::string_view U55 = "u55", U65 = "u65";
#define SYSTEM(name, product, clock, axi0, axi1) add(product, #name);
#define SYSTEM_MEMORY(...)
#define MEMORY_MODE(...)
#include "intarsia/targets/ethos_u/memory_systems.def"
#undef SYSTEM
#undef SYSTEM_MEMORY
#undef MEMORY_MODE
  return names;
}

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "ethos-u";
  spec.summary = "Arm Ethos-U55 and Ethos-U65 NPUs";
  spec.role = Role::Accelerator;
  std::vector<int64_t> macs;
  for (const Configuration& row : configurations())
    if (std::find(macs.begin(), macs.end(), row.macs) == macs.end()) macs.push_back(row.macs);
  spec.attributes = {
      AttributeSpec::word("product", "u55", {"u55", "u65"}, "which Ethos"),
      AttributeSpec::one_of("macs", 128, macs, "multiply-accumulates per cycle"),
      AttributeSpec::boolean("confirmed-only", false,
                             "keep to encodings that streams of Arm's compiler show"),
      AttributeSpec::word(
          "sums", "exact", {"exact", "npu"},
          "how sums and differences are rounded: as TFLite does, or as the NPU does, "
          "in one operation and at most a step away"),
      AttributeSpec::word("memory-mode", std::nullopt, memory_modes(),
                          "where constants and feature maps lie; follows the product"),
      AttributeSpec::text("system", std::nullopt,
                          "clock, bandwidths and latencies of the memories: a name, or numbers; "
                          "follows the board, or the product"),
      AttributeSpec::word("driver", "intarsia", {"intarsia", "arm"},
                          "what runs the streams: the driver in the package, or Arm's core driver, "
                          "which the program links"),
      AttributeSpec::integer("sram-limit", std::nullopt, 0, std::numeric_limits<int64_t>::max(),
                             "bytes of SRAM that a function may keep alive at once, its inputs and "
                             "outputs included"),
  };
  spec.resolve = [](Attributes& attributes) -> Result<void> {
    const bool shares = attributes.get_string("product") == "u55";
    attributes.derive("memory-mode", std::string(shares ? "shared-sram" : "dedicated-sram"));
    attributes.derive("system", memory_systems(attributes.get_string("product")).front());
    return {};
  };
  spec.validate = [](const Attributes& attributes) -> Result<void> {
    const std::string product(attributes.get_string("product"));
    if (const Configuration* configuration = find_configuration(attributes)) {
      const std::string& system = attributes.get_string("system");
      const auto* npu = isa::ethos_u::find_npu_timing(configuration->tag);
      INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
      if (isa::ethos_u::memory_system(*npu, system, attributes.get_string("memory-mode")))
        return {};
      const std::vector<std::string> all = memory_systems();
      const bool is_other = std::find(all.begin(), all.end(), system) != all.end();
      return Diagnostics(
          "",
          is_other ? fmt::format("'{}' is a memory system of another product than the Ethos-{}",
                                 system, product)
                   : fmt::format("'{}' is no memory system", system),
          fmt::format("write -system={}, or -system=CLOCK:AXI0:AXI1 in numbers: MHz, and of each "
                      "port BYTES/BURST/READ/WRITE, bytes a cycle (up to {}), bytes of a burst, "
                      "cycles of latency: -system=400:8/32/32/32:0.5/128/64/64",
                      fmt::join(memory_systems(product), " or -system="), npu->bus_bytes));
    }
    std::vector<int64_t> there;
    for (const Configuration& row : configurations())
      if (row.product == attributes.get_string("product")) there.push_back(row.macs);
    return Diagnostics("",
                       fmt::format("there is no Ethos-{} with {} MACs",
                                   attributes.get_string("product"), attributes.get_int("macs")),
                       fmt::format("write -macs={}", fmt::join(there, " or -macs=")));
  };
  for (const Configuration& row : configurations())
    spec.tags.push_back(
        {std::string(row.tag),
         fmt::format("{} MACs a cycle, {} core{}", row.macs, row.cores, row.cores == 1 ? "" : "s"),
         fmt::format("ethos-u -product={} -macs={}", row.product, row.macs), "c -mcpu=cortex-m55"});
  return spec;
}

std::vector<Pattern> all_patterns(const Target& device) {
  std::vector<Pattern> patterns = ethos_u::patterns(device.get_bool("confirmed-only"));
  patterns.push_back(compiled_stream_pattern(device));
  return patterns;
}

Result<tir::LoweredFunction> graph_to_tir(FunctionSchedules& schedules, const Target& device,
                                          const graph::Module& module,
                                          const graph::Function& function,
                                          const LoweringOptions& options) {
  if (is_compiled_stream(function)) return lower_compiled_stream(module, function);
  return lower(schedules, device, module, function, options);
}

// What the sums of the function give up, and what time alone would bring, if anything.
std::vector<std::string> notes(FunctionSchedules& schedules, const Target& device,
                               const graph::Module& module, const graph::Function& function) {
  std::vector<std::string> lines, rounded;
  if (std::optional<std::string> line = schedules.note_on(device, module, function))
    lines.push_back(*std::move(line));
  if (!rounds_sums(device)) return lines;
  for (const graph::Node& node : function.nodes)
    if (is_rounded_sum({module, function, node})) rounded.push_back(node.name);
  if (!rounded.empty())
    lines.push_back(
        fmt::format("rounded by the NPU, at most a step from TFLite's results (-sums=npu): {}",
                    fmt::join(rounded, ", ")));
  return lines;
}

int32_t tolerance(const Target& device, const graph::Node& node) {
  const bool is_sum = node.kind == graph::OpKind::Add || node.kind == graph::OpKind::Sub;
  return is_sum && rounds_sums(device) ? 1 : 0;
}

// The NPU reads what the host wrote where it lies. What is left is an interrupt there and back, and
// in a dedicated SRAM the copy into it.
double transfer_microseconds(const Target& device, int64_t bytes) {
  const double hand_over = 2;
  if (!is_dedicated(device)) return hand_over;
  return hand_over + static_cast<double>(bytes) / 4 / 500;
}

DeviceDriver driver(const Target& device) {
  if (has_arms_driver(device))
    return {.folder = INTARSIA_TARGET_FOLDER "/core-driver",
            .header = "intarsia/targets/ethos_u/core_driver/core_driver.h",
            .driver_type = "struct intarsia_ethos_u_core_driver",
            .open_function = "intarsia_ethos_u_core_driver_open",
            .has_registers = false,
            .link_libraries = {"ethosu_core_driver"}};
  return {.folder = INTARSIA_TARGET_FOLDER,
          .header = "intarsia/targets/ethos_u/driver.h",
          .driver_type = "struct intarsia_ethos_u",
          .open_function = is_dedicated(device) ? "intarsia_ethos_u_open_dedicated"
                                                : "intarsia_ethos_u_open_shared"};
}

DeviceSimulator simulator(const Target& device) {
  return {.header = "intarsia/targets/ethos_u/simulator.h",
          .attach_expression = fmt::format(
              "intarsia_ethos_u_simulator_in(\"{}\", \"{}\", \"{}\")", configuration_of(device).tag,
              device.get_string("system"), device.get_string("memory-mode")),
          .open_bus_function = fmt::format("intarsia_ethos_u_{}open_bus_{}",
                                           has_arms_driver(device) ? "core_driver_" : "",
                                           is_dedicated(device) ? "dedicated" : "shared")};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.patterns = all_patterns;
  const auto schedules = std::make_shared<FunctionSchedules>();
  kind.graph_to_tir = [schedules](const Target& device, const graph::Module& module,
                                  const graph::Function& function, const LoweringOptions& options) {
    return graph_to_tir(*schedules, device, module, function, options);
  };
  kind.tir_to_runtime = make_streams;
  kind.cost = [schedules](const Target& device, const graph::Module& module,
                          const graph::Function& function, const LoweringOptions& options) {
    return estimate(*schedules, device, module, function, options);
  };
  kind.work = [schedules](const Target& device, const graph::Module& module,
                          const graph::Function& function, const LoweringOptions& options) {
    return work_of(*schedules, device, module, function, options);
  };
  kind.notes = [schedules](const Target& device, const graph::Module& module,
                           const graph::Function& function) {
    return notes(*schedules, device, module, function);
  };
  kind.tolerance = tolerance;
  kind.transfer_microseconds = transfer_microseconds;
  kind.memories = own_memories;
  kind.on_board =
      [](const Target& device,
         const MemoryMap& memory) -> Result<std::vector<std::pair<std::string, AttributeValue>>> {
    INTARSIA_TRY(const std::optional<std::string> system, system_on_board(device, memory));
    if (!system) return std::vector<std::pair<std::string, AttributeValue>>{};
    return std::vector<std::pair<std::string, AttributeValue>>{{"system", *system}};
  };
  kind.driver = driver;
  kind.simulator = simulator;
  kind.disassemble = disassemble;
  // As Vela writes it. The options are a FlexBuffer of the number 1: a payload for Arm's driver.
  kind.foreign_formats.operators = {{.custom_code = "ethos-u",
                                     .device = "ethos-u",
                                     .layer_names = {"ethos_u", "npu"},
                                     .hint = "compile the model again with Vela",
                                     .custom_options = {1, 4, 1}}};
  registry.add(std::move(kind));
  add_u85_kind(registry);
}

}  // namespace intarsia::targets::ethos_u
