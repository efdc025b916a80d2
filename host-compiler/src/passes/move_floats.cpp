#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "passes/element_values.h"
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
using graph::TensorValue;

constexpr int kDeepestMove = 16;  // operators that elements are followed through

// Each element of one operand comes out at most once, whatever type it has.
bool rearranges(OpKind kind) {
  switch (kind) {
    case OpKind::Reshape:
    case OpKind::Slice:
    case OpKind::Split:
    case OpKind::Transpose:
    case OpKind::Unpack:
      return true;
    default:
      return false;
  }
}

// Some elements of one operand, which ones their order alone decides. Integers lie in the order of the floats that they stand for.
bool chooses(const Node& node) {
  switch (node.kind) {
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
      return true;
    case OpKind::MaxPool2d:
      return node.attrs<graph::Pool2dAttrs>().activation == graph::Activation::None;
    default:
      return false;
  }
}

// Elements of the operands, as often as need be, and a constant.
bool collects(OpKind kind) {
  switch (kind) {
    case OpKind::Reshape:
    case OpKind::Transpose:
    case OpKind::Concat:
    case OpKind::Pack:
    case OpKind::Pad:
    case OpKind::PadV2:
    case OpKind::MirrorPad:
    case OpKind::Tile:
    case OpKind::BroadcastTo:
    case OpKind::SpaceToDepth:
    case OpKind::DepthToSpace:
    case OpKind::ResizeNearest:
    case OpKind::Gather:
      return true;
    default:
      return false;
  }
}

// Operators that make one tensor of another element by element, and the tensor that they begin with.
struct ElementChain {
  std::set<size_t> nodes;
  TensorId source;
};

// Copies of operators in the place of others, in a function of their own until they are known to be right.
class FloatMover {
 public:
  explicit FloatMover(const EliminationJob& job)
      : job_(job), function_(job.function()), uses_(function_) {}

  bool once() {
    for (size_t n = 0; n < function_.nodes.size(); ++n)
      if (before_dequantize(n) || behind_quantize(n)) return true;
    return false;
  }

 private:
  const Tensor& tensor(TensorId id) const { return function_.tensor(id); }
  const Node& node(size_t n) const { return function_.nodes[n]; }

  bool is_free(const Node& node) const {
    const auto bound = [&](TensorId id) { return !id.valid() || tensor(id).variable; };
    return !job_.must_stay(node) && !node.outputs.empty() &&
           std::ranges::none_of(node.inputs, bound) && std::ranges::none_of(node.outputs, bound);
  }

  // A function of one element and constants of one element, not in the domain of any quantisation.
  bool is_of_elements(const Node& node) const {
    if (!computes_elements(node.kind) || node.kind == OpKind::Quantize ||
        node.kind == OpKind::Dequantize || node.outputs.size() != 1 || !is_free(node))
      return false;
    const Tensor& made = tensor(node.outputs[0]);
    return !made.quantization.present() && std::ranges::all_of(node.inputs, [&](TensorId id) {
      return tensor(id).constant.valid() ? element_count(tensor(id).shape) == 1
                                         : tensor(id).shape == made.shape;
    });
  }

  // Nothing where two tensors decide.
  std::optional<ElementChain> chain_before(TensorId id) const {
    ElementChain chain;
    std::vector<TensorId> open{id};
    std::set<size_t> seen;
    while (!open.empty()) {
      const TensorId at = open.back();
      open.pop_back();
      if (!seen.insert(at.at()).second) continue;
      const int maker = uses_.producer(at);
      if (maker >= 0 && is_of_elements(node(static_cast<size_t>(maker)))) {
        chain.nodes.insert(static_cast<size_t>(maker));
        for (const TensorId operand : node(static_cast<size_t>(maker)).inputs)
          if (!tensor(operand).constant.valid()) open.push_back(operand);
      } else if (chain.source.valid()) {
        return std::nullopt;
      } else {
        chain.source = at;
      }
    }
    return chain;
  }

