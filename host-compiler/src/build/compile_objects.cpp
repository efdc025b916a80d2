#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "build/objects.h"
#include "intarsia/board_firmware.h"
#include "support/process.h"

namespace intarsia::build {
namespace {

struct Job {
  std::vector<std::string> command;
  std::string source;
  std::string directory;  // where the command runs; empty: here
};

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  std::error_code error;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::is_regular_file(folder + "/" + program, error)) return true;
  return false;
}

// For C++ on this machine: drivers and simulators, the same files for every model of a target. With a
// compiler cache they are compiled once; the command has no path of the package in it, so that the cache
// knows it again.
std::vector<std::string> host_cpp_command(const std::string& compiler) {
  static const bool cached = is_in_path("ccache");
  std::vector<std::string> command;
  if (cached) command.push_back("ccache");
  command.insert(command.end(), {compiler, "-std=c++20"});
  return command;
}

Result<void> run_jobs(const std::vector<Job>& jobs) {
  std::vector<Result<void>> results(jobs.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < jobs.size();) {
      const Result<ProcessOutcome> outcome =
          run_process(jobs[i].command, {.directory = jobs[i].directory});
      if (!outcome.ok())
        results[i] = outcome.error();
      else if (!outcome->succeeded())
        results[i] = Diagnostics(
            jobs[i].source,
            fmt::format("the C compiler refused it ({}):\n{}", outcome->ending(), outcome->err),
            "this is a fault of the emitted code, please report it");
    }
  };
  std::vector<std::thread> workers;
  const unsigned count = std::max(1u, std::min(4u, std::thread::hardware_concurrency()));
  for (unsigned i = 1; i < count; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  Diagnostics problems;
  for (const Result<void>& result : results)
    if (!result.ok()) {
      problems.append(result.error());
      break;  // one compiler that is absent is absent for all
    }
  return Result<void>::from(problems);
}

}  // namespace

std::string compiler_for(const board::Board& board, bool cpp) {
  if (!cpp) return board.compiler;
  std::string name = board.compiler;
  if (name.ends_with("gcc")) return name.substr(0, name.size() - 2) + "++";
  return name == "cc" ? "c++" : name;
}

Result<Objects> compile_objects(const BuildSetting& setting, const std::string& work_folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> common = board::compile_flags(setting.board, setting.core);
  for (const std::string& dir : setting.manifest.include_dirs) common.push_back("-I" + dir);
  common.insert(common.end(),
                {setting.optimise, "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra"});
  if (!setting.board.native()) common.push_back("-fcallgraph-info=su");

  Objects objects;
  std::vector<Job> jobs;
  for (size_t i = 0; i < setting.manifest.sources.size(); ++i) {
    const std::string& source = setting.manifest.sources[i];
    const bool cpp = source.ends_with(".cpp");
    const fs::path object = fs::absolute(
        fs::path(work_folder) / fmt::format("{:02}_{}.o", i, fs::path(source).stem().string()));
    const std::string compiler = compiler_for(setting.board, cpp);
    std::vector<std::string> command = cpp && setting.board.native()
                                           ? host_cpp_command(compiler)
                                           : std::vector<std::string>{compiler};
    command.insert(command.end(), common.begin(), common.end());
    if (cpp && !setting.board.native())
      command.insert(command.end(), {"-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti",
                                     "-fno-threadsafe-statics"});
    else if (!cpp)
      command.insert(command.end(), {"-std=c11", "-Wconversion", "-Werror"});
    command.insert(command.end(), {"-c", source, "-o", object.string()});
    jobs.push_back({std::move(command), source, setting.folder});
    const auto& program = setting.manifest.program_sources;
    if (std::find(program.begin(), program.end(), source) != program.end()) {
      objects.program.push_back(object.string());
    } else {
      objects.model.push_back(object.string());
      objects.call_graphs.push_back(fs::path(object).replace_extension(".ci").string());
    }
  }
  INTARSIA_TRY_VOID(run_jobs(jobs));
  return objects;
}

Result<void> build_simulators(const BuildSetting& setting, const std::string& work_folder,
                              const std::string& output) {
  namespace fs = std::filesystem;
  std::vector<std::string> sources = {
      fs::absolute(setting.resource_root + "/boards/host/device_server.cpp").string()};
  sources.insert(sources.end(), setting.manifest.simulator_sources.begin(),
                 setting.manifest.simulator_sources.end());
  std::vector<Job> jobs;
  std::vector<std::string> link = {"c++"};
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string object =
        fs::absolute(fs::path(work_folder) /
                     fmt::format("simulator_{:02}_{}.o", i, fs::path(sources[i]).stem().string()))
            .string();
    std::vector<std::string> command = host_cpp_command("c++");
    command.push_back("-O2");
    for (const std::string& dir : setting.manifest.simulator_include_dirs)
      command.push_back("-I" + dir);
    command.insert(command.end(), {"-c", sources[i], "-o", object});
    jobs.push_back({std::move(command), sources[i], setting.folder});
    link.push_back(object);
  }
  INTARSIA_TRY_VOID(run_jobs(jobs));
  link.insert(link.end(), {"-o", output});
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(link));
  if (!outcome.succeeded())
    return Diagnostics(setting.manifest.model,
                       "linking the program that simulates its devices failed:\n" + outcome.err);
  return {};
}

}  // namespace intarsia::build
