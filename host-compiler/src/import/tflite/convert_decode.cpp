// TFLM_DECODE: constants that TFLite Micro's tools have made smaller. They are known, so the model holds them as they were.
//
// Operands are pairs: the encoded bytes, and what says how: a header of 16 bytes (0: the kind, 1: version 1, and for tables of
// values 4: version 1, 5: the axis of channels above, or 15, and the bits of an index below, 6: values in a table), behind it
// the tables, one after another. Indices lie densely, the most significant bit first.
#include <fmt/ranges.h>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

constexpr size_t kHeaderBytes = 16;
constexpr int kOneTable = 15;  // in place of an axis

struct ValueTables {
  size_t stride = 0, index_bits = 0;
  size_t channels = 1, inner = 1;  // elements of a channel that lie side by side
  std::span<const uint8_t> values;
};

// "" or what is wrong.
std::string read_header(std::span<const uint8_t> header, const graph::Tensor& made,
                        ValueTables& tables) {
  constexpr std::string_view kKinds[] = {"tables of values", "Huffman codes", "pruning"};
  if (header.size() < kHeaderBytes) return "has no header of 16 bytes";
  if (header[0] != 0)
    return fmt::format("decodes {}", header[0] < std::size(kKinds)
                                         ? std::string(kKinds[header[0]])
                                         : fmt::format("a kind {} of an application", header[0]));
  if (header[1] != 1 || header[4] != 1)
    return fmt::format("is of version {}.{}", header[1], header[4]);
  const size_t element = static_cast<size_t>(bits(made.type)) / 8;
  tables.index_bits = header[5] & 7;
  tables.stride = header[6];
  tables.values = header.subspan(kHeaderBytes);
  if (tables.index_bits == 0 || tables.stride == 0 || element == 0)
    return "has indices of no bits, or tables of no values";
  const int axis = header[5] >> 4;
  const size_t table = tables.stride * element;
  if (axis != kOneTable && tables.values.size() >= 2 * table) {
    if (static_cast<size_t>(axis) >= made.shape.size())
      return fmt::format("has tables along axis {} of [{}]", axis, fmt::join(made.shape, ","));
    tables.channels = static_cast<size_t>(made.shape[static_cast<size_t>(axis)]);
    for (size_t i = static_cast<size_t>(axis) + 1; i < made.shape.size(); ++i)
      tables.inner *= static_cast<size_t>(made.shape[i]);
  }
  if (tables.values.size() < tables.channels * table)
    return fmt::format("has {} bytes of values for {} tables", tables.values.size(),
                       tables.channels);
  return "";
}

// Nothing when an index is beyond its table or the bytes end early.
std::optional<std::vector<uint8_t>> decoded(std::span<const uint8_t> encoded,
                                            const graph::Tensor& made, const ValueTables& tables) {
  const auto count = static_cast<size_t>(element_count(made.shape));
  const size_t element = static_cast<size_t>(bits(made.type)) / 8;
  if (encoded.size() < (count * tables.index_bits + 7) / 8) return std::nullopt;
  std::vector<uint8_t> bytes;
  bytes.reserve(count * element);
  for (size_t i = 0; i < count; ++i) {
    size_t index = 0;
    for (size_t bit = i * tables.index_bits; bit < (i + 1) * tables.index_bits; ++bit)
      index = 2 * index + ((encoded[bit / 8] >> (7 - bit % 8)) & 1);
    if (index >= tables.stride) return std::nullopt;
    const size_t channel = i / tables.inner % tables.channels;
    const auto value = tables.values.subspan((channel * tables.stride + index) * element, element);
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  return bytes;
}

}  // namespace

void SubgraphReader::compose_decode(const OperatorInfo& op, OperatorReader& in) {
  if (op.inputs.size() != 2 * op.outputs.size())
    return in.problem(fmt::format("has {} inputs for {} outputs, and takes two for each",
                                  op.inputs.size(), op.outputs.size()));
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const int32_t id = op.outputs[i];
    const graph::Tensor made = in.output(i);
    const std::span<const uint8_t> encoded = bytes(current(op.inputs[2 * i]));
    const std::span<const uint8_t> header = bytes(current(op.inputs[2 * i + 1]));
    if (encoded.empty() || header.empty())
      return in.problem("decodes what is known only when the model runs");
    ValueTables tables;
    if (const std::string wrong = read_header(header, made, tables); !wrong.empty())
      return in.problem(fmt::format("{}, for its output {}", wrong, i),
                        "tables of values (LUT) are possible");
    std::optional<std::vector<uint8_t>> values = decoded(encoded, made, tables);
    if (!values)
      return in.problem(
          fmt::format("has too few bytes, or an index beyond its table, for its "
                      "output {}",
                      i));
    if (!is_result(id)) {
      tensors_.set_data(id, std::move(*values));
      continue;
    }
    graph::Tensor constant = made;
    constant.name = unique_name(op.name + "_value");
    put_last(op, graph::OpKind::Reshape, graph::ReshapeAttrs{made.shape},
             {make({std::move(constant), std::move(*values)})}, i);
  }
}

}  // namespace intarsia::tflite
