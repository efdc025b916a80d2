// SVDF and LSTM layers: device/svdf.h, device/lstm.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "operators.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

float scale(const graph::Tensor& tensor) {
  return tensor.quantization.scale[0];
}
int64_t zero_point(const graph::Tensor& tensor) {
  return tensor.quantization.zero_point[0];
}

// What the kernels multiply by less than one. They do not leave out a factor of one, as the loops do.
bool is_right(Multiplier m) {
  return m.shift <= 0;
}

bool all_constant(const OpView& v, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i)
    if (!v.is_constant(i)) return false;
  return true;
}

// The biases with the share of the state's zero point, behind what the sums of the filters begin with; nothing when one leaves 32 bits.
std::optional<std::vector<uint8_t>> svdf_bias(const OpView& v, std::vector<int64_t> starts,
                                              int64_t units) {
  const std::vector<int64_t> time = v.values(2);
  std::vector<int64_t> bias =
      v.has(3) ? v.values(3) : std::vector<int64_t>(static_cast<size_t>(units), 0);
  const size_t per_unit = time.size() / bias.size();
  for (size_t i = 0; i < time.size(); ++i) bias[i / per_unit] -= zero_point(v.in(4)) * time[i];
  starts.insert(starts.end(), bias.begin(), bias.end());
  std::vector<uint8_t> bytes;
  for (const int64_t value : starts) {
    if (value != static_cast<int32_t>(value)) return std::nullopt;
    append_word(bytes, value);
  }
  return bytes;
}

}  // namespace

LowerKernel svdf_kernel(CoreClass core, const OpView& v) {
  if (!has_wide_kernels(core) || v.in(0).type != DataType::Int8 || v.is_constant(0) ||
      !all_constant(v, 1, 3) || (v.has(3) && !v.is_constant(3)))
    return nullptr;
  const auto& attrs = v.node.attrs<graph::SvdfAttrs>();
  const int64_t batches = v.in(0).shape[0], inputs = v.in(0).shape[1];
  const int64_t filters = v.in(1).shape[0], memory = v.in(2).shape[1], units = filters / attrs.rank;
  const Multiplier feature =
      quantize_multiplier(static_cast<double>(scale(v.in(0)) * scale(v.in(1)) / scale(v.in(4))));
  const Multiplier time =
      quantize_multiplier(static_cast<double>(scale(v.in(4)) * scale(v.in(2)) / scale(v.out())));
  std::vector<int64_t> starts;  // Dsp takes the zero point away from the inputs
  if (core == CoreClass::Mve) {
    for (const std::vector<int8_t>& row : weight_rows(v, 1, filters))
      starts.push_back(zero_point_share(row, zero_point(v.in(0))));
    starts.resize(static_cast<size_t>(round_up(filters, kWideLanes)));
  }
  const std::optional<std::vector<uint8_t>> bias_bytes = svdf_bias(v, std::move(starts), units);
  const int64_t scratch_elements = core == CoreClass::Dsp ? byte_run(core, inputs) : 1;
  if (!bias_bytes || !is_right(feature) || !is_right(time) || 2 * scratch_elements > kMostScratch)
    return nullptr;
  const std::vector<int64_t> numbers = {batches,
                                        inputs,
                                        units,
                                        attrs.rank,
                                        memory,
                                        zero_point(v.in(0)),
                                        zero_point(v.in(4)),
                                        zero_point(v.out()),
                                        feature.value,
                                        -feature.shift,
                                        time.value,
                                        -time.shift};
  return [=, bias_bytes = *bias_bytes](OpLowering& op) {
    const OpView& view = op.view;
    op.declare({Shape{batches, inputs}, std::nullopt, Shape{filters, memory}, std::nullopt,
                Shape{batches, filters, memory}},
               {batches, units});
    const BufferId scratch = op.b.local("scratch", DataType::Int16, {scratch_elements}, 4);
    std::vector<uint8_t> bytes = byte_weights(core, weight_rows(view, 1, filters));
    const auto size = static_cast<int64_t>(bytes.size());
    const BufferId weights =
        op.constant("weights", DataType::Int8, {size}, std::move(bytes), tir::ConstantUse::Weights);
    const BufferId bias =
        op.constant("bias", DataType::Int32, {static_cast<int64_t>(bias_bytes.size() / 4)},
                    bias_bytes, tir::ConstantUse::Weights);
    const std::string kernel =
        wide_prefix(core) + (view.in(4).type == DataType::Int16 ? "svdf_s16" : "svdf_s8");
    return call_kernel(
        op.b.func(),
        {kernel, numbers, {op.in(0)}, op.out(), scratch, {weights, op.in(2), bias}, {op.in(4)}});
  };
}

// ---- LSTM ---------------------------------------------------------------------------------------

