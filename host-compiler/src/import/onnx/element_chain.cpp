#include "import/onnx/element_chain.h"

#include <algorithm>
#include <numeric>

#include "intarsia/plugin/op_families.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

constexpr size_t kMostFunctionNodes = 24;

bool is_function_of_elements(OpKind kind) {
  return kind == OpKind::Dequantize || kind == OpKind::Select ||
         graph::is_elementwise_unary(kind) || graph::is_elementwise_binary(kind);
}

bool add_to_chain(ElementChain& chain, const Reader& in, TensorId id, DataType type,
                  size_t depth = 0) {
  if (in.is_constant(id)) return element_count(in.shape(id)) == 1;
  for (const graph::Node& known : chain.nodes)
    if (std::ranges::find(known.outputs, id) != known.outputs.end()) return true;
  const graph::Node* maker = in.maker_of(id);
  if (maker == nullptr || !is_function_of_elements(maker->kind) ||
      std::max(depth, chain.nodes.size()) >= kMostFunctionNodes)
    return false;
  if (maker->kind == OpKind::Dequantize) {
    const TensorId source = maker->inputs.front();
    const graph::Tensor& of = in.tensor(source);
    if (of.type != type || of.quantization.per_channel() ||
        (chain.source.valid() && chain.source != source))
      return false;
    chain.source = source;
  } else {
    for (const TensorId operand : maker->inputs)
      if (!operand.valid() || !add_to_chain(chain, in, operand, type, depth + 1)) return false;
  }
  chain.nodes.push_back(*maker);
  return true;
}

// The results for some values of the source.
std::vector<float> results_for(Reader& in, const ElementChain& chain,
                               const std::vector<int64_t>& values) {
  const graph::Tensor source = in.tensor(chain.source);
  const Shape shape{static_cast<int64_t>(values.size())};
  std::vector<std::pair<TensorId, TensorId>> made = {
      {chain.source,
       in.make_constant(integer_values(source.type, shape, values), source.quantization)}};
  const auto known = [&](TensorId id) {
    const auto found = std::ranges::find(made, id, &std::pair<TensorId, TensorId>::first);
    return found == made.end() ? id : found->second;
  };
  for (const graph::Node& node : chain.nodes) {
    std::vector<TensorId> operands;
    for (const TensorId id : node.inputs) operands.push_back(known(id));
    const TensorId result =
        in.emit(node.kind, node.attributes, operands, in.tensor(node.outputs.front()).type);
    if (!result.valid() || !in.is_constant(result)) return {};
    made.emplace_back(node.outputs.front(), result);
  }
  const TensorId last = made.back().second;
  return in.tensor(last).type == kFloat ? as_reals(in.values_of(last)) : std::vector<float>{};
}

}  // namespace

std::optional<ElementChain> element_chain(const Reader& in, TensorId reals, DataType source) {
  ElementChain chain;
  if (!add_to_chain(chain, in, reals, source) || !chain.source.valid() || chain.nodes.size() < 2 ||
      in.shape(chain.source) != in.shape(reals))
    return std::nullopt;
  return chain;
}

std::vector<float> results_of(Reader& in, const ElementChain& chain) {
  constexpr int64_t kPiece = 4096;  // what is computed at once while a model is read
  const int64_t end = int64_t{1} << (bits(in.tensor(chain.source).type) - 1);
  std::vector<float> all;
  for (int64_t first = -end; first < end; first += kPiece) {
    std::vector<int64_t> values(static_cast<size_t>(std::min(kPiece, end - first)));
    std::iota(values.begin(), values.end(), first);
    const std::vector<float> results = results_for(in, chain, values);
    if (results.size() != values.size()) return {};
    all.insert(all.end(), results.begin(), results.end());
  }
  return all;
}

}  // namespace intarsia::onnx
