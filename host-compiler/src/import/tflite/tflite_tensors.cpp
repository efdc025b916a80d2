#include "import/tflite/tflite_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "import/tflite/blockwise_constant.h"
#include "import/tflite/node_names.h"
#include "import/tflite/sparse_constant.h"
#include "support/shown_text.h"

namespace intarsia::tflite {

namespace {

struct ElementType {
  std::string_view name;  // as the format calls it
  std::optional<DataType> type;
  const char* hint = "";  // where there is no such type here
};

constexpr char kWithoutText[] =
    "convert the model with what its text becomes as input: numbers of words or letters";
constexpr char kSingle[] = "convert the model with float32 in place of these";
constexpr char kWithoutLists[] =
    "convert the model with tensors of fixed shapes in place of lists and tables";
constexpr char kSmaller[] = "convert the model for a smaller input, or fewer rows at a time";

// By the format's number.
constexpr std::array<ElementType, 21> kElementTypes = {{
    {"FLOAT32", DataType::Float32},
    {"FLOAT16", DataType::Float32},  // computed in single precision
    {"INT32", DataType::Int32},
    {"UINT8", DataType::UInt8},
    {"INT64", DataType::Int64},
    {"STRING", {}, kWithoutText},
    {"BOOL", DataType::Bool},
    {"INT16", DataType::Int16},
    {"COMPLEX64", DataType::Float32},  // real and imaginary parts, along an axis of their own
    {"INT8", DataType::Int8},
    {"FLOAT64", DataType::Float32},
    {"COMPLEX128", {}, kSingle},
    {"UINT64", DataType::Int64},  // of what filter banks make
    {"RESOURCE", {}, kWithoutLists},
    {"VARIANT", {}, kWithoutLists},
    {"UINT32", DataType::UInt32},
    {"UINT16", DataType::UInt16},
    {"INT4", DataType::Int4},
    {"BFLOAT16", DataType::Float32},
    {"INT2", DataType::Int4},  // of constants, which are widened
    {"UINT4", {}, "convert the model with weights of int4 or int8 in place of these"},
}};

constexpr int kFloat16 = 1, kByte = 3, kComplex = 8, kFloat64 = 10, kUnsignedLong = 12;
constexpr int kResource = 13, kBFloat16 = 18, kInt2 = 19;

// What the file has for floats of another width; nullptr for all others.
const char* other_float(int type) {
  if (type == kFloat16) return "f16";
  if (type == kFloat64) return "f64";
  return type == kBFloat16 ? "bf16" : nullptr;
}

// How many bytes the file has for a constant of this type, of which some are stored narrower than they are read.
int64_t stored_bytes(int type, const graph::Tensor& tensor) {
  const int64_t elements = element_count(tensor.shape);
  if (other_float(type) != nullptr) return elements * (type == kFloat64 ? 8 : 2);
  return type == kInt2 ? (elements + 3) / 4 : tensor.bytes();
}

std::string_view stored_type(int type, const graph::Tensor& tensor) {
  if (const char* name = other_float(type)) return name;
  return type == kInt2 ? "i2" : to_string(tensor.type);
}

// The float32 of the same value: what float16 holds, float32 holds.
uint32_t widened(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 31) return sign | 0x7f800000 | fraction << 13;  // infinite, or no number
  if (exponent != 0) return sign | (exponent + 127 - 15) << 23 | fraction << 13;
  if (fraction == 0) return sign;
  // A subnormal number's leading one becomes the implicit one.
  const auto above = static_cast<uint32_t>(std::countl_zero(fraction) - 21);  // of bit 10
  return sign | (127 - 14 - above) << 23 | ((fraction << above) & 1023) << 13;
}

// Floats of another width as floats of 32 bits; of 64 bits the nearest ones.
std::vector<uint8_t> single(int type, std::span<const uint8_t> stored) {
  const size_t size = type == kFloat64 ? sizeof(double) : sizeof(uint16_t);
  std::vector<uint8_t> bytes(stored.size() / size * sizeof(float));
  for (size_t i = 0; i < stored.size() / size; ++i) {
    const uint8_t* from = &stored[i * size];
    const auto half = static_cast<uint16_t>(from[0] | from[1] << 8);
    uint32_t value = type == kFloat16 ? widened(half) : uint32_t{half} << 16;
    if (type == kFloat64) {
      double wide = 0;
      std::memcpy(&wide, from, sizeof wide);
      value = std::bit_cast<uint32_t>(static_cast<float>(wide));
    }
    std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
  }
  return bytes;
}

// Elements of two bits, the lowest first, as elements of four.
std::vector<uint8_t> widened_pairs(std::span<const uint8_t> bytes, int64_t elements) {
  std::vector<uint8_t> result(static_cast<size_t>(elements + 1) / 2);
  for (size_t i = 0; i < static_cast<size_t>(elements); ++i) {
    const int bits = (bytes[i / 4] >> (2 * (i % 4))) & 3, nibble = bits < 2 ? bits : bits + 12;
    result[i / 2] = static_cast<uint8_t>(result[i / 2] | nibble << (4 * (i % 2)));
  }
  return result;
}

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

bool TensorTable::is_complex(int32_t id) const {
  return raw(id).type() == kComplex;
}

bool TensorTable::is_other_float(int32_t id) const {
  return other_float(raw(id).type()) != nullptr;
}

bool TensorTable::is_unsigned_long(int32_t id) const {
  return raw(id).type() == kUnsignedLong;
}

bool TensorTable::is_empty(int32_t id) const {
  const std::span<const int32_t> shape = values(raw(id).shape());
  return std::ranges::find(shape, 0) != shape.end();
}

bool TensorTable::is_quantised_byte(int32_t id) const {
  const format::Quantization* scales = raw(id).quantization();
  return raw(id).type() == kByte && scales != nullptr && !values(scales->scale()).empty();
}

void TensorTable::make_signed(Entry& entry) const {
  entry.tensor.type = DataType::Int8;
  for (int64_t& zero : entry.tensor.quantization.zero_point) zero -= kSignedByte;
  if (entry.data.empty()) return;
  std::vector<uint8_t> bytes(entry.data.begin(), entry.data.end());
  for (uint8_t& byte : bytes) byte ^= kSignedByte;
  entry.computed = std::move(bytes);
  entry.data = entry.computed;
}

void TensorTable::centre_weights(int32_t id, bool in_single_precision) {
  Entry& entry = entries_[static_cast<size_t>(id)];
  graph::Quantization& q = entry.tensor.quantization;
  q.in_single_precision = in_single_precision && q.scale.size() == 1;
  const bool one_zero =
      std::ranges::all_of(q.zero_point, [&](int64_t z) { return z == q.zero_point[0]; });
  if (entry.tensor.type != DataType::Int8 || entry.data.empty() || !q.present() || !one_zero ||
      q.zero_point[0] == 0)
    return;
  std::vector<int16_t> centred(entry.data.size());
  bool fits = true;
  for (size_t i = 0; i < centred.size(); ++i) {
    centred[i] = static_cast<int16_t>(static_cast<int8_t>(entry.data[i]) - q.zero_point[0]);
    fits &= centred[i] >= -128 && centred[i] <= 127;
  }
  std::vector<uint8_t> bytes(centred.size() * (fits ? 1 : sizeof centred[0]));
  for (size_t i = 0; fits && i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(centred[i]);
  if (!fits) {
    std::memcpy(bytes.data(), centred.data(), bytes.size());
    entry.tensor.type = DataType::Int16;
  }
  q.zero_point.assign(q.zero_point.size(), 0);
  entry.computed = std::move(bytes);
  entry.data = entry.computed;
}

bool TensorTable::is_dynamic(int32_t id) const {
  const std::span<const int32_t> signature = values(raw(id).shape_signature());
  return std::ranges::find(signature, -1) != signature.end();
}

Shape TensorTable::open_shape(int32_t id) const {
  Shape shape = entries_[static_cast<size_t>(id)].tensor.shape;
  const std::span<const int32_t> signature = values(raw(id).shape_signature());
  for (size_t axis = 0; axis < shape.size() && signature.size() == shape.size(); ++axis)
    if (signature[axis] == -1) shape[axis] = -1;
  return shape;
}

void TensorTable::set_data(int32_t id, std::vector<uint8_t> bytes) {
  Entry& entry = entries_[static_cast<size_t>(id)];
  if (!entry.computed.empty()) return;
  entry.computed = std::move(bytes);
  entry.data = entry.computed;
}

bool TensorTable::has_data(int32_t id) const {
  if (!entries_[static_cast<size_t>(id)].data.empty()) return true;
  const uint32_t index = raw(id).buffer();
  if (index == 0 || index >= file_.buffer_count()) return false;
  const format::Buffer& buffer = *file_.model().buffers()->Get(index);
  return buffer.offset() > 1 || !values(buffer.data()).empty();
}

const graph::Tensor* TensorTable::get(int32_t id, const std::string& used_by) {
  Entry& entry = entries_[static_cast<size_t>(id)];
  if (entry.state == Entry::State::Unasked) {
    const format::Tensor& tensor = raw(id);
    entry.tensor.name = shown_text(name(id));
    entry.tensor.variable = tensor.is_variable();
    std::string hint;
    std::string problem = read_type_and_shape(tensor, entry.tensor, hint);
    if (problem.empty()) problem = read_quantization(tensor.quantization(), entry.tensor, hint);
    if (problem.empty()) problem = read_data(tensor, entry);
    if (problem.empty()) problem = widen_blocks(tensor, entry);
    if (problem.empty() && is_made_signed(id)) make_signed(entry);
    entry.state = problem.empty() ? Entry::State::Good : Entry::State::Bad;
    if (!problem.empty()) {
      problems_.add(fmt::format("{}: {}, {}", file_.name(), label(id), used_by), problem, hint);
    }
  }
  return entry.state == Entry::State::Good ? &entry.tensor : nullptr;
}

const graph::Tensor* TensorTable::get_values(int32_t id, const std::string& used_by) {
  const graph::Tensor* tensor = get(id, used_by);
  const format::Quantization* quantization = raw(id).quantization();
  if (tensor == nullptr || !has_vanishing_scale(quantization, *tensor)) return tensor;
  Entry& entry = entries_[static_cast<size_t>(id)];
  const std::string problem = check_vanishing(*quantization, *tensor, entry.data);
  if (problem.empty()) return tensor;
  entry.state = Entry::State::Bad;
  problems_.add(
      fmt::format("{}: {}, {}", file_.name(), label(id), used_by), problem,
      entry.data.empty()
          ? "the converter has seen hardly anything but zeros there: give it samples that the "
            "network will meet (representative_dataset)"
          : "");
  return nullptr;
}

std::optional<int64_t> TensorTable::room(int32_t id, const std::string& used_by) {
  if (is_empty(id)) return 0;
  const graph::Tensor* tensor = get(id, used_by);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->bytes());
}

std::string TensorTable::read_type_and_shape(const format::Tensor& raw, graph::Tensor& tensor,
                                             std::string& hint) const {
  const auto number = static_cast<size_t>(raw.type());
  if (number >= kElementTypes.size()) {
    return fmt::format("has element type {}, which is not known", int{raw.type()});
  }
  if (!kElementTypes[number].type) {
    hint = kElementTypes[number].hint;
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
      hint = extent == 0 ? "convert the model with the extents that it will run on"
                         : "convert the model with fixed shapes";
      return fmt::format("has shape [{}]; every extent must be 1 or more{}", fmt::join(shape, ","),
                         extent < 0 ? " and known at conversion" : "");
    }
    elements *= extent;
    if (elements > kLargestTensor) {
      hint = kSmaller;
      return fmt::format("has shape [{}], which is more than 2 GiB", fmt::join(shape, ","));
    }
    tensor.shape.push_back(extent);
  }
  if (number == kComplex) tensor.shape.push_back(2);
  if (tensor.shape.size() > kHighestRank)
    return fmt::format("has rank {} of complex numbers; at most {} is supported", shape.size(),
                       kHighestRank - 1);
  if (tensor.bytes() > kLargestTensor) {
    hint = kSmaller;
    return fmt::format("has shape [{}], which is more than 2 GiB", fmt::join(shape, ","));
  }
  return "";
}

