// Figures of a model on a CPU and an NPU, for tests to change.
#pragma once

#include "budgets/figures.h"

namespace intarsia::budgets {

inline Figures sample_figures() {
  Figures figures;
  figures.model = "kws";
  figures.target = "c + npu";
  figures.board = "small";
  figures.memories = {{"dtcm", 1000, "conv", 960, {{"conv_out", 600}, {"conv_scratch", 360}}},
                      {"sram", 500, "pool", 500, {{"pool_out", 500}}},
                      {"psram", 0, "", 0, {}}};
  figures.flash = {3000, 5000, 2000, 10000};
  figures.constants = {{"conv", 4000}, {"npu_0", 2000}, {"dense", 1000}};
  figures.stack = 300;
  figures.stack_chain = {"kws_run 100", "conv 200"};
  figures.compiler = "cc 12 -Os";
  figures.cycles = {{"c", 9000, {{"conv", 7000}, {"dense", 2000}}},
                    {"npu", 1000, {{"npu_0", 1000}}}};
  figures.operators = {{"conv", "c"}, {"pool", "npu"}, {"dense", "c"}};
  return figures;
}

}  // namespace intarsia::budgets
