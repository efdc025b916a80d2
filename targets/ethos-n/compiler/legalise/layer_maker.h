// Makes the layers of one operator.
#pragma once

#include "legalise/legalise.h"

namespace intarsia::targets::ethos_n {

struct Quantum {
  float scale = 1;
  int32_t zero_point = 0;
  bool operator==(const Quantum&) const = default;
};
struct Clamp {
  int32_t low = -128, high = 127;
};
Quantum quantum_of(const graph::Tensor& tensor);
Clamp clamp_of(graph::Activation activation, const graph::Tensor& output);
// The PLE's factor: 16 bits, cut off.
PleOperand ple_factor(double factor, int32_t zero_point);

class LayerMaker {
 public:
  LayerMaker(Legaliser& all, const graph::Node& node) : all_(all), node_(node) {}

  Reason run();
  // What the graph has no operator for: maxima and minima with one constant are the stack's relu of other bounds.
  bool run_as_relu();

 private:
  const graph::Tensor& tensor(graph::TensorId id) const { return all_.function_.tensor(id); }
  const graph::Tensor& in(size_t i = 0) const { return tensor(node_.inputs.at(i)); }
  const graph::Tensor& out(size_t i = 0) const { return tensor(node_.outputs.at(i)); }
  const std::vector<uint8_t>& bytes(size_t operand) const {
    return all_.module_.constant(in(operand).constant).bytes;
  }
  bool has(size_t operand) const {
    return operand < node_.inputs.size() && node_.inputs[operand].valid();
  }

  // Feature maps: of an operand, of a result that is to be written, and of what is in between.
  FeatureMap read(size_t operand = 0) const;
  FeatureMap write(size_t result = 0);
  FeatureMap between(const FeatureMap& like, int64_t height, int64_t width, int64_t depth,
                     Layout layout = Layout::Nhwc);
  static FeatureMap with(FeatureMap map, const Quantum& quantum);

  // Adds the layer, or two where its stripes cannot go to their place at once.
  Reason emit(Layer layer);
  Layer layer(FeatureMap input, FeatureMap output) const;
  // A depthwise convolution of 1x1 that changes nothing but scale and zero point.
  MceStep identity(const FeatureMap& input, const Quantum& from, const Quantum& to,
                   Clamp clamp) const;
  Reason emit_identity(const FeatureMap& input, const FeatureMap& output, const Quantum& from,
                       const Quantum& to, Clamp clamp, PleStep ple);
  Reason emit_copy(const FeatureMap& input, const FeatureMap& output) {
    return emit(layer(input, output));
  }

  std::vector<int16_t> weights(size_t operand) const;
  std::vector<int32_t> bias(size_t operand, size_t count) const;
  Reason set_scales(MceStep& step, int64_t ofms) const;
  Reason emit_weighted(MceStep step, const FeatureMap& input, const FeatureMap& output,
                       Clamp clamp);

  Reason convolution();
  Reason depthwise();
  Reason transpose_convolution();
  Reason fully_connected();
  Reason depth_to_space();
  Reason max_pool();
  Reason max_pool_of_stride_1();
  Reason average(int64_t filter_h, int64_t filter_w, graph::Activation activation);
  Reason average_pool();
  Reason mean();
  Reason add();
  Reason sigmoid_or_tanh();
  Reason leaky_relu();
  Reason relu();
  Reason requantise();
  Reason pad();
  Reason resize();
  Reason reshape();
  Reason concat();
  Reason split();
  static bool cuts_bricks(const std::vector<int64_t>& begins, const FeatureMap& map);
  bool is_read(graph::TensorId id) const;

  Legaliser& all_;
  const graph::Node& node_;
};

}  // namespace intarsia::targets::ethos_n
