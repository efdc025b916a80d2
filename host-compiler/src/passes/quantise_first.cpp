// Conversions of a model's inputs come before what moves their elements, those of other floats before what repeats them, and conversions to
// unsigned bytes behind it: the same values, moved as the type that devices of whole numbers take.
//
//   space_to_depth(x) -> (%1), quantize(%1) -> (%2)      =>      quantize(x) -> (%1), space_to_depth(%1) -> (%2)
#include <algorithm>
#include <optional>
#include <set>
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

// Elements come out as they went in; a border is zeros, which are zeros in any quantisation.
bool moves_elements(OpKind kind) {
  switch (kind) {
    case OpKind::BroadcastTo:
    case OpKind::Concat:
    case OpKind::DepthToSpace:
    case OpKind::Gather:
    case OpKind::MirrorPad:
    case OpKind::Pack:
    case OpKind::Pad:
    case OpKind::Reshape:
    case OpKind::Slice:
    case OpKind::SpaceToDepth:
    case OpKind::Split:
    case OpKind::Tile:
    case OpKind::Transpose:
    case OpKind::Unpack:
      return true;
    default:
      return false;
  }
}

// One that has to copy, and makes one tensor of one.
bool copies_elements(OpKind kind) {
  return kind == OpKind::Transpose || kind == OpKind::DepthToSpace ||
         kind == OpKind::SpaceToDepth || kind == OpKind::Slice;
}

size_t moved_operands(const Node& node) {
  return node.kind == OpKind::Concat || node.kind == OpKind::Pack ? node.inputs.size() : 1;
}

class Converter {
 public:
  explicit Converter(const EliminationJob& job)
      : job_(job), function_(job.function()), uses_(function_) {}

  bool once() {
    for (size_t n = 0; n < function_.nodes.size(); ++n)
      if (inputs_first(n) || unsigned_last(n)) return true;
    return false;
  }

 private:
  // Moves that hang together, what they begin with and the conversions that they end with.
  struct Region {
    std::set<size_t> moves, ends;
    std::set<size_t> inputs;  // tensors
    size_t last_maker = 0;    // behind the operators that make these
    bool has_made = false;    // some are no inputs of the model
  };

  const Tensor& tensor(TensorId id) const { return function_.tensor(id); }
  const Node& node(size_t n) const { return function_.nodes[n]; }
  bool is_free(const Node& node) const {
    const auto bound = [&](TensorId id) { return !id.valid() || tensor(id).variable; };
    return !job_.must_stay(node) && !node.outputs.empty() &&
           std::ranges::none_of(node.inputs, bound) && std::ranges::none_of(node.outputs, bound);
  }

  bool is_same_conversion(const Node& a, const Node& b) const {
    const Tensor &x = tensor(a.outputs[0]), &y = tensor(b.outputs[0]);
    return a.kind == OpKind::Quantize && is_free(a) && x.type == y.type &&
           x.quantization == y.quantization && !uses_.is_output(a.outputs[0]);
  }

  std::optional<Region> region_before(const Node& quantize) const {
    Region region;
    const Tensor& first = tensor(quantize.inputs[0]);
    std::vector<TensorId> open{quantize.inputs[0]};  // moved tensors
    std::set<size_t> seen;
    while (!open.empty()) {
      const TensorId id = open.back();
      open.pop_back();
      if (!seen.insert(id.at()).second) continue;
      const Tensor& moved = tensor(id);
      if (moved.type != first.type || moved.quantization != first.quantization ||
          moved.constant.valid())
        return std::nullopt;
      if (uses_.is_input(id)) {
        region.inputs.insert(id.at());
        continue;
      }
      const int maker = uses_.producer(id);
      if (maker < 0) return std::nullopt;
      if (begins_with(id, static_cast<size_t>(maker))) {
        region.inputs.insert(id.at());
        region.last_maker = std::max(region.last_maker, static_cast<size_t>(maker) + 1);
        region.has_made = true;
        continue;
      }
      if (uses_.is_output(id)) return std::nullopt;
      for (const size_t reader : uses_.readers(id)) {
        const Node& next = node(reader);
        if (is_same_conversion(next, quantize))
          region.ends.insert(reader);
        else if (!add(region, reader, open))
          return std::nullopt;
      }
      if (!add(region, static_cast<size_t>(maker), open)) return std::nullopt;
    }
    const auto is_moved = [&](TensorId id) { return region.inputs.contains(id.at()); };
    for (const size_t move : region.moves)
      if (std::ranges::any_of(node(move).outputs, is_moved)) return std::nullopt;
    return region;
  }

  // Floats that no move makes, or that the model also returns. What dequantises has its own ways out.
  bool begins_with(TensorId id, size_t maker) const {
    const OpKind kind = node(maker).kind;
    return tensor(id).type == DataType::Float32 && kind != OpKind::Dequantize &&
           (uses_.is_output(id) || !moves_elements(kind));
  }

