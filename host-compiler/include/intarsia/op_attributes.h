// What an operator carries besides its operands: one plain struct per family. Each lists its fields
// once, in `fields`, and printing, parsing and comparing are made from that list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace intarsia::graph {

// Fused activations. The clamp is applied to the quantised result (TFLite's CalculateActivationRange).
enum class Activation : uint8_t { None, Relu, ReluN1To1, Relu6 };

std::string_view to_string(Activation activation);                          // "relu_n1_to_1"
std::optional<Activation> activation_from_string(std::string_view text);  // exact inverse

// Elements added around the two spatial axes. TFLite's SAME and VALID become these at import:
// SAME puts the odd element at the end.
struct Padding2d {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool operator==(const Padding2d&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("top", self.top), f("left", self.left), f("bottom", self.bottom), f("right", self.right);
  }
};

struct NoAttrs {
  bool operator==(const NoAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self&, F&&) {}
};

struct Conv2dAttrs {
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  Padding2d padding;
  Activation activation = Activation::None;
  bool operator==(const Conv2dAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("stride_h", self.stride_h), f("stride_w", self.stride_w);
    f("dilation_h", self.dilation_h), f("dilation_w", self.dilation_w);
    f("padding", self.padding), f("activation", self.activation);
  }
};

struct DepthwiseConv2dAttrs {
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, multiplier = 1;
  Padding2d padding;
  Activation activation = Activation::None;
  bool operator==(const DepthwiseConv2dAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("stride_h", self.stride_h), f("stride_w", self.stride_w);
    f("dilation_h", self.dilation_h), f("dilation_w", self.dilation_w);
    f("multiplier", self.multiplier);
    f("padding", self.padding), f("activation", self.activation);
  }
};

struct FullyConnectedAttrs {
  bool keep_dims = false;
  Activation activation = Activation::None;
  bool operator==(const FullyConnectedAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("keep_dims", self.keep_dims), f("activation", self.activation);
  }
};

struct Pool2dAttrs {
  int64_t filter_h = 1, filter_w = 1, stride_h = 1, stride_w = 1;
  Padding2d padding;
  Activation activation = Activation::None;
  bool operator==(const Pool2dAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("filter_h", self.filter_h), f("filter_w", self.filter_w);
    f("stride_h", self.stride_h), f("stride_w", self.stride_w);
    f("padding", self.padding), f("activation", self.activation);
  }
};

struct BinaryAttrs {
  Activation activation = Activation::None;
  bool operator==(const BinaryAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("activation", self.activation);
  }
};

struct ReshapeAttrs {
  std::vector<int64_t> shape;  // complete: no -1
  bool operator==(const ReshapeAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("shape", self.shape);
  }
};

struct SoftmaxAttrs {
  float beta = 1.0f;
  bool operator==(const SoftmaxAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("beta", self.beta);
  }
};

struct PadAttrs {
  std::vector<int64_t> before, after;  // one pair per axis
  bool operator==(const PadAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("before", self.before), f("after", self.after);
  }
};

struct ReduceAttrs {
  std::vector<int64_t> axes;  // ascending, in 0 .. rank-1
  bool keep_dims = false;
  bool operator==(const ReduceAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("axes", self.axes), f("keep_dims", self.keep_dims);
  }
};

struct ReluAttrs {
  Activation activation = Activation::Relu;
  bool operator==(const ReluAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("activation", self.activation);
  }
};

struct CallAttrs {
  std::string callee;  // a GlobalVar: the name of a Function of the module
  bool operator==(const CallAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("callee", self.callee);
  }
};

using Attributes =
    std::variant<NoAttrs, Conv2dAttrs, DepthwiseConv2dAttrs, FullyConnectedAttrs, Pool2dAttrs,
                 BinaryAttrs, ReshapeAttrs, SoftmaxAttrs, PadAttrs, ReduceAttrs, ReluAttrs, CallAttrs>;

}  // namespace intarsia::graph
