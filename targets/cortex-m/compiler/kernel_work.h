// What the time of a kernel is made of: how often each of its parts runs, as the numbers of the call say. What a part takes
// on a core is in isa/kernel_costs.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels.h"

namespace intarsia::targets::cortex_m {

// Kernels, or parts of them, that have a row of isa/kernel_costs.def for each core.
enum class KernelFamily {
#define FAMILY(name, ...) name,
#include "intarsia/targets/cortex_m/kernel_families.def"
#undef FAMILY
};

struct KernelWork {
  KernelFamily family;
  std::vector<double> amounts;  // of its parts, in the order of the family's row
  double reads = 1;             // how often it reads all of its constants
  bool operator==(const KernelWork&) const = default;
};

// An amount.
inline double number(int64_t value) {
  return static_cast<double>(value);
}

// Of one call of a kernel with these fields of its struct and this table of its channels; empty for a function that is no
// kernel of this folder.
std::vector<KernelWork> work_of_call(CoreClass core, const std::string& kernel,
                                     const std::vector<int64_t>& numbers,
                                     std::span<const uint8_t> table);

// Parts of what a kernel does; work_of_call puts them together.
// From sums to results: what `rectified`, `limited`, `any` in a kernel's name say.
enum class Way { Whole, Rectified, Limited, Any };

// Laying windows out, and the products of two channels by four pixels, or of four channels by two.
std::vector<KernelWork> dsp_convolution(const Window& w, Way way, bool by_four);
KernelWork dsp_wide_convolution(const Window& w);
KernelWork dsp_dense(const Window& w, Way way);
// Without SIMD: four pixels in two words where the window says so, else pixel by pixel.
KernelWork single_convolution(const Window& w, Way way, std::span<const uint8_t> table);
KernelWork rv32_convolution(const Window& w, Way way, std::span<const uint8_t> table);
KernelWork rv32_depthwise(const Window& w, Way way);
KernelWork paired_convolution(const Window& w, Way way);  // six pixels in three words
KernelWork mve_convolution(const Window& w, bool wide = false);
KernelWork mve_deep_convolution(const Window& w);
KernelWork mve_dense(const Window& w);
KernelWork mve_wide_dense(const Window& w);

// Rows and taps of all windows that are inside of the image.
struct SeenTaps {
  int64_t rows = 0, taps = 0;
};
SeenTaps seen_taps(const Window& w);

KernelWork dsp_depthwise(const Window& w, Way way);
KernelWork dsp_depthwise_3x3(const Window& w, Way way);
KernelWork dsp_depthwise_pixels(const Window& w, Way way);
KernelWork mve_depthwise_pixels(const Window& w);
KernelWork thumb_depthwise(CoreClass core, const Window& w, Way way,
                           std::span<const uint8_t> table);
KernelWork mve_depthwise(const Window& w, KernelFamily family);

// Elements that are only moved, by the numbers of the calls.
KernelWork copied_rows(CoreClass core, std::string_view name, const std::vector<int64_t>& numbers);
KernelWork picked_rows(CoreClass core, std::string_view name, const std::vector<int64_t>& numbers);
KernelWork turned(CoreClass core, std::string_view name, const std::vector<int64_t>& numbers);

KernelWork pool(CoreClass core, const Window& w, bool average, bool wide);
KernelWork rows_average_pool(CoreClass core, const Window& w);
KernelWork rows_max_pool(CoreClass core, const Window& w, bool wide);

KernelWork real_depthwise(const Window& w);
KernelWork hybrid_convolution(const Window& w, bool vectors);  // channels of results in bytes
KernelWork real_convolution(const Window& w);                  // a channel's extents in bytes

std::vector<KernelWork> staged(CoreClass core, const std::string& kernel,
                               const std::vector<int64_t>& numbers);

// Fields as the kernels' structs have them, from the numbers of a call in the same order.
class Numbers {
 public:
  explicit Numbers(const std::vector<int64_t>& numbers) : numbers_(numbers) {}

 protected:
  int64_t take() { return numbers_.at(next_++); }

 private:
  const std::vector<int64_t>& numbers_;
  size_t next_ = 0;
};

// Products of matrices, whose numbers are those of matmul.def.
std::vector<KernelWork> products_of_matrices(CoreClass core, const std::vector<int64_t>& numbers);
std::vector<KernelWork> real_products_of_matrices(const std::vector<int64_t>& numbers);
KernelWork wide_products_of_matrices(CoreClass core, const std::vector<int64_t>& numbers);

// What the compiler says of a channel beside its shift, in the second byte of it (compiler/thumb.cpp).
inline int64_t channels_marked(std::span<const uint8_t> table, uint8_t mark) {
  constexpr size_t kEntry = 16, kMark = 13;
  int64_t count = 0;
  for (size_t at = kMark; at < table.size(); at += kEntry) count += table[at] == mark;
  return count;
}

// Rows or columns of a window that lie inside the image, from one that may lie before it on.
int64_t inside(int64_t first, int64_t count, int64_t step, int64_t size);

// With Helium: results that are not those of a rectified layer with all of int8 are rounded in one instruction more, and
// limits are a pass over them afterwards (device/mve_results.h).
inline bool is_general(const Window& w) {
  return w.out_zero != -128 || w.low != -128 || w.high != 127;
}
inline int64_t clamped_vectors(const Window& w) {
  constexpr int64_t kVector = 16;
  const bool clamps = w.low != -128 || w.high != 127;
  return clamps ? (w.pixels() * w.out_c + kVector - 1) / kVector : 0;
}

}  // namespace intarsia::targets::cortex_m
