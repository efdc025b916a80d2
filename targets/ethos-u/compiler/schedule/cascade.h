// Cascades: operations that run in turns on stripes of rows, so that of the feature maps between them
// only a few rows exist at a time, in a rolling buffer.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "program/program.h"

namespace intarsia::targets::ethos_u {

struct Stripe {
  int32_t operation = -1;
  int32_t first_row = 0, end_row = 0;  // of the output
};

struct Cascade {
  std::vector<Stripe> stripes;         // in order of execution
  std::map<int32_t, int32_t> rolling;  // rows that are kept, by tensor
};

// Whether the output of the operation may be consumed, by the next one alone, while it is made.
std::vector<bool> rolls_into_next(const Program& program);

// Operations first .. last, the last of them in stripes of `rows`.
Cascade plan_cascade(const Program& program, int32_t first, int32_t last, int32_t rows);

// Input rows that output rows first .. end-1 of an operation read, without padding.
struct RowRange {
  int32_t first = 0, end = 0;
};
RowRange input_rows(const Operation& operation, const RowRange& output);

}  // namespace intarsia::targets::ethos_u
