#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "intarsia/slim.h"
#include "passes/graph_edit.h"

namespace intarsia {
namespace {

using graph::Tensor;
using graph::TensorId;
using graph::TensorValue;

TensorValue sample_of(const Tensor& tensor, int index, std::mt19937& random) {
  TensorValue bytes(static_cast<size_t>(tensor.bytes()));
  if (tensor.type == DataType::Float32) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
      const float unit = static_cast<float>(random()) / 4294967296.0f;
      const float value = index == 0 ? 0.0f : index == 1 ? -1.0f : index == 2 ? 1.0f : 2 * unit - 1;
      std::memcpy(&bytes[at], &value, sizeof value);
    }
    return bytes;
  }
  const int width = bits(tensor.type);
  const auto high =
      static_cast<int64_t>(~uint64_t{0} >> (is_signed(tensor.type) ? 65 - width : 64 - width));
  const int64_t low = is_signed(tensor.type) ? -high - 1 : 0;
  const int64_t zero = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
  for (int64_t i = 0; i < element_count(tensor.shape); ++i) {
    const auto any = static_cast<int64_t>(uint64_t{random()} << 32 | random());
    const int64_t value = index == 0 ? zero : index == 1 ? low : index == 2 ? high : any;
    passes::put_element(tensor.type, bytes.data(), i, value);
  }
  return bytes;
}

bool agree(DataType type, const TensorValue& a, const TensorValue& b) {
  if (type != DataType::Float32 || a.size() != b.size()) return a == b;
  for (size_t at = 0; at < a.size(); at += sizeof(float)) {
    float x, y;
    std::memcpy(&x, &a[at], sizeof x);
    std::memcpy(&y, &b[at], sizeof y);
    if (!(std::abs(x - y) <= 4e-5f * std::max(1.0f, std::abs(x))) &&
        !(std::isnan(x) && std::isnan(y)))
      return false;
  }
  return true;
}

}  // namespace

Result<void> check_slimmed(const graph::Module& before, const graph::Module& after, int samples) {
  const graph::Function &left = before.entry_function(), &right = after.entry_function();
  if (left.inputs.size() != right.inputs.size() || left.outputs.size() != right.outputs.size())
    return Diagnostics(before.name, "slimming changed the number of inputs or outputs");
  std::mt19937 random(1);
  graph::Evaluator full(before), slim(after);
  for (int index = 0; index < samples; ++index) {
    std::vector<TensorValue> inputs;
    for (const TensorId id : left.inputs)
      inputs.push_back(sample_of(left.tensor(id), index, random));
    INTARSIA_TRY(const std::vector<TensorValue> expected, full.run(inputs));
    INTARSIA_TRY(const std::vector<TensorValue> actual, slim.run(inputs));
    for (size_t o = 0; o < expected.size(); ++o) {
      const Tensor& tensor = left.tensor(left.outputs[o]);
      if (!agree(tensor.type, expected[o], actual[o]))
        return Diagnostics(
            before.name,
            fmt::format("slimming changed output {} '{}' on sample {}", o, tensor.name, index),
            "this is a fault of the compiler, please report it with the model; --no-slim avoids "
            "it");
    }
  }
  return {};
}

}  // namespace intarsia
