// SVDF and LSTM. The evaluator hands the old state as an operand and takes the new one as an output.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "graph/fixed_functions.h"
#include "graph/fixed_point.h"
#include "graph/kernels.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

struct SvdfShape {
  int64_t batches, inputs, filters, memory, units, rank;

  explicit SvdfShape(const Invocation& call)
      : batches(call.in(0).shape[0]),
        inputs(call.in(0).shape[1]),
        filters(call.in(1).shape[0]),
        memory(call.in(2).shape[1]),
        units(call.out().shape[1]),
        rank(call.node.attrs<SvdfAttrs>().rank) {}
};

// Every filter's row of the state moves by one and takes the new feature at its end.
template <typename T, typename Feature>
void shift_state(const Invocation& call, const SvdfShape& s, Feature&& feature) {
  const T* old = call.data<T>(4);
  T* state = call.result<T>(1);
  for (int64_t row = 0; row < s.batches * s.filters; ++row) {
    std::copy_n(old + row * s.memory + 1, s.memory - 1, state + row * s.memory);
    state[(row + 1) * s.memory - 1] = feature(row / s.filters, row % s.filters);
  }
}

template <typename T>
void svdf_of_int8(const Invocation& call) {
  const SvdfShape s(call);
  const SvdfFactors factors =
      svdf_factors(call.in(0), call.in(1), call.in(2), call.in(4), call.out());
  const FixedFactor feature_factor = fixed_factor(factors.feature);
  const FixedFactor time_factor = fixed_factor(factors.time);
  const auto zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto state_zero = static_cast<int32_t>(call.in_zero_point(4));
  shift_state<T>(call, s, [&](int64_t batch, int64_t filter) {
    int32_t sum = 0;
    for (int64_t i = 0; i < s.inputs; ++i)
      sum = wrapping_add(sum, call.data<int8_t>(1)[filter * s.inputs + i] *
                                  (call.data<int8_t>(0)[batch * s.inputs + i] - zero));
    constexpr int32_t kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    return static_cast<T>(state_zero + std::clamp(multiply(sum, feature_factor), kLeast, kMost));
  });
  for (int64_t i = 0; i < s.batches * s.units; ++i) {
    const int64_t batch = i / s.units, unit = i % s.units;
    int32_t sum = call.has(3) ? call.data<int32_t>(3)[unit] : 0;
    for (int64_t k = 0; k < s.rank * s.memory; ++k) {
      const int64_t at = unit * s.rank * s.memory + k;
      sum = wrapping_add(sum,
                         call.data<T>(2)[at] *
                             (call.result<T>(1)[batch * s.filters * s.memory + at] - state_zero));
    }
    call.result<int8_t>()[i] =
        requantized<int8_t>(multiply(sum, time_factor), call.out_zero_point(), {-128, 127});
  }
}

void svdf_of_floats(const Invocation& call) {
  const SvdfShape s(call);
  const Range<float> range = float_range(call.node.attrs<SvdfAttrs>().activation);
  shift_state<float>(call, s, [&](int64_t batch, int64_t filter) {
    float sum = 0;
    for (int64_t i = 0; i < s.inputs; ++i)
      sum += call.data<float>(1)[filter * s.inputs + i] * call.data<float>(0)[batch * s.inputs + i];
    return sum;
  });
  for (int64_t i = 0; i < s.batches * s.units; ++i) {
    const int64_t batch = i / s.units, unit = i % s.units;
    float sum = call.has(3) ? call.data<float>(3)[unit] : 0;
    for (int64_t k = 0; k < s.rank * s.memory; ++k) {
      const int64_t at = unit * s.rank * s.memory + k;
      sum += call.data<float>(2)[at] * call.result<float>(1)[batch * s.filters * s.memory + at];
    }
    call.result<float>()[i] = range.clamp(sum);
  }
}

// ---- LSTM ---------------------------------------------------------------------------------------

enum Gate : size_t { kInput, kForget, kCell, kOutput };