std::string TensorTable::read_data(const format::Tensor& raw, Entry& entry) const {
  const graph::Tensor& tensor = entry.tensor;
  const bool is_converted = other_float(raw.type()) != nullptr, is_pair = raw.type() == kInt2;
  const std::string no_constant =
      is_pair && !entry.expected
          ? fmt::format("has elements of type {}, which only constants may have",
                        kElementTypes[static_cast<size_t>(raw.type())].name)
          : "";
  if (raw.buffer() == 0) return no_constant;
  if (raw.buffer() >= file_.buffer_count()) {
    return fmt::format("names buffer {}, but the file has {}", raw.buffer(), file_.buffer_count());
  }
  const std::optional<std::span<const uint8_t>> bytes = file_.buffer(raw.buffer());
  if (!bytes) {
    return fmt::format("has its data (buffer {}) outside the file; the file may be truncated",
                       raw.buffer());
  }
  if (bytes->empty()) return no_constant;
  if (tensor.variable) return "is a variable with an initial value, which is not supported";
  if (raw.sparsity() != nullptr) {
    if (tensor.type == DataType::Int4 || raw.type() == kComplex)
      return "is stored sparse, which only whole bytes may be";
    const auto size =
        static_cast<size_t>(is_converted ? stored_bytes(raw.type(), graph::Tensor{.shape = {}})
                                         : bits(tensor.type) / 8);
    std::string wrong = decode_sparse(*raw.sparsity(), tensor.shape, size, *bytes, entry.computed);
    if (!wrong.empty()) return wrong;
    if (is_converted) entry.computed = single(raw.type(), entry.computed);
    entry.data = entry.computed;
    return "";
  }
  const int64_t needed = stored_bytes(raw.type(), tensor);
  if (static_cast<int64_t>(bytes->size()) != needed) {
    return fmt::format("has {} bytes of data (buffer {}), but {}[{}] needs {}", bytes->size(),
                       raw.buffer(), stored_type(raw.type(), tensor), fmt::join(tensor.shape, ","),
                       needed);
  }
  entry.data = *bytes;
  if (is_converted || is_pair) {
    entry.computed = is_converted ? single(raw.type(), *bytes)
                                  : widened_pairs(*bytes, element_count(tensor.shape));
    entry.data = entry.computed;
  }
  return "";
}

