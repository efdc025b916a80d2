// Integers of which a comparison lets some through, and a limit of their type takes the place of the others, as attentions are masked: the
// less, or the larger, of them and of what the comparison says.
//
//   greater(%m, 0.5) -> (%1), select(%1, %x, -128) -> (%2)
//       =>      greater(%m, 0.5) -> (%1), select(%1, 127, -128) -> (%3), minimum(%x, %3) -> (%2)
//
// Comparison and selection are a function of one integer now, a lookup (join_lookups.h), and devices that compute with bytes alone take both.
//
// Where the condition is known, as causal attentions have it, an integer and known numbers are the integer between two known limits:
//
//   select(known, %x, number) -> (%1)
//       =>      maximum(%x, select(known, -128, number)) -> (%2), minimum(%2, select(known, 127, number)) -> (%1)
//
// The selections are constants, and of numbers that are a limit of the type one of both operators is enough.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "passes/graph_edit.h"
#include "passes/simplify.h"

namespace intarsia::passes {
namespace {

using graph::Function;
using graph::Module;
using graph::Node;
using graph::OpKind;
using graph::Tensor;
using graph::TensorId;

constexpr int64_t kLeastByte = -128, kMostByte = 127;

class MaskFolder {
 public:
  explicit MaskFolder(const EliminationJob& job)
      : job_(job), function_(job.function()), uses_(function_) {}

  bool once() {
    for (size_t n = 0; n < function_.nodes.size(); ++n)
      if (fold(n) || bound(n)) return true;
    return false;
  }

 private:
  const Tensor& tensor(TensorId id) const { return function_.tensor(id); }

  // The limit of int8 that all of a constant's elements are.
  std::optional<int64_t> limit(TensorId id) const {
    const Tensor& known = tensor(id);
    if (!known.constant.valid() || known.type != DataType::Int8) return std::nullopt;
    const SharedBytes& bytes = job_.module.constant(known.constant).bytes;
    if (bytes.empty()) return std::nullopt;
    const int64_t first = element_at(known.type, bytes.data(), 0);
    const bool is_limit = first == kLeastByte || first == kMostByte;
    const bool is_one =
        std::ranges::all_of(bytes, [&](uint8_t byte) { return byte == bytes.data()[0]; });
    return is_limit && is_one ? std::optional(first) : std::nullopt;
  }

  const Node* maker(TensorId id) const {
    const int n = uses_.producer(id);
    return n < 0 ? nullptr : &function_.nodes[static_cast<size_t>(n)];
  }

  // What compares an int8 with one number, before its result is reshaped.
  std::optional<TensorId> comparison(TensorId condition) const {
    const Node* made = maker(condition);
    while (made != nullptr && made->kind == OpKind::Reshape && !job_.must_stay(*made)) {
      condition = made->inputs[0];
      made = maker(condition);
    }
    constexpr std::array kComparing = {OpKind::Equal,        OpKind::NotEqual, OpKind::Greater,
                                       OpKind::GreaterEqual, OpKind::Less,     OpKind::LessEqual};
    if (made == nullptr || job_.must_stay(*made) ||
        std::ranges::find(kComparing, made->kind) == kComparing.end())
      return std::nullopt;
    const size_t known = tensor(made->inputs[0]).constant.valid() ? 0 : 1;
    const Tensor &number = tensor(made->inputs[known]), &x = tensor(made->inputs[1 - known]);
    if (!number.constant.valid() || element_count(number.shape) != 1 || x.constant.valid() ||
        x.variable || x.type != DataType::Int8 || x.quantization.scale.size() != 1 ||
        x.shape != tensor(condition).shape)
      return std::nullopt;
    return condition;
  }

  // Whether all of a constant's elements are this number.
  bool is_all(const Tensor& known, int64_t number) const {
    const SharedBytes& bytes = job_.module.constant(known.constant).bytes;
    for (int64_t i = 0; i < element_count(known.shape); ++i)
      if (element_at(known.type, bytes.data(), i) != number) return false;
    return true;
  }

  bool bound(size_t n) {
    const Node select = function_.nodes[n];
    if (select.kind != OpKind::Select || job_.must_stay(select) ||
        !tensor(select.inputs[0]).constant.valid())
      return false;
    const Tensor out = tensor(select.outputs[0]);
    const size_t known = tensor(select.inputs[1]).constant.valid() ? 1 : 2;
    const TensorId x = select.inputs[3 - known];
    const Tensor number = tensor(select.inputs[known]);
    if ((out.type != DataType::Int8 && out.type != DataType::Int16) || out.variable ||
        out.quantization.scale.size() != 1 || !number.constant.valid() ||
        tensor(x).constant.valid() || tensor(x).quantization != out.quantization ||
        number.quantization != out.quantization)
      return false;

    Module trial = job_.module;  // constants are shared
    Function& changed = trial.functions[job_.index];
    std::vector<Node> added;
    TensorId value = x;
    const auto limit = [&](OpKind kind, int64_t end, const char* suffix) {
      if (is_all(number, end)) return;  // of which the other limit lets through what it should
      Node choice = select, limited = select;
      choice.name = free_name(changed, select.name + suffix + "_limit");
      limited.name = free_name(changed, select.name + suffix);
      graph::TensorValue bytes(static_cast<size_t>(bits(out.type)) / 8);
      put_element(out.type, bytes.data(), 0, end);
      Tensor open = out, chosen = out, result = out;
      open.name = choice.name + "_open", open.shape = {};
      open.constant = add_constant(trial, open.name, std::move(bytes));
      choice.inputs[3 - known] = add_tensor(changed, std::move(open));
      chosen.name = choice.name, result.name = limited.name;
      chosen.shape = broadcast(tensor(select.inputs[0]).shape, number.shape);
      choice.outputs = {add_tensor(changed, std::move(chosen))};
      result.shape =
          broadcast(changed.tensor(value).shape, changed.tensor(choice.outputs[0]).shape);
      limited.kind = kind, limited.attributes = graph::NoAttrs{};
      limited.inputs = {value, choice.outputs[0]};
      value = add_tensor(changed, std::move(result));
      limited.outputs = {value};
      added.push_back(std::move(choice)), added.push_back(std::move(limited));
    };
    const int64_t least = out.type == DataType::Int8 ? INT8_MIN : INT16_MIN;
    limit(OpKind::Maximum, least, "_least");
    limit(OpKind::Minimum, -1 - least, "_most");
    if (added.empty() || changed.tensor(value).shape != out.shape) return false;
    added.back().name = select.name, added.back().outputs = select.outputs;
    changed.nodes.erase(changed.nodes.begin() + static_cast<std::ptrdiff_t>(n));
    changed.nodes.insert(changed.nodes.begin() + static_cast<std::ptrdiff_t>(n), added.begin(),
                         added.end());
    if (!graph::verify(trial).ok()) return false;
    job_.module = std::move(trial);
    job_.actions.push_back({"mask", select.name, "became its operand between known limits",
                            "the condition and what it chooses otherwise are known"});
    return true;
  }

