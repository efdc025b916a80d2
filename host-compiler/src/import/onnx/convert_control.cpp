// Branches and loops. A branch that is known is read in the operator's place; of others both are computed. Loops are written
// out, step by step: how often they run has to be known.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/onnx/elements.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

constexpr int64_t kMostUnrolled = 4096, kMostOperatorsOfSteps = 1 << 14;

const format::Graph* graph_of(Reader& in, const char* name) {
  const auto found = in.node().attributes.find(name);
  const bool has = found != in.node().attributes.end() && found->second.has_graph();
  return in.require(has, fmt::format("has no {}", name)) ? &found->second.graph() : nullptr;
}

std::string suffix_of(int64_t step) {
  return step == 0 ? "" : fmt::format("#{}", step);
}

bool fits(Reader& in, int64_t steps, const format::Graph& body) {
  return in.require(
      steps <= kMostUnrolled && steps * std::max(body.node_size(), 1) <= kMostOperatorsOfSteps,
      fmt::format("runs {} operators {} times", body.node_size(), steps),
      fmt::format("loops are written out, up to {} steps of {} operators together: use an operator "
                  "for sequences (LSTM, GRU, RNN, CumSum) or fewer steps",
                  kMostUnrolled, kMostOperatorsOfSteps));
}

// A tensor with one axis more, of one element.
TensorId with_axis(Reader& in, TensorId id, int64_t axis) {
  Shape shape = in.shape(id);
  shape.insert(shape.begin() + axis, 1);
  return in.reshape(id, shape);
}

// Tensors of one shape side by side along a new axis.
TensorId stacked(Reader& in, std::vector<TensorId> parts, int64_t given_axis) {
  const int64_t axis = in.axis(given_axis, in.shape(parts.front()).size() + 1);
  if (!in.ok()) return {};
  for (TensorId& part : parts) part = with_axis(in, part, axis);
  if (parts.size() == 1) return parts.front();
  return in.emit_alike(OpKind::Concat, graph::AxisAttrs{axis}, std::move(parts), "steps");
}

TensorId flag_of(Reader& in, const Value& value) {
  Value copy = value;
  return in.reshape(in.plain(copy), {});
}

bool is_true(Reader& in, TensorId flag) {
  return as_integers(in.values_of(flag)).front() != 0;
}

// One of two values, by what the running model knows.
Value one_of_two(Reader& in, TensorId flag, Value holds, Value fails) {
  const TensorId a = in.plain(holds), b = in.plain(fails);
  in.require(in.shape(a) == in.shape(b) && in.tensor(a).type == in.tensor(b).type,
             fmt::format("gives {}[{}] or {}[{}], by what is known only when the model runs",
                         to_string(in.tensor(a).type), fmt::join(in.shape(a), ","),
                         to_string(in.tensor(b).type), fmt::join(in.shape(b), ",")),
             "give both branches results of one shape and type");
  if (!in.ok()) return {};
  return {choice(in, flag, a, b), Form::Plain, {}};
}

}  // namespace

// Exporters ask for shapes with it: where the condition is known, one of the branches never runs.
void read_if(Reader& in) {
  const format::Graph *then = graph_of(in, "then_branch"), *otherwise = graph_of(in, "else_branch");
  if (then == nullptr || otherwise == nullptr ||
      !in.require(element_count(in.shape_of(0)) == 1, "has no condition of one element"))
    return;
  const TensorId flag = flag_of(in, in.value(0));
  if (in.is_constant(flag)) {
    const auto results = in.read_branch(is_true(in, flag) ? *then : *otherwise);
    for (size_t i = 0; results && i < results->size(); ++i) in.result(i, (*results)[i]);
    return;
  }
  const auto a = in.read_branch(*then), b = in.read_branch(*otherwise, {}, "#else");
  if (!a || !b)
    return in.problem(
        "computes both of its branches, since only the running model knows which one it takes",
        "make what chooses between them (a sampling rate, for example) a constant of the file: the "
        "other branch is not read then");
  if (!in.require(a->size() == b->size(), "has branches with other outputs")) return;
  for (size_t i = 0; i < a->size() && in.ok(); ++i)
    in.result(i, one_of_two(in, flag, (*a)[i], (*b)[i]));
}

