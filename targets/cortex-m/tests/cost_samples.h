// Layers of many shapes that no network has as they are, by which estimates of cores are made and tested. Sets of
// different seeds differ in all shapes, so that what was made of one is tested by another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "operator_modules.h"

namespace intarsia::test::cortex_m {

struct CostSample {
  std::string what;  // the operator and its shapes
  graph::Module module;
};

// Layers that have kernels on some cores, and others that are loops everywhere.
std::vector<CostSample> cost_samples(uint32_t seed, int per_family);

// Cycles of every sample in the emulator, without wait states; with the kernels that the core has, or by loops alone.
Result<std::vector<double>> count_samples(const std::string& core, const std::string& board,
                                          std::span<const CostSample> samples, bool portable);

}  // namespace intarsia::test::cortex_m
