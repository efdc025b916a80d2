#include "import/onnx/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "import/input_shapes.h"
#include "import/input_values.h"
#include "import/onnx/fold_integers.h"
#include "import/onnx/known_operators.h"
#include "import/onnx/many_axes.h"
#include "import/onnx/subgraph_names.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;
using tflite::printable;

Reader::Reader(const ModelFile& file, Graph graph, Diagnostics& problems,
               const ImportOptions& options)
    : file_(file),
      constants_(std::move(graph.constants)),
      nodes_(std::make_move_iterator(graph.nodes.begin()),
             std::make_move_iterator(graph.nodes.end())),
      problems_(problems),
      options_(options) {}

// ---- the whole model ----------------------------------------------------------------------------

graph::Module Reader::read(const std::string& name) {
  module_.name = name;
  module_.entry = function_.name = "main";
  add_constants(constants_);
  for (const Node& node : nodes_) add_reader(node);
  for (const format::Named& output : file_.graph().output()) results_.insert(output.name());
  const size_t known_problems = problems_.items().size();
  read_inputs();
  // What operators would say of shapes that are not known leads nobody anywhere.
  if (problems_.items().size() > known_problems) return std::move(module_);
  const size_t count = nodes_.size();
  for (size_t i = 0; i < count; ++i) {
    if (options_.on_progress)
      options_.on_progress(
          {"reading operators", static_cast<int64_t>(i), static_cast<int64_t>(count)});
    if (!absorbed_.contains(&nodes_[i])) read_node(nodes_[i]);
  }
  read_outputs();
  module_.functions.push_back(std::move(function_));
  return std::move(module_);
}

void Reader::add_constants(const std::map<std::string, Values>& constants) {
  for (const auto& [name, values] : constants) {
    if (element_count(values.shape) == 0) {
      empty_.insert_or_assign(name, values.shape);
      continue;
    }
    Values kept = values;
    if (values.shape.size() > graph::kMaxRank) {
      many_axes_[name] = values.shape;
      kept.shape = {element_count(values.shape)};
    }
    values_[name] = {make_constant(std::move(kept)), Form::Plain, {}};
    function_.tensors.back().name = printable(name);
  }
}

namespace {

// What operators within a graph read, some of which is made around it.
void names_read_in(const format::Graph& graph, std::vector<std::string>& names) {
  for (const format::Node& node : graph.node()) {
    names.insert(names.end(), node.input().begin(), node.input().end());
    for (const format::Attribute& attribute : node.attribute())
      if (attribute.has_graph()) names_read_in(attribute.graph(), names);
  }
  for (const format::Named& output : graph.output()) names.push_back(output.name());
}

}  // namespace

void Reader::add_reader(const Node& node) {
  std::vector<std::string> names = node.inputs;
  for (const auto& [name, attribute] : node.attributes)
    if (attribute.has_graph()) names_read_in(attribute.graph(), names);
  for (const std::string& name : names)
    if (!name.empty()) readers_[name].push_back(&node);
  for (const std::string& name : node.outputs) makers_[name] = &node;
}

std::optional<std::vector<Value>> Reader::read_branch(const format::Graph& branch,
                                                      const std::vector<Value>& operands,
                                                      const std::string& suffix) {
  if (!require(std::ssize(operands) == branch.input_size(),
               fmt::format("has a graph of {} inputs for {} values", branch.input_size(),
                           operands.size())))
    return std::nullopt;
  const Node *around = node_, *around_listed = listed_;
  Diagnostics problems;
  const format::Graph own = with_suffix(branch, suffix);
  Graph graph = list_branch(file_, own, problems);
  for (const Diagnostic& item : problems.items()) problems_.add(item.where, item.what, item.hint);
  if (!problems.empty()) {
    failed_ = true;
    return std::nullopt;
  }
  for (size_t i = 0; i < operands.size(); ++i)
    values_[own.input(static_cast<int>(i)).name()] = operands[i];
  add_constants(graph.constants);
  constants_.merge(graph.constants);
  for (const format::Named& output : own.output()) results_.insert(output.name());
  const size_t first = nodes_.size();
  for (Node& node : graph.nodes) {
    node.index = around->index;
    nodes_.push_back(std::move(node));
    add_reader(nodes_.back());
  }
  const size_t end = nodes_.size();
  for (size_t i = first; i < end; ++i)
    if (!absorbed_.contains(&nodes_[i])) read_node(nodes_[i]);
  node_ = around, listed_ = around_listed, failed_ = false;
  std::vector<Value> results;
  for (const format::Named& output : own.output()) {
    const auto made = values_.find(output.name());
    if (made == values_.end()) {
      if (problems_.empty())
        problem(
            fmt::format("has a graph whose output '{}' nothing makes", printable(output.name())));
      failed_ = true;
      return std::nullopt;
    }
    results.push_back(made->second);
  }
  return results;
}

