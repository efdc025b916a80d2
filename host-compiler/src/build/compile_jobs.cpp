#include "build/compile_jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "build/link_failure.h"
#include "build/object_cache.h"
#include "build/tool_options.h"
#include "support/process.h"
#include "support/watched.h"
#include "support/worker_threads.h"

namespace intarsia::build {
namespace {

Result<void> compile(const Job& job, const BuildSetting& setting, const ObjectCache& cache,
                     std::atomic<bool>& added, const std::atomic<bool>& wanted) {
  std::vector<std::string> command = job.command;
  for (const std::string& dir : job.include_dirs) command.push_back("-I" + dir);
  std::optional<std::string> key;
  if (job.same_for_every_model) {
    key = cache.key_of({command, job.source, job.directory, job.include_dirs});
    if (key && cache.take(*key, job.object)) return {};
  }
  if (key)
    command.insert(command.end(),
                   {"-MD", "-MF", std::filesystem::path(job.object).replace_extension(".d")});
  command.insert(command.end(), {"-c", job.source, "-o", job.object});
  ProcessOptions options = tool_options(job.object);
  options.directory = job.directory;
  options.timeout = setting.time_limit;
  options.is_wanted = [&] { return wanted.load(); };
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command, options));
  if (outcome.timed_out)
    return Diagnostics(job.source,
                       fmt::format("the C compiler was stopped after {} s",
                                   std::chrono::duration<double>(setting.time_limit).count()),
                       "give it longer with --timeout SECONDS");
  // A flag that the compiler does not know is the board's, not the source's.
  const size_t unknown = outcome.err.find("error: unrecognized");
  if (!outcome.succeeded() && unknown != std::string::npos && !setting.board.native())
    return Diagnostics(
        fmt::format("{}/board.json: cores: flags of {}", setting.board.folder, setting.core.name),
        fmt::format("{} refuses them: {}", setting.board.compiler,
                    outcome.err.substr(unknown, outcome.err.find('\n', unknown) - unknown)),
        "give those that the compiler has for this core");
  if (!outcome.succeeded()) return compile_failure(job.source, outcome);
  if (key) {
    cache.put(*key, job.object);
    added = true;
  }
  return {};
}

}  // namespace

Result<void> run_jobs(const BuildSetting& setting, const std::vector<Job>& jobs) {
  const ObjectCache cache = ObjectCache::of_user();
  std::vector<Result<void>> results(jobs.size());
  std::atomic<size_t> next{0}, finished{0};
  std::atomic<bool> added{false}, wanted{true};
  std::mutex progress;
  const auto work = [&] {
    for (size_t i; wanted && (i = next.fetch_add(1)) < jobs.size();) {
      results[i] = compile(jobs[i], setting, cache, added, wanted);
      const size_t now = ++finished;
      if (!watched::is_wanted()) wanted = false;
      if (!setting.on_progress) continue;
      const std::lock_guard lock(progress);
      setting.on_progress(
          {"compiling sources", static_cast<int64_t>(now), static_cast<int64_t>(jobs.size())});
    }
  };
  WorkerThreads workers;
  const unsigned count = std::max(1u, std::min(8u, std::thread::hardware_concurrency()));
  for (unsigned i = 1; i < std::min<size_t>(count, jobs.size()); ++i)
    if (!workers.start(work)) break;
  work();
  // This thread is the one that is watched.
  while (workers.running() > 0) {
    if (!watched::is_wanted()) wanted = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  workers.join();
  if (added) cache.trim();
  INTARSIA_TRY_VOID(watched::goes_on());
  Diagnostics problems;
  for (const Result<void>& result : results)
    if (!result.ok()) {
      problems.append(result.error());
      break;  // one compiler that is absent is absent for all
    }
  return Result<void>::from(problems);
}

}  // namespace intarsia::build
