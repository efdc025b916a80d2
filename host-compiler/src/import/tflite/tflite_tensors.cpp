#include "import/tflite/tflite_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "import/tflite/node_names.h"

namespace intarsia::tflite {

namespace {

struct ElementType {
  std::string_view name;  // as the format calls it
  std::optional<DataType> type;
};

// By the format's number.
constexpr std::array<ElementType, 19> kElementTypes = {{
    {"FLOAT32", DataType::Float32},
    {"FLOAT16", {}},
    {"INT32", DataType::Int32},
    {"UINT8", DataType::UInt8},
    {"INT64", DataType::Int64},
    {"STRING", {}},
    {"BOOL", DataType::Bool},
    {"INT16", DataType::Int16},
    {"COMPLEX64", {}},
    {"INT8", DataType::Int8},
    {"FLOAT64", {}},
    {"COMPLEX128", {}},
    {"UINT64", {}},
    {"RESOURCE", {}},
    {"VARIANT", {}},
    {"UINT32", DataType::UInt32},
    {"UINT16", DataType::UInt16},
    {"INT4", DataType::Int4},
    {"BFLOAT16", {}},
}};

constexpr int kResource = 13;

}  // namespace

TensorTable::TensorTable(const ModelFile& file, const format::Subgraph& subgraph,
                         Diagnostics& problems)
    : file_(file),
      subgraph_(subgraph),
      problems_(problems),
      entries_(subgraph.tensors() ? subgraph.tensors()->size() : 0) {}

std::string TensorTable::label(int32_t id) const {
  return fmt::format("tensor {} '{}'", id, printable(name(id)));
}

bool TensorTable::is_resource(int32_t id) const {
  return raw(id).type() == kResource;
}

bool TensorTable::is_dynamic(int32_t id) const {
  const std::span<const int32_t> signature = values(raw(id).shape_signature());
  return std::ranges::find(signature, -1) != signature.end();
}

void TensorTable::set_data(int32_t id, std::vector<uint8_t> bytes) {
  Entry& entry = entries_[static_cast<size_t>(id)];
  if (!entry.computed.empty()) return;
  entry.computed = std::move(bytes);
  entry.data = entry.computed;
}

bool TensorTable::has_data(int32_t id) const {
  if (!entries_[static_cast<size_t>(id)].computed.empty()) return true;
  const uint32_t index = raw(id).buffer();
  if (index == 0 || index >= file_.buffer_count()) return false;
  const format::Buffer& buffer = *file_.model().buffers()->Get(index);
  return buffer.offset() > 1 || !values(buffer.data()).empty();
}

const graph::Tensor* TensorTable::get(int32_t id, const std::string& used_by) {
  Entry& entry = entries_[static_cast<size_t>(id)];
  if (entry.state == Entry::State::Unasked) {
    const format::Tensor& tensor = raw(id);
    entry.tensor.name = name(id);
    entry.tensor.variable = tensor.is_variable();
    std::string problem = read_type_and_shape(tensor, entry.tensor);
    if (problem.empty()) problem = read_quantization(tensor.quantization(), entry.tensor);
    if (problem.empty()) problem = read_data(tensor, entry.tensor, entry.data);
    entry.state = problem.empty() ? Entry::State::Good : Entry::State::Bad;
    if (!problem.empty()) {
      problems_.add(fmt::format("{}: {}, {}", file_.name(), label(id), used_by), problem);
    }
  }
  return entry.state == Entry::State::Good ? &entry.tensor : nullptr;
}

std::optional<int64_t> TensorTable::room(int32_t id, const std::string& used_by) {
  const std::span<const int32_t> shape = values(raw(id).shape());
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  const graph::Tensor* tensor = get(id, used_by);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->bytes());
}

std::string TensorTable::read_type_and_shape(const format::Tensor& raw,
                                             graph::Tensor& tensor) const {
  const auto number = static_cast<size_t>(raw.type());
  if (number >= kElementTypes.size()) {
    return fmt::format("has element type {}, which is not known", int{raw.type()});
  }
  if (!kElementTypes[number].type) {
    return fmt::format("has elements of type {}, which cannot be compiled",
                       kElementTypes[number].name);
  }
  tensor.type = *kElementTypes[number].type;

  const std::span<const int32_t> shape = values(raw.shape());
  if (shape.size() > kHighestRank) {
    return fmt::format("has rank {}; at most {} is supported", shape.size(), kHighestRank);
  }
  int64_t elements = 1;
  for (const int32_t extent : shape) {
    if (extent < 1) {
      return fmt::format("has shape [{}]; every extent must be 1 or more{}", fmt::join(shape, ","),
                         extent < 0 ? " and known at conversion" : "");
    }
    elements *= extent;
    if (elements > kLargestTensor) {
      return fmt::format("has shape [{}], which is more than 2 GiB", fmt::join(shape, ","));
    }
    tensor.shape.push_back(extent);
  }
  if (tensor.bytes() > kLargestTensor) {
    return fmt::format("has shape [{}], which is more than 2 GiB", fmt::join(shape, ","));
  }
  if (raw.sparsity() != nullptr) return "is stored sparse; convert the model without sparsity";
  return "";
}

std::string TensorTable::read_data(const format::Tensor& raw, const graph::Tensor& tensor,
                                   std::span<const uint8_t>& data) const {
  if (raw.buffer() == 0) return "";
  if (raw.buffer() >= file_.buffer_count()) {
    return fmt::format("names buffer {}, but the file has {}", raw.buffer(), file_.buffer_count());
  }
  const std::optional<std::span<const uint8_t>> bytes = file_.buffer(raw.buffer());
  if (!bytes) {
    return fmt::format("has its data (buffer {}) outside the file; the file may be truncated",
                       raw.buffer());
  }
  if (bytes->empty()) return "";
  if (tensor.variable) return "is a variable with an initial value, which is not supported";
  if (static_cast<int64_t>(bytes->size()) != tensor.bytes()) {
    return fmt::format("has {} bytes of data (buffer {}), but {}[{}] needs {}", bytes->size(),
                       raw.buffer(), to_string(tensor.type), fmt::join(tensor.shape, ","),
                       tensor.bytes());
  }
  data = *bytes;
  return "";
}

}  // namespace intarsia::tflite
