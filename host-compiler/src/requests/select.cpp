#include "requests/select.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "board/process_board.h"
#include "support/files.h"

namespace intarsia::requests {
namespace {

// `pins` are those of one source: there, a name has one device.
Result<void> add_pin(const std::string& text, const std::string& where,
                     std::map<std::string, std::string>& pins) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return Diagnostics(where, fmt::format("'{}' is not NAME=DEVICE", text),
                       "for example conv_3=npu");
  const std::string name = text.substr(0, equals), device = text.substr(equals + 1);
  const auto [pin, fresh] = pins.try_emplace(name, device);
  if (!fresh && pin->second != device)
    return Diagnostics(where,
                       fmt::format("'{}' is pinned to '{}' already and cannot run on '{}' too",
                                   name, pin->second, device),
                       "keep one of the two");
  return {};
}

Result<PartitionOptions> partition_options(const ModelOptions& options) {
  PartitionOptions result;
  result.policy = options.policy == "cost" ? PartitionPolicy::Cost : PartitionPolicy::Priority;
  result.estimates = false;  // where nobody shows them
  if (!options.pins_file.empty()) {
    INTARSIA_TRY(const std::string text, read_text_file(options.pins_file));
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty() || line[0] == '#') continue;
      INTARSIA_TRY_VOID(
          add_pin(line, fmt::format("{}:{}", options.pins_file, number), result.pins));
    }
  }
  std::map<std::string, std::string> pins;
  for (const std::string& pin : options.pins) INTARSIA_TRY_VOID(add_pin(pin, "--pin", pins));
  pins.merge(result.pins);  // what the command line says goes before the file
  result.pins = std::move(pins);
  return result;
}

Result<std::map<std::string, std::string>> sections_of(const ModelOptions& options) {
  std::map<std::string, std::string> sections;
  for (const std::string& text : options.sections) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return Diagnostics("--section", fmt::format("'{}' is not WHAT=SECTION", text),
                         "for example weights=.qspi");
    if (!sections.try_emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return Diagnostics("--section",
                         fmt::format("'{}' has a section already", text.substr(0, equals)),
                         "keep one of the two");
  }
  return sections;
}

// GCC's intrinsics of an extension ask for the architecture that brought it, which -mcpu of an older core is not.
constexpr std::pair<std::string_view, std::string_view> kArchitectures[] = {
    {"dotprod", "armv8.2-a"},
};

// What -mattr says, as compilers for Linux have it: behind -mcpu, or as an option of its own beside -march. Boards without a system say
// themselves what their cores lack.
void add_extension(const std::string& word, std::vector<std::string>& flags) {
  constexpr std::string_view kCpu = "-mcpu=";
  const bool lacks = word.starts_with('-') || word.starts_with("+no");
  const std::string name = word.substr(word.starts_with("+no") ? 3 : 1);
  const auto cpu =
      std::ranges::find_if(flags, [&](const std::string& flag) { return flag.starts_with(kCpu); });
  const auto* architecture = std::ranges::find(
      kArchitectures, name, &std::pair<std::string_view, std::string_view>::first);
  if (cpu == flags.end()) {
    flags.push_back((lacks ? "-mno-" : "-m") + name);
  } else if (lacks || architecture == std::end(kArchitectures)) {
    *cpu += (lacks ? "+no" : "+") + name;
  } else {
    const std::string tuned = cpu->substr(kCpu.size());
    *cpu = fmt::format("-march={}+{}", architecture->second, name);
    flags.push_back("-mtune=" + tuned);
  }
}

void add_extensions(const Target& host, board::Core& core) {
  if (const AttributeValue* mattr = host.attributes.find("mattr"))
    for (const std::string& word : std::get<std::vector<std::string>>(*mattr))
      add_extension(word, core.flags);
}

// Of a host for any machine, whose words for it are its own.
bool chooses_machine(const TargetCatalogue& catalogue, const Target& host) {
  return catalogue.kind(host.kind)->attribute("mtriple") != nullptr;
}

// The core the C compiler is to compile for: what the host says, or the board's own when it
// leaves it open.
Result<board::Core> core_of(const TargetCatalogue& catalogue, const board::Board& board,
                            const Target& host) {
  const AttributeValue* mcpu = host.attributes.find("mcpu");
  const std::string* name = mcpu == nullptr ? nullptr : std::get_if<std::string>(mcpu);
  if (name == nullptr || *name == "native") {
    if (board.cores.empty()) return board::Core{"native", {}};
    return board.cores.front();
  }
  INTARSIA_TRY(board::Core core, board::core_for(board, *name));
  const bool has_flags = board.native() && !board::is_this_machine(board);
  if (has_flags && !chooses_machine(catalogue, host)) add_extensions(host, core);
  return core;
}

// Where nobody says which machine the host is, it is the board's, as its compiler calls it: "aarch64-linux-gnu-gcc".
void choose_machine_of_board(const TargetCatalogue& catalogue, const board::Board& board,
                             TargetSpec& target) {
  constexpr std::string_view kCompiler = "-gcc";
  const Target& host = target.host();
  const bool chooses = chooses_machine(catalogue, host) && !host.attributes.has("mtriple");
  if (!chooses || !board.native() || board.cores.empty() || !board.compiler.ends_with(kCompiler))
    return;
  target.derive(0, "mtriple", board.compiler.substr(0, board.compiler.size() - kCompiler.size()));
  if (!host.attributes.has("mcpu")) target.derive(0, "mcpu", board.cores.front().name);
}

