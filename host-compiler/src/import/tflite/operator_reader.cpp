#include "import/tflite/operator_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace intarsia::tflite {

namespace {

using graph::OpKind;

constexpr int32_t kLargestFactor = 65535;

bool is_narrow_integer(DataType type) {
  return is_integer(type) && bits(type) <= 16;
}

}  // namespace

void OperatorReader::problem(std::string what, std::string hint) {
  clean_ = false;
  problems_.add(fmt::format("{}: {}", file_.name(), op_.label()), std::move(what), std::move(hint));
}

bool OperatorReader::open() {
  const KnownOperator& known = *op_.known;
  if (op_.inputs.size() < known.least_inputs || op_.inputs.size() > known.most_inputs) {
    const std::string range = known.least_inputs == known.most_inputs
                                  ? fmt::format("{}", known.least_inputs)
                                  : fmt::format("{} to {}", known.least_inputs, known.most_inputs);
    problem(fmt::format("has {} inputs, but takes {}", op_.inputs.size(), range));
  }
  // A layer over a sequence has one more for its second direction, or is a cell whose states are results.
  const bool is_sequence = known.kind == OpKind::Lstm || known.kind == OpKind::Recurrent;
  const bool any_outputs = known.kind == OpKind::Split || known.kind == OpKind::Unpack ||
                           (is_sequence && op_.code != kUNIDIRECTIONAL_SEQUENCE_LSTM);
  const size_t makes = op_.code == kTOPK_V2 ? 2 : known.outputs;
  if (any_outputs ? op_.outputs.empty() : op_.outputs.size() != makes) {
    problem(fmt::format("has {} outputs, but makes {}", op_.outputs.size(), makes));
  }
  if (!clean_) return false;

  const std::string reads = "read by " + op_.label(), writes = "written by " + op_.label();
  for (size_t i = 0; i < op_.inputs.size(); ++i) {
    const int32_t id = op_.inputs[i];
    inputs_.push_back(id < 0 ? nullptr : tensors_.get_values(id, reads));
    const bool variants = known.kind == OpKind::Svdf || is_sequence;
    if (id < 0 && i < known.least_inputs && !variants)
      problem(fmt::format("lacks its input {}", i));
    if (id >= 0 && inputs_.back() == nullptr) clean_ = false;  // reported by the table
  }
  for (const int32_t id : op_.outputs) {
    outputs_.push_back(tensors_.get(id, writes));
    if (outputs_.back() == nullptr) clean_ = false;
  }
  check_wide_operands();
  check_complex_operands();
  if (clean_) check_types();
  return clean_;
}

// The sums of a filter bank are the only 64-bit numbers without a sign; they are below 2^63.
void OperatorReader::check_wide_operands() {
  const auto check = [&](std::span<const int32_t> ids, OpKind taken) {
    for (const int32_t id : ids)
      if (clean_ && id >= 0 && op_.known->kind != taken && tensors_.is_unsigned_long(id))
        problem(fmt::format("has {} of type UINT64", tensors_.label(id)),
                "SignalFilterBank makes it and SignalFilterBankSquareRoot takes it; no other "
                "operator does");
  };
  check(op_.inputs, OpKind::SignalSquareRoot);
  check(op_.outputs, OpKind::SignalFilterBank);
}

// Transforms make complex numbers, and few operators take them.
void OperatorReader::check_complex_operands() {
  constexpr auto kMoves = std::to_array({kRESHAPE, kSQUEEZE, kEXPAND_DIMS});
  constexpr auto kTakes = std::to_array({kCOMPLEX_ABS, kREAL, kIMAG});
  const auto is_one_of = [&](std::span<const Code> codes) {
    return std::ranges::find(codes, op_.code) != codes.end();
  };
  const bool moves = is_one_of(kMoves);
  const auto check = [&](std::span<const int32_t> ids, bool taken) {
    for (const int32_t id : ids)
      if (clean_ && id >= 0 && !taken && tensors_.is_complex(id))
        problem(fmt::format("has {} of type COMPLEX64", tensors_.label(id)),
                "RFFT2D makes complex numbers, COMPLEX_ABS, REAL and IMAG take them");
  };
  check(op_.inputs, moves || is_one_of(kTakes));
  check(op_.outputs, moves || op_.code == kRFFT2D);
}

