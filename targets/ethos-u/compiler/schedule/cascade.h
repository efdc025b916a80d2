// Cascades: operations that run in turns on stripes of rows, so that of the feature maps between them
// only a few rows exist at a time, in a rolling buffer. What reads and makes a single row, as networks over time do, runs on
// stripes of its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "intarsia/plugin/row_window.h"
#include "program/program.h"

namespace intarsia::targets::ethos_u {

struct Stripe {
  int32_t operation = -1;
  RowRange rows;  // of the output, or its columns
};

// The axis along which an operation is cut into stripes, and a map rolls: rows, or of a single row its columns.
using StripeAxis = int32_t Extent::*;
StripeAxis stripe_axis(const Operation& operation);
StripeAxis stripe_axis(const NpuTensor& tensor);

// The operation's window along that axis.
RowWindow stripe_window(const Operation& operation);

struct Cascade {
  std::vector<Stripe> stripes;         // in order of execution
  std::map<int32_t, int32_t> rolling;  // rows or columns that are kept, by tensor
};

// Whether the output of the operation may be consumed, by the next one alone, while it is made. Not where that writes what is
// kept for the next run: an earlier stripe would, before a later one has read what it replaces.
std::vector<bool> rolls_into_next(const Program& program);

// Operations first .. last, the last of them in stripes of `rows`. None: more than `most` stripes.
std::optional<Cascade> plan_cascade(const Program& program, int32_t first, int32_t last,
                                    int32_t rows, size_t most);

// Input rows (columns) that output rows (columns) of an operation read, without padding.
RowRange input_rows(const Operation& operation, const RowRange& output);

}  // namespace intarsia::targets::ethos_u