// Operands: how often at most, whether at all, what it carries. Each step gives whether there is another one, what it carries, and
// a part of each result.
void read_loop(Reader& in) {
  const format::Graph* body = graph_of(in, "body");
  if (body == nullptr) return;
  std::vector<Value> carried;
  for (size_t i = 2; i < in.node().inputs.size(); ++i) {
    if (!in.require(in.has(i), fmt::format("lacks its input {}", i))) return;
    if (!in.require(in.list(i) == nullptr, "carries a list of tensors")) return;
    carried.push_back(in.value(i));
  }
  int64_t most = kMostUnrolled + 1;
  if (in.has(0)) {
    const auto given = in.known_integers(0, "how often it runs at most");
    if (!given || !in.require(given->size() == 1, "has no number of steps")) return;
    most = given->front();
  }
  const auto results = std::ssize(in.node().outputs) - std::ssize(carried);
  if (!in.require(results >= 0 && body->output_size() == std::ssize(in.node().outputs) + 1,
                  fmt::format("carries {} values and has {} outputs, but its body {}",
                              carried.size(), in.node().outputs.size(), body->output_size())))
    return;
  std::vector<std::vector<TensorId>> parts(static_cast<size_t>(results));
  TensorId goes_on;  // what only the running model knows; else there is another step
  bool ended = false;
  if (in.has(1)) {
    const TensorId flag = flag_of(in, in.value(1));
    if (!in.is_constant(flag))
      goes_on = flag;
    else
      ended = !is_true(in, flag);
  }
  constexpr const char* kUnknownNumber = "runs as often as only the running model knows";
  const char* hint = "give the loop a number of steps, and results of fixed shapes";
  for (int64_t step = 0; step < most && !ended; ++step) {
    if (!in.require(in.has(0) || !goes_on.valid(), kUnknownNumber, hint) ||
        !in.require(!goes_on.valid() || results == 0, kUnknownNumber, hint) ||
        !fits(in, goes_on.valid() ? most : step + 1, *body))
      return;
    std::vector<Value> operands{
        {in.make_constant(integer_values(DataType::Int64, {}, {step})), Form::Plain, {}},
        {goes_on.valid() ? goes_on : in.make_constant(integer_values(DataType::Bool, {}, {1})),
         Form::Plain,
         {}}};
    operands.insert(operands.end(), carried.begin(), carried.end());
    const auto given = in.read_branch(*body, operands, suffix_of(step));
    if (!given) return;
    for (size_t i = 0; i < carried.size() && in.ok(); ++i) {
      const Value& next = (*given)[i + 1];
      carried[i] = goes_on.valid() ? one_of_two(in, goes_on, next, carried[i]) : next;
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      Value part = (*given)[i + 1 + carried.size()];
      parts[i].push_back(in.plain(part));
    }
    if (!in.ok()) return;
    const TensorId flag = flag_of(in, given->front());
    if (in.is_constant(flag))
      ended = !is_true(in, flag);
    else
      goes_on = goes_on.valid()
                    ? in.emit(OpKind::LogicalAnd, NoAttrs{}, {goes_on, flag}, DataType::Bool)
                    : flag;
  }
  for (size_t i = 0; i < carried.size(); ++i) in.result(i, carried[i]);
  for (size_t i = 0; i < parts.size() && in.ok(); ++i) {
    if (!in.require(!parts[i].empty(), "makes an empty tensor: it runs no step")) return;
    in.result(i + carried.size(), {stacked(in, parts[i], 0), Form::Plain, {}});
  }
}

