// The page in a browser, without a window: check_page.mjs looks at it as its readers do. INTARSIA_BROWSER_MODULES names a
// folder whose node_modules/ has puppeteer-core and axe-core (npm install puppeteer-core axe-core); the browser is Chromium.
#include <cstdlib>

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

}  // namespace
}  // namespace intarsia::test
