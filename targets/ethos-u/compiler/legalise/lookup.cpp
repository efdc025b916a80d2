// Operators that compute each element on its own: tables, whatever the function is. The values come
// from the reference evaluator itself, so they are its values.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "intarsia/plugin/fixed_functions.h"
#include "legalise/lookup.h"
#include "legalise/operators.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

}  // namespace

namespace {

// Every value of the type, from the least on.
graph::TensorValue all_values(DataType type) {
  const Clamp range = range_of(type);
  graph::TensorValue values;
  for (int32_t v = range.low; v <= range.high; ++v)
    for (int byte = 0; byte < bits(type) / 8; ++byte)
      values.push_back(static_cast<uint8_t>(static_cast<uint32_t>(v) >> (8 * byte)));
  return values;
}

// The operator by itself, on all values of each of its inputs.
std::vector<uint8_t> results_of(const Site& site, const std::vector<Shape>& shapes, Shape out) {
  graph::Function function;
  function.name = "main";
  Node node = site.node;
  node.inputs.clear();
  std::vector<graph::TensorValue> values;
  for (size_t i = 0; i < shapes.size(); ++i) {
    graph::Tensor in = site.in(i);
    in.shape = shapes[i];
    in.constant = {};
    in.variable = false;
    node.inputs.push_back(graph::TensorId{static_cast<int32_t>(i)});
    values.push_back(all_values(in.type));
    function.tensors.push_back(std::move(in));
  }
  function.inputs = node.inputs;
  function.tensors.push_back(site.out());
  function.tensors.back().shape = std::move(out);
  node.outputs = function.outputs = {graph::TensorId{static_cast<int32_t>(shapes.size())}};
  function.nodes = {node};
  graph::Module module;
  module.name = "table";
  module.entry = function.name;
  module.functions = {function};
  Result<std::vector<graph::TensorValue>> results = graph::Evaluator(module).run(values);
  INTARSIA_CHECK(results.ok(), results.ok() ? "" : results.error().to_string());
  return std::move(results->at(0));
}

int64_t count_of(DataType type) {
  return int64_t{1} << bits(type);
}

}  // namespace

std::vector<uint8_t> all_results(const Site& site) {
  const Shape shape = {count_of(site.in().type)};
  return results_of(site, {shape}, shape);
}

std::vector<uint8_t> all_results_of_pairs(const Site& site) {
  const int64_t rows = count_of(site.in(0).type), columns = count_of(site.in(1).type);
  return results_of(site, {{rows, 1}, {1, columns}}, {rows, columns});
}

int32_t int16_at(const std::vector<uint8_t>& bytes, int32_t index) {
  int16_t value = 0;
  std::memcpy(&value, &bytes.at(static_cast<size_t>(2 * index)), 2);
  return value;
}

namespace {

// 512 straight lines through every 128th value, rounded half up between them; nothing when they
// miss one of the values.
std::optional<std::vector<uint8_t>> lines_through(const std::vector<uint8_t>& values) {
  constexpr int32_t kLines = 512, kLength = 128;
  std::vector<uint8_t> table;
  for (int32_t line = 0; line < kLines; ++line) {
    const int32_t first = int16_at(values, line * kLength);
    const int32_t last = int16_at(values, line * kLength + kLength - 1);
    // The slope for 128 steps is that of 127 within one; the right one, if any, meets every value.
    std::optional<int32_t> slope;
    const int32_t guess = (last - first) * kLength / (kLength - 1);
    for (int32_t candidate = guess - 2; candidate <= guess + 2 && !slope; ++candidate) {
      bool meets = candidate >= -32768 && candidate <= 32767;
      for (int32_t i = 0; i < kLength && meets; ++i)
        meets = first + ((candidate * i + 64) >> 7) == int16_at(values, line * kLength + i);
      if (meets) slope = candidate;
    }
    if (!slope) return std::nullopt;
    const uint32_t word =
        (static_cast<uint32_t>(*slope) << 16) | (static_cast<uint32_t>(first) & 0xffff);
    for (int byte = 0; byte < 4; ++byte) table.push_back(static_cast<uint8_t>(word >> (8 * byte)));
  }
  return table;
}

// Lines of 128 steps without a slope, for the values of int8 times 128: a result of 16 bits each.
std::vector<uint8_t> flat_lines(const std::vector<uint8_t>& values) {
  constexpr size_t kLines = 512, kBytes = 4, kFirst = 128;
  std::vector<uint8_t> table(kLines * kBytes);
  for (size_t i = 0; i < values.size() / 2; ++i)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(2 * i), 2,
                table.begin() + static_cast<std::ptrdiff_t>((kFirst + i) * kBytes));
  return table;
}