// What it carries, then what it takes apart along an axis, a part for each step.
void read_scan(Reader& in) {
  const format::Graph* body = graph_of(in, "body");
  if (body == nullptr ||
      !in.require(in.node().operator_set >= 9, "runs over batches, as until operator set 8",
                  "convert the model with onnx.version_converter"))
    return;
  const auto inputs = std::ssize(in.node().inputs);
  const int64_t sequences = in.integer("num_scan_inputs", 0), states = inputs - sequences;
  const int64_t results = body->output_size() - states;
  if (!in.require(sequences >= 1 && states >= 0 && results >= 0 &&
                      std::ssize(in.node().outputs) == body->output_size(),
                  fmt::format("has {} inputs, {} of them sequences, and a body of {} outputs",
                              inputs, sequences, body->output_size())))
    return;
  const auto numbers = [&](const char* name, int64_t count) {
    std::vector<int64_t> given =
        in.integers(name).value_or(std::vector<int64_t>(static_cast<size_t>(count), 0));
    in.require(std::ssize(given) == count, fmt::format("has {} {}", given.size(), name));
    return given;
  };
  const auto axes = numbers("scan_input_axes", sequences),
             backwards = numbers("scan_input_directions", sequences),
             result_axes = numbers("scan_output_axes", results),
             result_backwards = numbers("scan_output_directions", results);
  if (!in.ok()) return;
  std::vector<Value> carried;
  std::vector<TensorId> whole;
  std::vector<size_t> along;
  for (int64_t i = 0; i < inputs; ++i) {
    const auto at = static_cast<size_t>(i);
    if (!in.require(in.has(at), fmt::format("lacks its input {}", i))) return;
    if (i < states) {
      carried.push_back(in.value(at));
      continue;
    }
    whole.push_back(in.operand(at));
    const int64_t given = axes[static_cast<size_t>(i - states)];
    along.push_back(static_cast<size_t>(in.axis(given, in.shape(whole.back()).size())));
    if (!in.ok()) return;
  }
  const int64_t steps = in.shape(whole[0])[along[0]];
  for (size_t i = 0; i < whole.size(); ++i)
    if (!in.require(in.shape(whole[i])[along[i]] == steps, "takes sequences of other lengths"))
      return;
  if (!fits(in, steps, *body)) return;

  std::vector<std::vector<TensorId>> parts(static_cast<size_t>(results));
  for (int64_t step = 0; step < steps && in.ok(); ++step) {
    std::vector<Value> operands = carried;
    for (size_t i = 0; i < whole.size(); ++i) {
      const Shape shape = in.shape(whole[i]);
      graph::SliceAttrs cut{
          std::vector<int64_t>(shape.size(), 0), shape, std::vector<int64_t>(shape.size(), 1), {}};
      cut.begin[along[i]] = backwards[i] != 0 ? steps - 1 - step : step;
      cut.size[along[i]] = 1;
      Shape rest = shape;
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(along[i]));
      const TensorId part =
          steps == 1 ? whole[i] : in.emit_alike(OpKind::Slice, cut, {whole[i]}, "part");
      operands.push_back({in.reshape(part, rest), Form::Plain, {}});
    }
    const auto given = in.read_branch(*body, operands, suffix_of(step));
    if (!given) return;
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = (*given)[i];
    for (size_t i = 0; i < parts.size(); ++i) {
      Value part = (*given)[i + carried.size()];
      parts[i].push_back(in.plain(part));
    }
  }
  for (size_t i = 0; i < carried.size(); ++i) in.result(i, carried[i]);
  for (size_t i = 0; i < parts.size() && in.ok(); ++i) {
    if (result_backwards[i] != 0) std::ranges::reverse(parts[i]);
    in.result(i + carried.size(), {stacked(in, parts[i], result_axes[i]), Form::Plain, {}});
  }
}

}  // namespace intarsia::onnx
