// With -confirmed-only nothing is compiled that no stream of Arm's compiler shows, and results stay exact.
#include <string>

#include <gtest/gtest.h>

#include "confirmed_streams.h"
#include "golden_models.h"
#include "shared_data.h"

namespace intarsia::test::ethos_u {
namespace {

Result<CompiledModel> compile_model(const std::string& name, CompileRequest request) {
  return compile_for(read_bytes(shared_folder() / "models" / name / "model.tflite"), request);
}

TEST(ConfirmedOnly, RecordedModelsStayExactAndOnTheNpu) {
  INTARSIA_NEEDS_SHARED("models");
  for (const char* name : {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8"})
    for (const char* target : {"ethos-u55-128", "ethos-u65-512"}) {
      SCOPED_TRACE(std::string(name) + " on " + target);
      const auto model = compile_model(name, {.target = target, .confirmed_only = true});
      ASSERT_TRUE(model.ok()) << model.error().to_string();
      EXPECT_EQ(unconfirmed_encodings(*model), "");
      std::string elsewhere;
      for (const tir::Func& func : model->lowered.funcs)
        if (func.target != "ethos-u" && func.name != model->lowered.entry)
          elsewhere += func.origin + " ";
      // The softmax of two elements is a table of 256 bytes where the table does not confirm these.
      if (elsewhere.find("softmax") != std::string::npos) {
        EXPECT_EQ(std::string(name), "vww_96_int8") << elsewhere;
        EXPECT_EQ(model->lowered.funcs.size(), 3u) << elsewhere;
        continue;
      }
      EXPECT_EQ(elsewhere, "");
      expect_exact(name, *model, "confirmed alone");
    }
}

// What the other way takes, so that the test above can fail: windows of kws that overlap.
TEST(ConfirmedOnly, WithoutItMoreIsUsed) {
  INTARSIA_NEEDS_SHARED("models");
  const auto model = compile_model("kws_ref_model", {.memory_mode = "sram-only"});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_NE(unconfirmed_encodings(*model), "");
}

constexpr char kStride3[] = R"(intarsia.graph model
const @0 "w" = i8[1, 2, 3, 4, 5, 6, 7, 8, 9]
const @1 "b" = i32[7]
func @main(%0) -> (%3) {
  %0 "x": i8[1,9,9,1] q(0.5)
  %1 "w": i8[1,3,3,1] q(0.25) = @0
  %2 "b": i32[1] q(0.125) = @1
  %3 "y": i8[1,3,3,1] q(4)
  conv2d strided(%0, %1, %2) -> (%3) {stride_h=3, stride_w=3}
}
entry @main
)";

TEST(ConfirmedOnly, LeavesTheOthersToTheHost) {
  const std::string text = kStride3;
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  const auto model = compile_for(bytes, {});
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->emitted.streams.size(), 1u);
  EXPECT_NE(unconfirmed_encodings(*model).find("Stride3"), std::string::npos);
  const auto confirmed = compile_for(bytes, {.confirmed_only = true});
  ASSERT_TRUE(confirmed.ok()) << confirmed.error().to_string();
  EXPECT_TRUE(confirmed->emitted.streams.empty());
}

}  // namespace
}  // namespace intarsia::test::ethos_u
