// What onnxruntime joins into one operator and what depends on shapes or on packed weights (com.microsoft); fused.h has the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "import/onnx/attention.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/weighted.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

constexpr const char* kUnpacked = "save the model without onnxruntime's optimisations";

TensorId sum(Reader& in, TensorId a, TensorId b) {
  return in.emit(OpKind::Add, BinaryAttrs{}, {a, b}, kFloat, {}, "sum");
}

TensorId last_axes_exchanged(Reader& in, TensorId id) {
  std::vector<int64_t> order(in.shape(id).size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() < 2) return id;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return in.transpose(id, order);
}

// Numbers of 2, 4 or 8 bits without a sign, the lowest bits first, `count` of them in each row of bytes.
std::vector<int64_t> unpacked(const std::vector<int64_t>& bytes, int64_t rows, int64_t count,
                              int64_t bits) {
  const int64_t row_bytes = rows == 0 ? 0 : std::ssize(bytes) / rows;
  std::vector<int64_t> numbers;
  numbers.reserve(static_cast<size_t>(rows * count));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(row * row_bytes + i * bits / 8);
      numbers.push_back((bytes[at] >> (i * bits % 8)) & ((1 << bits) - 1));
    }
  return numbers;
}

bool has_bits(Reader& in, int64_t bits) {
  return in.require(bits == 2 || bits == 4 || bits == 8,
                    fmt::format("has weights of {} bits; 2, 4 and 8 are possible", bits));
}

// Of each row some blocks of numbers, whose scales and zero points `blocks` has one after the other.
struct Blocks {
  int64_t rows, columns, block, bits;
  int64_t of_row() const { return ceil_div(columns, block); }
};

// The zero points as reals: packed, as floats, or the middle of the range.
std::optional<std::vector<float>> zero_points(Reader& in, size_t operand, const Blocks& blocks) {
  const auto count = static_cast<size_t>(blocks.rows * blocks.of_row());
  if (!in.has(operand))
    return std::vector<float>(count, static_cast<float>(1 << (blocks.bits - 1)));
  const TensorId id = in.operand(operand);
  const bool is_float = in.tensor(id).type == kFloat;
  const int64_t row_bytes = ceil_div(blocks.of_row() * blocks.bits, 8);
  const int64_t needed = is_float ? static_cast<int64_t>(count) : blocks.rows * row_bytes;
  if (!in.require(in.is_constant(id) && element_count(in.shape(id)) == needed,
                  fmt::format("has the zero points [{}] for {} rows of {} blocks",
                              fmt::join(in.shape(id), ","), blocks.rows, blocks.of_row())))
    return std::nullopt;
  if (is_float) return as_reals(in.values_of(id));
  const std::vector<int64_t> numbers =
      unpacked(as_integers(in.values_of(id)), blocks.rows, blocks.of_row(), blocks.bits);
  return std::vector<float>(numbers.begin(), numbers.end());
}

// The constant `operand`, packed, as reals [rows, columns]; the operands behind it are its scales and zero points.
TensorId weights_of_blocks(Reader& in, size_t operand, size_t scales, size_t zeros,
                           const Blocks& blocks) {
  const TensorId packed = in.operand(operand), scale = in.operand(scales);
  if (!in.require(in.is_constant(packed) && in.is_constant(scale),
                  "has weights that are no constant"))
    return {};
  const int64_t padded = blocks.of_row() * blocks.block;
  const std::vector<int64_t> bytes = as_integers(in.values_of(packed));
  const int64_t row_bytes = blocks.rows == 0 ? 0 : std::ssize(bytes) / blocks.rows;
  if (!in.require(
          row_bytes * blocks.rows == std::ssize(bytes) &&
              (row_bytes * 8 == padded * blocks.bits ||
               row_bytes * 8 == blocks.columns * blocks.bits) &&
              element_count(in.shape(scale)) == blocks.rows * blocks.of_row(),
          fmt::format("has the weights [{}] and scales [{}] for {} rows of {} in blocks of {}",
                      fmt::join(in.shape(packed), ","), fmt::join(in.shape(scale), ","),
                      blocks.rows, blocks.columns, blocks.block)))
    return {};
  const std::vector<int64_t> numbers = unpacked(bytes, blocks.rows, blocks.columns, blocks.bits);
  const std::vector<float> factors = as_reals(in.values_of(scale));
  const auto zero = zero_points(in, zeros, blocks);
  if (!zero) return {};
  std::vector<float> reals(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / blocks.columns;
    const int64_t column = static_cast<int64_t>(i) % blocks.columns;
    const auto block = static_cast<size_t>(row * blocks.of_row() + column / blocks.block);
    reals[i] = (static_cast<float>(numbers[i]) - (*zero)[block]) * factors[block];
  }
  return in.make_constant(real_values({blocks.rows, blocks.columns}, reals));
}

