#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "board/board_firmware.h"
#include "build/compile_jobs.h"
#include "build/model_descriptor.h"
#include "build/object_machine.h"
#include "build/objects.h"
#include "build/tool_options.h"
#include "support/c_identifier.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::build {
namespace {

namespace fs = std::filesystem;

// Copied into the package from the runtime and the targets, as opposed to emitted for its model.
bool is_copied(const std::string& source) {
  return source.starts_with("intarsia/") || source.starts_with("simulator/intarsia/");
}

// Next to `work_folder`'s other objects.
std::string object_path(const std::string& work_folder, const char* kind, size_t index,
                        const std::string& source) {
  return fs::absolute(fs::path(work_folder) /
                      fmt::format("{}{:02}_{}.o", kind, index, fs::path(source).stem().string()))
      .string();
}

std::vector<std::string> flags_of_sources(const BuildSetting& setting) {
  std::vector<std::string> flags = board::compile_flags(setting.board, setting.core);
  flags.insert(flags.end(), {setting.optimise, "-ffunction-sections", "-fdata-sections"});
  flags.insert(flags.end(), setting.more_flags.begin(), setting.more_flags.end());
  return flags;
}

// Writes and compiles what makes the package's model the program's.
Result<Job> descriptor_job(const BuildSetting& setting, const std::string& work_folder) {
  Job job;
  job.source = fs::absolute(fs::path(work_folder) / "model_descriptor.c").string();
  INTARSIA_TRY_VOID(write_file(job.source, std::string_view(descriptor_text(setting.manifest))));
  job.directory = setting.folder;
  job.object = object_path(work_folder, "board_", 99, job.source);
  job.include_dirs = setting.manifest.include_dirs;
  // Behind the package's own headers.
  for (const std::string& flag : board::include_flags(setting.resource_root))
    job.include_dirs.push_back(fs::absolute(flag.substr(2)).string());
  job.command = {setting.board.compiler, "-std=c11"};
  const std::vector<std::string> flags = flags_of_sources(setting);
  job.command.insert(job.command.end(), flags.begin(), flags.end());
  return job;
}

}  // namespace

std::string compiler_for(const board::Board& board, bool cpp) {
  if (!cpp) return board.compiler;
  std::string name = board.compiler;
  if (name.ends_with("gcc")) return name.substr(0, name.size() - 2) + "++";
  return name == "cc" ? "c++" : name;
}

Result<Objects> compile_objects(const BuildSetting& setting, const std::string& work_folder) {
  std::vector<std::string> common = flags_of_sources(setting);
  if (setting.shows_results)
    common.push_back(
        fmt::format("-D{}_TRACE=intarsia_show_result", upper_case(setting.manifest.model)));
  if (!setting.board.native()) common.push_back("-fcallgraph-info=su");
  const bool strict = std::getenv(kWarningsAreErrors) != nullptr;

  Objects objects;
  std::vector<Job> jobs;
  for (size_t i = 0; i < setting.manifest.sources.size(); ++i) {
    const std::string& source = setting.manifest.sources[i];
    if (source.ends_with(".o")) {  // compiled with the model
      objects.model.push_back(fs::absolute(fs::path(setting.folder) / source).string());
      INTARSIA_TRY_VOID(check_machine(setting.board, objects.model.back()));
      continue;
    }
    const bool cpp = source.ends_with(".cpp"), for_assembler = source.ends_with(".S");
    Job job;
    job.source = source;
    job.directory = setting.folder;
    job.object = object_path(work_folder, "", i, source);
    job.same_for_every_model = is_copied(source);
    job.include_dirs = setting.manifest.include_dirs;
    job.command = {compiler_for(setting.board, cpp)};
    job.command.insert(job.command.end(), common.begin(), common.end());
    if (cpp && setting.board.native())
      job.command.push_back("-std=c++20");
    else if (cpp)
      job.command.insert(job.command.end(), {"-std=c++20", "-ffreestanding", "-fno-exceptions",
                                             "-fno-rtti", "-fno-threadsafe-statics"});
    else
      job.command.push_back("-std=c11");
    if (strict && !cpp)
      job.command.insert(job.command.end(), {"-Wall", "-Wextra", "-Wconversion", "-Werror"});
    const auto& program = setting.manifest.program_sources;
    if (std::find(program.begin(), program.end(), source) != program.end()) {
      objects.program.push_back(job.object);
    } else {
      objects.model.push_back(job.object);
      if (!for_assembler)
        objects.call_graphs.push_back(fs::path(job.object).replace_extension(".ci").string());
    }
    jobs.push_back(std::move(job));
  }
  INTARSIA_TRY_VOID(run_jobs(setting, jobs));
  return objects;
}