// An option that is an attribute, `name`, of those devices that have one of this name. `counted`: how many these are.
Result<TargetSpec> with_attribute(const TargetCatalogue& catalogue, const TargetSpec& target,
                                  const std::string& name, const AttributeValue& value,
                                  int& counted) {
  std::vector<Target> devices(target.devices().begin(), target.devices().end());
  counted = 0;
  for (Target& device : devices) {
    if (catalogue.kind(device.kind)->attribute(name) == nullptr) continue;
    device.attributes.write(name, value);
    ++counted;
  }
  return make_target(catalogue, devices, "--" + name);
}

// What the options say of the devices of the target.
Result<TargetSpec> with_device_options(const TargetCatalogue& catalogue, TargetSpec target,
                                       const ModelOptions& options) {
  int counted = 0;
  if (options.sram_limit) {
    INTARSIA_TRY(target,
                 with_attribute(catalogue, target, "sram-limit", *options.sram_limit, counted));
  }
  if (options.driver.empty()) return target;
  INTARSIA_TRY(target, with_attribute(catalogue, target, "driver", options.driver, counted));
  if (counted == 0)
    return Diagnostics(
        "--driver",
        fmt::format("no device of the target '{}' has drivers to choose from", to_string(target)),
        "name one that has with --target: 'intarsia targets KIND' lists -driver for it");
  return target;
}

// The board has to say what there is.
Result<void> check_auto_budget(const ModelOptions& options, const board::Board& board) {
  if (!options.ram_budget_is_auto || !board.native()) return {};
  return Diagnostics(
      "--ram-budget auto",
      fmt::format("board {} has no limit of memory that a budget could be", board.name),
      "name the board with --board, or the bytes with --ram-budget");
}

}  // namespace

bool has_ram_budget(const ModelOptions& options) {
  return options.ram_budget.has_value() || options.ram_budget_is_auto;
}

Result<Selection> select(Environment& environment, const ModelOptions& options) {
  if (options.flash_budget && !options.keeps_flash_budget)
    return Diagnostics("--flash-budget",
                       "only 'compile' and 'check' measure flash and keep to a budget",
                       "leave it out, and give the --optimise that 'compile' chose");
  INTARSIA_TRY_VOID(environment.load_tags(options.tags_file));
  INTARSIA_TRY(const std::vector<std::string> folders, environment.board_folders());
  INTARSIA_TRY(board::Board board, board::find_board(folders, options.board));
  INTARSIA_TRY_VOID(check_auto_budget(options, board));
  std::string text = options.target;
  if (text.empty() && board.cores.empty()) {
    text = "c";
  } else if (text.empty()) {
    const board::Core& core = board.cores.front();
    text = core.attributes.empty() ? core.name : core.name + " " + core.attributes;
  }
  const std::string where = options.target.empty() && !board.cores.empty()
                                ? fmt::format("{}/board.json: cores[0]", board.folder)
                                : "--target";
  INTARSIA_TRY(TargetSpec target,
               parse_target_argument(environment.registry.catalogue(), text, where));
  INTARSIA_TRY(target,
               with_device_options(environment.registry.catalogue(), std::move(target), options));
  choose_machine_of_board(environment.registry.catalogue(), board, target);
  INTARSIA_TRY(board::Core core, core_of(environment.registry.catalogue(), board, target.host()));
  CompileOptions compile_options;
  INTARSIA_TRY(compile_options.partition, partition_options(options));
  for (auto& [name, device] : compile_options.partition.pins) {
    INTARSIA_TRY(const Target* found, find_device(environment.registry.catalogue(), target, device,
                                                  fmt::format("--pin {}", name)));
    device = found->name;
  }
  using Optimise = LoweringOptions::Optimise;
  compile_options.lowering.optimise = options.optimise == "speed"  ? Optimise::Speed
                                      : options.optimise == "size" ? Optimise::Size
                                                                   : Optimise::Balanced;
  compile_options.lowering.ram_budget = options.ram_budget;
  compile_options.fits_by_row_tiles = options.ram_budget_is_auto;
  compile_options.lowering.flash_budget = options.flash_budget;
  compile_options.lowering.eliminate_dead_channels = !options.keep_dead_channels;
  compile_options.plan.in_place = !options.no_in_place;
  compile_options.memory = board::memory_map(board);
  INTARSIA_TRY(target, on_board(std::move(target), environment.registry, compile_options.memory));
  INTARSIA_TRY(compile_options.sections, sections_of(options));
  compile_options.weights_file = options.weights_file == "always"  ? WeightsFile::Always
                                 : options.weights_file == "never" ? WeightsFile::Never
                                                                   : WeightsFile::Auto;
  return Selection{std::move(target), std::move(board), std::move(core),
                   std::move(compile_options)};
}

BuildSetting build_setting(const Environment& environment, const ModelOptions& options,
                           const board::Board& board, const board::Core& core,
                           const std::string& folder, const PackageManifest& manifest) {
  // Beside the memories of a system with processes code is small.
  const bool for_speed =
      board.native() && !board::is_this_machine(board) && options.optimise != "size";
  BuildSetting setting{folder,
                       manifest,
                       board,
                       core,
                       environment.resource_root,
                       for_speed ? "-O3" : optimise_flag(options)};
  // Rounded up: 0 is for ever.
  setting.time_limit =
      std::chrono::milliseconds(static_cast<int64_t>(std::ceil(options.timeout * 1000)));
  return setting;
}

std::string optimise_flag(const ModelOptions& options) {
  return options.optimise == "speed" ? "-O2" : "-Os";
}

}  // namespace intarsia::requests
