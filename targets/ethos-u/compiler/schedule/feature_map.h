// Where the elements of tensors lie.
#pragma once

#include "program/program.h"
#include "schedule/schedule.h"

namespace intarsia::targets::ethos_u {

// A tensor, or part of one, in a storage.
struct TensorPlace {
  int32_t storage = -1;
  int64_t offset = 0;
  Layout layout = Layout::Nhwc;
  // This many rows exist; row r lies where r modulo that does; 0: all do. Of a map of a single row its columns.
  int32_t rolling_rows = 0;
};

int64_t stored_bytes(const Extent& extent, DataType type, Layout layout);

// `operand` of `tensor`, which lies at `place`.
FeatureMap feature_map(const NpuTensor& tensor, const Operand& operand, const TensorPlace& place);

}  // namespace intarsia::targets::ethos_u
