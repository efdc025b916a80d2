#include "context.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "intarsia/builtin_targets.h"
#include "intarsia/import.h"
#include "intarsia/package.h"
#include "passes/quantised_edges.h"
#include "support/files.h"
#include "terminal.h"

namespace intarsia::cli {
namespace {

namespace fs = std::filesystem;

// Beside an installed program, in the source tree of a built one, or where INTARSIA_ROOT says.
std::string find_resource_root() {
  if (const char* given = std::getenv("INTARSIA_ROOT")) return given;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed =
      (program.parent_path() / INTARSIA_INSTALLED_RESOURCES).lexically_normal();
  if (!error && fs::exists(installed / "boards", error)) return installed.string();
  return INTARSIA_SOURCE_DIR;
}

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

Result<PartitionOptions> partition_options(const CommonOptions& options) {
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

Result<std::map<std::string, std::string>> sections_of(const CommonOptions& options) {
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

// The core the C compiler is to compile for: what the host says, or the board's own when it
// leaves it open.
Result<board::Core> core_of(const board::Board& board, const Target& host) {
  const AttributeValue* mcpu = host.attributes.find("mcpu");
  const std::string* name = mcpu == nullptr ? nullptr : std::get_if<std::string>(mcpu);
  if (name == nullptr || *name == "native") {
    if (board.cores.empty()) return board::Core{"native", {}};
    return board.cores.front();
  }
  return board::core_for(board, *name);
}

// --sram-limit is an attribute of those devices that have one of this name.
Result<TargetSpec> with_sram_limit(const TargetCatalogue& catalogue, const TargetSpec& target,
                                   int64_t bytes) {
  constexpr const char* kAttribute = "sram-limit";
  std::vector<Target> devices(target.devices().begin(), target.devices().end());
  for (Target& device : devices) {
    const std::vector<AttributeSpec>& known = catalogue.kind(device.kind)->attributes;
    if (std::any_of(known.begin(), known.end(),
                    [&](const AttributeSpec& spec) { return spec.name == kAttribute; }))
      device.attributes.write(kAttribute, bytes);
  }
  return make_target(catalogue, devices, "--sram-limit");
}

}  // namespace

Context::Context() : resource_root(find_resource_root()) {
  add_builtin_targets(registry);
  add_builtin_engine(engine);
}

Result<std::vector<std::string>> Context::board_folders() const {
  std::vector<std::string> folders;
  Diagnostics problems;
  if (const char* given = std::getenv("INTARSIA_BOARDS")) {
    std::istringstream list(given);
    for (std::string folder; std::getline(list, folder, ':');) {
      std::error_code error;
      if (folder.empty()) continue;
      if (!fs::is_directory(folder, error))
        problems.add("INTARSIA_BOARDS", fmt::format("there is no folder '{}'", folder),
                     "list folders that hold boards, with ':' between them");
      folders.push_back(folder);
    }
  }
  if (!problems.empty()) return problems;
  folders.push_back(boards_folder());
  return folders;
}

Result<void> Context::load_tags(const std::string& file) {
  if (file.empty() || loaded_tags_.contains(file)) return {};
  INTARSIA_TRY_VOID(registry.catalogue().load_tags_file(file));
  loaded_tags_.insert(file);
  return {};
}

Result<Selection> select(Context& context, const CommonOptions& options) {
  if (options.flash_budget && !options.keeps_flash_budget)
    return Diagnostics("--flash-budget",
                       "only 'compile' and 'check' measure flash and keep to a budget",
                       "leave it out, and give the --optimise that 'compile' chose");
  INTARSIA_TRY_VOID(context.load_tags(options.tags_file));
  INTARSIA_TRY(const std::vector<std::string> folders, context.board_folders());
  INTARSIA_TRY(board::Board board, board::find_board(folders, options.board));
  std::string text = options.target;
  if (text.empty() && (board.native() || board.cores.empty())) {
    text = "c";
  } else if (text.empty()) {
    const board::Core& core = board.cores.front();
    text = core.attributes.empty() ? core.name : core.name + " " + core.attributes;
  }
  const std::string where = options.target.empty() && !board.native()
                                ? fmt::format("{}/board.json: cores[0]", board.folder)
                                : "--target";
  INTARSIA_TRY(TargetSpec target, parse_target_argument(context.registry.catalogue(), text, where));
  if (options.sram_limit) {
    INTARSIA_TRY(target,
                 with_sram_limit(context.registry.catalogue(), target, *options.sram_limit));
  }
  INTARSIA_TRY(board::Core core, core_of(board, target.host()));
  CompileOptions compile_options;
  INTARSIA_TRY(compile_options.partition, partition_options(options));
  for (auto& [name, device] : compile_options.partition.pins) {
    INTARSIA_TRY(const Target* found, find_device(context.registry.catalogue(), target, device,
                                                  fmt::format("--pin {}", name)));
    device = found->name;
  }
  using Optimise = LoweringOptions::Optimise;
  compile_options.lowering.optimise = options.optimise == "speed"  ? Optimise::Speed
                                      : options.optimise == "size" ? Optimise::Size
                                                                   : Optimise::Balanced;
  compile_options.lowering.ram_budget = options.ram_budget;
  compile_options.lowering.flash_budget = options.flash_budget;
  compile_options.lowering.eliminate_dead_channels = !options.keep_dead_channels;
  compile_options.plan.in_place = !options.no_in_place;
  compile_options.memory = board::memory_map(board);
  compile_options.on_progress = progress_listener();
  INTARSIA_TRY(compile_options.sections, sections_of(options));
  return Selection{std::move(target), std::move(board), std::move(core),
                   std::move(compile_options)};
}

BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const Selection& selection, const std::string& folder,
                           const PackageManifest& manifest) {
  return build_setting(context, options, selection.board, selection.core, folder, manifest);
}

BuildSetting build_setting(const Context& context, const CommonOptions& options,
                           const board::Board& board, const board::Core& core,
                           const std::string& folder, const PackageManifest& manifest) {
  BuildSetting setting{
      folder, manifest, board, core, context.resource_root, optimise_flag(options)};
  setting.time_limit = std::chrono::milliseconds(static_cast<int64_t>(options.timeout * 1000));
  setting.on_progress = progress_listener();
  return setting;
}

namespace {

// The board that the folder was compiled for, where the options say it lies or among the known ones.
Result<board::Board> board_of_folder(const Context& context, const CommonOptions& options,
                                     const PackageManifest& manifest) {
  INTARSIA_TRY(const std::vector<std::string> folders, context.board_folders());
  const bool is_given = options.board != "host";
  Result<board::Board> board =
      board::find_board(folders, is_given ? options.board : manifest.board);
  if (!board.ok() && !is_given)
    return Diagnostics(
        options.model,
        fmt::format("was compiled for board {}, which is none of the known boards", manifest.board),
        "name the board's folder with --board PATH, or the one that it lies in with "
        "INTARSIA_BOARDS");
  if (board.ok() && board->name != manifest.board)
    return Diagnostics(
        options.model,
        fmt::format("was compiled for board {}, not {}", manifest.board, board->name),
        "compile the model again for the other board");
  return board;
}

}  // namespace

Result<BuildSetting> setting_of_folder(Context& context, const CommonOptions& options) {
  INTARSIA_TRY(const PackageManifest manifest, read_manifest(options.model));
  if (!manifest.runtime.empty())
    return Diagnostics(options.model, "is a package whose runtime is in another folder",
                       "name the model, or compile it without --runtime");
  if (!options.name.empty() && options.name != manifest.model)
    return Diagnostics(options.model, fmt::format("is compiled as '{}' already", manifest.model),
                       "leave --name out, or compile the model again with it");
  INTARSIA_TRY(const board::Board board, board_of_folder(context, options, manifest));
  if (!options.target.empty()) {
    INTARSIA_TRY_VOID(context.load_tags(options.tags_file));
    INTARSIA_TRY(const TargetSpec target,
                 parse_target_argument(context.registry.catalogue(), options.target));
    if (to_string(target) != manifest.target)
      return Diagnostics(
          options.model,
          fmt::format("was compiled for target {}, not {}", manifest.target, to_string(target)),
          "compile the model again for the other target");
  }
  board::Core core{"native", {}};
  if (!board.native()) {
    INTARSIA_TRY(core, board::core_for(board, manifest.core));
  }
  return build_setting(context, options, board, core, options.model, manifest);
}

std::string optimise_flag(const CommonOptions& options) {
  return options.optimise == "speed" ? "-O2" : "-Os";
}

Result<graph::Module> import_file(const Context& context, const CommonOptions& options) {
  show_progress("reading " + options.model);
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(options.model));
  Diagnostics notes;
  Result<graph::Module> module =
      import_model(bytes, {options.model, &notes, options.name, context.registry.foreign_formats(),
                           progress_listener()});
  if (module.ok() && options.io == "int8") {
    passes::QuantisedEdges edges = passes::quantised_edges(*module);
    notes.append(edges.kept);
    module = std::move(edges.module);
  }
  for (const Diagnostic& note : notes.items()) print_note(note.to_string());
  return module;
}

std::vector<std::string> boards_that_trace(const Context& context) {
  std::vector<std::string> names;
  const std::string folder = context.boards_folder();
  for (const std::string& name : board::list_boards(folder)) {
    const Result<board::Board> board = board::find_board(folder, name);
    if (board.ok() && (board->native() || board->takes_simulated_devices())) names.push_back(name);
  }
  return names;
}

}  // namespace intarsia::cli
