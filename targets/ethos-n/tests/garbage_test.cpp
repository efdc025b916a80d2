// Damaged networks: the simulator ends with a fault or a result, whatever is in them.
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "damage.h"
#include "encn_files.h"
#include "intarsia/targets/ethos_n/run.h"
#include "shared_data.h"

namespace intarsia::test::ethos_n {
namespace {

namespace sim = simulators::ethos_n;
using testing::HasSubstr;

std::string fault_of(const std::vector<uint8_t>& bytes) {
  std::vector<std::vector<uint8_t>> outputs;
  const auto outcome = sim::run_network(sim::variants()[0], bytes, {}, outputs);
  return outcome.fault ? outcome.fault->to_string() : "";
}

TEST(BadNetworks, AreToldFromNetworks) {
  EXPECT_THAT(fault_of({}), HasSubstr("does not begin with ENCN"));
  EXPECT_THAT(fault_of(std::vector<uint8_t>(100, 1)), HasSubstr("does not begin with ENCN"));
  std::vector<uint8_t> bytes = {'E', 'N', 'C', 'N', 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_THAT(fault_of(bytes), HasSubstr("ENCN version 9 is not 2"));
  bytes[4] = 2;
  EXPECT_THAT(fault_of(bytes), HasSubstr("ends early"));
  bytes.resize(16 + 7 * 4);  // no constants, no buffers
  EXPECT_THAT(fault_of(bytes), HasSubstr("does not begin with ENCS"));
  bytes.push_back(0);
  EXPECT_THAT(fault_of(bytes), HasSubstr("bytes follow the end"));
}

// A limit on work keeps each run short.
TEST(BadNetworks, DamagedStreamsEnd) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n");
  std::mt19937 random(3);
  size_t runs = 0, faults = 0;
  for (const EncnFile& file : encn_files()) {
    const std::vector<uint8_t> good = file.bytes();
    if (good.size() > 4000) continue;
    for (size_t i = 0; i < 8; ++i, ++runs) {
      std::vector<std::vector<uint8_t>> outputs;
      const auto outcome = sim::run_network(*file.variant, damaged(good, random), file.inputs_of(0),
                                            outputs, {uint64_t{1} << 24});
      if (!outcome.fault) continue;
      ++faults;
      EXPECT_FALSE(outcome.fault->what.empty()) << file.name;
    }
  }
  EXPECT_GT(runs, 200u);
  EXPECT_GT(faults, runs / 4);
}

TEST(BadNetworks, MayEndAnywhere) {
  INTARSIA_NEEDS_SHARED("npu-streams/ethos-n/relu6");
  const std::vector<uint8_t> good =
      read_bytes(shared_folder() / "npu-streams/ethos-n/relu6/4TOPS_2PLE.encn");
  for (size_t length = 0; length < good.size(); length += 3)
    EXPECT_NE(fault_of({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)}), "")
        << length;
}

}  // namespace
}  // namespace intarsia::test::ethos_n