namespace {

constexpr int64_t kLstmBlock = 32;  // device/lstm.h
constexpr size_t kGates = 4, kInputWeights = 1, kHiddenWeights = 5, kBiases = 9, kHidden = 13,
                 kCell = 14;

// How a gate's sum of products with `weights` becomes Q3.12.
Multiplier gate_multiplier(const OpView& v, size_t from, size_t weights) {
  const double product = static_cast<double>(scale(v.in(from))) * scale(v.in(weights));
  return quantize_multiplier(product / std::ldexp(1.0, -12));
}

// The largest magnitude of a sum of products with int8 less its zero point, or with int16, whatever the order.
int64_t largest_sum(const OpView& v, size_t weights, std::optional<size_t> bias) {
  const int64_t largest_input = v.in(0).type == DataType::Int16 ? 32768 : 255;
  const std::vector<int64_t> all = v.values(weights);
  const int64_t rows = v.in(weights).shape[0];
  const auto columns = static_cast<int64_t>(all.size()) / rows;
  int64_t largest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t sum = bias ? std::abs(v.values(*bias)[static_cast<size_t>(row)]) : 0;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
      sum += largest_input * std::abs(all[static_cast<size_t>(i)]);
    largest = std::max(largest, sum);
  }
  return largest;
}

// The numbers of one gate in struct intarsia_lstm_shares.
using Share = std::array<int64_t, 5>;

int64_t half_of(int64_t shift) {
  return shift > 0 ? int64_t{1} << (shift - 1) : 0;
}

// Nothing when sums may leave what the kernel proves by.
std::optional<Share> narrow_share(Multiplier m, int64_t largest) {
  const int64_t left = std::max<int64_t>(m.shift, 0), right = std::max<int64_t>(-m.shift, 0);
  if (left > 29 || right > 31 || largest << left >= int64_t{1} << 30) return std::nullopt;
  return Share{m.value, right, left + 1, half_of(right), right > 0 ? 1 : 0};
}

std::optional<Share> short_share(Multiplier m, int64_t largest) {
  const WideMultiplier wide = wide_multiplier(m);
  const int64_t shift = wide.shift - 16;
  if (largest > std::numeric_limits<int32_t>::max() || shift < 1 || shift > 31) return std::nullopt;
  return Share{int64_t{wide.value} << 16, shift, 0, half_of(shift), 0};
}

// struct intarsia_lstm_gates; nothing when a share is not possible.
template <typename ShareOf>
std::optional<std::vector<uint8_t>> gate_table(const OpView& v, ShareOf share_of) {
  std::vector<uint8_t> bytes;
  for (const bool of_input : {true, false}) {
    std::vector<Share> shares;
    for (size_t gate = 0; gate < kGates; ++gate) {
      const size_t weights = (of_input ? kInputWeights : kHiddenWeights) + gate;
      const int64_t largest =
          largest_sum(v, weights, of_input ? std::optional<size_t>(kBiases + gate) : std::nullopt);
      const std::optional<Share> share =
          share_of(gate_multiplier(v, of_input ? 0 : kHidden, weights), largest);
      if (!share) return std::nullopt;
      shares.push_back(*share);
    }
    for (size_t number = 0; number < shares[0].size(); ++number)
      for (const Share& share : shares) append_word(bytes, share[number]);
  }
  return bytes;
}

struct Gates {
  std::string kernel;  // less the core's prefix
  std::optional<std::vector<uint8_t>> table;
};

Gates gates_of(const OpView& v) {
  if (v.in(0).type == DataType::Int8) return {"lstm_s8", gate_table(v, narrow_share)};
  if (auto table = gate_table(v, short_share)) return {"lstm_s16_short", std::move(table)};
  return {"lstm_s16", gate_table(v, [](Multiplier m, int64_t) {
            const WideMultiplier wide = wide_multiplier(m);
            return std::optional(Share{wide.value, wide.shift, 0, 0, 0});
          })};
}

struct LstmTables {
  std::vector<uint8_t> weights, biases;
};

// Per unit the rows of its four gates, and what their sums begin with; of `wide` ones, of more than 32 bits, their biases.
LstmTables unit_tables(CoreClass core, const OpView& v, int64_t units, bool wide) {
  std::vector<WeightRows> weights;
  std::vector<std::vector<int64_t>> biases;
  for (size_t i = 0; i < 2 * kGates; ++i)
    weights.push_back(weight_rows(v, kInputWeights + i, units));
  for (size_t i = 0; i < kGates; ++i) biases.push_back(v.values(kBiases + i));
  LstmTables tables;
  for (size_t unit = 0; unit < static_cast<size_t>(units); ++unit) {
    for (const bool of_input : {true, false}) {
      WeightRows rows;
      for (size_t gate = 0; gate < kGates; ++gate) {
        rows.push_back(weights[of_input ? gate : kGates + gate][unit]);
        const int64_t share =
            zero_point_share(rows.back(), zero_point(v.in(of_input ? 0 : kHidden)));
        if (!wide) append_word(tables.biases, (of_input ? biases[gate][unit] : 0) + share);
      }
      const std::vector<uint8_t> bytes =
          v.in(0).type == DataType::Int8 ? byte_weights(core, rows) : wide_weights(core, rows);
      tables.weights.insert(tables.weights.end(), bytes.begin(), bytes.end());
    }
    for (size_t gate = 0; wide && gate < kGates; ++gate)
      append_wide(tables.biases, biases[gate][unit]);
  }
  return tables;
}

