// The promises of graph.h's semantics, all violations collected.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/op_check.h"
#include "support/model_name.h"

namespace intarsia::graph {
namespace {

class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const Function& function, Diagnostics& problems)
      : module_(module), function_(function), problems_(problems) {}

  void run() {
    place_ = fmt::format("function '{}'", function_.name);
    sane_.resize(function_.tensors.size());
    defined_.resize(function_.tensors.size());
    for (size_t i = 0; i < function_.tensors.size(); ++i) tensor(i);
    inputs();
    std::set<std::string> names;
    for (const Node& n : function_.nodes) {
      if (n.name.empty())
        problem(place_of(function_, n), "has no name");
      else if (!names.insert(n.name).second)
        problem(place_of(function_, n), "has the name of an earlier operator");
      node(n);
    }
    outputs();
    if (!function_.target.empty() && !function_.pin.empty() && function_.target != function_.pin)
      problem(place_, fmt::format("is pinned to '{}' but belongs to '{}'", function_.pin,
                                  function_.target));
  }

 private:
  void problem(std::string where, std::string what) {
    problems_.add(std::move(where), std::move(what));
  }
  bool exists(TensorId id) const { return id.index >= 0 && id.at() < function_.tensors.size(); }

  // ---- tensors ----

  void tensor(size_t index) {
    const Tensor& tensor = function_.tensors[index];
    const std::string place = fmt::format("{}: tensor %{} '{}'", place_, index, tensor.name);
    const size_t before = problems_.items().size();
    const std::string shape = shape_problem(tensor.type, tensor.shape);
    if (!shape.empty()) problem(place, shape);
    quantization(place, tensor);
    if (tensor.constant.index != -1) {
      if (tensor.constant.index < 0 || tensor.constant.at() >= module_.constants.size()) {
        problem(place, fmt::format("is constant @{}, which does not exist", tensor.constant.index));
      } else if (shape.empty()) {
        const size_t actual = module_.constant(tensor.constant).bytes.size();
        if (static_cast<int64_t>(actual) != tensor.bytes())
          problem(place, fmt::format("has {} bytes, but constant @{} has {}", tensor.bytes(),
                                     tensor.constant.index, actual));
      }
      if (tensor.variable) problem(place, "is a constant and a variable");
    }
    if (tensor.initial.index != -1) {
      const bool exists =
          tensor.initial.index >= 0 && tensor.initial.at() < module_.constants.size();
      if (!tensor.variable)
        problem(place, "has an initial value but is no variable");
      else if (!exists)
        problem(place,
                fmt::format("starts as constant @{}, which does not exist", tensor.initial.index));
      else if (shape.empty() &&
               static_cast<int64_t>(module_.constant(tensor.initial).bytes.size()) !=
                   tensor.bytes())
        problem(place,
                fmt::format("has {} bytes, but starts as constant @{} of {}", tensor.bytes(),
                            tensor.initial.index, module_.constant(tensor.initial).bytes.size()));
    }
    sane_[index] = problems_.items().size() == before;
    defined_[index] = tensor.constant.index != -1 || tensor.variable;
  }

  void quantization(const std::string& place, const Tensor& tensor) {
    const Quantization& q = tensor.quantization;
    if (q == Quantization{}) return;
    if (!is_integer(tensor.type))
      return problem(
          place, fmt::format("is quantised, but {} is no integer type", to_string(tensor.type)));
    if (q.scale.empty() || q.scale.size() != q.zero_point.size())
      return problem(place, fmt::format("has {} scales and {} zero points", q.scale.size(),
                                        q.zero_point.size()));
    if (q.per_channel()) {
      const bool has_axis = q.axis >= 0 && static_cast<size_t>(q.axis) < tensor.shape.size();
      if (!has_axis)
        problem(place, fmt::format("is quantised along axis {}, which does not exist", q.axis));
      else if (tensor.shape[static_cast<size_t>(q.axis)] != static_cast<int64_t>(q.scale.size()))
        problem(place, fmt::format("has {} scales for an extent of {}", q.scale.size(),
                                   tensor.shape[static_cast<size_t>(q.axis)]));
    }
    const int width = bits(tensor.type);
    const bool has_sign = is_signed(tensor.type);
    const int64_t most =
        width == 64 ? INT64_MAX : (INT64_C(1) << (has_sign ? width - 1 : width)) - 1;
    const int64_t least = has_sign ? -most - 1 : 0;
    for (size_t i = 0; i < q.scale.size(); ++i) {
      if (!std::isfinite(q.scale[i]) || q.scale[i] <= 0)
        return problem(place,
                       fmt::format("has the scale {}, which is not a positive number", q.scale[i]));
      if (q.zero_point[i] < least || q.zero_point[i] > most)
        return problem(place, fmt::format("has the zero point {}, which is outside {}",
                                          q.zero_point[i], to_string(tensor.type)));
    }
  }

  // ---- the order of definitions ----

  void inputs() {
    for (size_t i = 0; i < function_.inputs.size(); ++i) {
      const TensorId id = function_.inputs[i];
      const std::string place = fmt::format("{}: input {}", place_, i);
      if (!exists(id)) {
        problem(place, fmt::format("is tensor %{}, which does not exist", id.index));
      } else if (defined_[id.at()]) {
        problem(place, fmt::format("is tensor %{}, which is a constant, a variable or an earlier "
                                   "input",
                                   id.index));
      } else {
        defined_[id.at()] = true;
      }
    }
  }

