#include "import/onnx/fold_layout.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "import/onnx/layout_rules.h"
#include "intarsia/plugin/check.h"
#include "intarsia/plugin/op_families.h"
#include "intarsia/plugin/unique_names.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

// A tensor of the given function as the new one has it.
struct View {
  TensorId stored;
  AxisOrder order;
  std::vector<int64_t>
      columns;  // of rows for a product: stored column j is column columns[j]; empty: all in place
};

// Elements of `bytes` with axis i of the result being axis permutation[i] of the shape.
std::vector<uint8_t> permuted(const std::vector<uint8_t>& bytes, const Shape& shape, size_t size,
                              const std::vector<int64_t>& permutation) {
  std::vector<int64_t> steps(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  std::vector<uint8_t> result(bytes.size());
  std::vector<int64_t> at(shape.size(), 0);
  for (size_t to = 0; to < bytes.size(); to += size) {
    int64_t from = 0;
    for (size_t i = 0; i < at.size(); ++i)
      from += at[i] * steps[static_cast<size_t>(permutation[i])];
    std::memcpy(&result[to], &bytes[static_cast<size_t>(from) * size], size);
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < shape[static_cast<size_t>(permutation[i])]) break;
      at[i] = 0;
    }
  }
  return result;
}

class Folding {
 public:
  explicit Folding(const graph::Module& module)
      : old_module_(module), old_(module.entry_function()) {}

  graph::Module run() {
    module_.name = old_module_.name, module_.entry = old_module_.entry;
    function_.name = old_.name;
    for (const graph::Function& function : old_module_.functions)
      if (&function != &old_) copy_function(function);
    views_.resize(old_.tensors.size());
    readers_.resize(old_.tensors.size());
    find_readers();
    for (const TensorId id : old_.inputs) {
      views_[id.at()] = {copy(id), natural_order(old_.tensor(id).shape.size()), {}};
      function_.inputs.push_back(views_[id.at()].stored);
    }
    for (size_t i = 0; i < old_.nodes.size(); ++i)
      if (alive_[i]) node(old_.nodes[i]);
    for (const TensorId id : old_.outputs) {
      const TensorId output = in_natural_order(id);
      function_.tensors[output.at()].name = old_.tensor(id).name;
      function_.outputs.push_back(output);
    }
    module_.functions.push_back(std::move(function_));
    return std::move(module_);
  }

 private:
  void find_readers() {
    std::vector<bool> needed(old_.tensors.size(), false);
    alive_.assign(old_.nodes.size(), false);
    for (const TensorId id : old_.outputs) needed[id.at()] = true;
    for (size_t i = old_.nodes.size(); i-- > 0;) {
      const graph::Node& node = old_.nodes[i];
      alive_[i] = std::ranges::any_of(node.outputs, [&](TensorId id) { return needed[id.at()]; });
      if (!alive_[i]) continue;
      names_.reserve(node.name);
      for (const TensorId id : node.inputs)
        if (id.valid()) needed[id.at()] = true, readers_[id.at()].push_back(&node);
    }
  }

  // ---- tensors ----

  TensorId add(graph::Tensor tensor) {
    function_.tensors.push_back(std::move(tensor));
    return {static_cast<int32_t>(function_.tensors.size()) - 1};
  }

  ConstantId add_constant(std::string name, SharedBytes bytes) {
    module_.constants.push_back({std::move(name), std::move(bytes)});
    return {static_cast<int32_t>(module_.constants.size()) - 1};
  }

  // With its constant in the new module; constants are shared as they were.
  graph::Tensor moved(graph::Tensor tensor) {
    if (!tensor.constant.valid()) return tensor;
    const auto [found, is_new] = constants_.try_emplace(tensor.constant, ConstantId{});
    const graph::Constant& constant = old_module_.constant(tensor.constant);
    if (is_new) found->second = add_constant(constant.name, constant.bytes);
    tensor.constant = found->second;
    return tensor;
  }

