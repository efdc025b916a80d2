// Weights that several operations have: which of them are one group, and where a copy for all of them lies. And that those of many
// operations are encoded once each.
#include "schedule/weight_copies.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hardware/hardware.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "schedule/scheduler.h"

namespace intarsia::targets::ethos_u {
namespace {

Weights weights_of(int32_t depth, int seed) {
  Weights weights;
  for (int32_t i = 0; i < depth * depth; ++i)
    weights.push_back(static_cast<int16_t>((i * 7919 + i / 13 + seed * 31) % 201 - 100));
  return weights;
}

// Products one behind the other of a vector with the same weights, each with scales of its own: a recurrent network without
// anything between its steps.
class Steps {
 public:
  explicit Steps(int32_t depth, int32_t width = 1) : depth_(depth), width_(width) {
    add_tensor(NpuTensor::Kind::Input);
  }

  Operation& add(const Weights& weights) {
    const auto from = static_cast<int32_t>(program_.tensors.size()) - 1;
    add_tensor(NpuTensor::Kind::Inner);
    Operation& op = program_.operations.emplace_back();
    op.node = "step" + std::to_string(from);
    op.ifm = {.tensor = from, .extent = {1, width_, depth_}};
    op.ofm = {.tensor = from + 1, .extent = {1, width_, depth_}};
    op.weights = weights;
    for (int32_t c = 0; c < depth_; ++c)
      op.scales.push_back(
          {.bias = c, .multiplier = (1u << 30) + static_cast<uint32_t>(from), .shift = 38});
    return op;
  }
  Program finish() {
    program_.tensors.back().kind = NpuTensor::Kind::Output;
    program_.tensors.back().parameter = 0;
    return program_;
  }

