// Convolutions of few channels whose window takes the pixels of a row as channels of one: windows that
// overlap in memory. The MAC array sums eight channels at a time, so one of one or three leaves most of
// it idle; the elements of a row of the window lie beside each other anyway.
#pragma once

#include <vector>

#include "hardware/limits.h"
#include "legalise/builder.h"
#include "legalise/window_axis.h"

namespace intarsia::targets::ethos_u {

// Along a row: `columns` elements of the input between `before` and `after` of padding.
struct Gather {
  int64_t before = 0, columns = 0, after = 0;
  int64_t width() const { return before + columns + after; }
};

// When it saves cycles: `steps` of the MAC array for a micro-block are what the window takes otherwise.
std::optional<Gather> gather_rows(const Program& program, const Operand& ifm, const Extent& ofm,
                                  const WindowAxis& y, const WindowAxis& x, int64_t steps);

// The input as windows of `x.kernel` elements in a row; copied between its padding where there is some.
Operand gathered(Builder& builder, const Operand& ifm, const Gather& gather, const WindowAxis& x);

// Steps of the MAC array for one micro-block: four taps of eight channels each, or a tap of 32. The
// output unit takes as long as two of them.
int64_t mac_steps(int64_t kernel_height, int64_t kernel_width, int64_t channels);

// All elements of each window as the channels of one element, copied: what is left is a convolution of 1 x 1,
// whatever the strides. `x` is not dilated.
Operand gathered_windows(Builder& builder, const Operand& image, const WindowAxis& y,
                         const WindowAxis& x);

// Without copies but of padding: what each row of windows reads, a row of every window as one element. What is left for such
// a row is a convolution of one column, as high as the window, without strides, dilation or padding. `x` is not dilated.
std::vector<Operand> windows_by_rows(Builder& builder, const Operand& image, const WindowAxis& y,
                                     const WindowAxis& x);

// An element of a window, and the places where it lies in the input, along both axes.
struct Tap {
  struct Places {
    int64_t first = 0, end = 0;
    int64_t count() const { return end - first; }
  };
  int64_t y = 0, x = 0;  // in the window
  Places rows, columns;
};

// The elements of a window that lie in the input for some place; at least one.
std::vector<Tap> seen_taps(const WindowAxis& y, const WindowAxis& x);

// Each of these as a row of its own that holds it of all windows, copied: what is left is a window of one column, as high as
// there are taps, without strides, dilation or padding. Channels stay apart.
Operand gathered_taps(Builder& builder, const Operand& image, const WindowAxis& y,
                      const WindowAxis& x, const std::vector<Tap>& taps);

// What `operations` that copy so many elements take, in steps of one result.
double copy_steps(int64_t elements, int64_t operations);

}  // namespace intarsia::targets::ethos_u