  // The operator that makes a chain's source.
  const Node* maker_of(TensorId id) const {
    const int maker = uses_.producer(id);
    return maker < 0 ? nullptr : &node(static_cast<size_t>(maker));
  }

  bool converts_integers(const Node& node) const {
    if (node.kind != OpKind::Dequantize || !is_free(node)) return false;
    const Tensor& x = tensor(node.inputs[0]);
    return (x.type == DataType::Int8 || x.type == DataType::Int16) && !x.constant.valid() &&
           x.quantization.present() && !x.quantization.per_channel();
  }

  bool has_readers_beside(const ElementChain& chain, TensorId made, size_t reader) const {
    const auto beside = [&](TensorId id) {
      return uses_.is_output(id) || std::ranges::any_of(uses_.readers(id), [&](size_t r) {
               return r != reader && !chain.nodes.contains(r);
             });
    };
    return beside(made) ||
           std::ranges::any_of(chain.nodes, [&](size_t n) { return beside(node(n).outputs[0]); });
  }

  bool is_read(TensorId id) const { return uses_.is_output(id) || !uses_.readers(id).empty(); }

  // Results that nobody reads do not hold an operator back: a first step without state needs two thirds of a split.
  bool are_read_by_elements(const std::vector<TensorId>& results, int depth = kDeepestMove) const {
    return std::ranges::any_of(results, [&](TensorId id) { return is_read(id); }) &&
           std::ranges::all_of(results, [&](TensorId id) {
             return !is_read(id) || is_read_by_elements(id, depth);
           });
  }

  // What reads it computes elements, or moves them to something that does.
  bool is_read_by_elements(TensorId id, int depth) const {
    if (uses_.is_output(id) || depth == 0) return false;
    return std::ranges::all_of(uses_.readers(id), [&](size_t reader) {
      const Node& next = node(reader);
      if (next.kind == OpKind::Quantize) return true;
      if (is_of_elements(next)) {
        const std::optional<ElementChain> chain = chain_before(next.outputs[0]);
        return chain && chain->source == id;
      }
      return (collects(next.kind) || rearranges(next.kind) || chooses(next)) &&
             are_read_by_elements(next.outputs, depth - 1);
    });
  }

  // move(f(dequantize(x))): f(dequantize(move(x))), so that what follows is a chain that begins with integers. Functions keep no order:
  // max(dequantize(x)) only.
  bool before_dequantize(size_t n) {
    const Node move = node(n);
    if (!(rearranges(move.kind) || chooses(move)) || move.inputs.size() != 1 || !is_free(move))
      return false;
    const std::optional<ElementChain> chain = chain_before(move.inputs[0]);
    if (chain && !chain->nodes.empty() && chooses(move)) return false;
    const Node* maker = chain ? maker_of(chain->source) : nullptr;
    if (maker == nullptr || !converts_integers(*maker)) return false;
    const Node dequantize = *maker;
    const Tensor x = tensor(dequantize.inputs[0]);
    if (!are_read_by_elements(move.outputs)) return false;
    // A table costs the same wherever it is; floats would be computed twice.
    if (!chain->nodes.empty() && x.type != DataType::Int8 &&
        has_readers_beside(*chain, move.inputs[0], n))
      return false;

    Function changed = function_;
    changed.nodes[n].inputs[0] = dequantize.inputs[0];
    std::vector<Node> behind;
    for (size_t i = 0; i < move.outputs.size(); ++i) {
      const TensorId result = move.outputs[i];
      Tensor moved = tensor(result);
      moved.name = fmt::format("{}_{}", x.name, moved.name);
      moved.type = x.type;
      moved.quantization = x.quantization;
      const TensorId id = add_tensor(changed, std::move(moved));
      changed.nodes[n].outputs[i] = id;
      if (!is_read(result)) continue;
      Node back = dequantize;
      back.name = fmt::format("{}_{}_{}", dequantize.name, move.name, i);
      back.inputs = {id};
      back.outputs = {result};
      if (!chain->nodes.empty()) back.outputs = {add_like(changed, chain->source, result, i)};
      behind.push_back(back);
      copy_chain(changed, *chain, back.outputs[0], move.inputs[0], result,
                 fmt::format("_{}_{}", move.name, i), behind);
    }
    behind.insert(behind.begin(), changed.nodes[n]);
    if (!is_right(job_.module, changed, behind)) return false;
    put_in_place(changed, n, *chain, behind);
    function_ = std::move(changed);
    return done(move.name, fmt::format("comes before '{}'", dequantize.name), move);
  }