  // The functions of loops have no images: their layout stays.
  void copy_function(graph::Function function) {
    for (graph::Tensor& tensor : function.tensors) tensor = moved(std::move(tensor));
    module_.functions.push_back(std::move(function));
  }

  // The tensor without its maker.
  TensorId copy(TensorId id) { return add(moved(old_.tensor(id))); }

  const View& view(TensorId id) {
    View& view = views_[id.at()];
    if (!view.stored.valid()) {
      INTARSIA_CHECK(old_.tensor(id).constant.valid(),
                     "operators come behind those that make their operands");
      view = {copy(id), natural_order(old_.tensor(id).shape.size()), {}};
    }
    return view;
  }

  std::string unique(const std::string& hint) { return names_.take(hint); }

  TensorId emit(OpKind kind, graph::Attributes attributes, TensorId input, Shape shape,
                int32_t scale_axis, const char* suffix) {
    graph::Tensor tensor = function_.tensor(input);
    const std::string name = maker_name(input) + suffix;
    tensor.name = name, tensor.constant = {}, tensor.shape = std::move(shape),
    tensor.quantization.axis = scale_axis;
    const TensorId output = add(std::move(tensor));
    function_.nodes.push_back({kind, unique(name), std::move(attributes), {input}, {output}, ""});
    return output;
  }

  std::string maker_name(TensorId id) const {
    for (const graph::Node& node : function_.nodes)
      if (std::ranges::find(node.outputs, id) != node.outputs.end()) return node.name;
    return "input";
  }

  static bool moves_only_units(const Shape& shape, const std::vector<int64_t>& permutation) {
    std::vector<int64_t> moved;
    for (const int64_t axis : permutation)
      if (shape[static_cast<size_t>(axis)] != 1) moved.push_back(axis);
    return std::ranges::is_sorted(moved);
  }

  // Axis i of the result is axis permutation[i] of the tensor.
  TensorId transposed(TensorId id, const std::vector<int64_t>& permutation) {
    if (std::ranges::is_sorted(permutation)) return id;
    const auto known = transposed_.find({id, permutation});
    if (known != transposed_.end()) return known->second;
    const graph::Tensor tensor = function_.tensor(id);
    Shape shape;
    for (const int64_t axis : permutation) shape.push_back(tensor.shape[static_cast<size_t>(axis)]);
    const auto axis =
        std::ranges::find(permutation, tensor.quantization.axis) - permutation.begin();
    const int32_t scale_axis = tensor.quantization.per_channel() ? static_cast<int32_t>(axis) : 0;
    TensorId result;
    if (tensor.constant.valid() && bits(tensor.type) >= 8) {
      graph::Tensor turned = tensor;
      const std::vector<uint8_t> bytes = module_.constant(tensor.constant).bytes;
      turned.constant = add_constant(
          tensor.name,
          permuted(bytes, tensor.shape, static_cast<size_t>(bits(tensor.type)) / 8, permutation));
      turned.shape = std::move(shape), turned.quantization.axis = scale_axis;
      result = add(std::move(turned));
    } else if (moves_only_units(tensor.shape, permutation)) {
      result = emit(OpKind::Reshape, graph::ReshapeAttrs{shape}, id, shape, scale_axis, "_shape");
    } else {
      result = emit(OpKind::Transpose, graph::TransposeAttrs{permutation}, id, shape, scale_axis,
                    "_order");
    }
    transposed_[{id, permutation}] = result;
    return result;
  }

  static std::vector<int64_t> permutation_between(const AxisOrder& from, const AxisOrder& to) {
    std::vector<int64_t> permutation(from.size());
    for (size_t i = 0; i < from.size(); ++i) permutation[static_cast<size_t>(to[i])] = from[i];
    return permutation;
  }

  // What is stored when the tensor's axes have the order.
  TensorId in_order(TensorId id, const AxisOrder& order) {
    const View given = view(id);
    return transposed(given.stored, permutation_between(given.order, order));
  }

  TensorId in_natural_order(TensorId id) {
    return in_order(id, natural_order(view(id).order.size()));
  }

