#include "integer_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

namespace intarsia::test::ethos_n {
namespace {

using graph::OpKind;

struct Image {
  int64_t height = 1, width = 1, depth = 1;
  std::vector<int32_t> values;  // [y][x][c]

  int32_t& at(int64_t y, int64_t x, int64_t c) {
    return values[static_cast<size_t>((y * width + x) * depth + c)];
  }
  int32_t at(int64_t y, int64_t x, int64_t c) const {
    return values[static_cast<size_t>((y * width + x) * depth + c)];
  }
};

int32_t clamp8(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, -128, 127));
}

// A factor of sixteen bits and a shift; the result is rounded half up.
struct Factor {
  int64_t scale = 0;
  int shift = 0;

  Factor(float input, float weight, float output) {
    const float product = input * weight;
    const double factor = static_cast<double>(product / output);
    while (std::ldexp(factor, shift + 1) < 65536 && shift < 47) ++shift;
    while (std::ldexp(factor, shift) >= 65536) --shift;
    scale = std::llround(std::ldexp(factor, shift));
    if (scale == 65536) scale /= 2, --shift;
  }
  int64_t operator()(int64_t value) const {
    value *= scale;
    return shift > 0 ? (value + (int64_t{1} << (shift - 1))) >> shift : value;
  }
};

// The PLE's: a factor cut off to sixteen bits; half a unit is added in the last but one bit.
int64_t rescaled(int32_t value, double factor) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  const auto multiplier = static_cast<int64_t>(std::ldexp(fraction, 16));
  const int shift = 16 - exponent;
  const int64_t twice = std::clamp<int64_t>((value * multiplier) >> (shift - 1), -32768, 32767);
  return (twice + 1) >> 1;
}

class Model {
 public:
  explicit Model(const graph::Module& module) : module_(module), main_(module.entry_function()) {}