namespace {

bool is_open(const format::Dimension& dimension) {
  return !dimension.has_extent() || dimension.extent() < 0;
}

// Axes with one name have one extent. Exporters write marks without a letter ("?", "-1"), and "None", for any extent.
std::string name_of(const format::Dimension& dimension) {
  const std::string& symbol = dimension.symbol();
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  return symbol != "None" && std::ranges::any_of(symbol, is_letter) ? symbol : std::string();
}

std::string mark_of(const format::Dimension& dimension) {
  return dimension.symbol().empty() ? "-1" : printable(dimension.symbol());
}

// All axes but the batch: "an open extent along axis 2 (N)".
std::string open_extents(const format::Extents& extents) {
  std::vector<std::string> axes;
  for (int i = 1; i < extents.dimension_size(); ++i)
    if (is_open(extents.dimension(i)))
      axes.push_back(fmt::format("{} ({})", i, mark_of(extents.dimension(i))));
  if (axes.size() == 1) return "an open extent along axis " + axes[0];
  const std::string last = axes.back();
  axes.pop_back();
  return fmt::format("open extents along axes {} and {}", fmt::join(axes, ", "), last);
}

// -1: open.
Shape open_shape(const format::Extents& extents) {
  Shape shape;
  for (const format::Dimension& dimension : extents.dimension())
    shape.push_back(is_open(dimension) ? -1 : dimension.extent());
  return shape;
}

}  // namespace

void Reader::bind_symbols() {
  std::map<std::string, std::string> binders;  // the inputs that the extents come from
  for (const format::Named& input : file_.graph().input()) {
    const auto given = options_.shapes.find(input.name());
    const format::Extents& extents = input.kind().tensor().extents();
    if (given == options_.shapes.end() || std::ssize(given->second) != extents.dimension_size())
      continue;
    for (int i = 0; i < extents.dimension_size(); ++i) {
      const format::Dimension& dimension = extents.dimension(i);
      const std::string symbol = name_of(dimension);
      if (!is_open(dimension) || symbol.empty()) continue;
      const int64_t extent = given->second[static_cast<size_t>(i)];
      const auto [known, is_new] = symbols_.emplace(symbol, extent);
      const std::string& binder = binders.try_emplace(symbol, input.name()).first->second;
      if (is_new || known->second == extent) continue;
      problems_.add(
          fmt::format("{}: model input '{}'", file_.name(), printable(input.name())),
          fmt::format(
              "has {} elements along axis {} by its --shape, but '{}' is {} by that of '{}'",
              extent, i, printable(symbol), known->second, printable(binder)),
          "axes with one symbol have one extent");
    }
  }
  // What stands for the batch of one input stands for it in all others, wherever their axis of it is: in states of recurrent
  // layers it is the second. A vector's only axis may be anything.
  for (const format::Named& input : file_.graph().input()) {
    const format::Extents& extents = input.kind().tensor().extents();
    if (extents.dimension_size() < 2 || options_.shapes.contains(input.name())) continue;
    const format::Dimension& first = extents.dimension(0);
    if (const std::string symbol = name_of(first); is_open(first) && !symbol.empty())
      batches_.insert(symbol);
  }
}

namespace {

std::string of_no_element(const Shape& shape) {
  return fmt::format("has the shape [{}], of no element", fmt::join(shape, ","));
}

}  // namespace

