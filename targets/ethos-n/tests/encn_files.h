// Networks that Arm's support library compiled, each with its inputs and the outputs they must
// give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_n/isa.h"

namespace intarsia::test::ethos_n {

struct EncnFile {
  std::string name;  // "conv1x1/4TOPS_2PLE.encn"
  std::filesystem::path path;
  const simulators::ethos_n::Variant* variant = nullptr;
  // For every buffer of the network the tensor of the model it holds.
  std::vector<size_t> inputs, outputs;
  size_t samples = 0;

  std::vector<uint8_t> bytes() const;
  std::vector<std::vector<uint8_t>> inputs_of(size_t sample) const;
  std::vector<uint8_t> expected(size_t sample, size_t output) const;
  // Sigmoid and tanh rest on instructions whose precision is not published.
  int tolerance = 0;
};

std::vector<EncnFile> encn_files();

}  // namespace intarsia::test::ethos_n