struct LstmShape {
  int64_t batches, steps, inputs, units;
  bool time_major;

  explicit LstmShape(const Invocation& call)
      : inputs(call.in(0).shape[2]),
        units(call.in(1).shape[0]),
        time_major(call.node.attrs<LstmAttrs>().time_major) {
    batches = call.in(0).shape[time_major ? 1 : 0];
    steps = call.in(0).shape[time_major ? 0 : 1];
  }
  // Which row of the sequence belongs to a step of a batch.
  int64_t row(int64_t batch, int64_t step) const {
    return time_major ? step * batches + batch : batch * steps + step;
  }
};

int32_t to_int16(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, -32768, 32767));
}

// T: activations; Sum: of the products, signed; Bias.
template <typename T, typename Sum, typename Bias>
class IntegerLstm {
 public:
  explicit IntegerLstm(const Invocation& call) : call_(call), s_(call) {
    for (size_t gate = 0; gate < 4; ++gate) {
      input_factor_[gate] = fixed_factor(lstm_gate_factor(call.in(0), call.in(1 + gate)));
      hidden_factor_[gate] = fixed_factor(lstm_gate_factor(call.in(13), call.in(5 + gate)));
    }
    const LstmFactors factors = lstm_factors(call.in(13), call.in(14));
    forget_ = fixed_factor(factors.forget), update_ = fixed_factor(factors.input);
    output_ = fixed_factor(factors.output);
    // The cell state in Q3.12; a negative shift keeps the bits it would lose.
    const int shift = factors.cell_exponent + 12;
    tanh_ = shift < 0 ? SigmoidScaling{3, -shift} : SigmoidScaling{3 << shift, 0};
    const float clip = call.node.attrs<LstmAttrs>().cell_clip;
    clip_ = clip > 0 ? static_cast<int32_t>(
                           std::min(static_cast<double>(clip) / scale_of(call.in(14)), 32767.0))
                     : 0;
  }

  void run() {
    const size_t state = static_cast<size_t>(s_.batches * s_.units);
    T* hidden = call_.result<T>(1);
    int16_t* cell = call_.result<int16_t>(2);
    std::copy_n(call_.data<T>(13), state, hidden);
    std::copy_n(call_.data<int16_t>(14), state, cell);
    for (int64_t batch = 0; batch < s_.batches; ++batch)
      for (int64_t step = 0; step < s_.steps; ++step) {
        const int64_t row = s_.row(batch, step);
        one_step(call_.data<T>(0) + row * s_.inputs, hidden + batch * s_.units,
                 cell + batch * s_.units);
        std::copy_n(hidden + batch * s_.units, s_.units, call_.result<T>() + row * s_.units);
      }
  }

 private:
  void one_step(const T* input, T* hidden, int16_t* cell) {
    const SigmoidTable& table = sigmoid_table();
    std::vector<int32_t> open(static_cast<size_t>(s_.units));  // the output gate
    for (int64_t i = 0; i < s_.units; ++i) {
      const int32_t forget = table.sigmoid(sum(kForget, i, input, hidden), 3, 0);
      const int32_t accept = table.sigmoid(sum(kInput, i, input, hidden), 3, 0);
      const int32_t candidate = table.tanh(sum(kCell, i, input, hidden), 3, 0);
      open[static_cast<size_t>(i)] = table.sigmoid(sum(kOutput, i, input, hidden), 3, 0);
      const int32_t kept = to_int16(multiply(forget * cell[i], forget_));
      const int32_t added = to_int16(multiply(accept * candidate, update_));
      int32_t value = to_int16(kept + added);
      if (clip_ > 0) value = std::clamp(value, -clip_, clip_);
      cell[i] = static_cast<int16_t>(value);
    }
    const int64_t zero = call_.in_zero_point(13);
    const Range<int64_t> range = quantized_range<T>(Activation::None, call_.in(13));
    for (int64_t i = 0; i < s_.units; ++i) {
      const int32_t squashed = table.tanh(cell[i], tanh_.multiplier, tanh_.shift);
      hidden[i] =
          requantized<T>(multiply(squashed * open[static_cast<size_t>(i)], output_), zero, range);
    }
  }

