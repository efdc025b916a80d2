// Kernels of kind `c` for Cortex-M cores: `c -mcpu=cortex-m4` is lowered to kernels made for the core's instructions
// where there are some, and to the portable loops elsewhere.
#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "kernel_costs.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {
namespace {

struct Core {
  const char* name;
  CoreClass core_class;
  CostCore cost_core;
  double time, constant_bytes;  // bytes per cycle
  const char *cmsis, *rust;
};

constexpr Core kCores[] = {
#define CORE(name, core_class, column, time, bytes, cmsis, rust) \
  {name, CoreClass::core_class, CostCore::column, time, bytes, cmsis, rust},
#include "intarsia/targets/cortex_m/cores.def"
#undef CORE
};

const Core* find_core(const Target& target) {
  const AttributeValue* mcpu = target.attributes.find("mcpu");
  const std::string* name = mcpu == nullptr ? nullptr : std::get_if<std::string>(mcpu);
  const auto found = std::find_if(std::begin(kCores), std::end(kCores), [&](const Core& core) {
    return name != nullptr && *name == core.name;
  });
  return found == std::end(kCores) ? nullptr : found;
}

// The classes of kernels that the core has all instructions of, less what -mattr says to be missing. Helium stands on
// the DSP extension.
CoreClass class_of(const Target& target) {
  CoreClass core = find_core(target)->core_class;
  const AttributeValue* value = target.attributes.find("mattr");
  const auto* words = value == nullptr ? nullptr : std::get_if<std::vector<std::string>>(value);
  const auto lacks = [&](const char* extension) {
    return words != nullptr &&
           std::any_of(words->begin(), words->end(), [&](const std::string& word) {
             return word == std::string("-") + extension || word == std::string("+no") + extension;
           });
  };
  if (core == CoreClass::Mve && lacks("mve")) core = CoreClass::Dsp;
  if (core >= CoreClass::Dsp && lacks("dsp")) core = CoreClass::Long;
  return core;
}

double constant_bytes(const graph::Function& function, const graph::Node& node) {
  int64_t bytes = 0;
  for (const graph::TensorId id : node.inputs)
    if (id.valid() && function.tensor(id).constant.valid()) bytes += function.tensor(id).bytes();
  return static_cast<double>(bytes);
}

bool serves(const Target& target) {
  const AttributeValue* kernels = target.attributes.find("kernels");
  return find_core(target) != nullptr &&
         (kernels == nullptr || *kernels == AttributeValue(std::string("tuned")));
}

// Of the memory with the operator's constants, beyond those of the fastest one, where scratch is.
int64_t constant_waits(const LoweringOptions& options, const graph::Node& node) {
  if (options.ram_budget) return 0;  // copies would be in it
  const std::optional<int32_t> constants = constant_cycles(options, node.name);
  if (!constants) return 0;
  int32_t scratch = std::numeric_limits<int32_t>::max();
  for (const MemoryPool& pool : options.memory->pools)
    if (!pool.read_only) scratch = std::min(scratch, pool.cycles_per_access);
  return std::max(*constants - scratch, 0);
}

standard_lowering::ChooseKernel kernels_of(const Target& target, const LoweringOptions& options) {
  const CoreClass core = class_of(target);
  const bool small = options.optimise == LoweringOptions::Optimise::Size;
  return [core, small, options](const OpView& view) {
    return choose_kernel(core, view, small, constant_waits(options, view.node));
  };
}

std::vector<std::string> headers_of(const Target& target) {
  // The second is where flags without the class's instructions are told of.
  constexpr const char* kMadeFor[] = {"rv32", "thumb", "long", "dsp", "mve", "lanes"};
  return {"intarsia/targets/cortex_m/kernels.h",
          fmt::format("intarsia/targets/cortex_m/made_for_{}.h",
                      kMadeFor[static_cast<size_t>(class_of(target))])};
}

// "Cortex-M0+" is ARMCM0P in the pack ARM::Cortex_DFP, which has no others than Arm's own cores.
std::string device_of(const std::string& cmsis) {
  constexpr std::string_view kArms = "Cortex-M";
  if (!cmsis.starts_with(kArms)) return "";
  std::string number = cmsis.substr(kArms.size());
  if (number.ends_with('+')) number.back() = 'P';
  return "ARMCM" + number;
}

constexpr const char* kRustDependencies = "cortex-m-rt = \"0.7\"\ncortex-m-semihosting = \"0.5\"\n";
constexpr const char* kRustUses =
    "use cortex_m_rt::entry;\nuse cortex_m_semihosting::{debug, hprintln as println};\n";
constexpr const char* kRustEntry = R"(#[entry]
fn main() -> ! {
    debug::exit(if sample() { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {}
}

#[panic_handler]
fn panic(problem: &core::panic::PanicInfo) -> ! {
    println!("{}", problem);
    debug::exit(debug::EXIT_FAILURE);
    loop {}
}
)";

// Zephyr's symbols are those of its arch/arm/core/cortex_m/Kconfig.
std::optional<CoreNames> names_of(const Target& target) {
  const Core* core = find_core(target);
  if (core == nullptr || *core->cmsis == '\0') return std::nullopt;
  CoreNames names;
  names.cmsis = core->cmsis;
  names.cmsis_device = device_of(core->cmsis);
  names.rust = fmt::format("{}-none", core->rust);
  names.rust_dependencies = kRustDependencies;
  names.rust_uses = kRustUses;
  names.rust_entry = kRustEntry;
  if (!serves(target)) return names;
  struct Instructions {
    const char *words, *zephyr_condition;
  };
  constexpr Instructions kInstructions[] = {
      {"the instructions of Armv6-M", "CPU_CORTEX_M"},
      {"the instructions of Armv7-M", "ARMV7_M_ARMV8_M_MAINLINE"},
      {"the DSP extension", "CPU_CORTEX_M4 || CPU_CORTEX_M7 || ARMV8_M_DSP"},
      {"Helium, the vector extension", "ARMV8_1_M_MVEI"},
  };
  const Instructions& used =
      kInstructions[static_cast<size_t>(class_of(target)) - static_cast<size_t>(CoreClass::Thumb)];
  names.instructions = used.words;
  names.zephyr_condition = used.zephyr_condition;
  return names;
}

// Without an extension, a core runs kernels of cores that never have it; those columns are nearest.
CostCore column_of(const Core& core, CoreClass used) {
  if (used == core.core_class) return core.cost_core;
  return used == CoreClass::Long ? CostCore::M3 : CostCore::M33;
}

// Kernels are made for `--optimise balanced`, as which they are counted.
std::optional<double> cycles_of(const Target& target, const graph::Module& module,
                                const graph::Function& function, const graph::Node& node,
                                const LoweringOptions& options) {
  const CoreClass used = class_of(target);
  if (used == CoreClass::Lanes) return std::nullopt;  // not counted on any
  const auto work = operator_work(used, module, function, node, constant_waits(options, node));
  if (!work) return std::nullopt;
  const Core& core = *find_core(target);
  const auto cycles = cycles_of_work(column_of(core, used), work->kernels);
  if (!cycles) return std::nullopt;
  constexpr double kWord = 4;
  if (const auto access = constant_cycles(options, node.name))
    return *cycles * core.time + work->constant_bytes / kWord * (*access - 1);
  return std::max(*cycles * core.time, constant_bytes(function, node) / core.constant_bytes);
}

}  // namespace

void add_kinds(TargetRegistry& registry) {
  KernelLibrary library;
  library.serves = serves;
  library.kernels = kernels_of;
  library.structs = kernel_structs();
  library.includes = headers_of;
  library.cycles = cycles_of;
  library.core_names = names_of;
  library.folder = INTARSIA_TARGET_FOLDER;
  registry.add_kernels("c", std::move(library));
}

}  // namespace intarsia::targets::cortex_m