void Reader::read_inputs() {
  bind_symbols();
  InputShapes shapes(options_.shapes);
  InputValues given(options_.input_values);
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const format::Named& input : file_.graph().input()) {
    // A default value is taken, where the user gives none.
    if (constants_.contains(input.name()) && !given.has(input.name())) continue;
    const std::string where =
        fmt::format("{}: model input '{}'", file_.name(), printable(input.name()));
    if (!input.kind().has_tensor()) {
      problems_.add(where, "is no tensor");
      continue;
    }
    if (!known.insert(input.name()).second) {
      problems_.add(where, "is there twice", "give each input a name of its own, and export again");
      continue;
    }
    const format::TensorKind& kind = input.kind().tensor();
    const std::optional<DataType> type = data_type(kind.element());
    if (!type || bits(*type) < 8) {
      problems_.add(
          where, fmt::format("is of {}, which a model cannot take", element_name(kind.element())),
          "export the model with what these become as its input: numbers of 8 to 64 bits or "
          "floats");
      continue;
    }
    names.push_back(printable(input.name()));
    graph::Tensor tensor{.name = names.back(), .type = *type};
    if (is_computed_as_single(kind.element()))
      note(where, fmt::format("is of {}, and becomes f32", element_name(kind.element())), "");
    const bool is_given = shapes.find(input.name()) != nullptr;
    if (!kind.has_extents())
      problems_.add(where, "has no shape", "export the model with fixed shapes");
    for (int i = 0; i < kind.extents().dimension_size(); ++i) {
      const format::Dimension& dimension = kind.extents().dimension(i);
      const bool open = is_open(dimension);
      if (open && is_given) {
        tensor.shape.push_back(-1);
        continue;
      }
      if (const auto known = symbols_.find(name_of(dimension)); open && known != symbols_.end()) {
        tensor.shape.push_back(known->second);
        continue;
      }
      if (open && i > 0 && !batches_.contains(name_of(dimension))) {
        problems_.add(
            where, "has " + open_extents(kind.extents()),
            fmt::format("give numbers for the marks in --shape {}={}", printable(input.name()),
                        shape_to_fill_in(open_shape(kind.extents()))));
        break;
      }
      if (open && i == 0)
        note(where, fmt::format("has an open batch ({}), which becomes 1", mark_of(dimension)), "");
      tensor.shape.push_back(open ? 1 : dimension.extent());
    }
    if (is_given) tensor.shape = shapes.apply(input.name(), where, tensor.shape, problems_);
    if (element_count(tensor.shape) == 0) {
      note(where, of_no_element(tensor.shape) + ", and is left out", "");
      empty_.insert_or_assign(input.name(), tensor.shape);
      continue;
    }
    if (given.has(input.name())) {
      std::optional<std::vector<uint8_t>> bytes =
          given.bytes(input.name(), where, tensor.type, tensor.shape, problems_);
      if (!bytes) continue;
      Values constant{tensor.type, tensor.shape, std::move(*bytes)};
      values_[input.name()] = {make_constant(constant), Form::Plain, {}};
      function_.tensors.back().name = tensor.name;
      constants_.insert_or_assign(input.name(), std::move(constant));
      continue;
    }
    const TensorId id{static_cast<int32_t>(function_.tensors.size())};
    function_.tensors.push_back(std::move(tensor));
    function_.inputs.push_back(id);
    values_[input.name()] = {id, Form::Plain, {}};
  }
  shapes.report_unused(file_.name(), names, problems_);
  given.report_unused(file_.name(), names, problems_);
}

namespace {

// Operators that are read where an operand has no element: some move elements, others take an empty list of axes or extents.
constexpr auto kOfNothing = std::to_array<std::string_view>(
    {"CastLike", "Concat", "ConstantOfShape", "Expand", "Flatten", "NonZero", "Pad", "Reshape",
     "Shape", "Size", "Scatter", "ScatterElements", "ScatterND", "Slice", "Split", "Squeeze",
     "Tile", "Transpose", "Unsqueeze"});

}  // namespace

void Reader::read_node(const Node& node) {
  Node present = node;
  bool has_lists = false;
  for (std::string& input : present.inputs) {
    has_lists |= lists_.contains(input);
    if (input.empty() || values_.contains(input) || lists_.contains(input)) continue;
    if (!empty_.contains(input)) return;  // its maker has failed
    input.clear();  // of no element, which Resize and others have for an absent operand
  }
  node_ = &present, listed_ = &node;
  failed_ = false;
  if (node.operator_set < 7) align_second_operand(present);
  if (!failed_) merge_axes(present);
  if (failed_) return void(node_ = nullptr);
  if (has_lists && !node.type.starts_with("Sequence") && !node.type.ends_with("FromSequence"))
    problem("takes a list of tensors where it needs a tensor");
  else if (has_lists || !fold_integers(*this)) {
    const KnownOperator& known = *find_operator(node.domain, node.type);
    const bool takes_nothing = std::ranges::find(kOfNothing, node.type) != kOfNothing.end();
    for (size_t i = 0; i < known.least_inputs && !takes_nothing && !failed_; ++i)
      if (is_empty(i))
        problem(fmt::format("reads '{}', which {}", printable(node.inputs[i]),
                            of_no_element(shape_of(i))));
    if (!failed_) known.read(*this);
  }
  whole_.clear();
  node_ = nullptr;
}

