// Kind `c`: any CPU with a C compiler. It leaves every code-generating hook to its default, the
// portable lowering and C emission; what it adds is the table of cores.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"

namespace intarsia::targets::c {
namespace {

struct Core {
  const char* name;
  const char* summary;
  double clock_mhz, instructions_per_mac;
  const char* float_abi;
  const char* extensions;  // words
};

constexpr Core kCores[] = {
#define CORE(name, summary, mhz, per_mac, float_abi, extensions) \
  {name, summary, mhz, per_mac, float_abi, extensions},
#include "c/cores.def"
#undef CORE
};

const Core* find_core(const std::string& name) {
  const auto found = std::find_if(std::begin(kCores), std::end(kCores),
                                  [&](const Core& core) { return core.name == name; });
  return found == std::end(kCores) ? nullptr : found;
}

// What -mattr asks for, as the core has it.
Result<void> check_extensions(const Core& core, const std::vector<std::string>& asked) {
  std::vector<std::string> has;
  std::istringstream words(core.extensions);
  for (std::string word; words >> word;) has.push_back("+" + word);
  for (const std::string& word : asked) {
    if (std::find(has.begin(), has.end(), word) != has.end()) continue;
    const bool known = word == "+dsp" || word == "+mve" || word == "+fp";
    return Diagnostics(
        "",
        known ? fmt::format("{} has no extension for -mattr={}", core.name, word)
              : fmt::format("-mattr cannot be '{}'", word),
        has.empty() ? "leave -mattr out" : fmt::format("it has {}", fmt::join(has, ", ")));
  }
  return {};
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
      AttributeSpec::list("mattr", {}, "extensions that the core must have: +dsp, +mve, +fp"),
      AttributeSpec::word("kernels", "tuned", {"tuned", "portable"},
                          "tuned: kernels made for the core, where a target folder brings them"),
  };
  spec.resolve = [](Attributes& attributes) -> Result<void> {
    if (const Core* core = find_core(attributes.get_string("mcpu")))
      attributes.derive("mfloat-abi", std::string(core->float_abi));
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

class CKind final : public TargetKind {
 public:
  const KindSpec& spec() const override { return spec_; }

  CostEstimate cost(const Target& target, const graph::Module&, const graph::Function& function,
                    const graph::Node& node) const override {
    const Core* core = find_core(target.get_string("mcpu"));
    INTARSIA_CHECK(core != nullptr, "the catalogue admits only cores of the table");
    int64_t elements = 0;
    for (const graph::TensorId id : node.outputs)
      elements += element_count(function.tensor(id).shape);
    // Requantising and storing one result takes some thirty instructions on any of them.
    return {core->instructions_per_mac * static_cast<double>(graph::mac_count(function, node)) +
                30.0 * static_cast<double>(elements),
            core->clock_mhz};
  }

 private:
  KindSpec spec_ = make_spec();
};

}  // namespace

void add_kinds(TargetRegistry& registry) {
  registry.add(std::make_unique<CKind>());
}

}  // namespace intarsia::targets::c
