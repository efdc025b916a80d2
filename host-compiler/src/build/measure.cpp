#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "board/board_firmware.h"
#include "board/process_board.h"
#include "build/measurable.h"
#include "build/object_calls.h"
#include "build/objects.h"
#include "build/tool_options.h"
#include "intarsia/build.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia {
namespace {

std::string compiler_text(const BuildSetting& setting) {
  const auto outcome = run_process({setting.board.compiler, "-dumpfullversion"});
  std::string version = outcome.ok() && outcome->succeeded() ? outcome->out : "";
  while (!version.empty() && version.back() == '\n') version.pop_back();
  return fmt::format("{} {} {}", setting.board.compiler, version, setting.optimise);
}

// Links the model alone, relocatable, keeping only what its interface reaches.
Result<board::ElfImage> link_model(const BuildSetting& setting, const build::Objects& objects,
                                   const std::string& work_folder) {
  const std::string& name = setting.manifest.model;
  const std::string output = work_folder + "/model.elf";
  std::vector<std::string> command = {setting.board.compiler};
  const auto flags = board::compile_flags(setting.board, setting.core);
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(),
                 {"-r", "-nostdlib", "-Wl,--gc-sections", "-Wl,-e," + name + "_run"});
  for (const char* symbol : {"_init", "_input", "_output"})
    command.push_back("-Wl,-u," + name + symbol);
  // RISC-V's C library brings a script for programs, unless there is another: one that leaves all sections as they are.
  if (setting.board.is_riscv()) {
    const std::string script = work_folder + "/as_it_is.ld";
    INTARSIA_TRY_VOID(write_file(script, std::string_view("SECTIONS { }\n")));
    command.insert(command.end(), {"-T", script});
  }
  command.insert(command.end(), objects.model.begin(), objects.model.end());
  command.insert(command.end(), {"-lc", "-lgcc", "-o", output});
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command, build::tool_options(output)));
  if (!outcome.succeeded())
    return Diagnostics(
        name,
        fmt::format("linking for measurement failed ({}):\n{}", outcome.ending(), outcome.err),
        "this is a fault of the emitted code, please report it");
  return board::read_elf(output);
}

bool begins(const board::ElfSection& section, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names,
                             [&](std::string_view name) { return section.name.starts_with(name); });
}

// The model's part of the flash. What is in no section of the contract's or of the compiler's was sent there by
// --section: constants, or the streams.
void count_flash(const board::ElfImage& image, const std::string& model, Measurements& result) {
  const auto package = image.homes.find(model + "_package");
  for (const board::ElfSection& section : image.sections) {
    // Tables for unwinding and for programs' ends: linker scripts leave them out.
    if (!section.has_bytes || begins(section, {".ARM.ex", ".eh_frame", ".fini_array"})) continue;
    const bool has_streams = package != image.homes.end() && package->second == section.index;
    if (has_streams || begins(section, {".intarsia.streams"}))
      result.stream_bytes += section.size;
    else if (begins(section, {".text", ".rodata", ".data", ".srodata", ".sdata"}))
      result.code_bytes += section.size;
    else
      result.constant_bytes += section.size;
  }
}

}  // namespace

Result<void> build::may_be_measured(const BuildSetting& setting) {
  if (setting.board.native() && !board::is_this_machine(setting.board))
    return Diagnostics(setting.board.name, "code and stack of a process are not measured",
                       "choose a board without an operating system with --board");
  if (setting.board.native())
    return Diagnostics(setting.board.name,
                       "code and stack are measured for cross-compiled boards only",
                       "choose a board with --board");
  if (!setting.manifest.parts.empty())
    return Diagnostics(setting.manifest.model, "parts are measured each by itself",
                       "build their packages");
  return {};
}

Result<Measurements> measure(const BuildSetting& setting) {
  INTARSIA_TRY_VOID(build::may_be_measured(setting));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  INTARSIA_TRY(const build::Objects objects, build::compile_objects(setting, work.path()));
  INTARSIA_TRY(const board::ElfImage image, link_model(setting, objects, work.path()));

  Measurements result;
  result.compiler = compiler_text(setting);
  count_flash(image, setting.manifest.model, result);
  std::vector<std::string> graphs;
  for (const std::string& path : objects.call_graphs) {
    INTARSIA_TRY(std::string text, read_text_file(path));
    graphs.push_back(std::move(text));
  }
  for (const std::string& source : setting.manifest.sources)
    if (source.ends_with(".o")) {
      INTARSIA_TRY(const std::string bytes, read_text_file(setting.folder + "/" + source));
      INTARSIA_TRY(std::string text, build::calls_of_object(bytes, source));
      graphs.push_back(std::move(text));
    }
  INTARSIA_TRY(const build::StackBound stack,
               build::stack_bound(graphs, setting.manifest.model + "_run"));
  result.stack_bytes = stack.bytes;
  result.stack_chain = stack.chain;
  return result;
}

}  // namespace intarsia