// The table of the operator; nothing where there is none.
std::shared_ptr<const std::optional<std::vector<uint8_t>>> table_of(const Site& site) {
  static KnownOfSites<std::optional<std::vector<uint8_t>>> known;
  return known.of(site, [](const Site& one) -> std::optional<std::vector<uint8_t>> {
    std::vector<uint8_t> results = all_results(one);
    if (one.in().type == DataType::Int16) return lines_through(results);
    return results;
  });
}

// The units for logistic and tanh of 16 bits take 1 / 12288 as a step, which is TFLite's scale for its table
// of the sigmoid; they interpolate as TFLite does.
graph::SigmoidScaling scaling_of(const Site& site) {
  return graph::sigmoid_scaling(scale_of(site.in()), site.node.kind == graph::OpKind::Tanh);
}

double abs_factor(const Site& site) {
  return scale_of(site.in()) / scale_of(site.out());
}

}  // namespace

Reason refuses_table(const Site& site) {
  if (site.in().type != site.out().type)
    return fmt::format("the output is {}, a table of {} holds {}", to_string(site.out().type),
                       to_string(site.in().type), to_string(site.in().type));
  if (site.in().type == DataType::Int16 && !*table_of(site))
    return std::string("the NPU's 512 straight lines do not meet every value of the function");
  return std::nullopt;
}

void legalise_table(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  builder.look_up(builder.read(node.inputs.at(0)), builder.write(node.outputs.at(0)), node.name,
                  table_of(site)->value());
}

Reason refuses_lookup(const Site& site) {
  return site.in().type == DataType::Int16 ? refuses_table(site) : std::nullopt;
}

// A table is indexed by what it holds: of int8 by int8, of uint8 by a byte without a sign, of int16 by lines of 128 steps,
// half of which no int8 reaches where it has the results of an int8.
void legalise_lookup(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const DataType type = site.out().type;
  if (type == site.in().type) return legalise_table(builder, node);
  const bool wide = type == DataType::Int16;
  Operation pool = builder.start(OperationKind::AveragePool, builder.read(node.inputs.at(0)),
                                 builder.write(node.outputs.at(0)));
  pool.ifm.zero_point = wide ? 0 : -128;
  pool.ofm.zero_point = 0;
  pool.global_scale = ChannelScale{.multiplier = wide ? 128u : 1u};
  pool.activation = Activation::Lut;
  std::vector<uint8_t> table = all_results(site);
  if (wide) table = flat_lines(table);
  pool.lut = builder.table({node.name, std::move(table)});
  builder.emit(std::move(pool));
}

Reason refuses_abs(const Site& site) {
  if (site.in().type == DataType::Int8 || site.in().type != site.out().type)
    return refuses_table(site);
  if (!channel_scale(abs_factor(site)))
    return std::string("the output's scale is too small for the input's");
  return std::nullopt;
}

// Of int16 the NPU has a command, which scales as TFLite does.
void legalise_abs(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (site.in().type == DataType::Int8) return legalise_table(builder, node);
  Operation op = builder.start(OperationKind::Abs, builder.read(node.inputs.at(0)),
                               builder.write(node.outputs.at(0)));
  op.global_scale = scale_of(site.in()) == scale_of(site.out()) ? ChannelScale{.multiplier = 1}
                                                                : *channel_scale(abs_factor(site));
  builder.emit(std::move(op));
}

Reason refuses_sigmoid(const Site& site) {
  if (site.in().type == DataType::Int8 || site.in().type != site.out().type)
    return refuses_table(site);
  return std::nullopt;
}

void legalise_sigmoid(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (site.in().type == DataType::Int8) return legalise_table(builder, node);
  const graph::SigmoidScaling scaling = scaling_of(site);
  Operation unit = builder.start(OperationKind::AveragePool, builder.read(node.inputs.at(0)),
                                 builder.write(node.outputs.at(0)));
  unit.global_scale =
      ChannelScale{.multiplier = static_cast<uint32_t>(scaling.multiplier), .shift = scaling.shift};
  unit.rounding = Rounding::Natural;
  unit.activation = node.kind == graph::OpKind::Tanh ? Activation::Tanh : Activation::Sigmoid;
  builder.emit(std::move(unit));
}

}  // namespace intarsia::targets::ethos_u
