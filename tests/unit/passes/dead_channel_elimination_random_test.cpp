// Random networks give the same outputs after dead-channel elimination, on extreme and on random inputs.
#include <gtest/gtest.h>

#include "passes/dead_channel_elimination.h"
#include "support/random_network.h"

namespace intarsia {
namespace {

struct Tally {
  int reduced = 0, channels = 0, biases = 0, padding = 0, identity = 0, activation = 0, chain = 0;

  void add(const ReducedModule& result) {
    reduced += !result.actions.empty();
    for (const EliminationStep& action : result.actions) {
      channels += action.pass == "channels";
      biases += action.why.find("went to the bias") != std::string::npos;
      padding += action.pass == "padding";
      identity += action.pass == "identity";
      activation += action.pass == "activation";
      chain += action.pass == "chain";
    }
  }
};

void check_networks(DataType type, uint32_t first_seed, int count) {
  Tally tally;
  for (uint32_t seed = first_seed; seed < first_seed + static_cast<uint32_t>(count); ++seed) {
    testing::Random random(seed);
    const graph::Module module = testing::random_network(random, type);
    const Result<ReducedModule> reduced = eliminate_dead_channels(module);
    ASSERT_TRUE(reduced.ok()) << "seed " << seed << "\n"
                              << reduced.error().to_string() << graph::print(module);
    const Result<void> same = check_reduced(module, reduced->module, 6);
    ASSERT_TRUE(same.ok()) << "seed " << seed << "\n"
                           << same.error().to_string() << graph::print(module)
                           << graph::print(reduced->module);
    EXPECT_LE(reduced->after.macs, reduced->before.macs) << "seed " << seed;
    EXPECT_LE(reduced->after.weight_bytes, reduced->before.weight_bytes) << "seed " << seed;
    // Nothing is left for a second time.
    const Result<ReducedModule> again = eliminate_dead_channels(reduced->module);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again->actions.empty()) << "seed " << seed << ": " << again->actions.front().what;
    EXPECT_TRUE(again->module == reduced->module) << "seed " << seed;
    tally.add(*reduced);
  }
  // The networks do reach every pass.
  EXPECT_GT(tally.reduced, count / 3);
  EXPECT_GT(tally.channels, count / 3);
  EXPECT_GT(tally.biases, count / 20);
  EXPECT_GT(tally.padding, count / 100);
  EXPECT_GT(tally.identity, count / 100);
  EXPECT_GT(tally.activation, count / 200);
  EXPECT_GT(tally.chain, count / 200);
}

TEST(EliminationRandom, Int8NetworksKeepTheirResults) {
  check_networks(DataType::Int8, 1, 400);
}
TEST(EliminationRandom, Int16NetworksKeepTheirResults) {
  check_networks(DataType::Int16, 10001, 200);
}

}  // namespace
}  // namespace intarsia
