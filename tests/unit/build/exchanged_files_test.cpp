// Tensors of a run in files: one for each, or where there are many one for all.
#include "build/exchanged_files.h"

#include <gtest/gtest.h>

#include <optional>

#include "support/files.h"

namespace intarsia::build {
namespace {

class ExchangedFiles : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    owner_.emplace(std::move(folder).value());
  }
  static PackageManifest manifest(size_t tensors) {
    PackageManifest made;
    for (size_t i = 0; i < tensors; ++i)
      made.inputs.push_back({"t", DataType::Int8, {2}, {}, static_cast<int64_t>(i % 3) + 1});
    made.outputs = made.inputs;
    return made;
  }
  // Element n of input i in run r is 100 r + i + n.
  static ExecuteRequest request(const PackageManifest& manifest, int32_t repeat, bool differ) {
    ExecuteRequest made;
    made.repeat = repeat;
    made.keep_all = true;
    for (size_t i = 0; i < manifest.inputs.size(); ++i) {
      std::vector<uint8_t>& bytes = made.inputs.emplace_back();
      for (int32_t run = 0; run < (differ && i % 2 == 0 ? repeat : 1); ++run)
        for (int64_t n = 0; n < manifest.inputs[i].bytes; ++n)
          bytes.push_back(
              static_cast<uint8_t>(100 * run + static_cast<int32_t>(i) + static_cast<int32_t>(n)));
    }
    return made;
  }

  std::optional<TemporaryFolder> owner_;
};

TEST_F(ExchangedFiles, FewHaveAFileEach) {
  const PackageManifest few = manifest(kMostFiles);
  board::RunRequest run;
  ASSERT_TRUE(exchange_files(few, request(few, 1, false), owner_->path(), run).ok());
  EXPECT_EQ(run.inputs.size(), kMostFiles);
  EXPECT_EQ(run.outputs.size(), kMostFiles);
  EXPECT_EQ(run.joined_inputs + run.joined_outputs, "");
  EXPECT_EQ(read_file(run.inputs[1])->size(), 2u);
}

TEST_F(ExchangedFiles, ManyAreInOne) {
  const PackageManifest many = manifest(kMostFiles + 1);
  for (const bool differ : {false, true}) {
    board::RunRequest run;
    run.repeat = 2;
    run.keep_all = true;
    const ExecuteRequest asked = request(many, 2, differ);
    ASSERT_TRUE(exchange_files(many, asked, owner_->path(), run).ok());
    EXPECT_TRUE(run.inputs.empty() && run.outputs.empty());
    const std::vector<uint8_t> bytes = *read_file(run.joined_inputs);
    size_t at = 0;
    for (int r = 0; r < (differ ? 2 : 1); ++r)
      for (size_t i = 0; i < many.inputs.size(); ++i)
        for (int64_t n = 0; n < many.inputs[i].bytes; ++n, ++at) {
          const int of_run = differ && i % 2 == 0 ? r : 0;
          ASSERT_LT(at, bytes.size());
          EXPECT_EQ(bytes[at],
                    static_cast<uint8_t>(100 * of_run + static_cast<int>(i) + static_cast<int>(n)));
        }
    EXPECT_EQ(at, bytes.size());
    if (!differ) continue;
    // What a program writes is in the same order.
    ASSERT_TRUE(write_file(run.joined_outputs, bytes).ok());
    const Result<std::vector<std::vector<uint8_t>>> outputs = read_outputs(many, run);
    ASSERT_TRUE(outputs.ok()) << outputs.error().to_string();
    for (size_t i = 0; i < outputs->size(); i += 2) EXPECT_EQ((*outputs)[i], asked.inputs[i]);
    ASSERT_TRUE(write_file(run.joined_outputs, std::string("short")).ok());
    EXPECT_FALSE(read_outputs(many, run).ok());
  }
}

}  // namespace
}  // namespace intarsia::build
