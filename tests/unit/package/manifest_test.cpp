#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "intarsia/contract/version.h"
#include "intarsia/package.h"
#include "support/files.h"

namespace intarsia {
namespace {

using Json = nlohmann::ordered_json;

PackageManifest sample() {
  PackageManifest manifest;
  manifest.model = "kws", manifest.target = "c", manifest.board = "host", manifest.core = "native";
  TensorInfo tensor{"input", DataType::Int8, {1, 4}, {}, 4};
  tensor.quantization.scale = {0.5f};
  tensor.quantization.zero_point = {-3};
  manifest.inputs = {tensor};
  manifest.outputs = {{"scores", DataType::Float32, {2}, {}, 8}};
  manifest.memories = {{"ram", 1024}};
  manifest.alignment = 16;
  manifest.has_state = true;
  manifest.sources = {"kws.c", "intarsia/kernels/a.c"};
  manifest.include_dirs = {"."};
  manifest.program_sources = {"kws_devices.c"};
  manifest.parts = {"a", "b"};
  manifest.devices = {"npu"};
  manifest.link_libraries = {"OpenCL", "stdc++"};
  manifest.simulator_sources = {"simulator/s.cpp"};
  manifest.simulator_include_dirs = {"simulator/targets"};
  manifest.files = {"kws.c", "manifest.json"};
  return manifest;
}

class Manifest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made.ok());
    owner_.emplace(std::move(made).value());
  }
  const std::string& folder() const { return owner_->path(); }
  Result<PackageManifest> read(const std::string& text) const {
    EXPECT_TRUE(write_file(folder() + "/manifest.json", text).ok());
    return read_manifest(folder());
  }
  std::string complaint(const Json& json) const {
    const Result<PackageManifest> manifest = read(json.dump());
    return manifest.ok() ? "" : manifest.error().to_string();
  }

 private:
  std::optional<TemporaryFolder> owner_;
};

TEST_F(Manifest, IsReadAsItWasWritten) {
  const Result<PackageManifest> manifest = read(manifest_json(sample()));
  ASSERT_TRUE(manifest.ok()) << manifest.error().to_string();
  EXPECT_EQ(manifest_json(*manifest), manifest_json(sample()));
  EXPECT_EQ(manifest->files, sample().files);
  EXPECT_EQ(manifest->inputs[0].quantization.zero_point, (std::vector<int64_t>{-3}));
  EXPECT_EQ(manifest->outputs[0].type, DataType::Float32);
}

// Packages of before have no "hosted": those for this machine are.
TEST_F(Manifest, OlderOnesAreHostedWhereTheirCoreIsThisMachine) {
  for (const auto& [core, hosted] : {std::pair("native", true), std::pair("cortex-m4", false)}) {
    Json older = Json::parse(manifest_json(sample()));
    older.erase("hosted");
    older["core"] = core;
    const Result<PackageManifest> manifest = read(older.dump());
    ASSERT_TRUE(manifest.ok()) << manifest.error().to_string();
    EXPECT_EQ(manifest->hosted, hosted) << core;
  }
}

TEST_F(Manifest, EveryKeyIsNeededAndOfItsType) {
  const Json good = Json::parse(manifest_json(sample()));
  EXPECT_EQ(complaint(good), "");
  for (const auto& [key, value] : good.items()) {
    Json damaged = good;
    damaged.erase(key);
    if (key != "hosted") {
      EXPECT_NE(complaint(damaged), "") << key;
    }
    damaged = good;
    damaged[key] = Json::object();
    EXPECT_NE(complaint(damaged), "") << key;
  }
  EXPECT_NE(complaint(Json::array()), "");
}

TEST_F(Manifest, OfAnotherRuntimeIsRefused) {
  Json json = Json::parse(manifest_json(sample()));
  json["intarsia_package"] = INTARSIA_RUNTIME_VERSION - 1;
  EXPECT_NE(
      complaint(json).find(fmt::format("is of a package for version {} of the runtime, and "
                                       "this program has version {}",
                                       INTARSIA_RUNTIME_VERSION - 1, INTARSIA_RUNTIME_VERSION)),
      std::string::npos)
      << complaint(json);
}

// What `run` hands to compilers stays in the folder and is no option of theirs.
TEST_F(Manifest, LeadsNowhereElse) {
  const Json good = Json::parse(manifest_json(sample()));
  for (const char* key : {"sources", "include_dirs", "program_sources", "simulator_sources",
                          "simulator_include_dirs", "files"})
    for (const char* path : {"/etc/passwd", "../up.c", "a/../../up.c", "-fplugin=x.so", "@x", ""}) {
      Json json = good;
      json[key].push_back(path);
      EXPECT_NE(
          complaint(json).find(fmt::format("names '{}', which is not a part of the folder", path)),
          std::string::npos)
          << key << " " << path << ": " << complaint(json);
    }
  for (const char* library : {":../x.so", "a/b", "", "m -Wl,x"}) {
    Json json = good;
    json["link_libraries"] = {library};
    EXPECT_NE(complaint(json), "") << library;
  }
  for (const char* name : {"../kws", "a b", "int"}) {
    Json json = good;
    json["model"] = name;
    EXPECT_NE(complaint(json), "") << name;
  }
}

TEST_F(Manifest, WritingTheFolderListsItsFilesAndDropsThoseOfBefore) {
  const std::string out = folder() + "/out";
  PackageContents first{sample(), {{"kws.c", "1"}, {"old.c", "1"}, {"manifest.json", "stale"}}};
  ASSERT_TRUE(write_package_folder(out, first).ok());
  Result<PackageManifest> manifest = read_manifest(out);
  ASSERT_TRUE(manifest.ok()) << manifest.error().to_string();
  EXPECT_EQ(manifest->files, (std::vector<std::string>{"kws.c", "manifest.json", "old.c"}));
  PackageContents second{sample(), {{"kws.c", "2"}, {"report.txt", "r"}}};
  ASSERT_TRUE(write_package_folder(out, second).ok());
  EXPECT_FALSE(read_file(out + "/old.c").ok());
  EXPECT_EQ(*read_text_file(out + "/kws.c"), "2");
  EXPECT_EQ(read_manifest(out)->files,
            (std::vector<std::string>{"kws.c", "manifest.json", "report.txt"}));
}

TEST_F(Manifest, AnInterruptedFolderSaysSo) {
  EXPECT_NE(complaint({{"intarsia_package", INTARSIA_RUNTIME_VERSION},
                       {"interrupted", true},
                       {"files", {"kws.c"}}})
                .find("is not complete: an 'intarsia compile' was interrupted"),
            std::string::npos);
}

}  // namespace
}  // namespace intarsia
