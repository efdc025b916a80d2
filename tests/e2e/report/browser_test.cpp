// The page in a browser, without a window: check_page.mjs looks at it as its readers do. INTARSIA_BROWSER_MODULES names a
// folder whose node_modules/ has puppeteer-core and axe-core (npm install puppeteer-core axe-core); the browser is Chromium.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "cli.h"
#include "large_models.h"
#include "needs.h"

namespace intarsia::test {
namespace {

class Browser : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    const char* modules = std::getenv("INTARSIA_BROWSER_MODULES");
    if (modules == nullptr || !have_program("node") || !have_program("chromium"))
      GTEST_SKIP() << needs("browser") << "INTARSIA_BROWSER_MODULES, node and chromium";
    modules_ = modules;
    ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "before"})));
  }

  void look_at(const std::string& page) const {
    const ProcessOutcome outcome =
        program({"node", INTARSIA_SOURCE_DIR "/tests/e2e/report/check_page.mjs", modules_,
                 "chromium", path(page), path("before/report.json")});
    EXPECT_TRUE(outcome.succeeded()) << outcome.out << outcome.err;
    std::printf("%s: %zu bytes, %s", page.c_str(), read(page).size(), outcome.out.c_str());
  }

  std::string modules_;
};

TEST_F(Browser, PageOfACpu) {
  look_at("before/report.html");
}

TEST_F(Browser, PageOfACpuBesideAnNpuWithATraceAndABaseline) {
  const std::vector<std::string> target = {"--target", "cortex-m55+ethos-u55-128", "--pin",
                                           "widen=c"};
  std::vector<std::string> compile = {"compile", digits_path(), "-o", "out"},
                           run = {"run",          digits_path(), "--input", "image.bin",
                                  "--output-dir", "results",     "--trace", "trace.json"};
  compile.insert(compile.end(), target.begin(), target.end());
  run.insert(run.end(), target.begin(), target.end());
  write_image("image.bin", 0);
  ASSERT_TRUE(done(intarsia(compile)));
  ASSERT_TRUE(done(intarsia(run)));
  ASSERT_TRUE(done(intarsia(
      {"report", "out", "--baseline", "before", "--trace", "trace.json", "-o", "page.html"})));
  look_at("page.html");
}

// Whatever names are, nothing else runs and nothing is asked for.
TEST_F(Browser, PageOfHostileNames) {
  ModelSpec model = chain_of(4);
  for (auto& tensor : model.tensors)
    tensor.name = "</script><script>console.log(1)</script><img src=x onerror=\"console.log(2)\">" +
                  tensor.name + "\xff";
  write("hostile.tflite", build(model));
  ASSERT_TRUE(intarsia({"compile", "hostile.tflite", "-o", "out"}).succeeded());
  look_at("out/report.html");
}

// A thousand operators: every view is there, and answers.
TEST_F(Browser, PageOfAThousandOperatorsOfACpu) {
  write("chain.tflite", build(chain_of(1000)));
  ASSERT_TRUE(done(intarsia({"compile", "chain.tflite", "-o", "out"})));
  look_at("out/report.html");
}

TEST_F(Browser, PageOfAThousandOperatorsOfAnNpuWithATrace) {
  write("sums.tflite", build(sums_of(1000)));
  write("in.bin", std::vector<uint8_t>(16 * 16 * 16));
  const std::string target = "cortex-m55+ethos-u55-128";
  ASSERT_TRUE(intarsia({"compile", "sums.tflite", "--target", target, "-o", "out"}).succeeded());
  ASSERT_TRUE(intarsia({"run", "sums.tflite", "--target", target, "--input", "in.bin",
                        "--output-dir", "results", "--trace", "trace.json"})
                  .succeeded());
  ASSERT_TRUE(done(intarsia(
      {"report", "out", "--baseline", "before", "--trace", "trace.json", "-o", "page.html"})));
  look_at("page.html");
}

// The page of a sweep, with a table of every kind of row; and the picture, which is a document of its own.
TEST_F(Browser, PageAndPictureOfASweep) {
  write("chain.tflite", build(chain_of(20)));
  for (const char* name : {"page.html", "picture.svg"})
    ASSERT_TRUE(intarsia({"sweep", digits_path(), "chain.tflite", "--target", "cortex-m4",
                          "--target", "cortex-m55+ethos-u55-128", "--ram-budget", "none",
                          "--ram-budget", "2500", "--plot", name})
                    .succeeded());
  const ProcessOutcome outcome =
      program({"node", INTARSIA_SOURCE_DIR "/tests/e2e/report/check_sweep.mjs", modules_,
               "chromium", path("page.html"), path("picture.svg"), "8", "7"});
  EXPECT_TRUE(outcome.succeeded()) << outcome.out << outcome.err;
}

// docs/screenshots/make, into another folder: the pictures that the pages show, and of which none is empty.
TEST_F(Browser, PicturesOfTheDocsCanBeMade) {
  if (!have_program("arm-none-eabi-gcc"))
    GTEST_SKIP() << needs("cross-toolchain") << "no arm-none-eabi-gcc";
  const std::string program_file = INTARSIA_PROGRAM;
  std::filesystem::create_directory(path("made"));
  const ProcessOutcome outcome =
      program({INTARSIA_SOURCE_DIR "/docs/screenshots/make", "--bin",
               program_file.substr(0, program_file.rfind('/')), "--to", path("made")});
  ASSERT_TRUE(outcome.succeeded()) << outcome.out << outcome.err;
  std::set<std::string> made, shown;
  size_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(path("made"))) {
    made.insert(file.path().filename());
    EXPECT_GT(file.file_size(), 4000u) << file.path();
    EXPECT_LT(file.file_size(), 60000u) << file.path();
    bytes += file.file_size();
  }
  for (const auto& file :
       std::filesystem::directory_iterator(INTARSIA_SOURCE_DIR "/docs/screenshots"))
    if (file.path().extension() == ".webp") shown.insert(file.path().filename());
  EXPECT_EQ(made, shown);
  EXPECT_LT(bytes, 300000u);
}

}  // namespace
}  // namespace intarsia::test
