// How convolutions are made of plain ones (device/staged_conv.h), whatever their elements.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "kernels.h"

namespace intarsia::targets::cortex_m {

// struct intarsia_staged.
struct Staged {
#define FIELD(name) int64_t name = 0;
#include "intarsia/targets/cortex_m/staged.def"
#undef FIELD

  std::vector<int64_t> values() const {
    return {
#define FIELD(name) name,
#include "intarsia/targets/cortex_m/staged.def"
#undef FIELD
    };
  }
  bool fits() const;  // every field in 16 bits
};

// Positions in the kernel, in the order of the input; -1: none.
struct Taps {
  std::vector<int64_t> rows, columns;
};
// One call: phases of a transposed convolution, or all of another one. Channels are those of the operator, once for each
// of `taps`.
struct StagedPart {
  Staged staged;
  std::vector<Taps> taps;
};
// What is one convolution with more channels, of the results of a stride that a transposed convolution has: columns that see the same
// columns of the input, where rows have whole strides, and rows alike where `rows` says so. Widened: they see windows as wide, and high, as
// all of theirs, with taps without weights.
struct Joined {
  bool widened = false, rows = false;
};
// Of a Conv2d or a TransposeConv2d. `bytes` of an element: channels are counted in bytes.
std::vector<StagedPart> staged_parts(const OpView& view, int64_t bytes, Joined joined = {});

// Weights [channel][kernel_h][kernel_w][element] as rows, one for each channel of the part: [kernel_w][kernel_h][element].
template <typename T>
std::vector<std::vector<T>> staged_rows(const StagedPart& part, const Shape& shape,
                                        const std::vector<T>& values) {
  std::vector<std::vector<T>> rows;
  for (const Taps& taps : part.taps)
    for (int64_t channel = 0; channel < shape[0]; ++channel) {
      rows.emplace_back();
      for (const int64_t x : taps.columns)
        for (const int64_t y : taps.rows)
          for (int64_t c = 0; c < shape[3]; ++c) {
            const int64_t at = ((channel * shape[1] + y) * shape[2] + x) * shape[3] + c;
            rows.back().push_back(y < 0 || x < 0 ? T{} : values[static_cast<size_t>(at)]);
          }
    }
  return rows;
}

// As many results at a time as the scratch has room for: whole rows, and several where they are short. The bytes of
// scratch; none where they are too many. `own` says how many the convolution itself needs for some results.
std::optional<int64_t> choose_pieces(Staged& staged, const std::function<int64_t(int64_t)>& own);

// One call of a kernel, and its constants.
struct StagedCall {
  std::string kernel;
  Staged staged;
  std::vector<uint8_t> weights, channels;
  int64_t scratch;
};
// Of all parts, joined as estimates say that it is fastest; none where parts have no calls. Windows of floats are not widened: a product
// with a weight that is none may be no number.
std::optional<std::vector<StagedCall>> cheapest_calls(
    CoreClass core, const OpView& view, int64_t bytes,
    const std::function<std::optional<StagedCall>(const StagedPart&)>& make);
// As estimated for the core that stands for the class; others differ by less than two ways do.
std::optional<double> cycles_of_calls(CoreClass core, const std::vector<StagedCall>& calls);
tir::Stmt lower_staged(OpLowering& op, const std::vector<StagedCall>& calls);
// What the call reads, of one group after another.
void append_group(StagedCall& call, const std::vector<uint8_t>& weights,
                  const std::vector<uint8_t>& channels);

}  // namespace intarsia::targets::cortex_m
