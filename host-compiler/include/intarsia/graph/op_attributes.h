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

std::string_view to_string(Activation activation);                        // "relu_n1_to_1"
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

struct
    TransposeConv2dAttrs {  // the window of input (y, x) begins at (y * stride_h - pad_top, x * stride_w - pad_left)
  int64_t stride_h = 1;
  int64_t stride_w = 1;
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  int64_t out_h = 1;
  int64_t out_w = 1;
  Activation activation = Activation::None;
  bool operator==(const TransposeConv2dAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("stride_h", self.stride_h);
    f("stride_w", self.stride_w);
    f("pad_top", self.pad_top);
    f("pad_left", self.pad_left);
    f("out_h", self.out_h);
    f("out_w", self.out_w);
    f("activation", self.activation);
  }
};

struct LeakyReluAttrs {
  float alpha = 0;
  bool operator==(const LeakyReluAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("alpha", self.alpha);
  }
};

struct GeluAttrs {
  bool approximate = false;  // by tanh instead of erf
  bool operator==(const GeluAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("approximate", self.approximate);
  }
};

struct LookupAttrs {
  std::vector<int64_t>
      results;  // of int8: 256 of the output's type, -128 first; of int16: 513 points, 128 apart
  bool operator==(const LookupAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("results", self.results);
  }
};

struct AxisAttrs {  // 0 .. rank-1 (pack: of the output)
  int64_t axis = 0;
  bool operator==(const AxisAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("axis", self.axis);
  }
};

struct SplitAttrs {  // one size per output; they add up to the extent
  int64_t axis = 0;
  std::vector<int64_t> sizes;
  bool operator==(const SplitAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("axis", self.axis);
    f("sizes", self.sizes);
  }
};

struct SliceAttrs {  // per axis; strides may be negative; `drop`: axes of size 1 that vanish
  std::vector<int64_t> begin;
  std::vector<int64_t> size;
  std::vector<int64_t> stride;
  std::vector<int64_t> drop;
  bool operator==(const SliceAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("begin", self.begin);
    f("size", self.size);
    f("stride", self.stride);
    f("drop", self.drop);
  }
};

struct TransposeAttrs {
  std::vector<int64_t> permutation;
  bool operator==(const TransposeAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("permutation", self.permutation);
  }
};

struct MirrorPadAttrs {  // symmetric: the edge is repeated
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  bool symmetric = false;
  bool operator==(const MirrorPadAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("before", self.before);
    f("after", self.after);
    f("symmetric", self.symmetric);
  }
};

struct BlockAttrs {
  int64_t block = 1;
  bool operator==(const BlockAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("block", self.block);
  }
};

struct BatchSpaceAttrs {  // one of each per axis after the first
  std::vector<int64_t> block;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  bool operator==(const BatchSpaceAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("block", self.block);
    f("before", self.before);
    f("after", self.after);
  }
};

struct GatherAttrs {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool operator==(const GatherAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("axis", self.axis);
    f("batch_dims", self.batch_dims);
  }
};

struct ResizeAttrs {
  int64_t height = 1;
  int64_t width = 1;
  bool align_corners = false;
  bool half_pixel_centers = false;
  bool operator==(const ResizeAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("height", self.height);
    f("width", self.width);
    f("align_corners", self.align_corners);
    f("half_pixel_centers", self.half_pixel_centers);
  }
};

struct BatchMatmulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  bool operator==(const BatchMatmulAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("transpose_a", self.transpose_a);
    f("transpose_b", self.transpose_b);
  }
};

struct SvdfAttrs {
  int64_t rank = 1;
  Activation activation = Activation::None;
  bool operator==(const SvdfAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("rank", self.rank);
    f("activation", self.activation);
  }
};

struct LstmAttrs {  // a clip of 0 is none
  bool time_major = false;
  float cell_clip = 0;
  bool operator==(const LstmAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("time_major", self.time_major);
    f("cell_clip", self.cell_clip);
  }
};

// A function of one number, of those in scalar_functions.h; what alpha and beta are depends on it.
struct ScalarFunctionAttrs {
  std::string name;
  float alpha = 0, beta = 0;
  bool operator==(const ScalarFunctionAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("name", self.name), f("alpha", self.alpha), f("beta", self.beta);
  }
};

struct RecurrentAttrs {
  std::string cell = "lstm";                                               // or gru, rnn
  ScalarFunctionAttrs gate{"sigmoid"}, candidate{"tanh"}, output{"tanh"};  // rnn: `candidate` alone
  bool reverse = false;      // from the last step to the first; the results stay at their steps
  bool sequence = false;     // gives the hidden states of all steps
  bool reset_after = false;  // gru: the reset gate multiplies what the weights made of the state
  bool coupled = false;      // lstm: the forget gate is 1 less the input gate
  float clip = 0;            // of the functions' arguments; 0 is none
  bool operator==(const RecurrentAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("cell", self.cell);
    f("gate", self.gate), f("candidate", self.candidate), f("output", self.output);
    f("reverse", self.reverse), f("sequence", self.sequence);
    f("reset_after", self.reset_after), f("coupled", self.coupled), f("clip", self.clip);
  }
};

// A piece of the model that another compiler has turned into a device's own program. Its tensors have
// addresses in an arena that the program knows.
struct CompiledAttrs {
  std::string device;            // as the file calls it: "npu"
  int64_t arena_bytes = 0;       // what the program needs; its tensors are in it
  int64_t fast_arena_bytes = 0;  // a second one in fast memory; may be unused
  std::vector<int64_t> input_offsets, output_offsets;  // in the arena, one per input and output
  bool operator==(const CompiledAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("device", self.device), f("arena_bytes", self.arena_bytes);
    f("fast_arena_bytes", self.fast_arena_bytes);
    f("input_offsets", self.input_offsets), f("output_offsets", self.output_offsets);
  }
};

