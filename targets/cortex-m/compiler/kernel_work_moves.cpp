// What moves of elements are made of.
#include <algorithm>

#include "intarsia/plugin/rounding.h"
#include "kernel_work.h"

namespace intarsia::targets::cortex_m {

KernelWork copied_rows(CoreClass core, std::string_view name, const std::vector<int64_t>& numbers) {
  const int64_t bytes = name.ends_with("8") ? 1 : name.ends_with("16") ? 2 : 4;
  const int64_t rows = numbers.at(0), each = bytes * numbers.at(1);
  const int64_t units = ceil_div(each, core == CoreClass::Mve ? int64_t{16} : int64_t{4});
  return {KernelFamily::CopiedRows, {1, number(rows), number(rows * units)}};
}

// With Helium a vector of places for all rows, else fours of elements by row.
KernelWork picked_rows(CoreClass core, std::string_view name, const std::vector<int64_t>& numbers) {
  const int64_t rows = numbers.at(0), count = numbers.at(1);
  if (core == CoreClass::Mve) {
    const bool bytes = name.ends_with("s8");
    const int64_t vectors = ceil_div(count, bytes ? int64_t{16} : int64_t{8});
    return {KernelFamily::PickedRows,
            {1, number(vectors), number(bytes ? rows * vectors : 0),
             number(bytes ? 0 : rows * vectors)}};
  }
  return {KernelFamily::PickedRows,
          {1, number(rows), number(rows * (count / 4)), number(rows * (count % 4))}};
}

// Along the longer side, with Helium by vectors.
KernelWork turned(CoreClass core, std::string_view name, const std::vector<int64_t>& numbers) {
  const int64_t rows = numbers.at(0), columns = numbers.at(1);
  const int64_t lines = std::min(rows, columns), each = std::max(rows, columns);
  const bool floats = name.ends_with("f32");
  const int64_t units = lines * ceil_div(each, core == CoreClass::Mve && !floats ? 8 : 4);
  return {KernelFamily::Turned,
          {1, number(lines), number(floats ? 0 : units), number(floats ? units : 0)}};
}

}  // namespace intarsia::targets::cortex_m
