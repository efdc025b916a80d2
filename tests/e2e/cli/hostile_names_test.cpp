// Names out of a model that would act on a terminal, or be code in what is generated.
#include <algorithm>

#include "cli.h"

namespace intarsia::test {
namespace {

// Clears a terminal, and begins a line.
constexpr std::string_view kName = "\x1b[2J\n", kShown = "?[2J?";

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

class HostileNames : public Cli {
 protected:
  // The digits with another name of their input, which is as long as theirs.
  void SetUp() override {
    Cli::SetUp();
    const std::vector<uint8_t> digits = digits_bytes();
    std::string bytes(digits.begin(), digits.end());
    const std::string own("\x05\0\0\0image", 9);
    ASSERT_TRUE(has(bytes, own));
    for (size_t at = 0; (at = bytes.find(own, at)) != std::string::npos; ++at)
      bytes.replace(at + 4, kName.size(), kName);
    write("hostile.tflite", bytes);
    write_image("in.bin", 3);
  }
  static void expect_harmless(const std::string& text, const std::string& where) {
    EXPECT_FALSE(has(text, "\x1b")) << where;
    EXPECT_FALSE(has(text, "[2J\n")) << where;
  }
  // The name is shown, and does nothing.
  void expect_shown(const std::vector<std::string>& command, int exit_code = kDone) const {
    const ProcessOutcome outcome = intarsia(command);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    expect_harmless(outcome.out + outcome.err, command.front());
    EXPECT_TRUE(has(outcome.out + outcome.err, kShown)) << outcome.out << outcome.err;
  }
};

TEST_F(HostileNames, AreShownAsText) {
  expect_shown({"compile", "hostile.tflite", "-o", "out"});
  expect_shown({"dump", "hostile.tflite", "--stage", "import"});
  expect_shown({"run", "hostile.tflite", "--input", "hostile.tflite", "--output-dir", "o"},
               kUserError);
  expect_shown({"run", "out", "--input", "hostile.tflite", "--output-dir", "o"}, kUserError);
  expect_shown({"compile", "hostile.tflite", "--shape", "other=1x2", "-o", "o"}, kUserError);
}

TEST_F(HostileNames, OfAPackageThatSomebodyChanged) {
  ASSERT_TRUE(done(intarsia({"compile", digits_path(), "-o", "out"})));
  std::string manifest = *read_text_file(path("out/manifest.json"));
  const size_t at = manifest.find("\"image\"");
  ASSERT_NE(at, std::string::npos);
  write("out/manifest.json", manifest.replace(at, 7, "\"\\u001b[2J\\n\""));
  expect_shown({"run", "out", "--input", "hostile.tflite", "--output-dir", "o"}, kUserError);
}

TEST_F(HostileNames, AreNoCodeInAnyFormat) {
  // Graph text has names as they are, and longer ones.
  write("digits.graph",
        std::string("intarsia.graph digits\nfunc @main(%0) -> (%1) {\n"
                    "  %0 \"x\\n}}\\\"; */ #include <evil.h>\\npub fn injected() {} // `"
                    "\\x1b[2J\\n\": i8[4] q(0.5:0)\n"
                    "  %1 \"\\\\\": i8[4] q(0.5:0)\n"
                    "  relu positive(%0) -> (%1)\n}\nentry @main\n"));
  for (const std::string format : {"plain", "cmake", "zephyr", "pico", "esp-idf", "arduino",
                                   "platformio", "cmsis-pack", "clayer", "rust"})
    for (const std::string model : {"hostile.tflite", "digits.graph"}) {
      const ProcessOutcome outcome =
          intarsia({"compile", model, "--format", format, "--target", "c", "-o", "out"});
      EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
      expect_harmless(outcome.out + outcome.err, format);
      for (const auto& [file, text] : read_folder("out")) {
        if (file.ends_with(".pack")) continue;  // compressed
        expect_harmless(text, format + ": " + file);
        EXPECT_FALSE(has(text, "\npub fn injected")) << format << ": " << file;
        if (file.ends_with(".c") || file.ends_with(".h")) {
          EXPECT_FALSE(has(text, "; */ #include")) << format << ": " << file;
        }
      }
    }
}

}  // namespace
}  // namespace intarsia::test