  bool add(Region& region, size_t n, std::vector<TensorId>& open) const {
    const Node& move = node(n);
    if (!moves_elements(move.kind) || !is_free(move)) return false;
    if (!region.moves.insert(n).second) return true;
    open.insert(open.end(), move.inputs.begin(),
                move.inputs.begin() + static_cast<std::ptrdiff_t>(moved_operands(move)));
    open.insert(open.end(), move.outputs.begin(), move.outputs.end());
    return true;
  }

  bool inputs_first(size_t n) {
    const Node quantize = node(n);
    if (quantize.kind != OpKind::Quantize) return false;
    const Tensor from = tensor(quantize.inputs[0]), to = tensor(quantize.outputs[0]);
    const bool narrows = from.type == DataType::Float32 || from.type == DataType::UInt8;
    if (!narrows || (to.type != DataType::Int8 && to.type != DataType::Int16) ||
        to.quantization.per_channel() || !is_same_conversion(quantize, quantize) ||
        uses_.is_input(quantize.inputs[0]))
      return false;
    const std::optional<Region> region = region_before(quantize);
    if (!region || region->inputs.empty()) return false;
    int64_t before = 0, behind = 0;  // elements that are converted
    for (const size_t at : region->inputs) before += element_count(function_.tensors[at].shape);
    for (const size_t end : region->ends)
      behind += element_count(tensor(node(end).inputs[0]).shape);
    if (before > behind) return false;
    // Others than inputs stand between operators that may be computed together: it has to be worth it.
    if (region->has_made && (before == behind || region->last_maker > *region->moves.begin()))
      return false;

    Module trial = job_.module;  // constants are shared
    Function& changed = trial.functions[job_.index];
    std::vector<Node> conversions;
    for (const size_t at : region->inputs) {
      const TensorId input{static_cast<int32_t>(at)};
      Node first = quantize;
      if (region->inputs.size() > 1) first.name += fmt::format("_{}", conversions.size());
      Tensor made = to;
      made.name = first.name;
      made.shape = tensor(input).shape;
      first.inputs = {input};
      first.outputs = {add_tensor(changed, std::move(made))};
      for (const size_t move : region->moves)
        std::ranges::replace(changed.nodes[move].inputs, input, first.outputs[0]);
      conversions.push_back(std::move(first));
    }
    for (const size_t move : region->moves)
      for (const TensorId id : node(move).outputs) {
        changed.tensors[id.at()].type = to.type;
        changed.tensors[id.at()].quantization = to.quantization;
      }
    for (const size_t end : region->ends)
      replace_reads(changed, node(end).outputs[0], node(end).inputs[0]);
    for (auto end = region->ends.rbegin(); end != region->ends.rend(); ++end)
      changed.nodes.erase(changed.nodes.begin() + static_cast<std::ptrdiff_t>(*end));
    changed.nodes.insert(
        changed.nodes.begin() + static_cast<std::ptrdiff_t>(*region->moves.begin()),
        conversions.begin(), conversions.end());
    if (!graph::verify(trial).ok()) return false;
    const std::string kind(to_string(node(*region->moves.rbegin()).kind));
    job_.module = std::move(trial);
    job_.actions.push_back({"order", quantize.name, "converts the input itself",
                            fmt::format("a {} moves elements, whatever type they have", kind)});
    return true;
  }

  // move(quantize(x)), where bytes become unsigned: quantize(move(x)).
  bool unsigned_last(size_t n) {
    const Node quantize = node(n);
    if (quantize.kind != OpKind::Quantize || !is_free(quantize)) return false;
    const TensorId x = quantize.inputs[0], y = quantize.outputs[0];
    if (tensor(x).type != DataType::Int8 || tensor(y).type != DataType::UInt8 ||
        uses_.is_output(y) || uses_.readers(y).size() != 1)
      return false;
    const size_t reader = uses_.readers(y)[0];
    const Node move = node(reader);
    if (!copies_elements(move.kind) || move.inputs.size() != 1 || move.outputs.size() != 1 ||
        !is_free(move) || tensor(move.outputs[0]).quantization != tensor(y).quantization)
      return false;
    Module trial = job_.module;
    Function& changed = trial.functions[job_.index];
    Tensor moved = tensor(x);
    moved.name = fmt::format("{}_{}", moved.name, move.name);
    moved.shape = tensor(move.outputs[0]).shape;
    Node& first = changed.nodes[reader];
    first.inputs = {x};
    first.outputs = {add_tensor(changed, std::move(moved))};
    Node last = quantize;
    last.inputs = first.outputs;
    last.outputs = move.outputs;
    changed.nodes.insert(changed.nodes.begin() + static_cast<std::ptrdiff_t>(reader) + 1,
                         std::move(last));
    changed.nodes.erase(changed.nodes.begin() + static_cast<std::ptrdiff_t>(n));
    if (!graph::verify(trial).ok()) return false;
    job_.module = std::move(trial);
    job_.actions.push_back(
        {"order", quantize.name, fmt::format("comes behind '{}'", move.name),
         fmt::format("a {} moves elements, whatever type they have", to_string(move.kind))});
    return true;
  }

  const EliminationJob& job_;
  Function& function_;
  Uses uses_;
};

}  // namespace

bool quantise_first(const EliminationJob& job) {
  return repeat<Converter>(job);
}

}  // namespace intarsia::passes
