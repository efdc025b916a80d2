// The C of five small models, byte for byte: what changes in emitted text is seen, and meant.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"

namespace intarsia {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

const fs::path kRoot = INTARSIA_SOURCE_DIR;
const fs::path kGolden = kRoot / "tests/golden/emitted";

struct Case {
  std::string name, model, target;
  std::vector<MemoryPool> pools;
};

// Between them: kernels and loops, tables, state, branches and loops, streams; memory with limits and without.
const std::vector<Case> kCases = {
    {"small_conv", "tests/golden/emitted/small_conv.graph", "c", {{"sram", 65536}}},
    {"branches", "tests/golden/emitted/branches.graph", "cortex-m4", {{"sram", 65536}}},
    {"variable_counts", "tests/golden/operators/variable_counts/model.tflite", "c", {{"ram", 0}}},
    {"while_counts", "tests/golden/operators/while_counts/model.tflite", "c", {{"ram", 0}}},
    {"beside_npu", "tests/golden/emitted/beside_npu.graph", "c + example-npu", {{"sram", 4096}}},
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Without the copied runtime, and what lists its files.
Result<Files> emitted(const Case& wanted) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  INTARSIA_TRY(const TargetSpec target, parse_target_argument(registry.catalogue(), wanted.target));
  const std::string model = text_of(kRoot / wanted.model);
  CompileOptions options;
  options.memory.pools = wanted.pools;
  INTARSIA_TRY(const graph::Module module,
               import_model({reinterpret_cast<const uint8_t*>(model.data()), model.size()},
                            {wanted.model, nullptr, wanted.name}));
  INTARSIA_TRY(const CompiledModel compiled, compile_module(module, registry, target, options));
  INTARSIA_TRY(const PackageContents package,
               make_package(compiled, registry, target, {"host", "native", kRoot.string()}));
  Files files;
  for (const SourceFile& file : package.files)
    if (file.path.find('/') == std::string::npos &&
        (file.path.ends_with(".c") || file.path.ends_with(".h")))
      files[file.path] = file.whole_text();
  return files;
}

class Emitted : public testing::TestWithParam<Case> {};

TEST_P(Emitted, IsTheRecordedText) {
  const Result<Files> files = emitted(GetParam());
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  const fs::path folder = kGolden / GetParam().name;
  if (std::getenv("INTARSIA_UPDATE_GOLDEN") != nullptr) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const auto& [name, text] : *files) std::ofstream(folder / name, std::ios::binary) << text;
    GTEST_SKIP() << "recorded anew: " << folder;
  }
  Files recorded;
  for (const auto& entry : fs::directory_iterator(folder))
    recorded[entry.path().filename().string()] = text_of(entry.path());
  for (const auto& [name, text] : *files)
    EXPECT_EQ(text, recorded[name]) << name << " of " << GetParam().name
                                    << " is not what is recorded. If that is meant, record it anew "
                                       "and look at the difference:\n"
                                       "  INTARSIA_UPDATE_GOLDEN=1 ctest --test-dir build/release "
                                       "-R emitted_golden_test; git diff "
                                       "tests/golden/emitted";
  EXPECT_EQ(files->size(), recorded.size()) << "files that are no longer emitted lie in " << folder;
}

INSTANTIATE_TEST_SUITE_P(Models, Emitted, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace intarsia
