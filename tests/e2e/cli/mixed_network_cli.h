// The command line with a network of which unlike devices each have a part (mixed_network.h).
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli.h"
#include "support/mixed_network.h"

namespace intarsia::test {

class MixedNetworkCli : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    const MixedNetwork network = mixed_network();
    write("mixed.graph", network.text);
    write("in.bin", network.input);
  }
  // What a run with this choice of target, board and pins computes.
  std::vector<uint8_t> outputs(std::vector<std::string> choice) {
    choice.insert(choice.begin(),
                  {"run", "mixed.graph", "--input", "in.bin", "--output-dir", "out"});
    const ProcessOutcome outcome = intarsia(choice);
    EXPECT_TRUE(outcome.succeeded()) << outcome.err;
    return read("out/out0.bin");
  }
};

}  // namespace intarsia::test
