#include "import/onnx/byte_lstm.h"

#include "import/tflite/sequence_step.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;
using import::MadeConstant;
using import::zeros;

namespace {

// ONNX has the gates as input, output, forget, cell; the step as input, forget, cell, output.
constexpr std::array<size_t, tflite::kLstmGates> kPlaceInFile = {0, 2, 3, 1};

class ByteLstmReader {
 public:
  ByteLstmReader(Reader& in, const ByteLstm& lstm) : in_(in), l_(lstm) {}

  std::optional<std::array<TensorId, 3>> read() {
    const auto weights = rows_of(kWeights, in_.shape(l_.input).back());
    const auto recurrence = rows_of(kRecurrence, l_.units);
    if (!weights || !recurrence || !are_known(kBias) || !are_known(kPeepholes)) return std::nullopt;
    tflite::SequenceCell cell;
    cell.asymmetric = cell.together = true;
    cell.backwards = l_.backwards;
    cell.steps = l_.steps, cell.batches = l_.batches, cell.units = cell.outputs = l_.units;
    cell.recurrent = *recurrence;
    if (in_.has(kPeepholes)) add_peepholes(cell);
    return run(cell, products(*weights));
  }

 private:
  // Operands of the operator; behind weights and recurrence their scales and zero points.
  static constexpr size_t kWeights = 1, kRecurrence = 2, kBias = 3, kPeepholes = 7, kScales = 8;

  bool are_known(size_t operand) const {
    return !in_.has(operand) || in_.is_constant(in_.operand(operand));
  }
  int64_t columns() const { return static_cast<int64_t>(tflite::kLstmGates) * l_.units; }

  // The column in the file of a row of ours.
  int64_t column_of(int64_t row) const {
    const auto gate = static_cast<size_t>(row / l_.units);
    return static_cast<int64_t>(kPlaceInFile[gate]) * l_.units + row % l_.units;
  }

  // The file's [directions, depth, columns] with a scale for each direction, or each of its columns, as int8[columns, depth].
  std::optional<MadeConstant> rows_of(size_t operand, int64_t depth) {
    const size_t scale = kScales + (operand == kRecurrence ? 2 : 0);
    if (!are_known(operand) || !are_known(scale) || !are_known(scale + 1)) return std::nullopt;
    const std::vector<int64_t> numbers = as_integers(in_.values_of(in_.operand(operand)));
    const std::vector<float> scales = as_reals(in_.values_of(in_.operand(scale)));
    std::vector<int64_t> zero_points(scales.size(), 0);
    if (in_.has(scale + 1)) zero_points = as_integers(in_.values_of(in_.operand(scale + 1)));
    const int64_t directions = in_.shape_of(operand)[0];
    const bool by_column = std::ssize(scales) == directions * columns();
    if ((!by_column && std::ssize(scales) != directions) || zero_points.size() != scales.size())
      return std::nullopt;

    MadeConstant made{.tensor = {.name = "weights", .type = DataType::Int8}};
    made.tensor.shape = {columns(), depth};
    graph::Quantization& q = made.tensor.quantization;
    for (int64_t row = 0; row < columns(); ++row) {
      const int64_t column = column_of(row);
      const auto of_scale =
          static_cast<size_t>(by_column ? l_.direction * columns() + column : l_.direction);
      if (by_column || row == 0) q.scale.push_back(scales[of_scale]), q.zero_point.push_back(0);
      for (int64_t i = 0; i < depth; ++i) {
        const auto at = static_cast<size_t>((l_.direction * depth + i) * columns() + column);
        const int64_t number = numbers[at] - zero_points[of_scale];
        if (number < -128 || number > 127) return std::nullopt;
        made.bytes.push_back(static_cast<uint8_t>(number));
      }
    }
    return made;
  }

  // The sum of both biases.
  TensorId bias() {
    if (!in_.has(kBias)) return {};
    const std::vector<float> given = as_reals(in_.values_of(in_.operand(kBias)));
    std::vector<float> sums;
    for (int64_t row = 0; row < columns(); ++row) {
      const auto at = static_cast<size_t>(2 * l_.direction * columns() + column_of(row));
      sums.push_back(given[at] + given[at + static_cast<size_t>(columns())]);
    }
    return in_.make_constant(real_values({columns()}, sums));
  }

  void add_peepholes(tflite::SequenceCell& cell) {
    const std::vector<float> given = as_reals(in_.values_of(in_.operand(kPeepholes)));
    // Input, output, forget in the file; the cell's gate has none.
    constexpr std::array<size_t, 3> kOurs = {0, 3, 1};
    for (size_t i = 0; i < kOurs.size(); ++i) {
      const auto first = given.begin() + (l_.direction * 3 + static_cast<int64_t>(i)) * l_.units;
      cell.peepholes[kOurs[i]] = import::known<float>("peephole", kFloat, {l_.units},
                                                      std::vector<float>(first, first + l_.units));
    }
  }

  // What all steps take from the input.
  TensorId products(const MadeConstant& weights) {
    std::vector<TensorId>& bytes = *l_.bytes;
    if (bytes.empty())
      bytes = in_.emit_typed(
          OpKind::QuantizeRows, graph::QuantizeRowsAttrs{l_.steps * l_.batches, true, true},
          {l_.input}, {{DataType::Int8, {{1.0f}, {-128}, 0}}, {kFloat, {}}, {DataType::Int32, {}}},
          "bytes");
    const TensorId known = in_.make_constant({DataType::Int8, weights.tensor.shape, weights.bytes},
                                             weights.tensor.quantization);
    return in_.emit(OpKind::HybridFullyConnected, graph::FullyConnectedAttrs{},
                    {bytes[0], known, bias(), bytes[1], bytes[2]}, kFloat, {}, "gates");
  }

  TensorId state(TensorId given) {
    if (given.valid()) return given;
    const std::vector<float> nothing(static_cast<size_t>(l_.batches * l_.units));
    return in_.make_constant(real_values({l_.batches, l_.units}, nothing));
  }

  std::array<TensorId, 3> run(const tflite::SequenceCell& cell, TensorId gates) {
    const Shape all{l_.steps, l_.batches, l_.units};
    const TensorId hidden = state(l_.hidden), content = state(l_.cell);
    if (l_.steps == 1) {
      const std::vector<TensorId> made = in_.emit_inline(
          tflite::sequence_step(in_.module(), "step", cell), {gates, hidden, content});
      return {in_.reshape(made[0], all), made[0], made[1]};
    }
    graph::Function goes_on =
        tflite::sequence_goes_on(in_.module(), in_.function_name("goes_on"), cell);
    graph::Function body = tflite::sequence_body(in_.module(), in_.function_name("step"), cell);
    const TensorId first = in_.make_constant(integer_values(DataType::Int32, {}, {0}));
    const std::vector<float> nothing(static_cast<size_t>(element_count(all)));
    const TensorId results = in_.make_constant(real_values(all, nothing));
    const std::vector<TensorId> after = in_.emit_loop(
        std::move(goes_on), std::move(body),
        {first, in_.reshape(gates, {l_.steps, l_.batches, columns()}), hidden, content, results});
    return {after[4], after[2], after[3]};
  }

  Reader& in_;
  const ByteLstm& l_;
};

}  // namespace

std::optional<std::array<TensorId, 3>> read_byte_lstm(Reader& in, const ByteLstm& lstm) {
  return ByteLstmReader(in, lstm).read();
}

}  // namespace intarsia::onnx