  // A gate's argument in Q3.12.
  int32_t sum(size_t gate, int64_t unit, const T* input, const T* hidden) const {
    const Sum from_input = dot(input, 1 + gate, unit, s_.inputs, call_.in_zero_point(0)) +
                           static_cast<Sum>(call_.data<Bias>(9 + gate)[unit]);
    const Sum from_hidden = dot(hidden, 5 + gate, unit, s_.units, call_.in_zero_point(13));
    return to_int16(to_int16(multiply(from_input, input_factor_[gate])) +
                    to_int16(multiply(from_hidden, hidden_factor_[gate])));
  }

  Sum dot(const T* x, size_t weights, int64_t row, int64_t count, int64_t zero) const {
    const int8_t* w = call_.data<int8_t>(weights) + row * count;
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += w[i] * (x[i] - zero);
    return static_cast<Sum>(sum);
  }

  const Invocation& call_;
  LstmShape s_;
  std::array<FixedFactor, 4> input_factor_, hidden_factor_;
  FixedFactor forget_, update_, output_;
  SigmoidScaling tanh_{};
  int32_t clip_ = 0;
};

void lstm_of_floats(const Invocation& call) {
  const LstmShape s(call);
  const float clip = call.node.attrs<LstmAttrs>().cell_clip;
  float *hidden = call.result<float>(1), *cell = call.result<float>(2);
  const auto state = static_cast<size_t>(s.batches * s.units);
  std::copy_n(call.data<float>(13), state, hidden);
  std::copy_n(call.data<float>(14), state, cell);
  std::vector<float> next(static_cast<size_t>(s.units));
  for (int64_t batch = 0; batch < s.batches; ++batch)
    for (int64_t step = 0; step < s.steps; ++step) {
      const int64_t row = s.row(batch, step);
      const float* x = call.data<float>(0) + row * s.inputs;
      float *h = hidden + batch * s.units, *c = cell + batch * s.units;
      for (int64_t unit = 0; unit < s.units; ++unit) {
        const auto sum = [&](size_t gate) {
          float from_input = 0, from_hidden = 0;
          for (int64_t i = 0; i < s.inputs; ++i)
            from_input += x[i] * call.data<float>(1 + gate)[unit * s.inputs + i];
          for (int64_t i = 0; i < s.units; ++i)
            from_hidden += h[i] * call.data<float>(5 + gate)[unit * s.units + i];
          return from_input + call.data<float>(9 + gate)[unit] + from_hidden;
        };
        const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
        float value =
            sigmoid(sum(kForget)) * c[unit] + sigmoid(sum(kInput)) * std::tanh(sum(kCell));
        if (clip > 0) value = std::clamp(value, -clip, clip);
        c[unit] = value;
        next[static_cast<size_t>(unit)] = std::tanh(value) * sigmoid(sum(kOutput));
      }
      std::copy(next.begin(), next.end(), h);
      std::copy(next.begin(), next.end(), call.result<float>() + row * s.units);
    }
}

}  // namespace

Result<void> eval_svdf(const Invocation& call) {
  if (call.type() == Float32)
    svdf_of_floats(call);
  else if (call.in(4).type == Int16)
    svdf_of_int8<int16_t>(call);
  else
    svdf_of_int8<int8_t>(call);
  return {};
}

Result<void> eval_lstm(const Invocation& call) {
  if (call.type() == Float32)
    lstm_of_floats(call);
  else if (call.type() == Int8)
    IntegerLstm<int8_t, int32_t, int32_t>(call).run();
  else
    IntegerLstm<int16_t, int64_t, int64_t>(call).run();
  return {};
}

}  // namespace intarsia::graph