  std::vector<graph::TensorValue> run(const std::vector<graph::TensorValue>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      Image& image = images_[main_.inputs[i].index] = empty(main_.inputs[i]);
      for (size_t k = 0; k < inputs[i].size(); ++k)
        image.values[k] = static_cast<int8_t>(inputs[i][k]);
    }
    for (const graph::Node& node : main_.nodes) run(node);
    std::vector<graph::TensorValue> outputs;
    for (const graph::TensorId id : main_.outputs) {
      graph::TensorValue& bytes = outputs.emplace_back();
      for (const int32_t value : images_.at(id.index).values)
        bytes.push_back(static_cast<uint8_t>(value));
    }
    return outputs;
  }

 private:
  Image empty(graph::TensorId id) const {
    const Shape& shape = main_.tensor(id).shape;
    return {shape[1], shape[2], shape[3],
            std::vector<int32_t>(static_cast<size_t>(element_count(shape)))};
  }
  float scale(graph::TensorId id) const { return main_.tensor(id).quantization.scale.at(0); }
  int32_t zero(graph::TensorId id) const {
    return static_cast<int32_t>(main_.tensor(id).quantization.zero_point.at(0));
  }
  const std::vector<uint8_t>& bytes(graph::TensorId id) const {
    return module_.constant(main_.tensor(id).constant).bytes;
  }

  void run(const graph::Node& node) {
    const Image& in = images_.at(node.inputs[0].index);
    Image out = empty(node.outputs[0]);
    switch (node.kind) {
      case OpKind::Conv2d:
        convolve(node, node.attrs<graph::Conv2dAttrs>(), false, in, out);
        break;
      case OpKind::DepthwiseConv2d:
        convolve(node, node.attrs<graph::DepthwiseConv2dAttrs>(), true, in, out);
        break;
      default:
        each(node, in, out);
    }
    images_[node.outputs[0].index] = std::move(out);
  }

  template <typename Attributes>
  void convolve(const graph::Node& node, const Attributes& attributes, bool depthwise,
                const Image& in, Image& out) const {
    const graph::Tensor& tensor = main_.tensor(node.inputs[1]);
    const std::vector<uint8_t>& weights = bytes(node.inputs[1]);
    const int64_t rows = tensor.shape[1], columns = tensor.shape[2],
                  depth = depthwise ? 1 : in.depth;
    for (int64_t c = 0; c < out.depth; ++c) {
      const Factor factor(scale(node.inputs[0]), tensor.quantization.scale[static_cast<size_t>(c)],
                          scale(node.outputs[0]));
      const int32_t zero_in = zero(node.inputs[0]), zero_out = zero(node.outputs[0]);
      int32_t bias = 0;
      std::memcpy(&bias, bytes(node.inputs[2]).data() + 4 * c, 4);
      for (int64_t y = 0; y < out.height; ++y)
        for (int64_t x = 0; x < out.width; ++x) {
          int64_t sum = bias;
          for (int64_t ky = 0; ky < rows; ++ky)
            for (int64_t kx = 0; kx < columns; ++kx) {
              const int64_t iy = y * attributes.stride_h + ky - attributes.padding.top;
              const int64_t ix = x * attributes.stride_w + kx - attributes.padding.left;
              if (iy < 0 || iy >= in.height || ix < 0 || ix >= in.width) continue;
              for (int64_t i = 0; i < depth; ++i) {
                const int64_t tap = depthwise ? (ky * columns + kx) * out.depth + c
                                              : ((c * rows + ky) * columns + kx) * in.depth + i;
                sum += static_cast<int8_t>(weights[static_cast<size_t>(tap)]) *
                       (in.at(iy, ix, depthwise ? c : i) - zero_in);
              }
            }
          out.at(y, x, c) = clamp8(factor(sum) + zero_out);
        }
    }
  }

  static int32_t largest(const graph::Pool2dAttrs& pool, const Image& in, int64_t y, int64_t x,
                         int64_t c) {
    int32_t value = -128;
    for (int64_t ky = 0; ky < pool.filter_h; ++ky)
      for (int64_t kx = 0; kx < pool.filter_w; ++kx) {
        const int64_t iy = y * pool.stride_h + ky - pool.padding.top,
                      ix = x * pool.stride_w + kx - pool.padding.left;
        if (iy >= 0 && iy < in.height && ix >= 0 && ix < in.width)
          value = std::max(value, in.at(iy, ix, c));
      }
    return value;
  }

  void each(const graph::Node& node, const Image& in, Image& out) const {
    const graph::TensorId from = node.inputs[0], to = node.outputs[0];
    const Factor half(scale(from), 0.5f, scale(to));
    for (int64_t y = 0; y < out.height; ++y)
      for (int64_t x = 0; x < out.width; ++x)
        for (int64_t c = 0; c < out.depth; ++c) {
          int64_t value = 0;
          switch (node.kind) {
            case OpKind::MaxPool2d:
              value = largest(node.attrs<graph::Pool2dAttrs>(), in, y, x, c);
              break;
            case OpKind::ResizeNearest:
              value = in.at(y / 2, x / 2, c);
              break;
            case OpKind::Relu:
              // Twice the value by half the scale.
              value = half(2 * (in.at(y, x, c) - zero(from))) + zero(to);
              value = std::max<int64_t>(value, zero(to));
              break;
            case OpKind::LeakyRelu: {
              const double factor =
                  static_cast<double>(scale(from)) / static_cast<double>(scale(to));
              const double alpha = static_cast<double>(node.attrs<graph::LeakyReluAttrs>().alpha);
              const int32_t above = in.at(y, x, c) - zero(from);
              value = std::max(rescaled(above, factor), rescaled(above, factor * alpha)) + zero(to);
              break;
            }
            case OpKind::Add: {
              const Image& other = images_.at(node.inputs[1].index);
              const auto part = [&](const Image& image, graph::TensorId id) {
                return rescaled(image.at(y, x, c) - zero(id),
                                static_cast<double>(scale(id)) / static_cast<double>(scale(to)));
              };
              value = part(in, from) + part(other, node.inputs[1]) + zero(to);
              break;
            }
            default:
              throw std::logic_error("the integer model has no such operator");
          }
          out.at(y, x, c) = clamp8(value);
        }
  }

  const graph::Module& module_;
  const graph::Function& main_;
  std::map<int32_t, Image> images_;
};

}  // namespace

std::vector<graph::TensorValue> integer_model(const graph::Module& module,
                                              const std::vector<graph::TensorValue>& inputs) {
  return Model(module).run(inputs);
}

}  // namespace intarsia::test::ethos_n
