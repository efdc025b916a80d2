// Bilinear resizing of integers: device/resize.h.
#include <algorithm>

#include "intarsia/plugin/resizing.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

// Of the kernels' sums.
bool fits(const Blend& blend) {
  constexpr int64_t kLeast = -1024, kMost = 2047;
  return std::all_of(blend.weight.begin(), blend.weight.end(),
                     [](int64_t weight) { return weight >= kLeast && weight <= kMost; });
}

void append_places(std::vector<uint8_t>& bytes, const Blend& blend, int64_t pitch) {
  constexpr int kWordBytes = 4, kByteBits = 8;
  for (size_t i = 0; i < blend.low.size(); ++i)
    for (const int64_t value : {blend.low[i] * pitch, blend.high[i] * pitch, blend.weight[i]})
      for (int byte = 0; byte < kWordBytes; ++byte)
        bytes.push_back(static_cast<uint8_t>(value >> (kByteBits * byte)));
}

}  // namespace

LowerKernel resize_kernel(CoreClass core, const OpView& view) {
  const DataType type = view.in(0).type;
  if (lacks_simd(core) || core == CoreClass::Lanes ||
      (type != DataType::Int8 && type != DataType::Int16))
    return nullptr;
  const Shape in = view.in(0).shape, out = view.out().shape;
  const auto& attrs = view.node.attrs<graph::ResizeAttrs>();
  const Blend rows = integer_blend(in[1], out[1], attrs),
              columns = integer_blend(in[2], out[2], attrs);
  if (!fits(rows) || !fits(columns)) return nullptr;
  const int64_t channels = in[3];
  std::vector<uint8_t> places;
  append_places(places, rows, in[2] * channels);
  append_places(places, columns, channels);
  return [=](OpLowering& op) {
    op.declare({in}, out);
    const BufferId table = op.constant("places", DataType::Int32, {out[1] + out[2], 3}, places,
                                       tir::ConstantUse::Table);
    return call_kernel(op.b.func(), {type == DataType::Int8 ? "intarsia_resize_bilinear_s8"
                                                            : "intarsia_resize_bilinear_s16",
                                     {out[0], in[1] * in[2] * channels, out[1], out[2], channels},
                                     {op.in(0)},
                                     op.out(),
                                     {},
                                     {table}});
  };
}

}  // namespace intarsia::targets::cortex_m