  // ---- operators ----

  void node(const graph::Node& node) {
    if (node.kind == OpKind::Transpose) return transpose(node);
    if (node.kind == OpKind::Reshape) return reshape(node);
    const View first = view(node.inputs[0]);
    if (!first.columns.empty() && graph::is_elementwise_unary(node.kind)) {
      keep(node, node.attributes, {first.stored}, first.order);
      views_[node.outputs[0].at()].columns = first.columns;
      return;
    }
    if (!first.columns.empty()) return product(node, first);
    if (widens_a_result(node))
      return keep(node, node.attributes, {in_natural_order(node.inputs[0])}, {});
    if (picks_along_an_axis(node)) {
      const auto axis = static_cast<size_t>(node.attrs<graph::GatherAttrs>().axis);
      return keep(node, graph::GatherAttrs{first.order[axis], 0},
                  {first.stored, in_natural_order(node.inputs[1])}, first.order);
    }
    const size_t rank = largest_rank(node);
    const AxisOrder order = best_order(node, rank);
    if (const auto changed = reordered(node, rank, order)) {
      std::vector<TensorId> inputs;
      for (const TensorId id : node.inputs) inputs.push_back(as_operand(id, rank, order));
      return keep(node, changed->attributes, inputs, changed->output);
    }
    std::vector<TensorId> inputs;
    for (const TensorId id : node.inputs)
      inputs.push_back(id.valid() ? in_natural_order(id) : TensorId{});
    keep(node, node.attributes, inputs, {});
  }

  // Known places along an axis: other axes stay as they are.
  bool picks_along_an_axis(const graph::Node& node) const {
    if (node.kind != OpKind::Gather || node.attrs<graph::GatherAttrs>().batch_dims != 0)
      return false;
    const graph::Tensor& places = old_.tensor(node.inputs[1]);
    return places.constant.valid() && places.shape.size() == 1 &&
           !old_.tensor(node.inputs[0]).constant.valid();
  }

  // A result that becomes wider is put in order before: fewer bytes move.
  bool widens_a_result(const graph::Node& node) const {
    const bool is_result = std::ranges::find(old_.outputs, node.outputs[0]) != old_.outputs.end();
    return node.kind == OpKind::Dequantize && is_result;
  }

  size_t largest_rank(const graph::Node& node) {
    size_t rank = 0;
    for (const TensorId id : node.inputs)
      if (id.valid()) rank = std::max(rank, old_.tensor(id).shape.size());
    return rank;
  }

  // The order for which the fewest bytes have to be moved; of equals one that is not natural, since what
  // follows is likely to want it too. Constants move at no cost.
  AxisOrder best_order(const graph::Node& node, size_t rank) {
    AxisOrder best = natural_order(rank);
    int64_t least = -1;
    for (const TensorId candidate : node.inputs) {
      if (!candidate.valid() || old_.tensor(candidate).shape.size() != rank ||
          old_.tensor(candidate).constant.valid())
        continue;
      const AxisOrder order = view(candidate).order;
      int64_t cost = 0;
      for (const TensorId id : node.inputs) {
        if (!id.valid() || old_.tensor(id).constant.valid() || old_.tensor(id).shape.size() != rank)
          continue;
        const View given = view(id);
        if (!moves_only_units(function_.tensor(given.stored).shape,
                              permutation_between(given.order, order)))
          cost += old_.tensor(id).bytes();
      }
      const bool better =
          least < 0 || cost < least || (cost == least && best == natural_order(rank));
      if (better) best = order, least = cost;
    }
    return best;
  }

