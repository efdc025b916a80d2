// Streams that Arm's compiler made, executed byte for byte: expected is an integer model of the
// documented arithmetic, written by others.
#include <cstdlib>

#include <gtest/gtest.h>

#include "encn_files.h"
#include "intarsia/targets/ethos_n/run.h"
#include "shared_data.h"

namespace intarsia::test::ethos_n {
namespace {

namespace sim = simulators::ethos_n;

// Empty when no byte is off by more than the tolerance.
std::string difference(const std::vector<uint8_t>& got, const std::vector<uint8_t>& expected,
                       int tolerance) {
  if (got.size() != expected.size())
    return std::to_string(got.size()) + " bytes, expected " + std::to_string(expected.size());
  size_t different = 0, first = 0;
  for (size_t i = got.size(); i-- > 0;)
    if (std::abs(static_cast<int8_t>(got[i]) - static_cast<int8_t>(expected[i])) > tolerance)
      ++different, first = i;
  if (different == 0) return "";
  return std::to_string(different) + " of " + std::to_string(got.size()) +
         " bytes differ, the first at " + std::to_string(first) + ": " +
         std::to_string(got[first]) + ", expected " + std::to_string(expected[first]);
}

TEST(Streams, MeetTheReferenceOnEveryVariant) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  const std::vector<EncnFile> files = encn_files();
  size_t runs = 0;
  for (const EncnFile& file : files) {
    ASSERT_NE(file.variant, nullptr) << file.name;
    EXPECT_GT(file.samples, 0u) << file.name;
    for (size_t k = 0; k < file.samples; ++k, ++runs) {
      std::vector<std::vector<uint8_t>> outputs;
      const sim::Outcome outcome =
          sim::run_network(*file.variant, file.bytes(), file.inputs_of(k), outputs);
      ASSERT_FALSE(outcome.fault) << file.name << ": " << outcome.fault->to_string();
      ASSERT_EQ(outputs.size(), file.outputs.size()) << file.name;
      for (size_t i = 0; i < outputs.size(); ++i)
        EXPECT_EQ(difference(outputs[i], file.expected(k, i), file.tolerance), "")
            << file.name << ", sample " << k << ", output " << i;
    }
  }
  EXPECT_GE(files.size(), 84u);
  EXPECT_EQ(runs, files.size() * 3);
}

TEST(Streams, OfAnotherVariantAreRefused) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  for (const EncnFile& file : encn_files())
    for (const sim::Variant& other : sim::variants()) {
      if (&other == file.variant) continue;
      std::vector<std::vector<uint8_t>> outputs;
      const sim::Outcome outcome =
          sim::run_network(other, file.bytes(), file.inputs_of(0), outputs);
      ASSERT_TRUE(outcome.fault) << file.name;
      EXPECT_NE(outcome.fault->what.find("there is no PLE kernel"), std::string::npos)
          << outcome.fault->to_string();
    }
}

}  // namespace
}  // namespace intarsia::test::ethos_n
