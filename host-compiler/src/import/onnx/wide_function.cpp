#include "import/onnx/wide_function.h"

#include <algorithm>
#include <cmath>

#include "import/onnx/element_chain.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

TensorId mean_of_words(Reader& in, const graph::ReduceAttrs& attrs, TensorId words) {
  const TensorId mean = in.emit_alike(OpKind::Mean, attrs, {words});
  const int64_t results = mean.valid() ? element_count(in.shape(mean)) : 0;
  return results > 0 && element_count(in.shape(words)) / results <= kMostSummedWords ? mean
                                                                                     : TensorId{};
}

TensorId as_words(Reader& in, TensorId reals) {
  if (in.tensor(reals).type != kFloat || in.is_constant(reals)) return {};
  const std::optional<ElementChain> chain = element_chain(in, reals, DataType::Int8);
  if (!chain) return {};
  const std::vector<float> results = results_of(in, *chain);
  if (results.empty()) return {};
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