// Weights with a scale for each block of them become floats: no sum of integers has one scale.
std::string TensorTable::widen_blocks(const format::Tensor& raw, Entry& entry) const {
  const format::Quantization* quantization = raw.quantization();
  if (quantization == nullptr || !is_integer(entry.tensor.type) ||
      quantization->details_type() != format::QuantizationDetails::BlockwiseQuantization)
    return "";
  if (entry.data.empty()) return "has scales by blocks, which only constants may have";
  if (bits(entry.tensor.type) > 8 || !is_signed(entry.tensor.type))
    return fmt::format("has scales by blocks and elements of {}; int4 and int8 may have them",
                       to_string(entry.tensor.type));
  const format::BlockwiseQuantization* blocks = quantization->details_as_BlockwiseQuantization();
  if (blocks == nullptr) return "has scales by blocks, but does not say where";
  BlockNumbers scales, zero_points;
  if (const std::string wrong = block_numbers(blocks->scales(), scales); !wrong.empty())
    return fmt::format("has scales by blocks in {}", wrong);
  if (blocks->zero_points() >= 0) {
    if (const std::string wrong = block_numbers(blocks->zero_points(), zero_points); !wrong.empty())
      return fmt::format("has zero points by blocks in {}", wrong);
  }
  std::vector<uint8_t> reals;
  std::string wrong = read_blocks(unpacked(entry.tensor, entry.data), entry.tensor.shape,
                                  blocks->block_size(), scales, zero_points, reals);
  if (!wrong.empty()) return wrong;
  entry.tensor.type = DataType::Float32;
  entry.computed = std::move(reals);
  entry.data = entry.computed;
  return "";
}