  // quantize(f(move(a, b))): move(quantize(f(a)), quantize(f(b))), where a and b are of integers in the end.
  bool behind_quantize(size_t n) {
    const Node quantize = node(n);
    if (quantize.kind != OpKind::Quantize || !is_free(quantize)) return false;
    const TensorId y = quantize.outputs[0];
    if (tensor(quantize.inputs[0]).type != DataType::Float32 ||
        tensor(y).quantization.per_channel())
      return false;
    const std::optional<ElementChain> chain = chain_before(quantize.inputs[0]);
    const Node* maker = chain ? maker_of(chain->source) : nullptr;
    if (maker == nullptr || !collects(maker->kind) || maker->outputs.size() != 1 ||
        !is_free(*maker) || tensor(chain->source).type != DataType::Float32)
      return false;
    const Node move = *maker;
    const bool all = move.kind == OpKind::Concat || move.kind == OpKind::Pack;
    const size_t operands = all ? move.inputs.size() : 1;
    bool words = tensor(y).type != DataType::Int8 && tensor(y).type != DataType::UInt8;
    for (size_t i = 0; i < operands; ++i)
      if (!begins_with_integers(move.inputs[i], words)) return false;
    if (words && (has_readers_beside(*chain, quantize.inputs[0], n) ||
                  uses_.readers(chain->source).size() != 1 || uses_.is_output(chain->source)))
      return false;

    Module trial = job_.module;  // constants are shared
    Function& changed = trial.functions[job_.index];
    Node moved = move;
    moved.name = fmt::format("{}_{}", move.name, quantize.name);
    moved.outputs = {y};
    std::vector<Node> before;
    for (size_t i = 0; i < operands; ++i) {
      const TensorId from = move.inputs[i];
      const std::string suffix = operands == 1 ? "" : fmt::format("_{}", i);
      Tensor part = tensor(y);
      part.name = fmt::format("{}_{}_{}", part.name, move.name, i);
      part.shape = tensor(from).shape;
      moved.inputs[i] = add_tensor(changed, std::move(part));
      Node last = quantize;
      last.name += suffix;
      if (!chain->nodes.empty()) {
        last.inputs = {add_like(changed, quantize.inputs[0], from, i)};
        copy_chain(changed, *chain, from, quantize.inputs[0], last.inputs[0],
                   fmt::format("_{}{}", quantize.name, suffix), before);
      } else {
        last.inputs = {from};
      }
      last.outputs = {moved.inputs[i]};
      before.push_back(std::move(last));
    }
    if (!map_filling(trial, moved, move, *chain, quantize)) return false;
    before.push_back(std::move(moved));
    if (!is_right(trial, changed, before)) return false;
    ElementChain replaced = *chain;
    replaced.nodes.insert(static_cast<size_t>(uses_.producer(chain->source)));
    put_in_place(changed, n, replaced, before);
    job_.module = std::move(trial);
    return done(quantize.name, fmt::format("comes before '{}'", move.name), move);
  }

  // Whether a tensor of floats is computed element by element from integers, moved or not. `words`: some have 16 bits.
  bool begins_with_integers(TensorId id, bool& words, int depth = kDeepestMove) const {
    if (tensor(id).type != DataType::Float32 || depth == 0) return false;
    const std::optional<ElementChain> chain = chain_before(id);
    const Node* maker = chain ? maker_of(chain->source) : nullptr;
    if (maker == nullptr) return false;
    if (converts_integers(*maker)) {
      words |= tensor(maker->inputs[0]).type != DataType::Int8;
      return true;
    }
    if (!(collects(maker->kind) || rearranges(maker->kind)) || !is_free(*maker)) return false;
    const bool all = maker->kind == OpKind::Concat || maker->kind == OpKind::Pack;
    return std::ranges::all_of(
        std::span(maker->inputs).first(all ? maker->inputs.size() : 1),
        [&](TensorId operand) { return begins_with_integers(operand, words, depth - 1); });
  }

