// Fully connected layers of one row on cores with the DSP extension: device/dsp_kernels.h.
#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "operators.h"
#include "shared_halfwords.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kChannelsTogether = 4, kElementsTogether = 4;

// One row, whose sums the kernel holds.
bool is_one_row(const Conv& conv) {
  const Window& w = conv.window;
  return w.pixels() == 1 && w.in_h == 1 && w.in_w == 1 && w.kernel_h == 1 && w.kernel_w == 1 &&
         w.pad_top == 0 && w.pad_left == 0;
}
bool is_covered(const Conv& conv) {
  return conv.window.in_c % kElementsTogether == 0 && conv.window.out_c >= kChannelsTogether &&
         shared_sums_fit(conv.rows);
}

Stmt call_dense(OpLowering& op, const Window& w, const Channels& channels,
                const std::vector<uint8_t>& packed, BufferId input, BufferId output) {
  const int64_t blocks = ceil_div(w.out_c, kChannelsTogether);
  const BufferId weights =
      op.constant("weights", DataType::Int8,
                  {blocks, w.in_c / kElementsTogether, kChannelsTogether * kElementsTogether},
                  packed, tir::ConstantUse::Weights);
  const BufferId table = op.constant("channels", DataType::Int32, {blocks * kChannelsTogether, 4},
                                     shared_table(channels), tir::ConstantUse::Weights);
  return call_kernel(op.b.func(), {kernel_for("intarsia_dsp_dense", channels, w),
                                   w.values(),
                                   {input},
                                   output,
                                   {},
                                   {weights, table}});
}

// So many bytes; few of them are not worth a call.
Stmt copied(OpLowering& op, BufferId from, BufferId to, int64_t count) {
  constexpr int64_t kFewest = 32;
  if (count >= kFewest) return copy_of_bytes(from, to, count);
  return op.b.loop("i", count,
                   [&](const Expr& i) { return op.b.store(to, {i}, op.b.load(from, {i})); });
}

}  // namespace

LowerKernel dsp_dense_kernel(const Conv& conv, const Channels& channels) {
  if (!is_one_row(conv) || !is_covered(conv)) return nullptr;
  const Window& w = conv.window;
  std::optional<std::vector<uint8_t>> packed = shared_halfwords(conv.rows, w.in_c);
  if (!packed) return nullptr;
  return [w, channels, packed = std::move(*packed)](OpLowering& op) {
    op.declare({Shape{1, 1, 1, w.in_c}}, Shape{1, 1, 1, w.out_c});
    return call_dense(op, w, channels, packed, op.in(0), op.out());
  };
}

LowerKernel dsp_filled_dense_kernel(Conv conv, Channels channels) {
  if (!is_one_row(conv)) return nullptr;
  Window& w = conv.window;
  const int64_t inputs = w.in_c, outputs = w.out_c;
  w.in_c = round_up(inputs, kElementsTogether);
  w.out_c = std::max(outputs, kChannelsTogether);
  conv.rows.resize(static_cast<size_t>(w.out_c), std::vector<int8_t>(conv.rows[0].size()));
  channels.list.resize(static_cast<size_t>(w.out_c), Channel{0, {0, -1}});
  if (!w.fits() || !is_covered(conv)) return nullptr;
  std::optional<std::vector<uint8_t>> packed = shared_halfwords(conv.rows, w.in_c);
  if (!packed) return nullptr;
  return [w, channels, inputs, outputs, packed = std::move(*packed)](OpLowering& op) {
    op.declare({Shape{inputs}}, Shape{outputs});
    BufferId from = op.in(0), to = op.out();
    std::vector<Stmt> steps;
    if (inputs < w.in_c) {
      from = op.b.local("filled", DataType::Int8, {w.in_c}, kElementsTogether);
      steps.push_back(copied(op, op.in(0), from, inputs));
      for (int64_t i = inputs; i < w.in_c; ++i)
        steps.push_back(op.b.store(from, {tir::int_imm(i)}, tir::int_imm(0, DataType::Int8)));
    }
    if (outputs < w.out_c) to = op.b.local("results", DataType::Int8, {w.out_c}, kChannelsTogether);
    steps.push_back(call_dense(op, w, channels, packed, from, to));
    if (outputs < w.out_c) steps.push_back(copied(op, to, op.out(), outputs));
    return tir::seq(std::move(steps));
  };
}

}  // namespace intarsia::targets::cortex_m