  // An operand for an operator on stored axes: one of lower rank gets its leading axes of extent 1.
  TensorId as_operand(TensorId id, size_t rank, const AxisOrder& order) {
    if (!id.valid()) return id;
    const graph::Tensor& tensor = old_.tensor(id);
    if (tensor.shape.size() == rank) return in_order(id, order);
    if (element_count(tensor.shape) == 1 || order == natural_order(rank))
      return in_natural_order(id);
    Shape shape = tensor.shape;
    shape.insert(shape.begin(), rank - shape.size(), 1);
    TensorId stored = in_natural_order(id);
    if (tensor.constant.valid()) {
      graph::Tensor wide = function_.tensor(stored);
      wide.shape = shape;
      stored = add(std::move(wide));
    } else {
      stored = emit(OpKind::Reshape, graph::ReshapeAttrs{shape}, stored, shape, 0, "_shape");
    }
    return transposed(stored, permutation_between(natural_order(rank), order));
  }

  // The operator with new operands; its outputs have the order (empty: the natural one).
  void keep(const graph::Node& node, graph::Attributes attributes, std::vector<TensorId> inputs,
            const AxisOrder& order) {
    graph::Node made = node;
    made.attributes = std::move(attributes), made.inputs = std::move(inputs);
    for (TensorId& id : made.outputs) {
      const graph::Tensor& tensor = old_.tensor(id);
      const AxisOrder own = order.empty() ? natural_order(tensor.shape.size()) : order;
      graph::Tensor stored = tensor;
      for (size_t i = 0; i < own.size(); ++i)
        stored.shape[static_cast<size_t>(own[i])] = tensor.shape[i];
      views_[id.at()] = {add(std::move(stored)), own, {}};
      id = views_[id.at()].stored;
    }
    function_.nodes.push_back(std::move(made));
  }

  void transpose(const graph::Node& node) {
    const View given = view(node.inputs[0]);
    AxisOrder order;
    for (const int64_t axis : node.attrs<graph::TransposeAttrs>().permutation)
      order.push_back(given.order[static_cast<size_t>(axis)]);
    views_[node.outputs[0].at()] = {given.stored, order, {}};
  }

  // ---- reshapes: axes that are split or joined form groups, and groups can be stored in any order ----

  struct Group {
    std::vector<size_t> from, to;
  };

