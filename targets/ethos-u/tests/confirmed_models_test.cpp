// With -confirmed-only nothing is compiled that no stream of Arm's compiler shows, and results stay exact.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "confirmed_streams.h"
#include "golden_models.h"
#include "recorded_data.h"

namespace intarsia::test::ethos_u {
namespace {

// The one operator of a model that an encoding which no stream shows keeps on the host: a softmax of two elements would
// be a table of 256 bytes, and this addition an operation from i8 to i32.
std::string left_to_host(const std::string& name) {
  return name == "vww_96_int8" ? "softmax" : name == "residual_s8" ? "block0_add" : "";
}

TEST(ConfirmedOnly, RecordedModelsStayExactAndOnTheNpu) {
  for (const std::string& name :
       with_beside({"separable_s8", "separable_s16", "residual_s8", "residual_s16",
                    "autoencoder_s8", "autoencoder_s16"},
                   {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8"}))
    for (const char* target : {"ethos-u55-128", "ethos-u65-512"}) {
      SCOPED_TRACE(name + " on " + target);
      const auto model = compile_recorded(name, {.target = target, .confirmed_only = true});
      ASSERT_TRUE(model.ok()) << model.error().to_string();
      EXPECT_EQ(unconfirmed_encodings(*model), "");
      std::vector<std::string> elsewhere;
      for (const tir::Func& func : model->program().lowered.funcs)
        if (func.target != "ethos-u" && func.name != model->program().lowered.entry)
          elsewhere.push_back(func.origin);
      const std::string left = left_to_host(name);
      if (left.empty()) {
        EXPECT_THAT(elsewhere, testing::IsEmpty());
        expect_exact(name, *model, "confirmed alone");
      } else {
        EXPECT_THAT(elsewhere, testing::ElementsAre(testing::HasSubstr(left)));
      }
    }
}

// What the other way takes, so that the test above can fail: windows that overlap.
TEST(ConfirmedOnly, WithoutItMoreIsUsed) {
  for (const std::string& name : with_beside({"separable_s8"}, {"kws_ref_model"})) {
    const auto model = compile_recorded(name, {.memory_mode = "sram-only"});
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    EXPECT_NE(unconfirmed_encodings(*model), "") << name;
  }
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
  EXPECT_EQ(model->program().emitted.streams.size(), 1u);
  EXPECT_NE(unconfirmed_encodings(*model).find("Stride3"), std::string::npos);
  const auto confirmed = compile_for(bytes, {.confirmed_only = true});
  ASSERT_TRUE(confirmed.ok()) << confirmed.error().to_string();
  EXPECT_TRUE(confirmed->program().emitted.streams.empty());
}

}  // namespace
}  // namespace intarsia::test::ethos_u
