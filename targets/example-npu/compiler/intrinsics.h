// The device's intrinsics in TIR. "example_npu.<command>" has as operands the command's buffers in
// the order of its address fields (region_x, offset_x), then the values of its other fields, in the
// order of the table.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/plugin/tir.h"

namespace intarsia::targets::example_npu {

struct Intrinsic {
  std::string_view command;
  std::vector<tir::BufferRun> runs;
  std::map<std::string_view, int64_t> fields;
};

// The names behind region_ and offset_: "a", "b", "out".
std::vector<std::string_view> addresses_of(std::string_view command);
// All other fields, in order.
std::vector<std::string_view> values_of(std::string_view command);

tir::Stmt to_statement(const Intrinsic& intrinsic);
// The inverse; `statement` is one of ours (checked).
Intrinsic from_statement(const tir::Stmt& statement);

}  // namespace intarsia::targets::example_npu
