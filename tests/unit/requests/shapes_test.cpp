// What users write for --shape.
#include <gtest/gtest.h>

#include "intarsia/plugin/target_kind.h"
#include "requests/compile_model.h"

namespace intarsia::requests {
namespace {

constexpr char kModel[] =
    "intarsia.graph m\n"
    "func @main(%0) -> (%1) {\n"
    "  %0 x: f32[1,4]\n"
    "  %1 y: f32[1,4]\n"
    "  abs a(%0) -> (%1)\n"
    "}\n"
    "entry @main\n";

// "" when they are understood.
std::string problem_of(std::vector<std::string> shapes) {
  const Environment environment;
  ModelOptions options;
  options.model = "m.graph";
  options.shapes = std::move(shapes);
  const std::string text = kModel;
  const auto module = import_as_asked(
      environment, options, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, {});
  return module.ok() ? "" : module.error().to_string();
}

TEST(Shapes, AreExtentsWithAnXBetween) {
  EXPECT_EQ(problem_of({}), "");
  EXPECT_EQ(problem_of({"x=1x4", "a=b=3"}),
            "m.graph: is graph text, which leaves no extents open to give shapes to\n");
  for (const char* wrong :
       {"x", "=1x4", "x=", "x=1x", "x=x4", "x=-1x4", "x=1,4", "x=99999999999999999999"})
    EXPECT_EQ(problem_of({wrong}), "--shape: '" + std::string(wrong) +
                                       "' is not NAME=EXTENTS; for example image=1x96x96x3\n");
  EXPECT_EQ(problem_of({"x=1x4", "x=2x4"}),
            "--shape: gives 'x' a shape twice; keep one of the two\n");
}

}  // namespace
}  // namespace intarsia::requests