Result<std::vector<std::string>> compile_board_support(const BuildSetting& setting,
                                                       const std::string& work_folder) {
  const size_t tensors =
      std::max({setting.manifest.inputs.size(), setting.manifest.outputs.size(), size_t{1}});
  std::vector<std::string> sources = board::support_sources(setting.board, setting.resource_root);
  if (!setting.manifest.parts.empty()) sources.push_back(setting.board.folder + "/second_core.c");
  if (const std::string devices = setting.board.folder + "/devices.c";
      !setting.manifest.devices.empty() && fs::exists(devices))
    sources.push_back(devices);
  std::vector<Job> jobs;
  std::vector<std::string> objects;
  for (size_t i = 0; i < sources.size(); ++i) {
    Job job;
    job.source = fs::absolute(sources[i]).string();
    job.object = object_path(work_folder, "board_", i, sources[i]);
    job.same_for_every_model = true;
    job.command = {setting.board.compiler, "-std=c11"};
    const std::vector<std::string> flags = board::compile_flags(setting.board, setting.core);
    job.command.insert(job.command.end(), flags.begin(), flags.end());
    job.command.insert(job.command.end(),
                       {setting.optimise, fmt::format("-DINTARSIA_MAX_TENSORS={}", tensors)});
    for (const std::string& flag : board::include_flags(setting.resource_root))
      job.include_dirs.push_back(fs::absolute(flag.substr(2)).string());
    // For startup code that a board brings, what lies beside the common one.
    if (!setting.board.startup.empty())
      job.include_dirs.push_back(fs::absolute(setting.resource_root + "/boards/common").string());
    objects.push_back(job.object);
    jobs.push_back(std::move(job));
  }
  if (!setting.has_descriptor && setting.manifest.parts.empty()) {
    INTARSIA_TRY(Job job, descriptor_job(setting, work_folder));
    objects.push_back(job.object);
    jobs.push_back(std::move(job));
  }
  INTARSIA_TRY_VOID(run_jobs(setting, jobs));
  return objects;
}

Result<void> build_simulators(const BuildSetting& setting, const std::string& work_folder,
                              const std::string& output) {
  std::vector<std::string> sources = {
      fs::absolute(setting.resource_root + "/boards/host/device_server.cpp").string()};
  sources.insert(sources.end(), setting.manifest.simulator_sources.begin(),
                 setting.manifest.simulator_sources.end());
  std::vector<Job> jobs;
  std::vector<std::string> link = {"c++"};
  for (size_t i = 0; i < sources.size(); ++i) {
    Job job;
    job.source = sources[i];
    job.directory = setting.folder;
    job.object = object_path(work_folder, "simulator_", i, sources[i]);
    job.same_for_every_model = i == 0 || is_copied(sources[i]);
    job.include_dirs = setting.manifest.simulator_include_dirs;
    job.command = {"c++", "-std=c++20", "-O2"};
    link.push_back(job.object);
    jobs.push_back(std::move(job));
  }
  INTARSIA_TRY_VOID(run_jobs(setting, jobs));
  link.insert(link.end(), {"-o", output});
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(link, tool_options(output)));
  if (!outcome.succeeded())
    return Diagnostics(setting.manifest.model,
                       "linking the program that simulates its devices failed:\n" + outcome.err);
  return {};
}

}  // namespace intarsia::build