// Empty when a factor is not below one half.
std::vector<int64_t> numbers_of(const OpView& v) {
  const auto& attrs = v.node.attrs<graph::LstmAttrs>();
  const Shape& in = v.in(0).shape;
  const graph::Tensor &hidden = v.in(kHidden), &cell = v.in(kCell);
  const double gate = std::ldexp(1.0, -15), cell_scale = static_cast<double>(scale(cell));
  const Multiplier kept = quantize_multiplier(gate * cell_scale / cell_scale);
  const Multiplier added = quantize_multiplier(gate * gate / cell_scale);
  const Multiplier out = quantize_multiplier(gate * gate / static_cast<double>(scale(hidden)));
  // The kernel shifts to the right by one at least.
  for (const Multiplier m : {kept, added, out})
    if (m.shift >= 0) return {};
  int64_t limit = 32768;
  if (attrs.cell_clip > 0)
    limit =
        static_cast<int64_t>(std::min(static_cast<double>(attrs.cell_clip) / cell_scale, 32767.0));
  // The cell state's scale counts as the nearest power of two.
  const auto exponent =
      static_cast<int64_t>(std::round(std::log(scale(cell)) * (1.0f / std::log(2.0f))));
  const int64_t shift = exponent + 12;
  return {in[attrs.time_major ? 1 : 0],
          in[attrs.time_major ? 0 : 1],
          in[2],
          v.in(1).shape[0],
          attrs.time_major ? 1 : 0,
          zero_point(hidden),
          limit,
          kept.value,
          -kept.shift,
          added.value,
          -added.shift,
          shift < 0 ? 3 : int64_t{3} << shift,
          shift < 0 ? -shift : 0,
          out.value,
          -out.shift};
}

}  // namespace

LowerKernel lstm_kernel(CoreClass core, const OpView& v) {
  const DataType type = v.in(0).type;
  if (!has_wide_kernels(core) || (type != DataType::Int8 && type != DataType::Int16) ||
      v.is_constant(0) || !all_constant(v, kInputWeights, kHidden))
    return nullptr;
  if (type == DataType::Int16 && (zero_point(v.in(0)) != 0 || zero_point(v.in(kHidden)) != 0))
    return nullptr;
  const Gates gates = gates_of(v);
  const std::vector<int64_t> numbers = numbers_of(v);
  if (numbers.empty()) return nullptr;
  const int64_t batches = numbers[0], steps = numbers[1], inputs = numbers[2], units = numbers[3];
  const bool wide = gates.kernel == "lstm_s16";
  int64_t scratch_elements = static_cast<int64_t>(kGates) * std::min(units, kLstmBlock);
  if (core == CoreClass::Dsp) scratch_elements += wide_run(core, inputs) + wide_run(core, units);
  if (!gates.table || 2 * scratch_elements > kMostScratch) return nullptr;
  return [=](OpLowering& op) {
    const Shape state{batches, units};
    std::vector<std::optional<Shape>> shapes{Shape{batches * steps, inputs}};
    shapes.resize(kHidden);
    shapes.insert(shapes.end(), {state, state});
    op.declare(shapes, {batches * steps, units});
    LstmTables tables = unit_tables(core, op.view, units, wide);
    const auto bytes = static_cast<int64_t>(tables.weights.size());
    const BufferId scratch = op.b.local("scratch", DataType::Int16, {scratch_elements}, 4);
    const BufferId weights = op.constant("weights", DataType::Int8, {bytes},
                                         std::move(tables.weights), tir::ConstantUse::Weights);
    const BufferId biases = op.constant("biases", DataType::Int32, {units, kGates, 2},
                                        std::move(tables.biases), tir::ConstantUse::Weights);
    const BufferId gate_rows = op.constant("gates", DataType::Int32, {kGates, 10}, *gates.table,
                                           tir::ConstantUse::Weights);
    return call_kernel(op.b.func(), {wide_prefix(core) + gates.kernel,
                                     numbers,
                                     {op.in(0)},
                                     op.out(),
                                     scratch,
                                     {weights, biases, gate_rows},
                                     {op.in(kHidden), op.in(kCell)}});
  };
}

}  // namespace intarsia::targets::cortex_m
