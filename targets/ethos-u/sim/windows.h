// What a kernel walks over: the IFM, upscaled, with padding around it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "intarsia/targets/ethos_u/feature_map.h"

namespace intarsia::simulators::ethos_u {

template <typename Element>
struct PaddedMap {
  int32_t width = 0, height = 0, depth = 0;
  std::vector<Element> elements;  // [y][x][c]

  const Element* at(int32_t y, int32_t x) const {
    return elements.data() +
           (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) *
               static_cast<size_t>(depth);
  }
};

// Whether the padded map, and the work on it, stay within what is simulated.
std::optional<Fault> check_windows(const Operation& operation, uint64_t max_macs);

// The IFM minus its zero point, `padding` all around; zeros where upscaling inserts them.
template <typename Element>
PaddedMap<Element> padded_ifm(const Operation& operation, const Memory& memory, Element padding);

}  // namespace intarsia::simulators::ethos_u
