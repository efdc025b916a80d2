// The weights of a stream's convolutions: where they lie, and what the bytes mean.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "intarsia/targets/ethos_u/weight_stream.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {

// Bytes of region 0 that are read as weights or scales: where they lie, or copied to fast memory first.
// Alignment inside of their ranges counts, look-up tables and constant operands do not.
int64_t weight_bytes(std::span<const uint8_t> payload);

// One compressed stream of weights, as an operation reads it.
struct WeightStream {
  simulators::ethos_u::Traversal traversal;
  int32_t core = 0, cores = 1;
  std::vector<uint8_t> bytes;
  std::vector<int16_t> weights;  // in the order of the stream, with its padding
};

// Of every operation, in the order of execution; a problem, if any, is thrown.
std::vector<WeightStream> weight_streams(const VelaOperator& op);

}  // namespace intarsia::test::ethos_u
