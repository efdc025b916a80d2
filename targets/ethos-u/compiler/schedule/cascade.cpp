#include "schedule/cascade.h"

#include <algorithm>

namespace intarsia::targets::ethos_u {
namespace {

bool is_window(const Operation& operation) {
  return (has_weights(operation.kind) || operation.kind == OperationKind::MaxPool ||
          operation.kind == OperationKind::AveragePool) &&
         operation.upscale == Upscale::None;
}

class CascadePlanner {
 public:
  CascadePlanner(const Program& program, int32_t first, int32_t last)
      : program_(program),
        first_(first),
        last_(last),
        made_(static_cast<size_t>(last - first + 1), 0) {}

  Cascade run(int32_t rows) {
    const int32_t height = operation(last_).ofm.extent.height;
    for (int32_t row = 0; row < height; row += rows) make(last_, std::min(row + rows, height));
    return std::move(result_);
  }

 private:
  const Operation& operation(int32_t index) const {
    return program_.operations.at(static_cast<size_t>(index));
  }

  // Output rows of the operation up to `end`, and before them the rows that they need. Rows that a stride passes
  // over are not made.
  void make(int32_t index, int32_t end) {
    int32_t& made = made_.at(static_cast<size_t>(index - first_));
    if (made >= end) return;
    if (index > first_) {
      const RowRange needed = input_rows(operation(index), {made, end});
      int32_t& before = made_.at(static_cast<size_t>(index - 1 - first_));
      before = std::max(before, needed.first);
      make(index - 1, needed.end);
      int32_t& kept = result_.rolling[operation(index).ifm.tensor];
      kept = std::max(kept, before - needed.first);
    }
    result_.stripes.push_back({index, made, end});
    made = end;
  }

  const Program& program_;
  int32_t first_, last_;
  std::vector<int32_t> made_;  // rows, by operation
  Cascade result_;
};

}  // namespace

RowRange input_rows(const Operation& operation, const RowRange& output) {
  const Kernel& kernel = operation.kernel;
  const int32_t window = (kernel.height - 1) * kernel.dilation_y + 1;
  return {std::max(0, output.first * kernel.stride_y - operation.pads.top),
          std::min(operation.ifm.extent.height,
                   (output.end - 1) * kernel.stride_y - operation.pads.top + window)};
}

std::vector<bool> rolls_into_next(const Program& program) {
  const size_t count = program.tensors.size();
  std::vector<int32_t> readers(count, 0), writers(count, 0);
  std::vector<bool> aliased(count, false);
  for (size_t i = 0; i < count; ++i)
    if (const int32_t root = program.tensors[i].alias_of; root >= 0)
      aliased[i] = aliased[static_cast<size_t>(root)] = true;
  for (const Operation& op : program.operations) {
    ++readers[static_cast<size_t>(op.ifm.tensor)];
    if (op.ifm2) ++readers[static_cast<size_t>(op.ifm2->tensor)];
    ++writers[static_cast<size_t>(op.ofm.tensor)];
  }
  std::vector<bool> result(program.operations.size(), false);
  for (size_t i = 0; i + 1 < program.operations.size(); ++i) {
    const Operation &from = program.operations[i], &to = program.operations[i + 1];
    const auto tensor = static_cast<size_t>(from.ofm.tensor);
    const NpuTensor& between = program.tensors[tensor];
    const auto plain = [&](const Operand& operand) {
      return !operand.walk && operand.step == Extent{} && operand.origin == Extent{0, 0, 0} &&
             operand.extent.width == between.extent.width &&
             operand.extent.depth == between.extent.depth;
    };
    result[i] = is_window(from) && is_window(to) && from.ofm.tensor == to.ifm.tensor &&
                between.kind == NpuTensor::Kind::Inner && !aliased[tensor] &&
                readers[tensor] == 1 && writers[tensor] == 1 && from.ofm.extent == between.extent &&
                plain(from.ofm) && plain(to.ifm) && between.extent.height > 1;
  }
  return result;
}

Cascade plan_cascade(const Program& program, int32_t first, int32_t last, int32_t rows) {
  return CascadePlanner(program, first, last).run(rows);
}

}  // namespace intarsia::targets::ethos_u
