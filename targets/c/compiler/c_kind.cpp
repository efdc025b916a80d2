// Kind `c`: any CPU with a C compiler. It leaves every code-generating service to its default, the portable lowering and
// C emission; what it adds is the table of cores.
#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"

namespace intarsia::targets::c {
namespace {

enum class Column { Mainline, Baseline };

struct Core {
  const char* name;
  const char* summary;
  double clock_mhz;
  Column column;
  double cycles_per_instruction;
  const char* float_abi;
  const char* extensions;  // words
};

constexpr Core kCores[] = {
#define CORE(name, summary, mhz, column, cycles, float_abi, extensions) \
  {name, summary, mhz, Column::column, cycles, float_abi, extensions},
#include "intarsia/targets/c/cores.def"
#undef CORE
};

const Core* find_core(const std::string& name) {
  const auto found = std::find_if(std::begin(kCores), std::end(kCores),
                                  [&](const Core& core) { return core.name == name; });
  return found == std::end(kCores) ? nullptr : found;
}

enum class Family {
#define FAMILY(name, ...) name,
#include "intarsia/targets/c/portable.def"
#undef FAMILY
};

struct Instructions {
  double per_step, per_result;
};

Instructions instructions_of(Family family, Column column) {
  static constexpr Instructions kTable[][2] = {
#define FAMILY(name, step, result, baseline_step, baseline_result) \
  {{step, result}, {baseline_step, baseline_result}},
#include "intarsia/targets/c/portable.def"
#undef FAMILY
  };
  return kTable[static_cast<size_t>(family)][column == Column::Mainline ? 0 : 1];
}

Family family_of(const graph::Function& function, const graph::Node& node) {
  using enum graph::OpKind;
  switch (node.kind) {
    case Conv2d:
    case TransposeConv2d:
    case BatchMatmul:
      return Family::Convolution;
    case DepthwiseConv2d:
      return Family::Depthwise;
    case FullyConnected: {
      const Shape& out = function.tensor(node.outputs[0]).shape;
      return element_count(out) == out.back() ? Family::Row : Family::Convolution;
    }
    case AveragePool2d:
    case MaxPool2d:
    case L2Pool2d:
      return Family::Window;
    case Mean:
    case Sum:
    case ReduceMax:
    case ReduceMin:
    case ReduceProd:
    case ReduceAny:
    case ReduceAll:
    case ArgMax:
    case ArgMin:
      return Family::Reduction;
    case Softmax:
    case LogSoftmax:
      return Family::Exponential;
    case Svdf:
    case Lstm:
      return Family::Recurrent;
    case Pad:
    case PadV2:
    case MirrorPad:
    case Concat:
    case Pack:
    case Split:
    case Unpack:
    case Slice:
    case Transpose:
    case SpaceToDepth:
    case DepthToSpace:
    case SpaceToBatch:
    case BatchToSpace:
    case Gather:
    case GatherNd:
    case BroadcastTo:
    case Tile:
    case ResizeNearest:
      return Family::Move;
    case Reshape:
      return Family::Alias;
    default:
      return Family::Elementwise;
  }
}

double portable_instructions(Column column, const graph::Function& function,
                             const graph::Node& node) {
  double results = 0;
  for (const graph::TensorId id : node.outputs)
    if (id.valid()) results += static_cast<double>(element_count(function.tensor(id).shape));
  const Family family = family_of(function, node);
  double steps = static_cast<double>(graph::mac_count(function, node));
  if (const auto* pool = std::get_if<graph::Pool2dAttrs>(&node.attributes))
    steps = results * static_cast<double>(pool->filter_h * pool->filter_w);
  if (family == Family::Reduction)
    steps = static_cast<double>(element_count(function.tensor(node.inputs[0]).shape));
  const Instructions each = instructions_of(family, column);
  return each.per_step * steps + each.per_result * results;
}

// An element of -mattr: the extension, and whether the core is said to have it. Without it is "-dsp", or "+nodsp" as
// compilers write it behind -mcpu.
struct Extension {
  std::string name;
  bool present;
};

std::optional<Extension> read_extension(const std::string& word) {
  constexpr std::string_view kKnown[] = {"dsp", "mve", "mve.fp", "fp"};
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
      AttributeSpec::list(
          "mattr", {}, "extensions that the core has: +dsp, +mve, +fp; or lacks: -dsp, -mve, -fp"),
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
  return spec;
}

CostEstimate cost_of_loops(const Target& target, const graph::Module&,
                           const graph::Function& function, const graph::Node& node) {
  const Core* core = find_core(target.get_string("mcpu"));
  INTARSIA_CHECK(core != nullptr, "the catalogue admits only cores of the table");
  return {portable_instructions(core->column, function, node) * core->cycles_per_instruction,
          core->clock_mhz};
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  TargetKind kind;
  kind.spec = make_spec();
  kind.cost = sum_of_operators(cost_of_loops);
  registry.add(std::move(kind));
}

}  // namespace intarsia::targets::c