  // Of shapes that fit each other, which the selection's do.
  static Shape broadcast(const Shape& a, const Shape& b) {
    Shape result(std::max(a.size(), b.size()), 1);
    for (const Shape& shape : {a, b})
      for (size_t i = 0; i < shape.size(); ++i) {
        int64_t& extent = result[result.size() - shape.size() + i];
        extent = std::max(extent, shape[i]);
      }
    return result;
  }

  bool fold(size_t n) {
    const Node select = function_.nodes[n];
    if (select.kind != OpKind::Select || job_.must_stay(select)) return false;
    const TensorId condition = select.inputs[0];
    const Tensor out = tensor(select.outputs[0]);
    const size_t known = tensor(select.inputs[1]).constant.valid() ? 1 : 2;
    const TensorId x = select.inputs[3 - known];
    const std::optional<int64_t> ends = limit(select.inputs[known]);
    if (!ends || out.type != DataType::Int8 || out.variable || tensor(x).constant.valid() ||
        tensor(x).quantization != out.quantization ||
        tensor(select.inputs[known]).quantization != out.quantization)
      return false;
    const std::optional<TensorId> compared = comparison(condition);
    if (!compared) return false;

    Module trial = job_.module;  // constants are shared
    Function& changed = trial.functions[job_.index];
    std::vector<Node> added;
    const auto number = [&](int64_t value) {
      graph::TensorValue byte(1);
      put_element(DataType::Int8, byte.data(), 0, value);
      Tensor one = out;
      one.name = select.name + "_limit";
      one.shape = {};
      one.constant = add_constant(trial, one.name, std::move(byte));
      return add_tensor(changed, std::move(one));
    };
    const auto emit = [&](OpKind kind, graph::Attributes attributes, std::vector<TensorId> inputs,
                          const Shape& shape, const char* suffix) {
      Node made = select;
      made.name = select.name + suffix;
      made.kind = kind;
      made.attributes = std::move(attributes);
      made.inputs = std::move(inputs);
      Tensor result = out;
      result.name = made.name;
      result.shape = shape;
      made.outputs = {add_tensor(changed, std::move(result))};
      added.push_back(std::move(made));
      return added.back().outputs[0];
    };
    // A comparison of its own, where others read that one too: what two read is no part of a function of one integer.
    TensorId compares = *compared;
    if (uses_.readers(compares).size() > 1 || uses_.is_output(compares)) {
      Node own = *maker(compares);
      own.name = select.name + "_compare";
      Tensor result = tensor(compares);
      result.name = own.name;
      compares = add_tensor(changed, std::move(result));
      own.outputs = {compares};
      added.push_back(std::move(own));
    }
    const int64_t none = *ends == kLeastByte ? kMostByte : kLeastByte;
    const TensorId let = number(none), stop = number(*ends);
    TensorId mask = emit(OpKind::Select, graph::NoAttrs{},
                         {compares, known == 2 ? let : stop, known == 2 ? stop : let},
                         tensor(*compared).shape, "_mask");
    const Shape& shape = tensor(condition).shape;
    if (shape != tensor(*compared).shape)
      mask = emit(OpKind::Reshape, graph::ReshapeAttrs{shape}, {mask}, shape, "_mask_shape");
    for (const Node& made : added)
      if (std::ranges::find(changed.nodes, made.name, &Node::name) != changed.nodes.end())
        return false;
    Node& limited = changed.nodes[n];
    limited.kind = *ends == kLeastByte ? OpKind::Minimum : OpKind::Maximum;
    limited.attributes = graph::NoAttrs{};
    limited.inputs = {x, mask};
    changed.nodes.insert(changed.nodes.begin() + static_cast<std::ptrdiff_t>(n), added.begin(),
                         added.end());
    if (!graph::verify(trial).ok()) return false;
    job_.module = std::move(trial);
    job_.actions.push_back(
        {"mask", select.name,
         fmt::format("became the {} of its operand and a mask",
                     *ends == kLeastByte ? "less" : "larger"),
         fmt::format("where the comparison does not let it through it is {}, the {} of all", *ends,
                     *ends == kLeastByte ? "least" : "largest")});
    return true;
  }

  const EliminationJob& job_;
  Function& function_;
  Uses uses_;
};

}  // namespace

bool fold_masks(const EliminationJob& job) {
  return repeat<MaskFolder>(job);
}

}  // namespace intarsia::passes
