// The engine against recorded outputs, and against the program that is built from the generated C: results, and what
// simulated devices tell of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "conformance_case.h"
#include "end_to_end.h"
#include "intarsia/engine.h"
#include "recorded_data.h"

namespace intarsia::test {
namespace {

// A model and where it is to run.
struct Subject {
  fs::path file, recorded;  // the model, and the folder of its inputs and outputs
  std::string target;
  std::string name;  // of the test
};

std::ostream& operator<<(std::ostream& out, const Subject& subject) {
  return out << subject.file.string() << " for " << subject.target;
}

struct Compiled {
  TargetRegistry registry;
  EngineRegistry engine;
  std::optional<TargetSpec> target;
  CompiledModel model;
};

// For the machine of the tests, as `run` compiles it.
std::unique_ptr<Compiled> compiled(const Subject& subject) {
  auto made = std::make_unique<Compiled>();
  add_builtin_targets(made->registry);
  add_builtin_engine(made->engine);
  const Result<TargetSpec> target = parse_target(made->registry.catalogue(), subject.target);
  INTARSIA_CHECK(target.ok(), "tests name targets that exist");
  made->target = *target;
  const Result<board::Board> board =
      board::find_board(std::string(INTARSIA_SOURCE_DIR) + "/boards", "host");
  CompileOptions options;
  options.memory = board::memory_map(*board);
  Result<CompiledModel> model = compile(read_bytes(subject.file), subject.file.filename().string(),
                                        made->registry, *made->target, options);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  if (!model.ok()) return nullptr;
  made->model = std::move(model).value();
  return made;
}

// The outputs of the last of as many inferences as the inputs have slices.
std::vector<Engine::Bytes> run(Engine& engine, const std::vector<std::vector<uint8_t>>& inputs) {
  size_t runs = 1;
  for (size_t i = 0; i < inputs.size(); ++i)
    runs = std::max(runs, inputs[i].size() / static_cast<size_t>(engine.inputs()[i].bytes));
  std::vector<Engine::Bytes> last;
  for (size_t r = 0; r < runs; ++r) {
    std::vector<std::span<const uint8_t>> slices;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto bytes = static_cast<size_t>(engine.inputs()[i].bytes);
      slices.push_back(
          std::span(inputs[i]).subspan(inputs[i].size() > bytes ? r * bytes : 0, bytes));
    }
    Result<std::vector<Engine::Bytes>> outputs = engine.run(slices);
    EXPECT_TRUE(outputs.ok()) << outputs.error().to_string();
    if (!outputs.ok()) return {};
    last = std::move(outputs).value();
  }
  return last;
}

class Recorded : public testing::TestWithParam<Subject> {};
// The long program has the networks and streams that are built; what is recorded is the quick one's.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Recorded);

TEST_P(Recorded, OutputsAreEqual) {
  const std::unique_ptr<Compiled> subject = compiled(GetParam());
  ASSERT_NE(subject, nullptr);
  Result<Engine> engine = Engine::make(subject->model, subject->engine);
  ASSERT_TRUE(engine.ok()) << engine.error().to_string();
  const fs::path folder = GetParam().recorded;
  const nlohmann::json meta = nlohmann::json::parse(read_bytes(folder / "meta.json"));
  size_t samples = 0;
  for (const RecordedSample& sample : recorded_samples(folder)) {
    engine.value().reset();
    const std::vector<Engine::Bytes> outputs = run(engine.value(), sample.inputs);
    ASSERT_EQ(outputs.size(), sample.outputs.size());
    for (size_t t = 0; t < outputs.size(); ++t) {
      const nlohmann::json& tensor = meta.at("outputs").at(t);  // of a model, or of a case
      const std::string type = tensor.value("dtype", tensor.value("type", ""));
      EXPECT_EQ(difference(meta, type, outputs[t], sample.outputs[t]), "")
          << "sample " << samples << ", output " << t;
    }
    ++samples;
  }
  EXPECT_GT(samples, 0u);
}

// Results, trace and profile of the built program.
class Built : public testing::TestWithParam<Subject> {};

TEST_P(Built, DoesTheSame) {
  const std::unique_ptr<Compiled> subject = compiled(GetParam());
  ASSERT_NE(subject, nullptr);
  const std::vector<RecordedSample> samples = recorded_samples(GetParam().recorded);
  ASSERT_FALSE(samples.empty());
  Result<Engine> engine =
      Engine::make(subject->model, subject->engine, {.trace = true, .profile = true});
  ASSERT_TRUE(engine.ok()) << engine.error().to_string();
  const std::vector<Engine::Bytes> outputs = run(engine.value(), samples[0].inputs);

  const std::string root = INTARSIA_SOURCE_DIR;
  const Result<board::Board> board = board::find_board(root + "/boards", "host");
  const Result<PackageContents> package = make_package(
      subject->model, subject->registry, *subject->target, {"host", "native", root, true});
  ASSERT_TRUE(package.ok()) << package.error().to_string();
  const Result<TemporaryFolder> work = TemporaryFolder::make();
  ASSERT_TRUE(write_folder(work->path() + "/package", package->files).ok());
  const BuildSetting setting{
      work->path() + "/package", package->manifest, *board, board::Core{"native", {}}, root, "-O2"};
  ExecuteRequest request;
  const Result<std::string> program = build_program(setting, work->path());
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  request.program = *program;
  request.inputs = samples[0].inputs;
  for (size_t i = 0; i < request.inputs.size(); ++i)
    request.repeat =
        std::max(request.repeat,
                 static_cast<int32_t>(request.inputs[i].size() /
                                      static_cast<size_t>(package->manifest.inputs[i].bytes)));
  request.trace_file = work->path() + "/trace.json";
  const Result<ExecuteResult> ran = execute(setting, request, work->path());
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  EXPECT_EQ(outputs, ran->outputs);
  const std::vector<uint8_t> trace =
      fs::exists(request.trace_file) ? read_bytes(request.trace_file) : std::vector<uint8_t>();
  EXPECT_EQ(engine.value().trace_json(), std::string(trace.begin(), trace.end()));
  EXPECT_EQ(engine.value().profile_json(), ran->device_profile);
}

std::string name_for(const std::string& what, const std::string& target) {
  std::string name = what + "_on_" + target;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

std::vector<Subject> networks(const std::vector<std::string>& targets, bool own_only) {
  std::vector<Subject> subjects;
  for (const fs::path& folder : recorded_models())
    for (const std::string& target : targets)
      if (!own_only || is_own(folder))
        subjects.push_back(
            {folder / "model.tflite", folder, target, name_for(test_name(folder), target)});
  return subjects;
}

std::vector<Subject> streams(bool own_only) {
  std::vector<Subject> subjects;
  for (const fs::path& file : vela_streams()) {
    const fs::path folder = recorded_folder(file.parent_path().filename().string());
    if (!folder.empty() && (!own_only || is_own(file)))
      subjects.push_back({file, folder, stream_tag(file), stream_test_name(file)});
  }
  return subjects;
}

const auto kName = [](const auto& info) { return info.param.name; };

#ifdef INTARSIA_EVERY_CASE
INSTANTIATE_TEST_SUITE_P(Networks, Built,
                         testing::ValuesIn(networks({"c", "c -mcpu=cortex-m4", "cortex-m55",
                                                     "ethos-u55-128", "ethos-u65-256"},
                                                    false)),
                         kName);
INSTANTIATE_TEST_SUITE_P(Streams, Built, testing::ValuesIn(streams(false)), kName);
#else
std::vector<Subject> cases(const std::vector<std::string>& targets) {
  std::vector<Subject> subjects;
  for (const fs::path& folder : recorded_cases())
    for (const std::string& target : targets)
      subjects.push_back(
          {folder / "model.tflite", folder, target, name_for(test_name(folder), target)});
  return subjects;
}

INSTANTIATE_TEST_SUITE_P(Networks, Recorded,
                         testing::ValuesIn(networks({"c", "c -mcpu=cortex-m4", "cortex-m55",
                                                     "ethos-u55-128", "ethos-u65-256"},
                                                    false)),
                         kName);
INSTANTIATE_TEST_SUITE_P(Operators, Recorded, testing::ValuesIn(cases({"c", "cortex-m55"})), kName);
INSTANTIATE_TEST_SUITE_P(Streams, Recorded, testing::ValuesIn(streams(false)), kName);
INSTANTIATE_TEST_SUITE_P(Networks, Built,
                         testing::ValuesIn(networks({"c", "cortex-m55", "ethos-u55-128"}, true)),
                         kName);
INSTANTIATE_TEST_SUITE_P(Streams, Built, testing::ValuesIn(streams(true)), kName);
#endif

}  // namespace
}  // namespace intarsia::test
