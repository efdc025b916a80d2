#include "made_operators.h"

#include <cmath>
#include <cstring>

#include "end_to_end.h"

namespace intarsia::test::ethos_n {
namespace {

using graph::OpKind;
using intarsia::testing::Random;

int64_t out_size(int64_t size, int64_t kernel, int64_t stride, bool same) {
  return same ? (size + stride - 1) / stride : (size - kernel) / stride + 1;
}
int64_t pad_before(int64_t size, int64_t kernel, int64_t stride, bool same) {
  return same
             ? std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + kernel - size) / 2
             : 0;
}
int64_t pad_behind(int64_t size, int64_t kernel, int64_t stride, bool same) {
  return same ? std::max<int64_t>(0, (out_size(size, kernel, stride, same) - 1) * stride + kernel -
                                         size - pad_before(size, kernel, stride, same))
              : 0;
}

}  // namespace

Comparison run_one(const graph::Module& module, const std::string& tag,
                   const std::vector<graph::TensorValue>& inputs) {
  Comparison result;
  const Result<CompiledModel> compiled = compile_for(module, tag);
  if (!compiled.ok()) {
    result.problem = compiled.error().to_string();
    return result;
  }
  const auto& row = compiled->partitioned.explanation.operators.at(0);
  result.taken = row.device == "ethosn";
  result.kind = row.kind;
  for (const Offer& offer : row.offers)
    if (offer.device == "ethosn")
      result.refusal = offer.reason.value_or(""), result.note = offer.note;
  if (!result.taken) return result;
  graph::Evaluator evaluator(module);
  const auto expected = evaluator.run(inputs);
  std::vector<graph::TensorValue> outputs;
  result.problem = run_on(tag, *compiled, inputs, outputs);
  if (!result.problem.empty()) return result;
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t k = 0; k < outputs[i].size(); ++k)
      result.most = std::max(result.most, std::abs(static_cast<int8_t>(outputs[i][k]) -
                                                   static_cast<int8_t>((*expected)[i][k])));
  return result;
}

Made::Made() {
  module.name = module.entry = "main";
  module.functions.emplace_back().name = "main";
}

graph::TensorId Made::tensor(const char* name, Shape shape, float scale, int64_t zero_point) {
  main().tensors.push_back({.name = name,
                            .type = DataType::Int8,
                            .shape = std::move(shape),
                            .quantization = {{scale}, {zero_point}}});
  return {static_cast<int32_t>(main().tensors.size() - 1)};
}

graph::TensorId Made::weights(Random& random, Shape shape, size_t channels, int32_t axis) {
  const graph::TensorId id = tensor("weights", shape, 0.01f, 0);
  graph::Tensor& tensor = main().tensors[id.at()];
  tensor.quantization = {{}, std::vector<int64_t>(channels, 0), axis};
  for (size_t i = 0; i < channels; ++i)
    tensor.quantization.scale.push_back(random.real(0.002f, 0.02f));
  std::vector<uint8_t> bytes(static_cast<size_t>(element_count(shape)));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.range(-127, 127));
  tensor.constant = {static_cast<int32_t>(module.constants.size())};
  module.constants.push_back({"weights", std::move(bytes)});
  return id;
}

graph::TensorId Made::bias(Random& random, size_t channels) {
  const graph::TensorId id{static_cast<int32_t>(main().tensors.size())};
  std::vector<uint8_t> bytes(4 * channels);
  for (size_t i = 0; i < channels; ++i) {
    const auto value = static_cast<int32_t>(random.range(-2000, 2000));
    std::memcpy(bytes.data() + 4 * i, &value, 4);
  }
  main().tensors.push_back({.name = "bias",
                            .type = DataType::Int32,
                            .shape = {static_cast<int64_t>(channels)},
                            .constant = {static_cast<int32_t>(module.constants.size())}});
  module.constants.push_back({"bias", std::move(bytes)});
  return id;
}

graph::Module windowed(Random& random, OpKind kind, const Window& w) {
  const int64_t kernel_h = w.kernel, kernel_w = w.kernel_w == 0 ? w.kernel : w.kernel_w;
  const bool pools = kind == OpKind::MaxPool2d || kind == OpKind::AveragePool2d;
  const int64_t channels = kind == OpKind::Conv2d ? w.ofms : w.channels;
  const auto outputs = static_cast<size_t>(channels);
  graph::Padding2d padding;
  padding.top = pad_before(w.height, kernel_h, w.stride, w.same),
  padding.bottom = pad_behind(w.height, kernel_h, w.stride, w.same);
  padding.left = pad_before(w.width, kernel_w, w.stride, w.same),
  padding.right = pad_behind(w.width, kernel_w, w.stride, w.same);
  Made made;
  const graph::TensorId in = made.tensor("in", {1, w.height, w.width, w.channels}, 0.05f, 3);
  graph::Node node{kind, "window", {}, {in}, {}, ""};
  if (kind == OpKind::Conv2d)
    node.inputs.push_back(
        made.weights(random, {w.ofms, kernel_h, kernel_w, w.channels}, outputs, 0));
  if (kind == OpKind::DepthwiseConv2d)
    node.inputs.push_back(made.weights(random, {1, kernel_h, kernel_w, w.channels}, outputs, 3));
  if (!pools) node.inputs.push_back(made.bias(random, outputs));
  const auto taps =
      static_cast<float>(kernel_h * kernel_w * (kind == OpKind::Conv2d ? w.channels : 1));
  const Shape shape = {1, out_size(w.height, kernel_h, w.stride, w.same),
                       out_size(w.width, kernel_w, w.stride, w.same), channels};
  const graph::TensorId out =
      pools ? made.tensor("out", shape, 0.05f, 3)
            : made.tensor("out", shape, 0.05f * 0.01f * 60 * std::sqrt(taps), -4);
  node.outputs = {out};
  const auto set = [&](auto attributes) {
    attributes.stride_h = attributes.stride_w = w.stride;
    attributes.padding = padding;
    node.attributes = attributes;
  };
  if (kind == OpKind::Conv2d) set(graph::Conv2dAttrs{});
  if (kind == OpKind::DepthwiseConv2d) set(graph::DepthwiseConv2dAttrs{});
  if (pools) {
    graph::Pool2dAttrs attributes;
    attributes.filter_h = kernel_h, attributes.filter_w = kernel_w;
    set(attributes);
  }
  made.main().nodes = {node};
  made.main().inputs = {in};
  made.main().outputs = {out};
  return made.module;
}

}  // namespace intarsia::test::ethos_n
