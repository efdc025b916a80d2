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

struct CountedAs {
  bool portable = false;       // by loops alone, not with the kernels that the core has
  int64_t made_for_waits = 0;  // kernels are chosen for constants that wait so many cycles
};

// Cycles of every sample in the emulator, without wait states.
Result<std::vector<double>> count_samples(const std::string& core, const std::string& board,
                                          std::span<const CostSample> samples, const CountedAs& as);

}  // namespace intarsia::test::cortex_m