  static std::vector<Group> groups_of(const Shape& from, const Shape& to) {
    std::vector<Group> groups;
    size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      Group group;
      int64_t a = 1, b = 1;
      while (a != b || group.from.empty() || group.to.empty()) {
        const bool more_from = i < from.size(), more_to = j < to.size();
        if (!more_from && !more_to) break;
        if ((a <= b && more_from) || !more_to)
          a *= from[i], group.from.push_back(i++);
        else
          b *= to[j], group.to.push_back(j++);
      }
      // Axes of extent 1 that follow belong here, so that no group is without elements.
      while (i < from.size() && from[i] == 1) group.from.push_back(i++);
      while (j < to.size() && to[j] == 1) group.to.push_back(j++);
      groups.push_back(std::move(group));
    }
    return groups;
  }

  void reshape(const graph::Node& node) {
    const View given = view(node.inputs[0]);
    const TensorId id = node.outputs[0];
    const Shape &from = old_.tensor(node.inputs[0]).shape, &to = old_.tensor(id).shape;
    const Shape& stored = function_.tensor(given.stored).shape;
    const auto straight = permutation_between(given.order, natural_order(from.size()));
    if (!given.columns.empty()) return product(node, given);
    if (moves_only_units(stored, straight)) return keep(node, node.attributes, {given.stored}, {});
    if (rows_for_products(node, given)) return;
    std::vector<Group> groups = groups_of(from, to);
    const auto place = [&](const Group& group) {
      int64_t first = static_cast<int64_t>(from.size());
      for (const size_t axis : group.from)
        if (from[axis] != 1) first = std::min(first, given.order[axis]);
      return first;
    };
    std::ranges::stable_sort(groups, {}, place);
    AxisOrder wanted(from.size()), output(to.size());
    int64_t at = 0, made = 0;
    Shape shape;
    for (const Group& group : groups) {
      for (const size_t axis : group.from) wanted[axis] = at++;
      for (const size_t axis : group.to) output[axis] = made++, shape.push_back(to[axis]);
    }
    const TensorId source = in_order(node.inputs[0], wanted);
    keep(node, graph::ReshapeAttrs{shape}, {source}, output);
  }

  // ---- rows for products with known weights ----

  bool feeds_products_only(TensorId id, int64_t columns) const {
    if (std::ranges::find(old_.outputs, id) != old_.outputs.end() || readers_[id.at()].empty())
      return false;
    return std::ranges::all_of(readers_[id.at()], [&](const graph::Node* reader) {
      if (graph::is_elementwise_unary(reader->kind))
        return feeds_products_only(reader->outputs[0], columns);
      if (reader->kind != OpKind::FullyConnected || reader->inputs[0] != id ||
          reader->inputs[1] == id)
        return false;
      const graph::Tensor& weights = old_.tensor(reader->inputs[1]);
      return weights.constant.valid() && bits(weights.type) >= 8 && weights.shape.size() == 2 &&
             weights.shape[1] == columns;
    });
  }

  bool rows_for_products(const graph::Node& node, const View& given) {
    const TensorId id = node.outputs[0];
    const Shape &from = old_.tensor(node.inputs[0]).shape, &to = old_.tensor(id).shape;
    const bool rows = to.size() == 2 && from[0] == to[0] && given.order[0] == 0;
    if (!rows || !feeds_products_only(id, to[1])) return false;
    keep(node, node.attributes, {given.stored}, {});
    // Stored column j lies at stored places of the axes; its column in the given function from these.
    std::vector<int64_t> steps(from.size(), 1);
    for (size_t i = from.size(); i-- > 2;) steps[i - 1] = steps[i] * from[i];
    const Shape& stored = function_.tensor(given.stored).shape;
    std::vector<int64_t> columns;
    for (int64_t j = 0; j < to[1]; ++j) {
      int64_t rest = j, column = 0;
      for (size_t axis = stored.size(); axis-- > 1;) {
        const int64_t at = rest % stored[axis];
        rest /= stored[axis];
        const auto own = static_cast<size_t>(
            std::ranges::find(given.order, static_cast<int64_t>(axis)) - given.order.begin());
        column += at * steps[own];
      }
      columns.push_back(column);
    }
    views_[id.at()].columns = std::move(columns);
    return true;
  }

  void product(const graph::Node& node, const View& rows) {
    INTARSIA_CHECK(node.kind == OpKind::FullyConnected,
                   "only products read rows whose columns have moved");
    const graph::Tensor weights = old_.tensor(node.inputs[1]);
    const std::vector<uint8_t>& bytes = old_module_.constant(weights.constant).bytes;
    const size_t size = static_cast<size_t>(bits(weights.type)) / 8, columns = rows.columns.size();
    std::vector<uint8_t> moved(bytes.size());
    for (size_t row = 0; row < static_cast<size_t>(weights.shape[0]); ++row)
      for (size_t j = 0; j < columns; ++j)
        std::memcpy(&moved[(row * columns + j) * size],
                    &bytes[(row * columns + static_cast<size_t>(rows.columns[j])) * size], size);
    graph::Tensor turned = weights;
    turned.constant = add_constant(weights.name, std::move(moved));
    std::vector<TensorId> inputs = {rows.stored, add(std::move(turned))};
    for (size_t i = 2; i < node.inputs.size(); ++i)
      inputs.push_back(node.inputs[i].valid() ? in_natural_order(node.inputs[i]) : TensorId{});
    keep(node, node.attributes, inputs, {});
  }

  const graph::Module& old_module_;
  const graph::Function& old_;
  graph::Module module_;
  graph::Function function_;
  std::vector<View> views_;
  std::vector<std::vector<const graph::Node*>> readers_;
  std::vector<bool> alive_;
  UniqueNames names_;
  std::map<ConstantId, ConstantId> constants_;
  std::map<std::pair<TensorId, std::vector<int64_t>>, TensorId> transposed_;
};

}  // namespace

graph::Module fold_layout(const graph::Module& module) {
  return Folding(module).run();
}

}  // namespace intarsia::onnx