// Whom a mask [batch, keys] or [batch, queries, keys] of whole numbers lets look, for the scores of all heads.
TensorId mask_of(Reader& in, TensorId given) {
  Shape shape = in.shape(given);
  if (!in.require(shape.size() == 2 || shape.size() == 3,
                  fmt::format("has the mask [{}]", fmt::join(shape, ",")),
                  "give it a mask of keys, or of queries and keys"))
    return {};
  shape.insert(shape.begin() + 1, shape.size() == 2 ? 2 : 1, 1);
  return in.reshape(in.cast(given, DataType::Bool), shape);
}

std::vector<TensorId> three_parts(Reader& in, TensorId id, const std::vector<int64_t>& sizes) {
  const auto last = std::ssize(in.shape(id)) - 1;
  return in.emit_many(OpKind::Split, graph::SplitAttrs{last, sizes}, {id}, 3, kFloat, {}, "part");
}

bool gives_values_alone(Reader& in) {
  for (size_t i = 1; i < in.node().outputs.size(); ++i)
    if (!in.require(in.node().outputs[i].empty() || !in.is_read(i),
                    fmt::format("gives '{}', too", tflite::printable(in.node().outputs[i])),
                    kUnpacked))
      return false;
  return true;
}

// What both kinds of attention do with their queries, keys and values. `mask`: the operand that is the mask; what is added to the scores is
// operand 5 of both.
void attend(Reader& in, TensorId query, TensorId key, TensorId value, size_t mask) {
  const int64_t heads = in.integer("num_heads", 0);
  AttentionOperands given = {.query = query,
                             .key = key,
                             .value = value,
                             .bias = in.optional_operand(5),
                             .query_heads = heads,
                             .key_heads = heads,
                             .scale = in.real("scale", 0),
                             .is_causal = in.integer("unidirectional", 0) != 0};
  if (in.has(mask)) given.mask = mask_of(in, in.operand(mask));
  if (in.ok()) write_attention(in, given);
}

}  // namespace

// Of those that are written out, the ones with something that is not known.
void read_fused(Reader& in) {
  const std::string activation = in.text("activation", "");
  in.problem(activation.empty()
                 ? "lacks operands"
                 : fmt::format("has the activation '{}'", tflite::printable(activation)),
             kUnpacked);
}

void read_fused_matmul(Reader& in) {
  if (!in.require(in.integer("transBatchA", 0) == 0 && in.integer("transBatchB", 0) == 0,
                  "exchanges the batches of its operands", kUnpacked))
    return;
  TensorId a = in.operand(0), b = in.operand(1);
  if (in.integer("transA", 0) != 0) a = last_axes_exchanged(in, a);
  if (in.integer("transB", 0) != 0) b = last_axes_exchanged(in, b);
  TensorId y = matrix_product(in, a, b, kFloat, {});
  if (const float alpha = in.real("alpha", 1); y.valid() && alpha != 1)
    y = in.emit(OpKind::Mul, BinaryAttrs{}, {y, in.number(alpha)}, kFloat, {}, "alpha");
  if (y.valid()) in.result(y);
}

void read_matmul_n_bits(Reader& in) {
  const Blocks blocks{in.integer("N", 0), in.integer("K", 0), in.integer("block_size", 0),
                      in.integer("bits", 4)};
  if (!has_bits(in, blocks.bits) ||
      !in.require(blocks.rows >= 1 && blocks.columns >= 1 && blocks.block >= 1,
                  fmt::format("multiplies by {} rows of {} in blocks of {}", blocks.rows,
                              blocks.columns, blocks.block)) ||
      !in.require(!in.has(4), "has weights in another order (g_idx)",
                  "quantise the model without act_order") ||
      !in.require(in.integer("weight_prepacked", 0) == 0,
                  "has weights that are packed for one machine", kUnpacked))
    return;
  const TensorId weights = weights_of_blocks(in, 1, 2, 3, blocks);
  if (!weights.valid()) return;
  TensorId y = matrix_product(in, in.operand(0), in.transpose(weights, {1, 0}), kFloat, {});
  if (y.valid() && in.has(5)) y = sum(in, y, in.operand(5));
  if (y.valid()) in.result(y);
}