 private:
  void add_tensor(NpuTensor::Kind kind) {
    NpuTensor& tensor = program_.tensors.emplace_back();
    tensor.name = "t" + std::to_string(program_.tensors.size());
    tensor.kind = kind;
    tensor.parameter = kind == NpuTensor::Kind::Input ? 0 : -1;
    tensor.extent = {1, width_, depth_};
  }
  int32_t depth_, width_;
  Program program_;
};

bool every_group(const WeightCopies::Group&) {
  return true;
}

TEST(WeightCopies, GroupsAreOfOneShapeAndType) {
  Steps steps(16);
  const Weights weights = weights_of(16, 1), others = weights_of(16, 2);
  steps.add(weights);
  steps.add(others);
  steps.add(weights);
  steps.add(weights).kernel.dilation_x = 2;
  steps.add(weights).activation = Activation::Sigmoid;
  steps.add(weights);
  Program program = steps.finish();
  program.tensors[6].type = DataType::Int16;
  const WeightCopies copies = weight_copies(program, every_group);
  ASSERT_EQ(copies.groups.size(), 1u);
  EXPECT_EQ(copies.groups[0].operations, (std::vector<int32_t>{0, 2}));
  EXPECT_FALSE(copies.groups[0].kept);
  EXPECT_EQ(copies.groups_of, (std::vector<int32_t>{0, -1, 0, -1, -1, -1}));
}

TEST(WeightCopies, WhatIsThereOnceIsNone) {
  Steps steps(16);
  steps.add(weights_of(16, 1));
  steps.add(weights_of(16, 2));
  const WeightCopies copies = weight_copies(steps.finish(), every_group);
  EXPECT_TRUE(copies.groups.empty());
  EXPECT_EQ(copies.group_of(0), -1);
}

// Whatever the operations are besides.
TEST(WeightCopies, KnowsWhichConstantsOthersHaveToo) {
  Steps steps(16);
  const Weights weights = weights_of(16, 1);
  steps.add(weights);
  steps.add(weights_of(16, 2));
  steps.add(weights).activation = Activation::Sigmoid;
  steps.add(weights_of(16, 3));
  Program program = steps.finish();
  EXPECT_EQ(constants_in_common(program), (std::vector<bool>{true, false, true, false}));
  program.operations[3].scales = program.operations[1].scales;
  EXPECT_EQ(constants_in_common(program), (std::vector<bool>{true, true, true, true}));
}

constexpr int kSteps = 12;

// Of a few pixels maps are not small beside a copy, which a memory that is shared asks for.
Program repeated(int32_t depth, int32_t width = 1) {
  Steps steps(depth, width);
  for (int i = 0; i < kSteps; ++i) steps.add(weights_of(depth, 1));
  return steps.finish();
}

Schedule scheduled(const char* tag, const Program& program,
                   ScheduleOptions options = {.for_speed = true}, std::string mode = "") {
  if (mode.empty())
    mode = std::string(tag).starts_with("ethos-u65") ? "dedicated-sram" : "shared-sram";
  options.memory = *isa::ethos_u::memory_system(*isa::ethos_u::find_npu_timing(tag), "", mode);
  Result<Schedule> made = make_schedule(hardware_named(tag), program, options);
  EXPECT_TRUE(made.ok());
  return *std::move(made);
}

// Storages in fast memory that operations read weights from.
std::set<int32_t> fast_weights(const Schedule& schedule) {
  std::set<int32_t> storages;
  for (const Step& step : schedule.steps)
    for (const Span& span : step.weights)
      if (span.bytes > 0 && schedule.storages.at(static_cast<size_t>(span.storage)).fast)
        storages.insert(span.storage);
  return storages;
}

class CopiesOf : public testing::TestWithParam<const char*> {};

TEST_P(CopiesOf, OneServesAllOperations) {
  const Schedule schedule = scheduled(GetParam(), repeated(64, 32));
  const std::set<int32_t> fast = fast_weights(schedule);
  ASSERT_EQ(fast.size(), 1u);
  const Storage& copy = schedule.storages.at(static_cast<size_t>(*fast.begin()));
  int transfers = 0;
  std::set<int32_t> scales;
  for (const Step& step : schedule.steps) {
    if (step.to.storage == *fast.begin()) {
      ++transfers;
      EXPECT_EQ(step.to.offset, 0);
      EXPECT_EQ(step.from.bytes, copy.bytes);
      EXPECT_TRUE(scales.empty()) << "it is there before the first operation";
      const Storage& from = schedule.storages.at(static_cast<size_t>(step.from.storage));
      EXPECT_EQ(std::ssize(from.contents), copy.bytes);
    }
    if (step.operation < 0) continue;
    int64_t end = 0;
    for (const Span& span : step.weights) {
      EXPECT_EQ(span.storage, *fast.begin());
      end = std::max(end, span.offset + span.bytes);
    }
    EXPECT_EQ(end, copy.bytes);
    scales.insert(step.scales.at(0).storage);
  }
  EXPECT_EQ(transfers, 1);
  EXPECT_EQ(scales.size(), static_cast<size_t>(kSteps)) << "each has its own";
}

TEST_P(CopiesOf, WeightsAreStoredOnce) {
  const Program program = repeated(64, 32);
  int64_t bytes = 0;
  for (const Storage& storage : scheduled(GetParam(), program).storages)
    bytes += std::ssize(storage.contents);
  EXPECT_LT(bytes, int64_t{64} * 64 * 2 + int64_t{kSteps} * 64 * 16);
}

// And where each operation reads them from where they are stored.
TEST_P(CopiesOf, WeightsWithoutACopyAreStoredOnceToo) {
  const Program program = repeated(64, 32);
  for (const Schedule& schedule : {scheduled(GetParam(), program, {.for_size = true}),
                                   scheduled(GetParam(), program, {}, "sram-only")}) {
    EXPECT_TRUE(fast_weights(schedule).empty());
    int64_t bytes = 0;
    for (const Storage& storage : schedule.storages) bytes += std::ssize(storage.contents);
    EXPECT_LT(bytes, int64_t{64} * 64 * 2 + int64_t{kSteps} * 64 * 16);
  }
}

// Less than a copy takes; and where memory alone counts there is none.
TEST_P(CopiesOf, LimitsHold) {
  ScheduleOptions options;
  options.sram_limit = 1024;
  for (const Storage& storage : scheduled(GetParam(), repeated(64), options).storages)
    EXPECT_LE(storage.fast ? storage.bytes : 0, *options.sram_limit);
  options.sram_limit = 16 << 10;
  EXPECT_EQ(fast_weights(scheduled(GetParam(), repeated(64), options)).size(), 1u);
  ScheduleOptions small;
  small.for_size = true;
  EXPECT_TRUE(fast_weights(scheduled(GetParam(), repeated(64), small)).empty());
}

INSTANTIATE_TEST_SUITE_P(WeightCopies, CopiesOf,
                         testing::Values("ethos-u55-64", "ethos-u55-256", "ethos-u65-256",
                                         "ethos-u65-512"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// In which order weights are encoded follows from the blocks, which are chosen before: little is encoded that no step reads.
TEST(EncodedWeights, OfALargeProgramAreThoseThatAreRead) {
  Steps steps(256, 196);
  for (int i = 0; i < 8; ++i) steps.add(weights_of(256, i + 1));
  int64_t made = 0;
  const Schedule schedule = scheduled(
      "ethos-u55-128", steps.finish(),
      {.on_progress = [&](const Progress& progress) { made = std::max(made, progress.done); }});
  const int64_t read =
      std::count_if(schedule.storages.begin(), schedule.storages.end(),
                    [](const Storage& storage) { return storage.kind == Storage::Kind::Constant; });
  EXPECT_GE(made, read);
  EXPECT_LE(made, read + read / 4);
}

}  // namespace
}  // namespace intarsia::targets::ethos_u