void OperatorReader::check_types() {
  const Operands operands = op_.known->operands;
  if (operands == Operands::AnyBytes) return;
  const bool weighted = operands == Operands::Weighted;
  if (weighted || op_.known->kind == OpKind::BatchMatmul) check_hybrid(1);
  if (!clean_) return;
  const auto check = [&](const graph::Tensor& tensor, int32_t id, bool is_weights) {
    if (tensor.type == DataType::UInt8 && operands != Operands::OldQuantised) {
      problem(fmt::format("computes on {}, which is of type u8, the quantisation of old converters",
                          tensors_.label(id)),
              "convert the model again with int8 quantisation");
    } else if (is_narrow_integer(tensor.type) && !tensor.quantization.present()) {
      problem(fmt::format("needs {} of type {} to be quantised, but it has no scale",
                          tensors_.label(id), to_string(tensor.type)),
              "convert the model again with a representative data set");
    } else if (tensor.quantization.per_channel() && !is_weights) {
      problem(fmt::format("takes per channel scales on weights only, but {} has {}",
                          tensors_.label(id), tensor.quantization.scale.size()));
    }
  };
  const bool has_channels = weighted || operands == Operands::WeightsByChannel || is_hybrid_;
  // Constants with scales per channel are floats behind a DEQUANTIZE.
  const size_t first_with_channels = op_.code == kDEQUANTIZE && is_constant(0) ? 0 : 1;
  const size_t count = operands == Operands::FirstOnly ? 1 : op_.inputs.size();
  for (size_t i = 0; i < count && clean_; ++i)
    if (has_input(i))
      check(input(i), op_.inputs[i],
            (has_channels || first_with_channels == 0) && i >= first_with_channels);
  // So are weights that a QUANTIZE rounds when the model is read.
  const bool is_byte = output().type == DataType::Int8 || output().type == DataType::UInt8;
  const bool makes_weights =
      op_.code == kQUANTIZE && is_constant(0) && input(0).type == DataType::Float32 && is_byte;
  if (clean_) check(output(), op_.outputs[0], makes_weights);
}

void OperatorReader::check_hybrid(size_t weights) {
  const size_t activations = op_.code == kTRANSPOSE_CONV ? 2 : 0;
  if (!has_input(activations) || !has_input(weights)) return;
  const DataType from = input(activations).type, type = input(weights).type;
  if (is_integer(from) == is_integer(type)) return;
  const bool is_known = from == DataType::Float32 && is_constant(weights) &&
                        (type == DataType::Int8 || type == DataType::Int4) &&
                        input(weights).quantization.present();
  // A batch's matrices times one matrix are rows times weights; times several of them, products of whole numbers.
  const bool is_one_scale = !input(weights).quantization.per_channel();
  const size_t rank = input(weights).shape.size();
  const bool is_quantised_at_run_time =
      op_.known->operands == Operands::Weighted || op_.code == kTRANSPOSE_CONV ||
      op_.code == kSVDF || op_.known->kind == OpKind::Lstm ||
      op_.known->kind == OpKind::Recurrent ||
      (op_.code == kBATCH_MATMUL && (rank == 2 || (rank > 2 && is_one_scale)) &&
       !(options<format::BatchMatmulOptions>() &&
         options<format::BatchMatmulOptions>()->adjoint_a()));
  is_hybrid_ = is_known && (widens_weights_ || is_quantised_at_run_time);
  if (is_hybrid_) return;
  problem(fmt::format("mixes {} activations ({}) with {} weights ({})", to_string(from),
                      input_label(activations), to_string(type), input_label(weights)),
          is_known ? "give --widen-weights to make floats of them, or convert the model with full "
                     "integer quantisation"
                   : "convert the model with full integer quantisation, or without any");
}

