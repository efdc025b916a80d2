// An LSTM step by step. All gates' products of the input are one operation, those of the hidden state another. The input's products of
// several steps at once would take fewer weights from memory, and eight bytes of fast memory for each unit and step.
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "intarsia/plugin/fixed_functions.h"
#include "legalise/weighted.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;
using graph::Tensor;

// Operands of the node. Gates have the order of the format: input, forget, cell, output.
constexpr size_t kInput = 0, kInputWeights = 1, kHiddenWeights = 5, kBias = 9, kHidden = 13,
                 kCell = 14;
enum Gate : size_t { kAccept, kForget, kCandidate, kOpen };
// Those of one function beside each other.
constexpr Gate kOrder[] = {kAccept, kForget, kOpen, kCandidate};
constexpr int32_t kGates = 4, kSigmoids = 3, kMostSteps = 128;

struct LstmShape {
  int32_t batches, steps, inputs, units;
  bool time_major;

  // Sequences stand above each other, or steps.
  Extent all(int32_t depth) const {
    return time_major ? Extent{steps, batches, depth} : Extent{batches, steps, depth};
  }
  Extent one(int32_t depth) const {
    return time_major ? Extent{1, batches, depth} : Extent{batches, 1, depth};
  }
  Operand at(const Operand& sequence, int32_t step) const {
    return box(sequence, time_major ? Extent{step, 0, 0} : Extent{0, step, 0},
               one(sequence.extent.depth));
  }
};

LstmShape lstm_shape_of(const Site& site) {
  const Shape& in = site.in(kInput).shape;
  const bool time_major = site.node.attrs<graph::LstmAttrs>().time_major;
  const auto extent = [](int64_t of) { return static_cast<int32_t>(of); };
  return {extent(in.at(time_major ? 1 : 0)), extent(in.at(time_major ? 0 : 1)), extent(in.at(2)),
          extent(site.in(kInputWeights).shape.at(0)), time_major};
}

bool has_wide_sums(const Site& site) {
  return site.in(kInput).type == DataType::Int16;
}

// Sums become arguments in steps of 2^-12; TFLite multiplies in single precision here.
std::optional<ChannelScale> sum_scale(const Site& site, size_t from, size_t weights) {
  const float product =
      site.in(from).quantization.scale.at(0) * site.in(weights).quantization.scale.at(0);
  const double factor = static_cast<double>(product) / std::ldexp(1.0, -12);
  return has_wide_sums(site) ? reduced_channel_scale(factor) : channel_scale(factor);
}

// Of products of gates, in steps of 2^-15, with each other and with the cell state.
struct ProductScales {
  std::optional<ChannelScale> kept, added, hidden;
};

ProductScales product_scales(const Site& site) {
  const double gate = std::ldexp(1.0, -15), cell = scale_of(site.in(kCell));
  return {channel_scale(gate * cell / cell), channel_scale(gate * gate / cell),
          channel_scale(gate * gate / scale_of(site.in(kHidden)))};
}

// What the unit for tanh takes the cell state by: its scale counts as the nearest power of two.
ChannelScale cell_scale(const Site& site) {
  const float log2 = std::log(site.in(kCell).quantization.scale.at(0)) * (1.0f / std::log(2.0f));
  const int shift = static_cast<int>(std::round(log2)) + 12;
  return shift < 0 ? ChannelScale{.multiplier = 3, .shift = -shift}
                   : ChannelScale{.multiplier = uint32_t{3} << shift};
}

int64_t bias_at(const Site& site, size_t gate, int64_t unit) {
  const Tensor& tensor = site.in(kBias + gate);
  const uint8_t* bytes = site.module.constant(tensor.constant).bytes.data();
  int64_t wide = 0;
  int32_t narrow = 0;
  if (tensor.type == DataType::Int64) return std::memcpy(&wide, bytes + 8 * unit, 8), wide;
  std::memcpy(&narrow, bytes + 4 * unit, 4);
  return narrow;
}

class LstmLegaliser {
 public:
  LstmLegaliser(Builder& builder, const Node& node)
      : builder_(builder),
        node_(node),
        site_{builder.module(), builder.function(), node},
        shape_(lstm_shape_of(site_)),
        products_(product_scales(site_)) {}

  void run() {
    const Operand input = builder_.read_as(node_.inputs.at(kInput), shape_.all(shape_.inputs));
    const Extent state = shape_.one(shape_.units);
    const Operand out = builder_.write_as(node_.outputs.at(0), shape_.all(shape_.units));
    Operand hidden = builder_.read_as(node_.inputs.at(kHidden), state);
    Operand cell = builder_.read_as(node_.inputs.at(kCell), state);
    for (int32_t step = 0; step < shape_.steps; ++step) {
      const Operand of_input = inner("_of_input", kGates), now = shape_.at(out, step);
      emit_sums(shape_.at(input, step), of_input, kInput, kInputWeights, true);
      cell = one_step(of_input, hidden, cell, now);
      hidden = now;
      hidden.zero_point = zero_point_of(site_.in(kHidden));
    }
    builder_.leave(hidden, node_.outputs.at(1));
    builder_.leave(cell, node_.outputs.at(2));
  }

