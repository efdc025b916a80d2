// Whole programs whose streams Arm's core driver runs: over the stand-in on this machine and in QEMU, and over the
// driver's own sources where ETHOS_U_CORE_DRIVER names their folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core_driver_programs.h"
#include "intarsia/package.h"
#include "kinds.h"

namespace intarsia::test::ethos_u {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kTargets[] = {"ethos-u55-128", "ethos-u55-256", "ethos-u65-256",
                                    "ethos-u65-512"};

std::string with_arms(const std::string& npu) {
  return "cortex-m55 + " + npu + " -driver=arm";
}

// Networks of int8 and int16, with parts that the CPU computes between those of the NPU.
std::vector<std::string> programs() {
  return with_beside({"separable_s8", "separable_s16", "residual_s8", "residual_s16",
                      "autoencoder_s16", "lstm_s8"},
                     {"kws_ref_model", "pretrainedResnet_quant", "ad01_int8", "vww_96_int8",
                      "keyword_scrambled_8bit", "micro_speech_quantized"});
}

class Program : public testing::TestWithParam<std::tuple<std::string, const char*>> {
 protected:
  void expect_exact(ProgramRequest request) {
    request.model = std::get<0>(GetParam());
    request.target = with_arms(std::get<1>(GetParam()));
    const Result<ProgramRun> ran = run_program(request);
    ASSERT_TRUE(ran.ok()) << ran.error().to_string();
    EXPECT_FALSE(ran->streams_on.empty());
    EXPECT_EQ(ran->outputs, recorded_outputs(request.model));
  }
};

TEST_P(Program, WithTheStandInIsExact) {
  expect_exact({});
}

TEST_P(Program, WithArmsDriverIsExact) {
#if defined(__x86_64__) && defined(__linux__)
  if (arms_driver().empty())
    GTEST_SKIP() << needs("ethos-u-core-driver") << "ETHOS_U_CORE_DRIVER names no folder";
  expect_exact({.with_driver = arms_driver()});
#else
  GTEST_SKIP() << "its registers are simulated on x86-64 Linux alone";
#endif
}

INSTANTIATE_TEST_SUITE_P(Recorded, Program,
                         testing::Combine(testing::ValuesIn(programs()),
                                          testing::ValuesIn(kTargets)),
                         [](const auto& info) {
                           std::string name =
                               std::get<0>(info.param) + "_" + std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// What the package of a board without simulated devices holds.
Result<PackageContents> package_for(const std::string& target, bool simulated) {
  const TargetRegistry registry = make_registry();
  INTARSIA_TRY(const TargetSpec spec, parse_target_argument(registry.catalogue(), target));
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  INTARSIA_TRY(const CompiledModel model,
               compile(read_bytes(recorded_folder("separable_s8") / "model.tflite"), "separable",
                       registry, spec, options));
  return make_package(model, registry, spec,
                      {"mine", "cortex-m55", INTARSIA_SOURCE_DIR, simulated});
}

std::string text_of(const PackageContents& package, const std::string& path) {
  for (const SourceFile& file : package.files)
    if (file.path == path) return file.whole_text();
  return "";
}

TEST(ArmsDriverPackage, HasNoDriverOfItsOwn) {
  for (const bool simulated : {false, true}) {
    SCOPED_TRACE(simulated);
    const Result<PackageContents> package = package_for(with_arms("ethos-u55-128"), simulated);
    ASSERT_TRUE(package.ok()) << package.error().to_string();
    int stand_ins = 0;
    for (const SourceFile& file : package->files) {
      EXPECT_THAT(file.path, Not(HasSubstr("ethos_u/driver."))) << "our own";
      stand_ins += file.path.starts_with("stand-in/");
    }
    EXPECT_EQ(stand_ins > 0, simulated);
    // Of what is linked into the user's program nothing is simulated, and the library is the user's.
    const std::string cmake = text_of(*package, "CMakeLists.txt");
    EXPECT_THAT(cmake, HasSubstr("intarsia/targets/ethos_u/core_driver/core_driver.c"));
    EXPECT_THAT(cmake, HasSubstr("target_link_libraries(separable PUBLIC ethosu_core_driver)"));
    EXPECT_THAT(cmake, Not(HasSubstr("stand-in")));
    EXPECT_THAT(cmake, Not(HasSubstr("simulator")));
    const std::string make = text_of(*package, "separable.mk");
    EXPECT_THAT(make, HasSubstr("SEPARABLE_LIBRARIES := -lethosu_core_driver"));
    EXPECT_THAT(make, Not(HasSubstr("stand-in")));
    EXPECT_EQ(package->manifest.link_libraries.empty(), simulated);
  }
}

// Region 2 is fast memory to Arm's driver: no other memory has this number.
TEST(ArmsDriverPackage, KeepsRegion2ForFastMemory) {
  const auto regions = [](const std::string& target) {
    const TargetRegistry registry = make_registry();
    const auto spec = parse_target_argument(registry.catalogue(), target);
    CompileOptions options;
    options.memory.pools = {{"small", 2048, false, 1, {}, 16}, {"large", 0, false, 2, {}, 16}};
    const auto model = compile(read_bytes(recorded_folder("residual_s8") / "model.tflite"), "model",
                               registry, *spec, options);
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().to_string());
    std::vector<int> kinds;
    if (model.ok())
      for (const StreamRegion& region : model->program().emitted.streams.at(0).regions)
        kinds.push_back(region.kind == StreamRegion::Kind::Constants ? -1 : region.pool);
    return kinds;
  };
  EXPECT_EQ(regions("ethos-u55-128"), (std::vector<int>{-1, 0, 1}));
  EXPECT_EQ(regions("ethos-u55-128 -driver=arm"), (std::vector<int>{-1, 0, -1, 1}));
  EXPECT_EQ(regions("ethos-u65-256 -driver=arm"), (std::vector<int>{-1, 0, 2}))
      << "the SRAM of the NPU's own";
}

bool can_emulate() {
  return std::system("command -v arm-none-eabi-g++ >/dev/null 2>&1") == 0 &&
         std::system("command -v qemu-system-arm >/dev/null 2>&1") == 0;
}

TEST(ArmsDriver, OnABoardInQemuIsExact) {
  if (!can_emulate())
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-g++ or qemu-system-arm";
  std::vector<std::string> drivers = {""};
  if (!arms_driver().empty()) drivers.push_back(arms_driver());
  for (const std::string& driver : drivers)
    for (const char* model : {"separable_s8", "residual_s16"}) {
      SCOPED_TRACE(std::string(model) + (driver.empty() ? ", stand-in" : ", Arm's driver"));
      const Result<ProgramRun> ran =
          run_program({model, with_arms("ethos-u55-128"), "mps3-an547", driver});
      ASSERT_TRUE(ran.ok()) << ran.error().to_string();
      EXPECT_EQ(ran->outputs, recorded_outputs(model));
    }
}

// State lies where the streams keep it, as with the package's own driver.
TEST(ArmsDriver, StateIsKeptFromRunToRun) {
  for (const char* model : {"lstm_s8", "lstm_s16"}) {
    SCOPED_TRACE(model);
    ProgramRequest request{model, "cortex-m55 + ethos-u55-128"};
    request.in_sequence = true;
    const Result<ProgramRun> own = run_program(request);
    request.target = with_arms("ethos-u55-128");
    const Result<ProgramRun> arms = run_program(request);
    ASSERT_TRUE(own.ok() && arms.ok()) << (own.ok() ? arms : own).error().to_string();
    EXPECT_EQ(arms->outputs, own->outputs);
    EXPECT_NE(arms->outputs, recorded_outputs(model)) << "each sample begins with none";
  }
}

// Two NPUs of different size in one program, each with its streams, and the CPU between them.
TEST(ArmsDriver, SeveralNpusAreEachGivenTheirStreams) {
  ProgramRequest request;
  request.model = "residual_s8";
  request.target = "cortex-m55 + a: ethos-u55-128 -driver=arm + b: ethos-u55-256 -driver=arm";
  request.pins = {{"halve", "c"}, {"block1_b", "b"}, {"block1_add", "b"}};
  std::vector<std::string> drivers = {""};
  if (!arms_driver().empty()) drivers.push_back(arms_driver());
  for (const std::string& driver : drivers) {
    request.with_driver = driver;
    const Result<ProgramRun> ran = run_program(request);
    ASSERT_TRUE(ran.ok()) << ran.error().to_string();
    EXPECT_THAT(ran->streams_on, testing::IsSupersetOf({"a", "b"}));
    EXPECT_GE(ran->streams_on.size(), 3u);
    EXPECT_EQ(ran->outputs, recorded_outputs(request.model));
  }
}

// Fast memory of the driver's own is not where the model has its values.
TEST(ArmsDriver, FastMemoryOfItsOwnIsRefused) {
#if defined(__x86_64__) && defined(__linux__)
  if (arms_driver().empty())
    GTEST_SKIP() << needs("ethos-u-core-driver") << "ETHOS_U_CORE_DRIVER names no folder";
  ProgramRequest request{"separable_s8", with_arms("ethos-u65-256")};
  request.with_driver = arms_driver();
  setenv("INTARSIA_TEST_FAST_MEMORY", "0x80000", 1);
  const Result<ProgramRun> ran = run_program(request);
  unsetenv("INTARSIA_TEST_FAST_MEMORY");
  ASSERT_FALSE(ran.ok());
  EXPECT_THAT(ran.error().to_string(), HasSubstr("36")) << "INTARSIA_ERROR_DEVICE_MEMORY";
#else
  GTEST_SKIP() << "its registers are simulated on x86-64 Linux alone";
#endif
}

TEST(ArmsDriver, ABoardWithoutAnNpuIsRefused) {
  const Result<ProgramRun> ran =
      run_program({"separable_s8", "cortex-m4 + ethos-u55-128 -driver=arm", "mps2-an386"});
  ASSERT_FALSE(ran.ok());
  EXPECT_THAT(ran.error().to_string(),
              HasSubstr("--board mps2-an386: the board has no device for ethos-u"));
}

}  // namespace
}  // namespace intarsia::test::ethos_u
