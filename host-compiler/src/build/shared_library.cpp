#include "build/shared_library.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "build/link_failure.h"
#include "build/objects.h"
#include "build/tool_options.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::build {
namespace {

Result<void> check_is_possible(const BuildSetting& setting, const std::string& file) {
  if (!setting.board.native())
    return Diagnostics(
        "--output " + file,
        fmt::format("board {} has no operating system that would load a shared library",
                    setting.board.name),
        "name another file for a program, or a board with Linux");
  if (!setting.manifest.parts.empty())
    return Diagnostics("--output " + file,
                       fmt::format("the parts {} are packages of their own",
                                   fmt::join(setting.manifest.parts, ", ")),
                       "build a program");
  return {};
}

// Two models in one process may have been compiled by different versions: what they do not promise stays their own.
std::string export_script(const std::string& model) {
  return fmt::format("{{ global: {}_*; local: *; }};\n", model);
}

}  // namespace

bool names_shared_library(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

Result<std::string> build_shared_library(const BuildSetting& setting, const std::string& file,
                                         const std::string& work_folder) {
  INTARSIA_TRY_VOID(check_is_possible(setting, file));
  BuildSetting shared = setting;
  shared.more_flags.push_back("-fPIC");
  INTARSIA_TRY(const Objects objects, compile_objects(shared, work_folder));
  const std::string script = work_folder + "/exports.map", output = work_folder + "/library";
  INTARSIA_TRY_VOID(write_file(script, std::string_view(export_script(setting.manifest.model))));
  std::vector<std::string> command = {setting.board.compiler, setting.optimise};
  const auto append = [&](const std::vector<std::string>& words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  append(setting.core.flags);
  append({"-shared", "-Wl,--gc-sections", "-Wl,--no-undefined", "-Wl,--version-script=" + script,
          "-Wl,-soname," + std::filesystem::path(file).filename().string()});
  append(objects.model);
  for (const std::string& library : setting.manifest.link_libraries) append({"-l" + library});
  const bool has_cpp = std::ranges::any_of(
      setting.manifest.sources, [](const std::string& source) { return source.ends_with(".cpp"); });
  if (has_cpp) append({"-lstdc++"});
  append({"-lm", "-o", output});
  if (setting.on_progress) setting.on_progress({"linking"});
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command, tool_options(output)));
  if (!outcome.succeeded()) return link_failure(setting, "the shared library", outcome);
  return output;
}

}  // namespace intarsia::build