// Of TFLite Micro's audio front end; the operands' numbers have no scales, what they count is the model's own.
struct SignalShiftAttrs {  // products are shifted right
  int64_t shift = 0;
  bool operator==(const SignalShiftAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("shift", self.shift);
  }
};

struct SignalFftAttrs {  // points: a power of two
  int64_t length = 2;
  bool operator==(const SignalFftAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("length", self.length);
  }
};

struct SignalEnergyAttrs {
  int64_t begin = 0, end = 0;  // frequencies
  bool operator==(const SignalEnergyAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("begin", self.begin), f("end", self.end);
  }
};

// The estimate of the noise: estimate * kept + (signal << smoothing_bits) * taken, with `bits` bits of fraction. Channels
// with an odd number have factors of their own.
struct SpectralSubtractionAttrs {
  int64_t taken = 0, kept = 0, odd_taken = 0, odd_kept = 0;
  int64_t smoothing_bits = 0, bits = 0;
  int64_t least_remaining = 0;  // of the signal, with `bits` bits of fraction
  bool clamped = false;         // the estimate is never more than the signal
  bool operator==(const SpectralSubtractionAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("taken", self.taken), f("kept", self.kept);
    f("odd_taken", self.odd_taken), f("odd_kept", self.odd_kept);
    f("smoothing_bits", self.smoothing_bits), f("bits", self.bits);
    f("least_remaining", self.least_remaining), f("clamped", self.clamped);
  }
};

struct SignalLogAttrs {  // ln(input << shift) * scale
  int64_t shift = 0, scale = 1;
  bool operator==(const SignalLogAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("shift", self.shift), f("scale", self.scale);
  }
};

struct DetectBoxesAttrs {
  int64_t classes = 1;  // without the background
  int64_t most = 1;     // boxes
  bool by_class = false;
  int64_t most_of_class = 1;                // where by class
  float least_score = 0, most_overlap = 1;  // overlap: intersection over union
  float y_scale = 1, x_scale = 1, h_scale = 1, w_scale = 1;
  bool operator==(const DetectBoxesAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("classes", self.classes), f("most", self.most);
    f("by_class", self.by_class), f("most_of_class", self.most_of_class);
    f("least_score", self.least_score), f("most_overlap", self.most_overlap);
    f("y_scale", self.y_scale), f("x_scale", self.x_scale);
    f("h_scale", self.h_scale), f("w_scale", self.w_scale);
  }
};

struct ShapeAttrs {  // of the output
  std::vector<int64_t> shape;
  bool operator==(const ShapeAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("shape", self.shape);
  }
};

struct TileAttrs {  // how often, per axis
  std::vector<int64_t> multiples;
  bool operator==(const TileAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("multiples", self.multiples);
  }
};

struct ScatterAttrs {
  std::vector<int64_t> shape;      // of the output
  std::string reduction = "none";  // or add, mul, max, min
  bool operator==(const ScatterAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("shape", self.shape), f("reduction", self.reduction);
  }
};

struct CumsumAttrs {  // exclusive: without the element itself; reverse: from the last element on
  int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
  bool operator==(const CumsumAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("axis", self.axis), f("exclusive", self.exclusive), f("reverse", self.reverse);
  }
};

// asymmetric: with zero points other than 0; together: that, with one range for all rows, as ONNX rounds
struct QuantizeRowsAttrs {
  int64_t rows = 1;
  bool asymmetric = false;
  bool together = false;
  bool operator==(const QuantizeRowsAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("rows", self.rows), f("asymmetric", self.asymmetric), f("together", self.together);
  }
};

struct IfAttrs {  // names of functions of the module
  std::string then_branch, else_branch;
  bool operator==(const IfAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("then_branch", self.then_branch), f("else_branch", self.else_branch);
  }
};

struct WhileAttrs {  // names of functions of the module
  std::string condition, body;
  bool operator==(const WhileAttrs&) const = default;
  template <typename Self, typename F>
  static void fields(Self& self, F&& f) {
    f("condition", self.condition), f("body", self.body);
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

using Attributes = std::variant<
    NoAttrs, Conv2dAttrs, DepthwiseConv2dAttrs, FullyConnectedAttrs, Pool2dAttrs, BinaryAttrs,
    ReshapeAttrs, SoftmaxAttrs, PadAttrs, ReduceAttrs, ReluAttrs, TransposeConv2dAttrs,
    LeakyReluAttrs, AxisAttrs, SplitAttrs, SliceAttrs, TransposeAttrs, MirrorPadAttrs, BlockAttrs,
    BatchSpaceAttrs, GatherAttrs, ResizeAttrs, BatchMatmulAttrs, SvdfAttrs, LstmAttrs,
    CompiledAttrs, CallAttrs, ShapeAttrs, TileAttrs, CumsumAttrs, IfAttrs, WhileAttrs, GeluAttrs,
    LookupAttrs, RecurrentAttrs, QuantizeRowsAttrs, SignalShiftAttrs, SignalFftAttrs,
    SignalEnergyAttrs, SpectralSubtractionAttrs, SignalLogAttrs, DetectBoxesAttrs, ScatterAttrs>;

}  // namespace intarsia::graph