// An output of its own for what is an input, a constant or an output already.
TensorId Reader::copied(TensorId id) {
  graph::Tensor copy = tensor(id);
  copy.constant = {};
  const TensorId made{static_cast<int32_t>(function_.tensors.size())};
  function_.nodes.push_back({.kind = OpKind::Reshape,
                             .name = names_.take("output"),
                             .attributes = graph::ReshapeAttrs{copy.shape},
                             .inputs = {id},
                             .outputs = {made}});
  function_.tensors.push_back(std::move(copy));
  return made;
}

void Reader::note_other_shape(const format::Named& output, const std::string& where,
                              const Shape& computed) {
  const format::TensorKind& kind = output.kind().tensor();
  if (!output.kind().has_tensor() || !kind.has_extents()) return;
  const Shape stated = open_shape(kind.extents());
  bool agrees = stated.size() == computed.size();
  for (size_t axis = 0; axis < computed.size() && agrees; ++axis)
    agrees = stated[axis] < 1 || stated[axis] == computed[axis];
  if (!agrees)
    note(where,
         fmt::format("has the shape [{}], where the file says [{}]", fmt::join(computed, ","),
                     fmt::join(stated, ",")),
         "");
}

void Reader::read_outputs() {
  static const Node kOutput{.type = "output"};
  node_ = &kOutput;
  const format::Named* left_out = nullptr;
  for (const format::Named& output : file_.graph().output()) {
    const std::string where =
        fmt::format("{}: model output '{}'", file_.name(), printable(output.name()));
    const auto found = values_.find(output.name());
    if (const auto nothing = empty_.find(output.name()); nothing != empty_.end()) {
      note(where, of_no_element(nothing->second) + ", and is left out", "");
      left_out = &output;
      continue;
    }
    if (found == values_.end()) {
      if (problems_.empty()) problems_.add(where, "is made by no operator");
      continue;
    }
    failed_ = false;
    if (const auto tall = many_axes_.find(output.name()); tall != many_axes_.end()) {
      problems_.add(
          where, fmt::format("has {} axes; {} are possible", tall->second.size(), graph::kMaxRank),
          "return it reshaped to fewer axes");
      continue;
    }
    TensorId id = plain(found->second);
    const bool taken = is_constant(id) ||
                       std::ranges::find(function_.inputs, id) != function_.inputs.end() ||
                       std::ranges::find(function_.outputs, id) != function_.outputs.end();
    if (taken) id = copied(id);
    function_.outputs.push_back(id);
    if (!id.valid()) continue;
    function_.tensors[id.at()].name = printable(output.name());
    note_other_shape(output, where, shape(id));
  }
  if (left_out != nullptr && function_.outputs.empty() && problems_.empty())
    problems_.add(fmt::format("{}: model output '{}'", file_.name(), printable(left_out->name())),
                  "has no element");
  if (file_.graph().output().empty())
    problems_.add(file_.name(), "has no outputs",
                  "export the model with what it computes as outputs");
  node_ = nullptr;
}

// ---- the operator being read --------------------------------------------------------------------

void Reader::problem(std::string what, std::string hint) {
  if (!attempting_)
    problems_.add(fmt::format("{}: {}", file_.name(), node_->label()), std::move(what),
                  std::move(hint));
  failed_ = true;
}

void Reader::remark(std::string what, std::string hint) {
  note(fmt::format("{}: {}", file_.name(), node_->label()), std::move(what), std::move(hint));
}

bool Reader::require(bool condition, std::string what, std::string hint) {
  if (!condition) problem(std::move(what), std::move(hint));
  return condition;
}

