// Kind `c`: any CPU with a C compiler. It leaves every code-generating service to its default, the portable lowering and
// C emission; what it adds is the table of cores.
#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/plugin/standard_lowering.h"
#include "loop_work.h"

namespace intarsia::targets::c {
namespace {

// Of loop_costs.def.
enum class Column { M0, M3, M4, M7, M33, M55, RV32 };

struct Core {
  const char* name;
  const char* summary;
  double clock_mhz;
  Column column;
  double time;
  const char* float_abi;
  const char* extensions;  // words
};

constexpr Core kCores[] = {
#define CORE(name, summary, mhz, column, time, float_abi, extensions) \
  {name, summary, mhz, Column::column, time, float_abi, extensions},
#include "intarsia/targets/c/cores.def"
#undef CORE
};

// Tags of chips that people know better than their core.
struct Chip {
  const char *tag, *core, *summary;
};

constexpr Chip kChips[] = {
#define CHIP(tag, core, summary) {tag, core, summary},
#include "intarsia/targets/c/chips.def"
#undef CHIP
};

const Core* find_core(const std::string& name) {
  const auto found = std::find_if(std::begin(kCores), std::end(kCores),
                                  [&](const Core& core) { return core.name == name; });
  return found == std::end(kCores) ? nullptr : found;
}

// An element of -mattr: the extension, and whether the core is said to have it. Without it is "-dsp", or "+nodsp" as
// compilers write it behind -mcpu.
struct Extension {
  std::string name;
  bool present;
};

std::optional<Extension> read_extension(const std::string& word) {
  constexpr std::string_view kKnown[] = {"dsp",     "mve",  "mve.fp",    "fp",
                                         "dotprod", "avx2", "avx512vnni"};
  Extension extension{word.empty() ? "" : word.substr(1), word.starts_with('+')};
  if (word.starts_with("+no")) extension = {word.substr(3), false};
  const bool known =
      std::find(std::begin(kKnown), std::end(kKnown), extension.name) != std::end(kKnown);
  if (!known || (!extension.present && word[0] != '-' && !word.starts_with("+no")))
    return std::nullopt;
  return extension;
}

// What -mattr says of the core is something the core comes with or without.
Result<void> check_extensions(const Core& core, const std::vector<std::string>& asked) {
  std::vector<std::string> has;
  std::istringstream words(core.extensions);
  for (std::string word; words >> word;) has.push_back(word);
  std::vector<Extension> seen;
  for (const std::string& word : asked) {
    const std::optional<Extension> extension = read_extension(word);
    // Helium comes with or without floating point.
    const std::string known = extension && extension->name == "mve.fp" ? "mve" : "";
    const bool possible =
        extension &&
        std::find(has.begin(), has.end(), known.empty() ? extension->name : known) != has.end();
    for (const Extension& other : seen)
      if (possible && other.name == extension->name && other.present != extension->present)
        return Diagnostics("",
                           fmt::format("-mattr says both that {} has {} and that it has not",
                                       core.name, other.name),
                           "leave one of them out");
    if (possible) {
      seen.push_back(*extension);
      continue;
    }
    return Diagnostics(
        "",
        !extension ? fmt::format("-mattr cannot be '{}'", word)
        : extension->present
            ? fmt::format("{} has no extension for -mattr={}", core.name, word)
            : fmt::format("{} has nothing to leave out for -mattr={}", core.name, word),
        has.empty() ? "leave -mattr out" : fmt::format("it has +{}", fmt::join(has, ", +")));
  }
  return {};
}

// Floating point that -mattr takes away leaves the calling convention of integers.
std::string float_abi_of(const Core& core, const Attributes& attributes) {
  if (const AttributeValue* value = attributes.find("mattr"))
    for (const std::string& word : std::get<std::vector<std::string>>(*value))
      if (const std::optional<Extension> extension = read_extension(word);
          extension && extension->name == "fp" && !extension->present)
        return "soft";
  return core.float_abi;
}

KindSpec make_spec() {
  KindSpec spec;
  spec.name = "c";
  spec.summary = "portable C for any CPU; runs whole models";
  spec.role = Role::Cpu;
  std::vector<std::string> cores;
  for (const Core& core : kCores) cores.push_back(core.name);
  spec.attributes = {
      AttributeSpec::word("mcpu", "native", cores, "the core, as the C compiler names it"),
      AttributeSpec::word("mfloat-abi", std::nullopt, {"soft", "softfp", "hard"},
                          "calling convention of floating point; follows the core"),
      AttributeSpec::list("mattr", {},
                          "extensions that the core has: +dsp, +mve, +fp; or lacks: -dsp, -mve, "
                          "-fp; with Linux also dotprod, avx2, avx512vnni"),
      AttributeSpec::word("kernels", "tuned", {"tuned", "portable"},
                          "tuned: kernels made for the core, where a target folder brings them"),
  };
  spec.resolve = [](Attributes& attributes) -> Result<void> {
    if (const Core* core = find_core(attributes.get_string("mcpu")))
      attributes.derive("mfloat-abi", float_abi_of(*core, attributes));
    return {};
  };
  spec.validate = [](const Attributes& attributes) -> Result<void> {
    const Core* core = find_core(attributes.get_string("mcpu"));
    if (core != nullptr && std::string_view(core->float_abi) == "soft" &&
        attributes.get_string("mfloat-abi") == "hard")
      return Diagnostics(
          "", fmt::format("{} has no floating-point unit for -mfloat-abi=hard", core->name),
          "leave -mfloat-abi out or use soft");
    const AttributeValue* asked = attributes.find("mattr");
    if (core != nullptr && asked != nullptr)
      return check_extensions(*core, std::get<std::vector<std::string>>(*asked));
    return {};
  };
  for (const Core& core : kCores)
    if (std::string_view(core.name) != "native")
      spec.tags.push_back({core.name, core.summary, fmt::format("c -mcpu={}", core.name)});
  for (const Chip& chip : kChips)
    spec.tags.push_back({chip.tag, chip.summary, fmt::format("c -mcpu={}", chip.core)});
  return spec;
}

constexpr double kStepCycles[kLoopSteps][7] = {
#define STEP(name, m0, m3, m4, m7, m33, m55, rv32) {m0, m3, m4, m7, m33, m55, rv32},
#include "intarsia/targets/c/loop_costs.def"
#undef STEP
};

// Row tiles are left out: they are chosen for the whole model.
CostEstimate cost_of_loops(const Target& target, const graph::Module& module,
                           const graph::Function& function, const LoweringOptions& options) {
  const Core* core = find_core(target.get_string("mcpu"));
  INTARSIA_CHECK(core != nullptr, "the catalogue admits only cores of the table");
  LoweringOptions whole = options;
  whole.ram_budget = std::nullopt;
  whole.on_progress = {};
  const Result<tir::LoweredFunction> lowered = standard_graph_to_tir(module, function, whole);
  CostEstimate estimate{0, core->clock_mhz};
  if (!lowered.ok()) return estimate;
  for (const tir::Func& func : lowered->module.funcs) {
    if (func.node.empty()) continue;  // the schedule, and copies from its inputs to its results
    const LoopWork work = work_of_loops(func);
    for (size_t step = 0; step < kLoopSteps; ++step)
      estimate.cycles +=
          core->time * work[step] * kStepCycles[step][static_cast<size_t>(core->column)];
  }
  return estimate;
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.cost = cost_of_loops;
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::c
