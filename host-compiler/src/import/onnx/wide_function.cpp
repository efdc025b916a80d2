#include "import/onnx/wide_function.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

constexpr size_t kMostFunctionNodes = 24;

bool is_function_of_elements(OpKind kind) {
  switch (kind) {
    case OpKind::Dequantize:
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Minimum:
    case OpKind::Maximum:
    case OpKind::Relu:
    case OpKind::LeakyRelu:
    case OpKind::Logistic:
    case OpKind::Tanh:
    case OpKind::HardSwish:
    case OpKind::Elu:
    case OpKind::Gelu:
    case OpKind::Erf:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Abs:
    case OpKind::Neg:
    case OpKind::Square:
    case OpKind::Sqrt:
    case OpKind::Select:
    case OpKind::Greater:
    case OpKind::GreaterEqual:
    case OpKind::Less:
    case OpKind::LessEqual:
      return true;
    default:
      return false;
  }
}

// Its nodes in the order in which they are computed, and the tensor of int8 that they begin with.
struct FunctionChain {
  std::vector<graph::Node> nodes;
  TensorId source;
};

bool add_to_chain(FunctionChain& chain, const Reader& in, TensorId id, size_t depth = 0) {
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
    if (of.type != DataType::Int8 || of.quantization.per_channel() ||
        (chain.source.valid() && chain.source != source))
      return false;
    chain.source = source;
  } else {
    for (const TensorId operand : maker->inputs)
      if (!operand.valid() || !add_to_chain(chain, in, operand, depth + 1)) return false;
  }
  chain.nodes.push_back(*maker);
  return true;
}

// The function's results for all of the 256 values; none where one of them cannot be computed.
std::vector<float> results_of_chain(Reader& in, const FunctionChain& chain) {
  std::vector<int64_t> all(256);
  std::iota(all.begin(), all.end(), int64_t{-128});
  std::vector<std::pair<TensorId, TensorId>> made = {
      {chain.source, in.make_constant(integer_values(DataType::Int8, {256}, all),
                                      in.tensor(chain.source).quantization)}};
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

TensorId mean_of_words(Reader& in, const graph::ReduceAttrs& attrs, TensorId words) {
  const TensorId mean = in.emit_alike(OpKind::Mean, attrs, {words});
  const int64_t results = mean.valid() ? element_count(in.shape(mean)) : 0;
  return results > 0 && element_count(in.shape(words)) / results <= kMostSummedWords ? mean
                                                                                     : TensorId{};
}

TensorId as_words(Reader& in, TensorId reals) {
  FunctionChain chain;
  if (in.tensor(reals).type != kFloat || in.is_constant(reals) || !add_to_chain(chain, in, reals) ||
      !chain.source.valid() || chain.nodes.size() < 2 || in.shape(chain.source) != in.shape(reals))
    return {};
  const std::vector<float> results = results_of_chain(in, chain);
  float most = 0;
  for (const float result : results) {
    if (!std::isfinite(result)) return {};
    most = std::max(most, std::abs(result));
  }
  constexpr float kMostWord = 32767;
  const float scale = most / kMostWord;
  if (!std::isnormal(scale)) return {};
  return in.emit(OpKind::Quantize, graph::NoAttrs{}, {reals}, DataType::Int16, {{scale}, {0}, 0},
                 "wide");
}

namespace {

// Steps of 16 bits in one of 8: differences of two bytes still have a place.
constexpr float kWordsInAByte = 128;

graph::Quantization in_words(const graph::Quantization& of) {
  return {{of.scale[0] / kWordsInAByte}, {0}, 0};
}

// An operand of the node that is being read as words: int8, exactly, or the average of int8.
TensorId averaged_words(Reader& in, size_t operand, bool& is_average) {
  TensorId source = in.value(operand).tensor;
  const graph::Node* mean = nullptr;
  if (!in.is_real(operand)) {
    mean = in.maker_of(source);
    if (mean == nullptr || mean->kind != OpKind::Mean) return {};
    const graph::Node* reals = in.maker_of(mean->inputs[0]);
    if (reals == nullptr || reals->kind != OpKind::Dequantize) return {};
    source = reals->inputs[0];
  }
  const graph::Tensor bytes = in.tensor(source);
  if (bytes.type != DataType::Int8 || bytes.quantization.per_channel()) return {};
  // Emitting makes the nodes that were looked at move.
  const std::optional<graph::ReduceAttrs> attrs =
      mean == nullptr ? std::nullopt : std::optional(mean->attrs<graph::ReduceAttrs>());
  if (!attrs)
    return in.emit(OpKind::Quantize, graph::NoAttrs{}, {source}, DataType::Int16,
                   in_words(bytes.quantization), "wide");
  is_average = true;
  return mean_of_bytes_in_words(in, *attrs, source);
}

}  // namespace

TensorId mean_of_bytes_in_words(Reader& in, const graph::ReduceAttrs& attrs, TensorId bytes) {
  const graph::Tensor source = in.tensor(bytes);
  if (source.type != DataType::Int8 || source.quantization.per_channel()) return {};
  const TensorId words = in.emit(OpKind::Quantize, graph::NoAttrs{}, {bytes}, DataType::Int16,
                                 in_words(source.quantization), "wide");
  return words.valid() ? mean_of_words(in, attrs, words) : words;
}

TensorId sum_of_averages(Reader& in, OpKind kind, const Tail& tail) {
  if (!tail.as || tail.as->type != DataType::Int8 || tail.as->quantization.per_channel()) return {};
  return in.attempt([&]() -> TensorId {
    bool is_average = false;
    std::vector<TensorId> words;
    for (const size_t operand : {0, 1}) words.push_back(averaged_words(in, operand, is_average));
    if (!is_average || !words[0].valid() || !words[1].valid()) return {};
    // A step of the average is at most half of one of the result.
    for (const TensorId id : words)
      if (in.tensor(id).quantization.scale[0] > tail.as->quantization.scale[0] / 2) return {};
    const TensorId sum = in.emit(kind, graph::BinaryAttrs{tail.activation}, words, DataType::Int16,
                                 in_words(tail.as->quantization), "words");
    return in.requantize(sum, *tail.as);
  });
}

}  // namespace intarsia::onnx