// Rows of a table of packed numbers.
void read_gather_of_blocks(Reader& in) {
  const Shape shape = in.shape_of(0);
  const int64_t bits = in.integer("bits", 4), block = in.integer("block_size", 128);
  const bool is_packed = in.tensor(in.operand(0)).type == DataType::UInt8;
  if (!has_bits(in, bits) ||
      !in.require(
          shape.size() == 2 && is_packed && block >= 1 &&
              in.axis(in.integer("quantize_axis", 1), 2) == 1 &&
              in.axis(in.integer("gather_axis", 0), 2) == 0,
          fmt::format("takes from [{}]; rows of packed bytes, in blocks along them, can be read",
                      fmt::join(shape, ","))))
    return;
  const TensorId table =
      weights_of_blocks(in, 0, 2, 3, {shape[0], shape[1] * 8 / bits, block, bits});
  if (!table.valid()) return;
  in.result(in.emit(OpKind::Gather, graph::GatherAttrs{0, 0},
                    {table, in.cast(in.operand(1), DataType::Int32)}, kFloat));
}

// The three projections are one product.
void read_packed_attention(Reader& in) {
  if (!gives_values_alone(in) ||
      !in.require(!in.has(4) && !in.has(6) && in.integer("do_rotary", 0) == 0,
                  "keeps what it has seen", kUnpacked))
    return;
  TensorId rows = matrix_product(in, in.operand(0), in.operand(1), kFloat, {});
  if (!rows.valid()) return;
  if (in.has(2)) rows = sum(in, rows, in.operand(2));
  if (!in.ok()) return;
  const int64_t third = in.shape(rows).back() / 3;
  const std::vector<int64_t> sizes =
      in.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>{third, third, third});
  const std::vector<TensorId> parts = three_parts(in, rows, sizes);
  if (!in.ok()) return;
  attend(in, parts[0], parts[1], parts[2], 3);
}

void read_multi_head_attention(Reader& in) {
  if (!gives_values_alone(in) ||
      !in.require(in.has(1) && in.has(2) && in.shape_of(0).size() == 3 &&
                      in.shape_of(1).size() == 3 && in.shape_of(2).size() == 3,
                  "has queries, keys and values in one operand", kUnpacked) ||
      !in.require(!in.has(6) && !in.has(7) && !in.has(8) && !in.has(9), "keeps what it has seen",
                  kUnpacked))
    return;
  TensorId parts[3] = {in.operand(0), in.operand(1), in.operand(2)};
  if (in.has(3)) {
    std::vector<int64_t> sizes;
    for (const TensorId part : parts) sizes.push_back(in.shape(part).back());
    const std::vector<TensorId> biases = three_parts(in, in.operand(3), sizes);
    for (size_t i = 0; i < 3 && in.ok(); ++i) parts[i] = sum(in, parts[i], biases[i]);
  }
  if (!in.ok()) return;
  attend(in, parts[0], parts[1], parts[2], 4);
}

// The sum of the rows for each word, for its place and for the segment that it is of: operands are words, the tables of words and of
// places, places, segments and their table.
void read_embeddings(Reader& in) {
  if (!gives_values_alone(in)) return;
  const TensorId words = in.cast(in.operand(0), DataType::Int32);
  const auto rows = [&](size_t table, TensorId places) {
    return in.emit(OpKind::Gather, graph::GatherAttrs{0, 0}, {in.operand(table), places}, kFloat,
                   {}, "rows");
  };
  TensorId all = rows(1, words);
  if (!in.ok() || !in.require(!in.shape(words).empty(), "reads a single word")) return;
  TensorId places;
  if (in.has(3)) {
    places = in.cast(in.operand(3), DataType::Int32);
  } else {
    std::vector<int64_t> numbers(static_cast<size_t>(in.shape(words).back()));
    std::iota(numbers.begin(), numbers.end(), 0);
    places = in.make_constant(integer_values(DataType::Int32, {std::ssize(numbers)}, numbers));
  }
  all = sum(in, all, rows(2, places));
  if (in.ok() && in.has(4) && in.has(5))
    all = sum(in, all, rows(5, in.cast(in.operand(4), DataType::Int32)));
  if (in.ok()) in.result(all);
}

}  // namespace intarsia::onnx