void OperatorReader::decide_shape(const Shape& shape) {
  if (output().shape == shape) return;
  if (tensors_.is_dynamic(op_.outputs[0])) return tensors_.set_shape(op_.outputs[0], shape);
  problem(fmt::format("makes [{}], but its output has shape [{}]", fmt::join(shape, ","),
                      fmt::join(output().shape, ",")));
}

int64_t OperatorReader::axis(int64_t axis, size_t rank) {
  const auto axes = static_cast<int64_t>(rank);
  if (axis < -axes || axis >= axes) {
    problem(fmt::format("names axis {} of a tensor of rank {}", axis, rank),
            rank == 0 ? "" : fmt::format("{} to {} are possible", -axes, axes - 1));
    return 0;
  }
  return axis < 0 ? axis + axes : axis;
}

std::vector<int64_t> OperatorReader::constant_values(size_t i) const {
  const graph::Tensor& tensor = input(i);
  const std::span<const uint8_t> bytes = tensors_.data(op_.inputs[i]);
  const auto size = static_cast<size_t>(bits(tensor.type) / 8);
  std::vector<int64_t> result;
  for (size_t i = 0; i < bytes.size() / size; ++i) result.push_back(number_at(bytes, size, i));
  return result;
}

std::optional<std::vector<int64_t>> OperatorReader::integers(size_t i, std::string_view role) {
  const graph::Tensor& tensor = input(i);
  const std::span<const uint8_t> bytes = tensors_.data(op_.inputs[i]);
  if (bytes.empty()) {
    problem(
        fmt::format("needs {} to be constant, but {} is computed when the model runs", role,
                    input_label(i)),
        op_.subgraph == 0
            ? "convert the model with fixed shapes"
            : "convert the model with fixed shapes; of tf.image.non_max_suppression_padded, "
              "which is such a loop whatever the shapes are, use non_max_suppression in its place");
    return std::nullopt;
  }
  if (tensor.type != DataType::Int32 && tensor.type != DataType::Int64) {
    problem(fmt::format("has {} of type {} ({}); i32 or i64 is needed", role,
                        to_string(tensor.type), input_label(i)));
    return std::nullopt;
  }
  return constant_values(i);
}

graph::Activation OperatorReader::activation(format::Activation raw) {
  switch (raw) {
    case format::Activation::None:
      return graph::Activation::None;
    case format::Activation::Relu:
      return graph::Activation::Relu;
    case format::Activation::ReluN1To1:
      return graph::Activation::ReluN1To1;
    case format::Activation::Relu6:
      return graph::Activation::Relu6;
    default:
      break;
  }
  const char* name = format::EnumNameActivation(raw);
  problem(fmt::format("has the fused activation {}; only Relu, ReluN1To1 and Relu6 can be fused",
                      *name ? std::string(name) : fmt::format("{}", static_cast<int>(raw))),
          "make the activation an operator of its own");
  return graph::Activation::None;
}

int64_t OperatorReader::positive(int32_t value, std::string_view role) {
  if (value >= 1 && value <= kLargestFactor) return value;
  problem(fmt::format("has {} {}; 1 to {} is possible", role, value, kLargestFactor));
  return 1;
}

bool can_be_made(OperatorReader& in, int64_t rows, int64_t columns) {
  constexpr int64_t kMostMadeElements = int64_t{1} << 22;
  if (rows <= kMostMadeElements && columns <= kMostMadeElements &&
      rows * columns <= kMostMadeElements)
    return true;
  in.problem(fmt::format("needs a constant of {} x {} elements", rows, columns),
             fmt::format("at most {} are possible", kMostMadeElements));
  return false;
}

}  // namespace intarsia::tflite
