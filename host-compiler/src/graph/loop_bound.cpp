#include "graph/loop_bound.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

namespace intarsia::graph {
namespace {

const Node* maker_of(const Function& function, TensorId id) {
  for (const Node& node : function.nodes)
    for (const TensorId output : node.outputs)
      if (output == id) return &node;
  return nullptr;
}

// The tensor that reshapes of a scalar begin with.
TensorId start_of(const Function& function, TensorId id) {
  const Node* maker = maker_of(function, id);
  // A function that is not verified yet may have a cycle.
  for (size_t hops = 0;
       hops < function.nodes.size() && maker != nullptr && maker->kind == OpKind::Reshape; ++hops) {
    id = maker->inputs[0];
    maker = maker_of(function, id);
  }
  return id;
}

// Whether the operators that the search looks at have their operands: what the verifier finds wrong
// elsewhere is not reported twice.
bool has_operands(const Function& function) {
  for (const Node& node : function.nodes) {
    const size_t least = node.kind == OpKind::Reshape ? 1
                         : node.kind == OpKind::Add || node.kind == OpKind::Sub ||
                                 node.kind == OpKind::LogicalAnd || node.kind == OpKind::Less ||
                                 node.kind == OpKind::LessEqual || node.kind == OpKind::Greater ||
                                 node.kind == OpKind::GreaterEqual
                             ? 2
                             : 0;
    if (node.inputs.size() < least) return false;
    for (size_t i = 0; i < least; ++i)
      if (!node.inputs[i].valid() || node.inputs[i].at() >= function.tensors.size()) return false;
  }
  return true;
}

std::optional<int64_t> scalar(const Module& module, const Function& function, TensorId id) {
  const Tensor& tensor = function.tensor(start_of(function, id));
  if (!tensor.constant.valid() || element_count(tensor.shape) != 1) return std::nullopt;
  if (tensor.constant.at() >= module.constants.size()) return std::nullopt;
  const std::vector<uint8_t>& bytes = module.constant(tensor.constant).bytes;
  if (static_cast<int64_t>(bytes.size()) != tensor.bytes()) return std::nullopt;
  if (tensor.type == DataType::Int32) {
    int32_t value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  if (tensor.type != DataType::Int64) return std::nullopt;
  int64_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::optional<size_t> input_number(const Function& function, TensorId id) {
  const TensorId start = start_of(function, id);
  const auto found = std::find(function.inputs.begin(), function.inputs.end(), start);
  if (found == function.inputs.end()) return std::nullopt;
  return static_cast<size_t>(found - function.inputs.begin());
}

// Sums of a counter and limits stay inside the type: what is proven does not wrap around.
constexpr int64_t kFar = std::numeric_limits<int32_t>::max();

class BoundFinder {
 public:
  BoundFinder(const Module& module, const Function& function, const Node& node)
      : module_(module),
        function_(function),
        node_(node),
        condition_(*module.find(node.attrs<WhileAttrs>().condition)),
        body_(*module.find(node.attrs<WhileAttrs>().body)) {}

  bool can_search() const { return has_operands(condition_) && has_operands(body_); }
  std::optional<LoopBound> find() { return of_condition(condition_.outputs[0], 0); }

 private:
  // Conditions share what they are made of: each tensor is looked at once.
  std::optional<LoopBound> of_condition(TensorId id, size_t depth) {
    if (const auto known = known_.find(id.at()); known != known_.end()) return known->second;
    const std::optional<LoopBound> bound = search(id, depth);
    known_.emplace(id.at(), bound);
    return bound;
  }

  std::optional<LoopBound> search(TensorId id, size_t depth) {
    const Node* maker = maker_of(condition_, start_of(condition_, id));
    if (depth++ > condition_.nodes.size()) return std::nullopt;
    if (maker == nullptr) {
      const Tensor& tensor = condition_.tensor(start_of(condition_, id));
      if (!tensor.constant.valid() || tensor.type != DataType::Bool ||
          tensor.constant.at() >= module_.constants.size() ||
          module_.constant(tensor.constant).bytes != std::vector<uint8_t>{0})
        return std::nullopt;
      return LoopBound{0, true};  // never holds
    }
    if (maker->kind == OpKind::LogicalAnd) {
      const std::optional<LoopBound> a = of_condition(maker->inputs[0], depth),
                                     b = of_condition(maker->inputs[1], depth);
      if (a && b) return LoopBound{std::min(a->iterations, b->iterations), a->exact && b->exact};
      if (!a && !b) return std::nullopt;
      return LoopBound{a ? a->iterations : b->iterations, false};
    }
    if (maker->inputs.size() < 2) return std::nullopt;
    const TensorId left = maker->inputs[0], right = maker->inputs[1];
    switch (maker->kind) {
      case OpKind::Less:
        return counts_up(left, right, 0) ? counts_up(left, right, 0) : counts_down(right, left, 0);
      case OpKind::LessEqual:
        return counts_up(left, right, 1) ? counts_up(left, right, 1) : counts_down(right, left, 1);
      case OpKind::Greater:
        return counts_up(right, left, 0) ? counts_up(right, left, 0) : counts_down(left, right, 0);
      case OpKind::GreaterEqual:
        return counts_up(right, left, 1) ? counts_up(right, left, 1) : counts_down(left, right, 1);
      default:
        return std::nullopt;
    }
  }

  // Runs while counter < limit + extra.
  std::optional<LoopBound> counts_up(TensorId counter, TensorId limit, int64_t extra) const {
    const std::optional<int64_t> first = first_value(counter), step = step_of(counter),
                                 end = limit_of(limit);
    if (!first || !step || !end || *step <= 0 || *step > kFar || *end > kFar - *step - 1 ||
        *first < -kFar)
      return std::nullopt;
    if (*end + extra <= *first) return LoopBound{0, true};  // however far below
    return LoopBound{(*end + extra - *first + *step - 1) / *step, true};
  }

  // Runs while counter > limit - extra.
  std::optional<LoopBound> counts_down(TensorId counter, TensorId limit, int64_t extra) const {
    const std::optional<int64_t> first = first_value(counter), step = step_of(counter),
                                 end = limit_of(limit);
    if (!first || !step || !end || *step >= 0 || *step < -kFar || *end < -kFar - *step + 1 ||
        *first > kFar)
      return std::nullopt;
    if (*first <= *end - extra) return LoopBound{0, true};
    return LoopBound{(*first - *end + extra - *step - 1) / -*step, true};
  }

  // What the loop's operand behind an input of the condition is at first.
  std::optional<int64_t> first_value(TensorId id) const {
    const std::optional<size_t> number = input_number(condition_, id);
    return number ? scalar(module_, function_, node_.inputs[*number]) : std::nullopt;
  }

  // What the body adds to it, when that is a constant.
  std::optional<int64_t> step_of(TensorId id) const {
    const std::optional<size_t> number = input_number(condition_, id);
    if (!number) return std::nullopt;
    const Node* maker = maker_of(body_, start_of(body_, body_.outputs[*number]));
    if (maker == nullptr || (maker->kind != OpKind::Add && maker->kind != OpKind::Sub))
      return std::nullopt;
    const auto is_counter = [&](size_t operand) {
      return input_number(body_, maker->inputs[operand]) == number;
    };
    if (is_counter(0)) {
      const std::optional<int64_t> by = scalar(module_, body_, maker->inputs[1]);
      if (!by) return std::nullopt;
      if (maker->kind == OpKind::Add) return by;
      return *by < -kFar ? std::nullopt : std::optional(-*by);
    }
    return maker->kind == OpKind::Add && is_counter(1) ? scalar(module_, body_, maker->inputs[0])
                                                       : std::nullopt;
  }

  // A constant, also one that is carried through the loop unchanged.
  std::optional<int64_t> limit_of(TensorId id) const {
    if (const std::optional<int64_t> value = scalar(module_, condition_, id)) return value;
    const std::optional<size_t> number = input_number(condition_, id);
    if (!number || input_number(body_, body_.outputs[*number]) != number) return std::nullopt;
    return scalar(module_, function_, node_.inputs[*number]);
  }

  const Module& module_;
  const Function& function_;
  const Node& node_;
  const Function& condition_;
  const Function& body_;
  std::map<size_t, std::optional<LoopBound>> known_;
};

}  // namespace

std::optional<LoopBound> loop_bound(const Module& module, const Function& function,
                                    const Node& node) {
  BoundFinder finder(module, function, node);
  return finder.can_search() ? finder.find() : std::nullopt;
}

}  // namespace intarsia::graph
