#include "intarsia/targets/ethos_u/windows.h"

#include <algorithm>

namespace intarsia::simulators::ethos_u {

std::optional<Fault> check_windows(const Operation& op, uint64_t max_macs) {
  const int64_t width = int64_t{op.upscaled_width} + op.padding.left + op.padding.right;
  const int64_t height = int64_t{op.upscaled_height} + op.padding.top + op.padding.bottom;
  const bool fits = width * height <= (int64_t{1} << 27) / op.ifm.depth;
  const auto per_element =
      static_cast<uint64_t>(op.kernel.width) * static_cast<uint64_t>(op.kernel.height) *
      static_cast<uint64_t>(op.kind == OperationKind::Conv || op.pooling == PoolingMode::ReduceSum
                                ? op.ifm.depth
                                : 1);
  if (!fits || per_element > max_macs / static_cast<uint64_t>(element_count(op.ofm)))
    return Fault{Cause::Operand, 0, "", "the operation is larger than a simulation takes"};
  return std::nullopt;
}

template <typename Element>
PaddedMap<Element> padded_ifm(const Operation& op, const Memory& memory, Element padding) {
  PaddedMap<Element> map{op.upscaled_width + op.padding.left + op.padding.right,
                         op.upscaled_height + op.padding.top + op.padding.bottom,
                         op.ifm.depth,
                         {}};
  std::vector<Element> ifm = gather<Element>(op.ifm, memory);
  if (!op.padding.any() && op.upscale == Upscale::None) {
    map.elements = std::move(ifm);
    return map;
  }
  const auto depth = static_cast<size_t>(map.depth);
  map.elements.assign(static_cast<size_t>(map.width) * static_cast<size_t>(map.height) * depth,
                      padding);
  for (int32_t y = 0; y < op.upscaled_height; ++y) {
    Element* to = map.elements.data() +
                  (static_cast<size_t>(y + op.padding.top) * static_cast<size_t>(map.width) +
                   static_cast<size_t>(op.padding.left)) *
                      depth;
    const auto row = static_cast<size_t>(op.upscale == Upscale::None ? y : y / 2) *
                     static_cast<size_t>(op.ifm.width) * depth;
    if (op.upscale == Upscale::None) {
      std::copy_n(ifm.data() + row, static_cast<size_t>(op.ifm.width) * depth, to);
      continue;
    }
    for (int32_t x = 0; x < op.upscaled_width; ++x, to += depth) {
      const bool inserted = op.upscale == Upscale::Zeros && (x % 2 != 0 || y % 2 != 0);
      if (inserted)
        std::fill_n(to, depth, Element{0});
      else
        std::copy_n(ifm.data() + row + static_cast<size_t>(x / 2) * depth, depth, to);
    }
  }
  return map;
}

template PaddedMap<int16_t> padded_ifm(const Operation&, const Memory&, int16_t);
template PaddedMap<int32_t> padded_ifm(const Operation&, const Memory&, int32_t);

}  // namespace intarsia::simulators::ethos_u
