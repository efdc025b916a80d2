// What users write for --input-value, and notes on options that change nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "requests/compile_model.h"

namespace intarsia::requests {
namespace {

constexpr char kFloats[] =
    "intarsia.graph m\n"
    "func @main(%0) -> (%1) {\n"
    "  %0 x: f32[1,4]\n"
    "  %1 y: f32[1,4]\n"
    "  abs a(%0) -> (%1)\n"
    "}\n"
    "entry @main\n";
constexpr char kBytes[] =
    "intarsia.graph m\n"
    "func @main(%0) -> (%1) {\n"
    "  %0 x: i8[1,4] q(0.5:0)\n"
    "  %1 y: i8[1,4] q(0.5:0)\n"
    "  relu a(%0) -> (%1)\n"
    "}\n"
    "entry @main\n";

// "" when they are understood.
std::string problem_of_value(std::vector<std::string> values) {
  const Environment environment;
  ModelOptions options;
  options.model = "m.graph";
  options.input_values = std::move(values);
  const std::string text = kFloats;
  const auto module = import_as_asked(
      environment, options, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {});
  return module.ok() ? "" : module.error().to_string();
}

TEST(InputValues, AreNumbersWithACommaBetween) {
  const std::string kUnderstood = "m.graph: is graph text, whose inputs cannot become constants\n";
  for (const char* right : {"sr=16000", "a=b=3", "x=1,-2.5,3e2", "x=inf"})
    EXPECT_EQ(problem_of_value({right}), kUnderstood) << right;
  for (const char* wrong : {"x", "=1", "x=", "x=1,", "x=,1", "x=1x2", "x=one", "x=1 2"})
    EXPECT_EQ(problem_of_value({wrong}),
              "--input-value: '" + std::string(wrong) +
                  "' is not NAME=VALUE; for example sr=16000, or gains=1,0.5,2 for an input of "
                  "three elements\n");
  EXPECT_EQ(problem_of_value({"x=1", "x=2"}),
            "--input-value: gives 'x' a value twice; keep one of the two\n");
}

TEST(Notes, TellThatBytesAreBytesAlready) {
  const auto notes_of = [](const std::string& text) {
    ModelOptions options;
    options.model = "m.graph", options.io = "int8";
    std::string notes;
    const auto module = import_as_asked(
        Environment(), options, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
        [&](const std::string& note) { notes += note; });
    EXPECT_TRUE(module.ok());
    return notes;
  };
  EXPECT_EQ(notes_of(kBytes),
            "--io int8: changes nothing: inputs and outputs are of signed bytes as they are");
  EXPECT_EQ(notes_of(kFloats).find("changes nothing"), std::string::npos);
}

}  // namespace
}  // namespace intarsia::requests
