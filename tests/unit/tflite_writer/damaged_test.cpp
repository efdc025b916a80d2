// Files with a byte that is another one: refused, or written so that the format's own verifier takes what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/builtin_targets.h"
#include "tflite_builder.h"
#include "tflite_writer/offload.h"

namespace intarsia::tflite_writer {
namespace {

test::ModelSpec mixed_model() {
  test::ModelSpec m = test::chain_model();
  const int32_t last = m.outputs.at(0);
  const int32_t odd =
      m.add({"odd", m.tensors[static_cast<size_t>(last)].shape, test::kFloat32, {}, {}});
  m.operators.push_back({.code = test::kCustom,
                         .inputs = {last},
                         .outputs = {odd},
                         .custom_code = "Mystery",
                         .custom_options = {1, 2, 3}});
  m.outputs = {odd};
  return m;
}

struct Fixture {
  Fixture() {
    add_builtin_targets(registry);
    target =
        std::make_unique<TargetSpec>(parse_target(registry.catalogue(), "ethos-u55-128").value());
  }
  Result<OffloadedModel> offload_bytes(const std::vector<uint8_t>& bytes) const {
    return offload(bytes, "model.tflite", registry, *target, {});
  }
  TargetRegistry registry;
  std::unique_ptr<TargetSpec> target;
};

void expect_verified(const std::vector<uint8_t>& file) {
  flatbuffers::Verifier verifier(file.data(), file.size());
  EXPECT_TRUE(test::format::VerifyModelBuffer(verifier));
}

TEST(DamagedFile, IsRefusedOrWritten) {
  const Fixture fixture;
  const std::vector<uint8_t> good = test::build(mixed_model());
  const auto whole = fixture.offload_bytes(good);
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  expect_verified(whole->file);
  int written = 0;
  uint64_t random = 1;
  for (int i = 0; i < 800; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::vector<uint8_t> bad = good;
    bad[(random >> 33) % bad.size()] ^= static_cast<uint8_t>(1 + ((random >> 20) % 255));
    const auto result = fixture.offload_bytes(bad);
    if (!result.ok()) continue;
    ++written;
    expect_verified(result->file);
  }
  EXPECT_GT(written, 60);  // names and weights may be anything
}

TEST(DamagedFile, CutShortIsRefused) {
  const Fixture fixture;
  const std::vector<uint8_t> good = test::build(mixed_model());
  for (size_t length = 0; length < good.size(); length += 37)
    EXPECT_FALSE(
        fixture.offload_bytes({good.begin(), good.begin() + static_cast<ptrdiff_t>(length)}).ok());
}

// What stays on the CPU is copied field by field.
TEST(KeptOperator, WithWhatCannotBeCopiedIsRefusedByName) {
  const Fixture fixture;
  test::ModelSpec described = mixed_model();
  described.operators.back().described_by = 0;
  const auto composite = fixture.offload_bytes(test::build(described));
  ASSERT_FALSE(composite.ok());
  EXPECT_THAT(composite.error().to_string(),
              testing::HasSubstr("its operator has options of an operator of StableHLO, which is "
                                 "not copied"));
  test::ModelSpec pruned = mixed_model();
  const int32_t diagonal = pruned.add({"diagonal", {2, 2}, test::kFloat32, {}, {}});
  pruned.tensors.back().data = std::vector<uint8_t>(8, 1);
  pruned.tensors.back().sparse = test::SparseSpec{{0, 1}, {}, {{2}, {0, {0, 1, 2}, {0, 1}}}};
  pruned.operators.back().inputs.push_back(diagonal);
  const auto sparse = fixture.offload_bytes(test::build(pruned));
  ASSERT_FALSE(sparse.ok());
  EXPECT_THAT(sparse.error().to_string(),
              testing::HasSubstr("its tensor has the extents of a sparse constant, which is not "
                                 "copied"));
  test::ModelSpec in_blocks = mixed_model();
  const int32_t scales =
      in_blocks.add({"scales", {1, 2}, test::kFloat32, {}, {}, std::vector<uint8_t>(8, 0x3f)});
  const int32_t weights =
      in_blocks.add({"weights", {1, 4}, test::kInt8, {}, {}, std::vector<uint8_t>(4, 1)});
  in_blocks.tensors.back().quantization_details = 2;
  in_blocks.tensors.back().blocks = {.scales = scales, .size = 2};
  in_blocks.operators.back().inputs.push_back(weights);
  const auto blocks = fixture.offload_bytes(test::build(in_blocks));
  ASSERT_FALSE(blocks.ok());
  EXPECT_THAT(blocks.error().to_string(),
              testing::HasSubstr("a constant with scales by blocks, which is not copied"));
}

// Who runs the file reads such an output when all operators have run, where the input was.
TEST(WrittenFile, AnInputThatIsAnOutputKeepsItsPlace) {
  test::ModelSpec m = mixed_model();
  const int32_t input = m.inputs.at(0);
  m.outputs.push_back(input);
  const Fixture fixture;
  const Result<OffloadedModel> made = fixture.offload_bytes(test::build(m));
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  expect_verified(made->file);
  const auto& kept = made->program.places.at(input);
  for (const auto& [tensor, place] : made->program.places) {
    if (tensor == input) continue;
    EXPECT_GE(kept.last_step, place.last_step) << tensor;
    EXPECT_TRUE(place.offset >= kept.offset + kept.bytes ||
                kept.offset >= place.offset + place.bytes)
        << tensor;
  }
}

TEST(WrittenFile, IsTheSameEachTime) {
  const Fixture fixture;
  const std::vector<uint8_t> good = test::build(mixed_model());
  EXPECT_EQ(fixture.offload_bytes(good)->file, fixture.offload_bytes(good)->file);
}

}  // namespace
}  // namespace intarsia::tflite_writer
