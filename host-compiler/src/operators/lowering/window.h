// One spatial axis of a sliding window, and the loops over the part of a window that lies inside
// the input. Bounds are written as max(0, -origin) .. min(kernel, extent - origin), which is what
// the bounds proof of tir::verify follows; where nothing is clipped they are constants.
#pragma once

#include <string>
#include <utility>

#include "intarsia/plugin/op_lowering.h"

namespace intarsia::operators {

struct Axis {
  int64_t input, output, kernel, stride = 1, dilation = 1,
                                 pad = 0;  // pad: elements before the first

  bool clips_low() const { return pad > 0; }
  bool clips_high() const { return (output - 1) * stride - pad + (kernel - 1) * dilation >= input; }
  bool clips() const { return clips_low() || clips_high(); }
  // The window is the whole input.
  bool is_global() const { return output == 1 && kernel == input && dilation == 1 && !clips(); }
  bool is_trivial() const { return input == 1 && output == 1 && kernel == 1 && !clips(); }
  bool is_pointwise() const { return kernel == 1 && stride == 1 && !clips() && input == output; }
};

// Where a window begins, and its part inside the input: first <= i < last.
struct Window {
  Expr origin, first, last;
};

// Calls body(Window) with names for what it needs: `origin`, `<name>_first`, `<name>_last`. Axes
// are scaled: `unit` elements of the buffer make one step of the axis.
template <typename Body>
Stmt with_window(FuncBuilder& b, const Axis& axis, const std::string& name, const Expr& at,
                 int64_t unit, Body&& body) {
  const int64_t extent = axis.input * unit, kernel = axis.kernel * unit;
  const Expr zero = tir::int_imm(0);
  return b.let(
      name + "_origin", at * (axis.stride * unit) - axis.pad * unit, [&](const Expr& origin) {
        const bool ranged = axis.dilation == 1;  // a dilated window is tested position by position
        const Expr first = ranged && axis.clips_low() ? tir::max(zero, zero - origin) : zero;
        const Expr last = ranged && axis.clips_high()
                              ? tir::min(tir::int_imm(kernel), tir::int_imm(extent) - origin)
                              : tir::int_imm(kernel);
        return b.let(name + "_first", first, [&](const Expr& lo) {
          return b.let(name + "_last", last, [&](const Expr& hi) {
            return body(Window{origin, lo, hi});
          });
        });
      });
}

// The loop over a window: body(position in the kernel, position in the input).
template <typename Body>
Stmt window_loop(FuncBuilder& b, const Axis& axis, const std::string& name, const Window& window,
                 Body&& body) {
  return loop_between(b, name, window.first, window.last, [&](const Expr& k) {
    const Expr position = window.origin + k * axis.dilation;
    if (axis.dilation == 1 || !axis.clips()) return body(k, position);
    return b.let(name + "_input", position, [&](const Expr& i) {
      Stmt inside = body(k, i);
      if (axis.clips_high()) {
        const Expr extent = tir::int_imm(axis.input);
        inside = tir::if_then(tir::binary(tir::BinaryOp::Lt, i, extent), std::move(inside));
      }
      if (axis.clips_low()) {
        const Expr zero = tir::int_imm(0);
        inside = tir::if_then(tir::binary(tir::BinaryOp::Ge, i, zero), std::move(inside));
      }
      return inside;
    });
  });
}

// One output position of a window operator, for all channels.
struct Place {
  Expr batch, oy, ox;
  Window row, column;
};

// The loops over batches and output positions: body(Place). `unit` scales columns as above.
template <typename Body>
Stmt for_each_place(FuncBuilder& b, int64_t batches, const Axis& y, const Axis& x, int64_t unit,
                    Body&& body) {
  return b.loop("n", batches, [&](const Expr& n) {
    return b.loop("oy", y.output, [&](const Expr& oy) {
      return with_window(b, y, "y", oy, 1, [&](const Window& row) {
        return b.loop("ox", x.output, [&](const Expr& ox) {
          return with_window(b, x, "x", ox, unit, [&](const Window& column) {
            return body(Place{n, oy, ox, row, column});
          });
        });
      });
    });
  });
}

}  // namespace intarsia::operators