  void outputs() {
    for (size_t i = 0; i < function_.outputs.size(); ++i) {
      const TensorId id = function_.outputs[i];
      const std::string place = fmt::format("{}: output {}", place_, i);
      if (!exists(id))
        problem(place, fmt::format("is tensor %{}, which does not exist", id.index));
      else if (!defined_[id.at()])
        problem(place, fmt::format("is tensor %{}, which no operator makes", id.index));
    }
  }

  // Operators are run in the order they are written in.
  std::string how_to_make(TensorId id) const {
    for (const Node& n : function_.nodes)
      if (std::find(n.outputs.begin(), n.outputs.end(), id) != n.outputs.end())
        return fmt::format(
            "move operator '{}', which makes it, before this one, unless it waits for this one in "
            "turn",
            n.name);
    return "no operator makes it; declare it an input, a constant or a variable of the function";
  }

  void node(const Node& n) {
    const std::string place = place_of(function_, n);
    bool inferable = true;
    for (const TensorId id : n.inputs) {
      if (!exists(id)) continue;  // infer_shapes says so, or it is an absent operand
      inferable &= sane_[id.at()];
      if (!defined_[id.at()])
        problems_.add(place, fmt::format("reads tensor %{} before it is made", id.index),
                      how_to_make(id));
    }
    for (const TensorId id : n.outputs) {
      if (!exists(id)) continue;
      inferable &= sane_[id.at()];
      const bool written = !written_.insert(id.index).second;
      const bool free = function_.tensor(id).variable || !defined_[id.at()];
      if (written || !free)
        problem(place, fmt::format("writes tensor %{}, which is {}", id.index,
                                   written ? "written already" : "an input or a constant"));
      defined_[id.at()] = true;
    }
    if (!function_.target.empty() && !n.pin.empty() && n.pin != function_.target)
      problem(place,
              fmt::format("is pinned to '{}' in a function of '{}'", n.pin, function_.target));
    if (inferable) shapes(place, n);
  }

  void shapes(const std::string& place, const Node& n) {
    const Result<std::vector<Shape>> inferred = infer_shapes(module_, function_, n);
    if (!inferred.ok()) return problems_.append(inferred.error());
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const Shape& declared = function_.tensor(n.outputs[i]).shape;
      if (declared != inferred.value()[i])
        problem(place, fmt::format("output {} has the shape [{}], but is declared as [{}]", i,
                                   fmt::join(inferred.value()[i], ","), fmt::join(declared, ",")));
    }
  }

  const Module& module_;
  const Function& function_;
  Diagnostics& problems_;
  std::string place_;
  std::vector<bool> sane_, defined_;
  std::set<int32_t> written_;
};

// Names the first function of each cycle of calls.
class RecursionFinder {
 public:
  RecursionFinder(const Module& module, Diagnostics& problems)
      : module_(module), problems_(problems) {}

  void run() {
    for (const Function& function : module_.functions) {
      // An explicit stack: a long chain of calls must not overflow ours.
      std::vector<Visit> stack;
      enter(stack, function, {});
      while (!stack.empty()) {
        Visit& visit = stack.back();
        if (visit.callees.empty()) {
          state_[visit.function] = State::Done;
          stack.pop_back();
          continue;
        }
        const auto [callee, caller] = visit.callees.back();
        const std::string place = place_of(*visit.function, *caller);
        visit.callees.pop_back();
        enter(stack, *callee, place);
      }
    }
  }

 private:
  enum class State { New, Open, Done };
  struct Visit {
    const Function* function;
    std::vector<std::pair<const Function*, const Node*>>
        callees;  // not entered yet, and who runs them
  };

  void enter(std::vector<Visit>& stack, const Function& function, const std::string& caller) {
    State& state = state_[&function];
    if (state == State::Open)
      problems_.add(
          fmt::format("function '{}'", function.name), "calls itself, directly or not",
          fmt::format("{} closes a cycle of calls; a function cannot run one that runs it",
                      caller));
    if (state != State::New) return;
    state = State::Open;
    Visit visit{&function, {}};
    for (const Node& node : function.nodes)
      for (const std::string& name : functions_run_by(node))
        if (const Function* callee = module_.find(name)) visit.callees.emplace_back(callee, &node);
    stack.push_back(std::move(visit));
  }

  const Module& module_;
  Diagnostics& problems_;
  std::map<const Function*, State> state_;
};

}  // namespace

Result<void> verify(const Module& module) {
  Diagnostics problems;
  const std::string place = fmt::format("module '{}'", module.name);
  if (const std::string problem = model_name_problem(module.name); !problem.empty())
    problems.add(place, "the name " + problem, model_name_rule());
  if (module.find(module.entry) == nullptr)
    problems.add(place, fmt::format("the entry '{}' is not one of its functions", module.entry));
  std::set<std::string> names;
  for (const Function& function : module.functions) {
    if (function.name.empty()) problems.add(place, "a function has no name");
    if (!names.insert(function.name).second)
      problems.add(place, fmt::format("two functions have the name '{}'", function.name));
    FunctionVerifier(module, function, problems).run();
  }
  RecursionFinder(module, problems).run();
  return Result<void>::from(std::move(problems));
}

}  // namespace intarsia::graph
