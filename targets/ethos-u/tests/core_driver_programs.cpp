#include "core_driver_programs.h"

#include <algorithm>
#include <cstdlib>

#include "build/objects.h"
#include "intarsia/package.h"
#include "kinds.h"

namespace intarsia::test::ethos_u {
namespace {

namespace fs = std::filesystem;
const std::string kSources = INTARSIA_SOURCE_DIR;

// Driver and simulated registers in the place of the stand-in.
Result<void> take_arms_driver(const ProgramRequest& request, const std::string& folder,
                              BuildSetting& setting) {
  const std::string harness = kSources + "/targets/ethos-u/tests/arms_driver";
  std::error_code error;
  fs::remove_all(folder + "/stand-in", error);
  fs::create_directories(folder + "/stand-in", error);
  std::vector<std::string>& sources = setting.manifest.sources;
  std::erase(sources, "stand-in/stand_in.c");
  std::vector<fs::path> files = {
      harness + (request.board == "host" ? "/mapped_registers.c" : "/board_registers.c"),
      request.with_driver + "/src/ethosu_driver.c",
      request.with_driver + "/src/ethosu_device_u55_u65.c"};
  for (const fs::path& file : files) {
    sources.push_back("stand-in/" + file.filename().string());
    setting.manifest.program_sources.push_back(sources.back());
  }
  for (const std::string& from :
       {harness, request.with_driver + "/include", request.with_driver + "/src"})
    for (const fs::directory_entry& entry : fs::directory_iterator(from, error))
      if (entry.path().extension() == ".h") files.push_back(entry.path());
  // In the sources and not on the command line, so that the simulator is compiled once for all.
  const std::string product = request.target.find("u65") == std::string::npos ? "55" : "65";
  const bool on_board = request.board != "host";
  const std::string head =
      std::string(on_board ? "#define NDEBUG\n#define ETHOSU_LOG_ENABLE 0\n" : "") +
      "#define _GNU_SOURCE\n#define ETHOSU" + product + "\n#define ETHOSU_ARCH u" + product + "\n";
  for (const fs::path& file : files) {
    INTARSIA_TRY(std::string text, read_text_file(file.string()));
    if (file.extension() == ".c") text.insert(0, head);
    INTARSIA_TRY_VOID(
        write_file(folder + "/stand-in/" + file.filename().string(), std::string_view(text)));
  }
  unsetenv(build::kWarningsAreErrors);  // it is not ours
  return {};
}

std::vector<std::vector<uint8_t>> joined(const std::vector<RecordedSample>& samples,
                                         std::vector<std::vector<uint8_t>> RecordedSample::*of) {
  std::vector<std::vector<uint8_t>> all;
  for (const RecordedSample& sample : samples) {
    all.resize((sample.*of).size());
    for (size_t i = 0; i < all.size(); ++i)
      all[i].insert(all[i].end(), (sample.*of)[i].begin(), (sample.*of)[i].end());
  }
  return all;
}

}  // namespace

std::string arms_driver() {
  const char* folder = std::getenv("ETHOS_U_CORE_DRIVER");
  return folder == nullptr ? "" : folder;
}

std::vector<std::vector<uint8_t>> recorded_outputs(const std::string& model) {
  return joined(recorded_samples(recorded_folder(model)), &RecordedSample::outputs);
}

Result<ProgramRun> run_program(const ProgramRequest& request) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const board::Board board, board::find_board(kSources + "/boards", request.board));
  INTARSIA_TRY(const TargetSpec target,
               parse_target_argument(registry.catalogue(), request.target));
  board::Core core{"native", {}};
  if (!board.native()) {
    INTARSIA_TRY(core, board::core_for(board, target.host().get_string("mcpu")));
  }
  CompileOptions options;
  options.memory = board::memory_map(board);
  if (!request.pools.empty()) options.memory.pools = request.pools;
  options.partition.pins = request.pins;
  const fs::path folder = recorded_folder(request.model);
  INTARSIA_TRY(const CompiledModel model, compile(read_bytes(folder / "model.tflite"),
                                                  request.model, registry, target, options));
  INTARSIA_TRY(const PackageContents package,
               make_package(model, registry, target,
                            {board.name, core.name, kSources, board.native(),
                             board.takes_simulated_devices()}));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  const std::string where = work.path() + "/package";
  INTARSIA_TRY_VOID(write_folder(where, package.files));
  BuildSetting setting{where, package.manifest, board, core, kSources};
  if (!request.with_driver.empty()) INTARSIA_TRY_VOID(take_arms_driver(request, where, setting));
  ProgramRun ran;
  for (const CommandStream& stream : model.program().emitted.streams)
    ran.streams_on.push_back(stream.device);
  ExecuteRequest execution;
  INTARSIA_TRY(execution.program, build_program(setting, work.path()));
  const std::vector<RecordedSample> samples = recorded_samples(folder);
  execution.keep_all = true;
  if (request.in_sequence) {
    execution.inputs = joined(samples, &RecordedSample::inputs);
    execution.repeat = static_cast<int32_t>(samples.size());
    INTARSIA_TRY(ExecuteResult result, execute(setting, execution, work.path()));
    ran.outputs = std::move(result.outputs);
    return ran;
  }
  for (const RecordedSample& sample : samples) {
    execution.inputs = sample.inputs;
    INTARSIA_TRY(const ExecuteResult result, execute(setting, execution, work.path()));
    ran.outputs.resize(result.outputs.size());
    for (size_t i = 0; i < result.outputs.size(); ++i)
      ran.outputs[i].insert(ran.outputs[i].end(), result.outputs[i].begin(),
                            result.outputs[i].end());
  }
  return ran;
}

}  // namespace intarsia::test::ethos_u
