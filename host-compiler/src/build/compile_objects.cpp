#include <algorithm>
#include <atomic>
#include <filesystem>
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
};

Result<void> run_jobs(const std::vector<Job>& jobs) {
  std::vector<Result<void>> results(jobs.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < jobs.size();) {
      const Result<ProcessOutcome> outcome = run_process(jobs[i].command);
      if (!outcome.ok())
        results[i] = outcome.error();
      else if (!outcome->succeeded())
        results[i] = Diagnostics(jobs[i].source,
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
  for (const std::string& dir : setting.manifest.include_dirs)
    common.push_back("-I" + (fs::path(setting.folder) / dir).string());
  common.insert(common.end(), {setting.optimise, "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra"});
  if (!setting.board.native()) common.push_back("-fcallgraph-info=su");

  Objects objects;
  std::vector<Job> jobs;
  for (size_t i = 0; i < setting.manifest.sources.size(); ++i) {
    const std::string& source = setting.manifest.sources[i];
    const bool cpp = source.ends_with(".cpp");
    const fs::path object = fs::path(work_folder) / fmt::format("{:02}_{}.o", i, fs::path(source).stem().string());
    std::vector<std::string> command = {compiler_for(setting.board, cpp)};
    command.insert(command.end(), common.begin(), common.end());
    if (cpp && setting.board.native())
      command.push_back("-std=c++20");  // drivers and simulators
    else if (cpp)
      command.insert(command.end(), {"-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti",
                                     "-fno-threadsafe-statics"});
    else
      command.insert(command.end(), {"-std=c11", "-Wconversion", "-Werror"});
    command.insert(command.end(), {"-c", (fs::path(setting.folder) / source).string(), "-o", object.string()});
    jobs.push_back({std::move(command), source});
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
  std::vector<std::string> common = {"c++", "-std=c++20", "-O2"};
  for (const std::string& dir : setting.manifest.simulator_include_dirs)
    common.push_back("-I" + (fs::path(setting.folder) / dir).string());
  std::vector<std::string> sources = {setting.resource_root + "/boards/host/device_server.cpp"};
  for (const std::string& source : setting.manifest.simulator_sources)
    sources.push_back((fs::path(setting.folder) / source).string());
  std::vector<Job> jobs;
  std::vector<std::string> link = {"c++"};
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string object =
        (fs::path(work_folder) / fmt::format("simulator_{:02}_{}.o", i, fs::path(sources[i]).stem().string())).string();
    std::vector<std::string> command = common;
    command.insert(command.end(), {"-c", sources[i], "-o", object});
    jobs.push_back({std::move(command), sources[i]});
    link.push_back(object);
  }
  INTARSIA_TRY_VOID(run_jobs(jobs));
  link.insert(link.end(), {"-o", output});
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(link));
  if (!outcome.succeeded())
    return Diagnostics(setting.manifest.model, "linking the program that simulates its devices failed:\n" + outcome.err);
  return {};
}

}  // namespace intarsia::build
