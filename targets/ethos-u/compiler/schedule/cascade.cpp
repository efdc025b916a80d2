#include "schedule/cascade.h"

#include "intarsia/npu/cascade_order.h"

namespace intarsia::targets::ethos_u {
namespace {

// Of element-wise operations those that read one map, as a window of one element does.
bool is_window_of_rows(const Operation& operation) {
  return (has_weights(operation.kind) || operation.kind == OperationKind::MaxPool ||
          operation.kind == OperationKind::AveragePool ||
          (is_elementwise(operation.kind) && !operation.ifm2)) &&
         operation.upscale == Upscale::None;
}

}  // namespace

StripeAxis stripe_axis(const Operation& operation) {
  const bool is_row = operation.ifm.extent.height == 1 && operation.ofm.extent.height == 1;
  return is_row ? &Extent::width : &Extent::height;
}

StripeAxis stripe_axis(const NpuTensor& tensor) {
  return tensor.extent.height == 1 ? &Extent::width : &Extent::height;
}

RowWindow stripe_window(const Operation& operation) {
  const Kernel& kernel = operation.kernel;
  if (stripe_axis(operation) == &Extent::width)
    return {kernel.width, kernel.stride_x, kernel.dilation_x, operation.pads.left};
  return {kernel.height, kernel.stride_y, kernel.dilation_y, operation.pads.top};
}

RowRange input_rows(const Operation& operation, const RowRange& output) {
  return clipped(rows_of_window(stripe_window(operation), output),
                 operation.ifm.extent.*stripe_axis(operation));
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
    // Columns at the end that no window reaches are written, and not read.
    const auto plain = [&](const Operand& operand) {
      return !operand.walk && operand.step == Extent{} && operand.origin == Extent{0, 0, 0} &&
             operand.extent.width <= between.extent.width &&
             operand.extent.depth == between.extent.depth;
    };
    result[i] = is_window_of_rows(from) && is_window_of_rows(to) &&
                from.ofm.tensor == to.ifm.tensor && between.kind == NpuTensor::Kind::Inner &&
                !aliased[tensor] && !program.tensors[static_cast<size_t>(to.ofm.tensor)].is_kept &&
                readers[tensor] == 1 && writers[tensor] == 1 && from.ofm.extent == between.extent &&
                plain(from.ofm) && plain(to.ifm) && stripe_axis(from) == stripe_axis(to) &&
                between.extent.*stripe_axis(to) > 1;
  }
  return result;
}

std::optional<Cascade> plan_cascade(const Program& program, int32_t first, int32_t last,
                                    int32_t rows, size_t most) {
  const auto operation = [&](size_t index) -> const Operation& {
    return program.operations.at(static_cast<size_t>(first) + index);
  };
  // Map i is what operation i reads; the last one makes map `count`.
  const auto count = static_cast<size_t>(last - first + 1);
  npu::CascadeProblem problem;
  problem.maps.resize(count + 1);
  problem.operations.resize(count);
  for (size_t i = 0; i < count; ++i) {
    problem.maps[i + 1].rows = operation(i).ofm.extent.*stripe_axis(operation(i));
    problem.operations[i].output = i + 1;
    // What the first one reads is there.
    if (i > 0) problem.operations[i].inputs = {{i, stripe_window(operation(i))}};
  }
  problem.maps.front().rows = operation(0).ifm.extent.*stripe_axis(operation(0));
  problem.operations.back().piece_rows = rows;
  const std::optional<npu::CascadeOrder> order = npu::order_cascade(problem, most);
  if (!order) return std::nullopt;
  Cascade cascade;
  for (const npu::CascadeStep& step : order->steps)
    cascade.stripes.push_back({first + static_cast<int32_t>(step.operation), step.rows});
  for (size_t i = 1; i < count; ++i)
    cascade.rolling[operation(i).ifm.tensor] = static_cast<int32_t>(order->ring_slots[i]);
  return cascade;
}

}  // namespace intarsia::targets::ethos_u