 private:
  // The gates' weighted sums of all of `from`, beside each other.
  void emit_sums(const Operand& from, const Operand& to, size_t operand, size_t first_weights,
                 bool has_bias) {
    Operation op = builder_.start(OperationKind::Conv, from, to);
    for (const Gate gate : kOrder) {
      const auto& bytes = site_.module.constant(site_.in(first_weights + gate).constant).bytes;
      for (size_t i = 0; i < bytes.size(); ++i)
        op.weights.push_back(static_cast<int8_t>(bytes.data()[i]));
      for (int32_t unit = 0; unit < shape_.units; ++unit) {
        op.scales.push_back(*sum_scale(site_, operand, first_weights + gate));
        if (has_bias) op.scales.back().bias = bias_at(site_, gate, unit);
      }
    }
    if (has_wide_sums(site_)) op.rounding = Rounding::Natural;
    builder_.emit(std::move(op));
  }

  Operand inner(const char* name, int32_t count) {
    return builder_.inner(node_.name + name, DataType::Int16, shape_.one(count * shape_.units));
  }

  Operation binary(OperationKind kind, const Operand& a, const Operand& b, const Operand& to,
                   const ChannelScale& scale) {
    Operation op = builder_.start(kind, a, to);
    op.ifm2 = b;
    op.ifm2_type = DataType::Int16;
    op.global_scale = scale;
    if (kind == OperationKind::Add)  // of stored values, as they are
      op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
    return op;
  }

  void squash(Activation activation, const ChannelScale& scale, const Operand& from,
              const Operand& to) {
    Operation op = builder_.start(OperationKind::AveragePool, from, to);
    op.global_scale = scale;
    op.rounding = Rounding::Natural;
    op.activation = activation;
    builder_.emit(std::move(op));
  }

  // Returns the cell state behind it.
  Operand one_step(const Operand& of_input, const Operand& hidden, const Operand& cell,
                   const Operand& out) {
    const ChannelScale as_it_is{.multiplier = 1}, argument{.multiplier = 3};
    const Operand of_hidden = inner("_of_hidden", kGates), sums = inner("_sums", kGates);
    emit_sums(hidden, of_hidden, kHidden, kHiddenWeights, false);
    builder_.emit(binary(OperationKind::Add, of_input, of_hidden, sums, as_it_is));

    const Operand gates = inner("_gates", kGates);
    const auto part = [&](const Operand& of, int32_t first, int32_t count) {
      return channels(of, first * shape_.units, count * shape_.units);
    };
    squash(Activation::Sigmoid, argument, part(sums, 0, kSigmoids), part(gates, 0, kSigmoids));
    squash(Activation::Tanh, argument, part(sums, kSigmoids, 1), part(gates, kSigmoids, 1));
    const auto gate = [&](Gate wanted) {
      int32_t at = 0;
      while (kOrder[at] != wanted) ++at;
      return part(gates, at, 1);
    };

    const Operand kept = inner("_kept", 1), added = inner("_added", 1), fresh = inner("_cell", 1);
    builder_.emit(binary(OperationKind::Mul, gate(kForget), cell, kept, *products_.kept));
    builder_.emit(
        binary(OperationKind::Mul, gate(kAccept), gate(kCandidate), added, *products_.added));
    Operation sum = binary(OperationKind::Add, kept, added, fresh, as_it_is);
    const double clip =
        static_cast<double>(node_.attrs<graph::LstmAttrs>().cell_clip) / scale_of(site_.in(kCell));
    if (clip >= 1) {
      sum.clamp_high = static_cast<int32_t>(std::min(clip, 32767.0));
      sum.clamp_low = -sum.clamp_high;
    }
    builder_.emit(std::move(sum));

    const Operand squashed = inner("_squashed", 1);
    squash(Activation::Tanh, cell_scale(site_), fresh, squashed);
    Operand to = out;
    to.zero_point = zero_point_of(site_.in(kHidden));
    builder_.emit(binary(OperationKind::Mul, squashed, gate(kOpen), to, *products_.hidden));
    return fresh;
  }

  Builder& builder_;
  const Node& node_;
  const Site site_;
  const LstmShape shape_;
  const ProductScales products_;
};

}  // namespace

Reason refuses_lstm(const Site& site) {
  const DataType type = site.in(kInput).type;
  if (type != DataType::Int8 && type != DataType::Int16)
    return fmt::format("the input is {}, the NPU takes i8 and i16 here", to_string(type));
  const LstmShape shape = lstm_shape_of(site);
  if (shape.steps > kMostSteps)
    return fmt::format("{} steps take more commands than those of {}", shape.steps, kMostSteps);
  for (size_t i = kInputWeights; i < kHidden; ++i)
    if (!site.in(i).constant.valid()) return std::string("the weights are not constant");
  for (size_t gate = 0; gate < size_t{kGates}; ++gate)
    if (!sum_scale(site, kInput, kInputWeights + gate) ||
        !sum_scale(site, kHidden, kHiddenWeights + gate))
      return std::string("the scales of its sums are too far from 2^-12");
  const ProductScales products = product_scales(site);
  if (!products.kept || !products.added || !products.hidden)
    return std::string("the scales of its states are too far from those of its gates");
  return std::nullopt;
}

void legalise_lstm(Builder& builder, const Node& node) {
  LstmLegaliser(builder, node).run();
}

}  // namespace intarsia::targets::ethos_u