// The numbers of another tensor, as floats.
std::string TensorTable::block_numbers(int32_t id, BlockNumbers& numbers) const {
  if (!in_range(id)) return fmt::format("tensor {}, but the subgraph has {} tensors", id, count());
  Entry entry;
  std::string hint, problem = read_type_and_shape(raw(id), entry.tensor, hint);
  if (problem.empty()) problem = read_data(raw(id), entry);
  if (problem.empty() && entry.data.empty()) problem = "is no constant";
  if (!problem.empty()) return fmt::format("{}, which {}", label(id), problem);
  const DataType type = entry.tensor.type;
  numbers.shape = entry.tensor.shape;
  numbers.values.resize(static_cast<size_t>(element_count(numbers.shape)));
  if (type == DataType::Float32) {
    std::memcpy(numbers.values.data(), entry.data.data(), entry.data.size());
  } else if (is_signed(type) && bits(type) >= 8) {
    const auto size = static_cast<size_t>(bits(type) / 8);
    for (size_t i = 0; i < numbers.values.size(); ++i)
      numbers.values[i] = static_cast<float>(number_at(entry.data, size, i));
  } else {
    return fmt::format("{}, whose elements are {}", label(id), to_string(type));
  }
  return "";
}

std::vector<int8_t> unpacked(const graph::Tensor& tensor, std::span<const uint8_t> bytes) {
  std::vector<int8_t> values(static_cast<size_t>(element_count(tensor.shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (tensor.type == DataType::Int4) {
      const int nibble = (bytes[i / 2] >> (i % 2 == 0 ? 0 : 4)) & 15;
      values[i] = static_cast<int8_t>(nibble < 8 ? nibble : nibble - 16);
    } else {
      values[i] = static_cast<int8_t>(bytes[i]);
    }
  }
  return values;
}

int64_t number_at(std::span<const uint8_t> bytes, size_t size, size_t index) {
  uint64_t raw = 0;
  for (size_t b = 0; b < size; ++b) raw |= uint64_t{bytes[index * size + b]} << (8 * b);
  const int unused = static_cast<int>(64 - 8 * size);
  return static_cast<int64_t>(raw << unused) >> unused;
}

}  // namespace intarsia::tflite