TensorId Reader::plain(Value& value) {
  if (value.form == Form::Plain || !value.tensor.valid()) return value.tensor;
  if (value.plain.valid()) return value.plain;
  const graph::Tensor source = tensor(value.tensor);
  graph::Quantization q = source.quantization;
  if (value.form == Form::Shifted) {
    q.zero_point[0] += shift_of(source.type);
    if (source.type == DataType::Int16) {
      problem("reads integers of uint16 themselves, which are known between conversions alone",
              "quantise with QInt16 in place of QUInt16");
      return {};
    }
    return value.plain = emit(OpKind::Quantize, graph::NoAttrs{}, {value.tensor}, DataType::UInt8,
                              q, "shifted");
  }
  if (!source.constant.valid())
    return value.plain =
               emit(OpKind::Dequantize, graph::NoAttrs{}, {value.tensor}, kFloat, {}, "dequantize");
  const std::vector<int64_t> numbers = as_integers(values_of(value.tensor));
  int64_t inner = 1;  // elements per step along the axis of the scales
  for (size_t i = static_cast<size_t>(q.axis) + 1; i < source.shape.size(); ++i)
    inner *= source.shape[i];
  std::vector<float> reals;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t channel = static_cast<size_t>(static_cast<int64_t>(i) / inner) % q.scale.size();
    reals.push_back(static_cast<float>(numbers[i] - q.zero_point[channel]) * q.scale[channel]);
  }
  return value.plain = make_constant(real_values(source.shape, reals));
}

bool Reader::is_read(size_t output) const {
  if (output >= node_->outputs.size() || node_->outputs[output].empty()) return false;
  const std::string& name = node_->outputs[output];
  return readers_.contains(name) || results_.contains(name);
}

int64_t Reader::integer(const std::string& attribute, int64_t absent) const {
  const auto found = node_->attributes.find(attribute);
  return found == node_->attributes.end() ? absent : found->second.integer();
}

float Reader::real(const std::string& attribute, float absent) const {
  const auto found = node_->attributes.find(attribute);
  return found == node_->attributes.end() ? absent : found->second.real();
}

std::string Reader::text(const std::string& attribute, const std::string& absent) const {
  const auto found = node_->attributes.find(attribute);
  return found == node_->attributes.end() ? absent : found->second.text();
}

std::optional<std::vector<int64_t>> Reader::integers(const std::string& attribute) const {
  const auto found = node_->attributes.find(attribute);
  if (found == node_->attributes.end()) return std::nullopt;
  return std::vector<int64_t>(found->second.integers().begin(), found->second.integers().end());
}

std::vector<float> Reader::reals(const std::string& attribute) const {
  const auto found = node_->attributes.find(attribute);
  if (found == node_->attributes.end()) return {};
  return {found->second.reals().begin(), found->second.reals().end()};
}

std::vector<std::string> Reader::texts(const std::string& attribute) const {
  const auto found = node_->attributes.find(attribute);
  if (found == node_->attributes.end()) return {};
  return {found->second.texts().begin(), found->second.texts().end()};
}

bool Reader::is_empty(size_t operand) const {
  if (has(operand) || operand >= listed_->inputs.size()) return false;
  return !listed_->inputs[operand].empty();
}

std::optional<std::vector<int64_t>> Reader::known_integers(size_t operand, std::string_view what) {
  if (is_empty(operand)) return std::vector<int64_t>{};
  const TensorId id = this->operand(operand);
  if (!is_constant(id) || !is_integer(tensor(id).type)) {
    problem(fmt::format("takes {} from '{}', which is {}", what, printable(node_->inputs[operand]),
                        is_constant(id) ? "not of integers" : "known only when the model runs"),
            "export the model with fixed shapes; onnxsim folds what can be known");
    return std::nullopt;
  }
  return as_integers(values_of(id));
}

std::optional<float> Reader::known_real(size_t operand, std::string_view what) {
  const TensorId id = this->operand(operand);
  if (!is_constant(id) || element_count(shape(id)) != 1) {
    problem(fmt::format("takes {} from '{}', which is no number known in advance", what,
                        printable(node_->inputs[operand])));
    return std::nullopt;
  }
  return as_reals(values_of(id)).front();
}

std::optional<std::vector<int64_t>> Reader::integers_from(size_t operand,
                                                          const std::string& attribute,
                                                          std::string_view what) {
  if (has(operand)) return known_integers(operand, what);
  return integers(attribute);
}

int64_t Reader::axis(int64_t given, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (!require(given >= -count && given < count,
               fmt::format("names axis {} of a tensor of rank {}", given, rank),
               count == 0 ? "" : fmt::format("{} to {} are possible", -count, count - 1)))
    return 0;
  return given < 0 ? given + count : given;
}

}  // namespace intarsia::onnx
