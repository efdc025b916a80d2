// An LSTM step by step, and in a step gates that are there at the same time: their products of the input are one operation, those
// of the hidden state another. The input's products of several steps at once take fewer weights from memory, and eight bytes of
// fast memory for each unit and step: as many steps as take no more of it than a copy of these weights would.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

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
using Gates = std::span<const Gate>;
constexpr int32_t kMostSteps = 128;
// Eight more operations cost a step about as long as the decoder takes for that many weights: with more than a few times as many
// it does not matter how many operations there are, and memory does.
constexpr int64_t kManyWeights = int64_t{1} << 16;

struct LstmShape {
  int32_t batches, steps, inputs, units;
  bool time_major;

  // Sequences stand above each other, or steps.
  Extent all(int32_t depth) const {
    return time_major ? Extent{steps, batches, depth} : Extent{batches, steps, depth};
  }
  Extent one(int32_t depth) const { return several(1, depth); }
  Extent several(int32_t count, int32_t depth) const {
    return time_major ? Extent{count, batches, depth} : Extent{batches, count, depth};
  }
  Operand at(const Operand& sequence, int32_t first, int32_t count = 1) const {
    return box(sequence, time_major ? Extent{first, 0, 0} : Extent{0, first, 0},
               several(count, sequence.extent.depth));
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

// Sums become arguments in steps of 2^-12.
std::optional<ChannelScale> sum_scale(const Site& site, size_t from, size_t weights) {
  const double factor = scale_of(site.in(from)) * scale_of(site.in(weights)) / std::ldexp(1.0, -12);
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

constexpr ChannelScale kAsItIs{.multiplier = 1}, kArgument{.multiplier = 3};

class LstmLegaliser {
 public:
  LstmLegaliser(Builder& builder, const Node& node)
      : builder_(builder),
        node_(node),
        site_{builder.module(), builder.function(), node},
        shape_(lstm_shape_of(site_)),
        products_(product_scales(site_)),
        order_(has_many_weights() ? kAsUsed : kTogether),
        at_once_(builder.may_look_ahead() ? steps_at_once() : 1) {}

  void run() {
    const Operand input = builder_.read_as(node_.inputs.at(kInput), shape_.all(shape_.inputs));
    const Extent state = shape_.one(shape_.units);
    const Operand out = builder_.write_as(node_.outputs.at(0), shape_.all(shape_.units));
    Operand hidden = builder_.read_as(node_.inputs.at(kHidden), state);
    Operand cell = builder_.read_as(node_.inputs.at(kCell), state);
    if (builder_.may_make_in_place(cell, node_.outputs.at(2))) kept_cell_ = cell;
    if (at_once_ > 1) builder_.note_looking_ahead();
    for (int32_t step = 0; step < shape_.steps; ++step) {
      if (at_once_ > 1 && step % at_once_ == 0) look_ahead(input, step);
      const Operand now = shape_.at(out, step);
      now_ = at_once_ > 1 ? shape_.at(ahead_, step % at_once_) : Operand{};
      cell = one_step(shape_.at(input, step), hidden, cell, now);
      hidden = now;
      hidden.zero_point = zero_point_of(site_.in(kHidden));
    }
    builder_.leave(hidden, node_.outputs.at(1));
    if (!kept_cell_) builder_.leave(cell, node_.outputs.at(2));
  }

 private:
  // The gates' weighted sums of all of `from`, beside each other.
  void emit_sums(Gates gates, const Operand& from, const Operand& to, size_t operand,
                 size_t first_weights, bool has_bias) {
    Operation op = builder_.start(OperationKind::Conv, from, to);
    Weights weights;
    for (const Gate gate : gates) {
      const auto& bytes = site_.module.constant(site_.in(first_weights + gate).constant).bytes;
      for (size_t i = 0; i < bytes.size(); ++i)
        weights.push_back(static_cast<int8_t>(bytes.data()[i]));
      for (int32_t unit = 0; unit < shape_.units; ++unit) {
        op.scales.push_back(*sum_scale(site_, operand, first_weights + gate));
        if (has_bias) op.scales.back().bias = bias_at(site_, gate, unit);
      }
    }
    op.weights = std::move(weights);
    if (has_wide_sums(site_)) op.rounding = Rounding::Natural;
    builder_.emit(std::move(op));
  }

  Operand inner(const char* name, size_t count = 1) {
    return builder_.inner(node_.name + name, DataType::Int16,
                          shape_.one(static_cast<int32_t>(count) * shape_.units));
  }
  // Of values beside each other.
  Operand part(const Operand& of, size_t first, size_t count = 1) const {
    const auto units = static_cast<size_t>(shape_.units);
    return channels(of, static_cast<int64_t>(first * units), static_cast<int64_t>(count * units));
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

  // Products of 16 bits of all gates and as many steps, against weights of 8 bits of all gates.
  int32_t steps_at_once() const {
    const int32_t most = std::clamp(shape_.inputs / (2 * shape_.batches), 1, shape_.steps);
    const int32_t times = (shape_.steps + most - 1) / most;
    return (shape_.steps + times - 1) / times;
  }

  void look_ahead(const Operand& input, int32_t step) {
    const int32_t count = std::min(at_once_, shape_.steps - step);
    ahead_ = builder_.inner(node_.name + "_of_input", DataType::Int16,
                            shape_.several(count, std::ssize(order_) * shape_.units));
    emit_sums(order_, shape_.at(input, step, count), ahead_, kInput, kInputWeights, true);
  }

  // Gates of the order beside each other; the one for tanh is the last.
  Operand gates(size_t first, size_t count, const Operand& input, const Operand& hidden) {
    const Gates gates = order_.subspan(first, count);
    const size_t sigmoids = gates.back() == kCandidate ? count - 1 : count;
    const Operand of_input = at_once_ > 1 ? part(now_, first, count) : inner("_of_input", count),
                  of_hidden = inner("_of_hidden", count), sums = inner("_sums", count),
                  result = inner("_gates", count);
    if (at_once_ == 1) emit_sums(gates, input, of_input, kInput, kInputWeights, true);
    emit_sums(gates, hidden, of_hidden, kHidden, kHiddenWeights, false);
    builder_.emit(binary(OperationKind::Add, of_input, of_hidden, sums, kAsItIs));
    squash(Activation::Sigmoid, kArgument, part(sums, 0, sigmoids), part(result, 0, sigmoids));
    if (sigmoids < count)
      squash(Activation::Tanh, kArgument, part(sums, sigmoids), part(result, sigmoids));
    return result;
  }

  bool has_many_weights() const {
    return int64_t{4} * shape_.units * (shape_.inputs + shape_.units) >= kManyWeights;
  }

  // Returns the cell state behind it. Gates that are made as late as they are used take half of the memory of all at once.
  Operand one_step(const Operand& input, const Operand& hidden, const Operand& cell,
                   const Operand& out) {
    const bool apart = has_many_weights();
    const Operand first = gates(0, apart ? 2 : 4, input, hidden);
    const auto later = [&](size_t gate) {
      return apart ? gates(gate + 1, 1, input, hidden) : part(first, gate);
    };
    const Operand added = inner("_added"), kept = inner("_kept"),
                  fresh = kept_cell_ ? *kept_cell_ : inner("_cell");
    const auto add = [&] {
      builder_.emit(binary(OperationKind::Mul, part(first, 0), part(first, apart ? 1 : 3), added,
                           *products_.added));
    };
    if (apart) add();
    const Operand forget = later(1);
    builder_.emit(binary(OperationKind::Mul, forget, cell, kept, *products_.kept));
    if (!apart) add();  // nothing waits for what was squashed last
    Operation sum = binary(OperationKind::Add, kept, added, fresh, kAsItIs);
    const double clip =
        static_cast<double>(node_.attrs<graph::LstmAttrs>().cell_clip) / scale_of(site_.in(kCell));
    if (clip >= 1) {
      sum.clamp_high = static_cast<int32_t>(std::min(clip, 32767.0));
      sum.clamp_low = -sum.clamp_high;
    }
    builder_.emit(std::move(sum));

    const Operand open = later(2);
    const Operand squashed = inner("_squashed");
    squash(Activation::Tanh, cell_scale(site_), fresh, squashed);
    Operand to = out;
    to.zero_point = zero_point_of(site_.in(kHidden));
    builder_.emit(binary(OperationKind::Mul, squashed, open, to, *products_.hidden));
    return fresh;
  }

  static constexpr Gate kTogether[] = {kAccept, kForget, kOpen, kCandidate};
  static constexpr Gate kAsUsed[] = {kAccept, kCandidate, kForget, kOpen};

  Builder& builder_;
  const Node& node_;
  const Site site_;
  const LstmShape shape_;
  const ProductScales products_;
  const Gates order_;
  const int32_t at_once_;             // steps whose products of the input are made together
  Operand ahead_, now_;               // these, and those of the step
  std::optional<Operand> kept_cell_;  // where all steps make it
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
  for (const Gate gate : {kAccept, kForget, kCandidate, kOpen})
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