  // What a padding puts beside the elements, after all functions. A zero has the zero point only if they keep it.
  bool map_filling(Module& trial, Node& moved, const Node& move, const ElementChain& chain,
                   const Node& quantize) const {
    if (move.kind != OpKind::Pad && move.kind != OpKind::PadV2) return true;
    TensorValue filling(sizeof(float));
    if (move.kind == OpKind::PadV2) {
      const Tensor& value = tensor(move.inputs[1]);
      if (!value.constant.valid() || element_count(value.shape) != 1) return false;
      const SharedBytes& bytes = job_.module.constant(value.constant).bytes;
      filling.assign(bytes.begin(), bytes.end());
    }
    const std::optional<TensorValue> made = result_of(chain, quantize, filling);
    if (!made) return false;
    const Tensor y = tensor(quantize.outputs[0]);
    if (element_at(y.type, made->data(), 0) == y.quantization.zero_point[0]) {
      moved.kind = OpKind::Pad;
      moved.inputs.resize(1);
      return true;
    }
    Tensor value = y;
    value.name = moved.name + "_value";
    value.shape = {1};
    value.constant = add_constant(trial, value.name, *made);
    moved.kind = OpKind::PadV2;
    moved.inputs.resize(1);
    moved.inputs.push_back(add_tensor(trial.functions[job_.index], std::move(value)));
    return true;
  }

  // What the chain and the conversion behind it make of one element.
  std::optional<TensorValue> result_of(const ElementChain& chain, const Node& quantize,
                                       const TensorValue& element) const {
    Module alone;
    alone.constants = job_.module.constants;
    alone.entry = alone.name = "alone";
    Function body = function_;
    body.name = "alone";
    Tensor one = tensor(chain.source), made = tensor(quantize.outputs[0]);
    one.shape = made.shape = {1};
    body.nodes.clear();
    const TensorId x = add_tensor(body, std::move(one)), y = add_tensor(body, std::move(made));
    Node last = quantize;
    last.outputs = {y};
    last.inputs = {x};
    if (!chain.nodes.empty()) {
      last.inputs = {add_like(body, quantize.inputs[0], x, 0)};
      copy_chain(body, chain, x, quantize.inputs[0], last.inputs[0], "_one", body.nodes);
    }
    body.nodes.push_back(std::move(last));
    body.inputs = {x};
    body.outputs = {y};
    alone.functions = {std::move(body)};
    drop_unused(alone);
    if (!graph::verify(alone).ok()) return std::nullopt;
    Result<std::vector<TensorValue>> results = graph::Evaluator(alone).run({element});
    if (!results.ok()) return std::nullopt;
    return std::move(results.value()[0]);
  }

  // A tensor of the shape of another one.
  TensorId add_like(Function& changed, TensorId like, TensorId shape, size_t place) const {
    Tensor made = tensor(like);
    made.name = fmt::format("{}_{}_{}", made.name, changed.tensor(shape).name, place);
    made.shape = changed.tensor(shape).shape;
    return add_tensor(changed, std::move(made));
  }

