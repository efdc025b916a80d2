// Operators that keep state.
#include <algorithm>

#include "support/random_builder.h"

namespace intarsia::testing::families {

namespace {

Quantization one_scale(float scale, int64_t zero_point = 0) {
  return {{scale}, {zero_point}, 0};
}

}  // namespace

Module svdf(Builder& b) {
  Random& r = b.random();
  const bool integer = is_integer(b.type());
  const int64_t batches = r.range(1, 2), inputs = r.range(1, 8), rank = r.range(1, 2);
  const int64_t units = r.range(1, 4), filters = rank * units, memory = r.range(1, 5);
  const DataType state = !integer ? b.type() : r.pick<DataType>({DataType::Int8, DataType::Int16});
  b.input({batches, inputs});
  const auto scale = [&] { return integer ? one_scale(r.real(0.002f, 0.02f)) : Quantization{}; };
  b.constant({filters, inputs}, b.type(), scale(), -127, 127);
  b.constant({filters, memory}, state, scale(), -127, 127);
  b.constant({units}, integer ? DataType::Int32 : b.type(), scale(), -900, 900);
  b.state({batches, filters * memory}, state, scale());
  b.node().attributes = SvdfAttrs{rank, integer ? Activation::None : b.activation()};
  return b.finish();
}

Module lstm(Builder& b) {
  Random& r = b.random();
  const bool integer = is_integer(b.type()), wide = b.type() == DataType::Int16;
  LstmAttrs a{r.chance(50), r.chance(30) ? r.real(0.5f, 2.0f) : 0.0f};
  const int64_t batches = r.range(1, 2), steps = r.range(1, 3), inputs = r.range(1, 6);
  const int64_t units = r.range(1, 5);
  b.input(a.time_major ? Shape{steps, batches, inputs} : Shape{batches, steps, inputs});
  const auto scale = [&] { return integer ? one_scale(r.real(0.002f, 0.02f)) : Quantization{}; };
  const DataType weights = integer ? DataType::Int8 : b.type();
  const DataType bias = !integer ? b.type() : wide ? DataType::Int64 : DataType::Int32;
  for (int i = 0; i < 4; ++i) b.constant({units, inputs}, weights, scale(), -127, 127);
  for (int i = 0; i < 4; ++i) b.constant({units, units}, weights, scale(), -127, 127);
  for (int i = 0; i < 4; ++i) b.constant({units}, bias, scale(), -900, 900);
  const Quantization hidden =
      integer ? one_scale(wide ? 1.0f / 32768 : 1.0f / 128, wide ? 0 : r.range(-9, 9))
              : Quantization{};
  b.state({batches, units}, b.type(), hidden);
  b.state(
      {batches, units}, integer ? DataType::Int16 : b.type(),
      integer ? one_scale(std::ldexp(1.0f, static_cast<int>(r.range(-13, -10)))) : Quantization{});
  b.node().attributes = a;
  return b.finish(b.type(), hidden);
}

Module recurrent(Builder& b) {
  Random& r = b.random();
  RecurrentAttrs a;
  a.cell = r.pick<std::string>({"lstm", "gru", "rnn"});
  const bool is_lstm = a.cell == "lstm", is_gru = a.cell == "gru";
  const int64_t gates = is_lstm ? 4 : is_gru ? 3 : 1;
  const auto function = [&](const char* usual) {
    static const std::vector<std::string> kNames = {
        "sigmoid",     "tanh",         "relu", "leaky_relu", "thresholded_relu", "affine",
        "scaled_tanh", "hard_sigmoid", "elu",  "softsign",   "softplus"};
    if (r.chance(50)) return ScalarFunctionAttrs{usual};
    return ScalarFunctionAttrs{r.pick(kNames), r.real(0.1f, 0.9f), r.real(0.1f, 0.9f)};
  };
  a.gate = function("sigmoid"), a.candidate = function("tanh"), a.output = function("tanh");
  a.reverse = r.chance(40), a.sequence = r.chance(60);
  a.reset_after = is_gru && r.chance(50), a.coupled = is_lstm && r.chance(20);
  if (r.chance(20)) a.clip = r.real(0.3f, 2.0f);
  // Where functions do not squash their argument, differences of rounding grow with every step.
  const bool squashes =
      a.gate.name == "sigmoid" && a.candidate.name == "tanh" && a.output.name == "tanh";
  const int64_t steps = squashes ? r.range(1, 4) : 1, batches = r.range(1, 2),
                inputs = r.range(1, 6), units = r.range(1, 5);
  b.input({steps, batches, inputs});
  const auto numbers = [&](bool present, Shape shape) {
    if (present)
      b.constant(std::move(shape), b.type(), {}, 0, 0);
    else
      b.node().inputs.emplace_back();
  };
  numbers(true, {gates * units, inputs}), numbers(true, {gates * units, units});
  numbers(r.chance(80), {gates * units});
  numbers(a.reset_after && r.chance(80), {units});
  if (r.chance(50))
    b.input({batches, units});
  else
    b.node().inputs.emplace_back();
  numbers(is_lstm && r.chance(50), {batches, units});
  numbers(is_lstm && r.chance(30), {3 * units});
  const size_t more = (is_lstm ? 1 : 0) + (a.sequence ? 1 : 0);
  for (size_t i = 0; i < more; ++i) b.output({});
  b.node().attributes = a;
  return b.finish(b.type(), {});
}

}  // namespace intarsia::testing::families