  // The chain again, from `source` to `result`, behind what is in `nodes`.
  void copy_chain(Function& changed, const ElementChain& chain, TensorId source, TensorId made,
                  TensorId result, const std::string& suffix, std::vector<Node>& nodes) const {
    std::map<size_t, TensorId> places{{chain.source.at(), source}};
    if (!chain.nodes.empty()) places[made.at()] = result;
    const size_t rank = changed.tensor(source).shape.size();
    for (const size_t n : chain.nodes) {
      Node copy = node(n);
      copy.name += suffix;
      for (TensorId& id : copy.inputs) {
        if (const auto at = places.find(id.at()); at != places.end()) {
          id = at->second;
        } else if (tensor(id).shape.size() > rank) {  // a constant, which must not add axes
          Tensor constant = tensor(id);
          constant.name += suffix;
          constant.shape = Shape(rank, 1);
          id = add_tensor(changed, std::move(constant));
        }
      }
      TensorId& out = copy.outputs[0];
      const auto [at, is_new] = places.try_emplace(out.at());
      if (is_new) {
        Tensor between = tensor(out);
        between.name += suffix;
        between.shape = changed.tensor(source).shape;
        at->second = add_tensor(changed, std::move(between));
      }
      out = at->second;
      nodes.push_back(std::move(copy));
    }
  }

  // Types and shapes of new operators, in the function that they are for.
  static bool is_right(const Module& module, const Function& changed,
                       const std::vector<Node>& nodes) {
    Module alone;
    alone.constants = module.constants;
    alone.name = alone.entry = "alone";
    Function body = changed;
    body.name = "alone";
    body.nodes = nodes;
    body.inputs.clear();
    body.outputs.clear();
    std::set<size_t> made, read;
    for (const Node& each : nodes)
      for (const TensorId id : each.outputs) made.insert(id.at());
    for (const Node& each : nodes)
      for (const TensorId id : each.inputs)
        if (!made.contains(id.at()) && !changed.tensor(id).constant.valid() &&
            read.insert(id.at()).second)
          body.inputs.push_back(id);
    for (const Node& each : nodes)
      for (const TensorId id : each.outputs) body.outputs.push_back(id);
    alone.functions = {std::move(body)};
    drop_unused(alone);
    return graph::verify(alone).ok();
  }

  // New operators in the place of node n. What was copied goes where nobody reads it any more, and leaves its name to a single copy.
  void put_in_place(Function& changed, size_t n, const ElementChain& copied,
                    std::vector<Node> nodes) const {
    const auto at = changed.nodes.erase(changed.nodes.begin() + static_cast<int64_t>(n));
    const size_t count = nodes.size();
    changed.nodes.insert(at, std::make_move_iterator(nodes.begin()),
                         std::make_move_iterator(nodes.end()));
    size_t first = n;
    for (auto old = copied.nodes.rbegin(); old != copied.nodes.rend(); ++old) {
      const Uses uses(changed);
      const Node& node = changed.nodes[*old];
      if (std::ranges::any_of(node.outputs, [&](TensorId id) {
            return uses.is_output(id) || !uses.readers(id).empty();
          }))
        continue;
      const std::string name = node.name + "_";
      changed.nodes.erase(changed.nodes.begin() + static_cast<int64_t>(*old));
      --first;
      const auto is_copy = [&](const Node& each) { return each.name.starts_with(name); };
      const auto copies = std::span(changed.nodes).subspan(first, count);
      if (std::ranges::count_if(copies, is_copy) == 1)
        std::ranges::find_if(copies, is_copy)->name = name.substr(0, name.size() - 1);
    }
    std::set<std::string> taken;
    for (size_t i = 0; i < changed.nodes.size(); ++i)
      if (i < first || i >= first + count) taken.insert(changed.nodes[i].name);
    for (Node& each : std::span(changed.nodes).subspan(first, count))
      while (!taken.insert(each.name).second) each.name += "_";
  }

  bool done(const std::string& name, std::string what, const Node& move) const {
    job_.actions.push_back(
        {"order", name, std::move(what),
         fmt::format("a {} {}", to_string(move.kind),
                     chooses(move) ? "chooses elements by their order, which integers keep"
                                   : "moves elements, whatever type they have")});
    return true;
  }

  const EliminationJob& job_;
  Function& function_;
  Uses uses_;
};

}  // namespace

bool move_floats(const EliminationJob& job) {
  return repeat<FloatMover>(job);
}

}  // namespace intarsia::passes
