#include "import/onnx/inline_functions.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "import/onnx/known_operators.h"
#include "import/tflite/node_names.h"

namespace intarsia::onnx {

namespace {

using tflite::printable;

constexpr int kDeepestCall = 64;  // functions that call one another
constexpr int kMostOperators = 100000;

std::string domain_of(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

void collect_made(const format::Node& node, std::set<std::string>& names);

void collect_made(const format::Graph& graph, std::set<std::string>& names) {
  for (const format::Named& input : graph.input()) names.insert(input.name());
  for (const format::Tensor& constant : graph.initialiser()) names.insert(constant.name());
  for (const format::Node& node : graph.node()) collect_made(node, names);
}

void collect_made(const format::Node& node, std::set<std::string>& names) {
  names.insert(node.output().begin(), node.output().end());
  for (const format::Attribute& attribute : node.attribute())
    if (attribute.has_graph()) collect_made(attribute.graph(), names);
}

class Inliner {
 public:
  Inliner(format::Model& model, const std::string& file) : model_(model), file_(file) {
    for (const format::Function& function : model.function())
      functions_[{domain_of(function.domain()), function.name(), function.overload()}] = &function;
    collect_made(model.graph(), taken_);
  }

  Result<void> run() {
    check_operator_sets();
    if (problems_.empty()) expand(*model_.mutable_graph(), 0);
    if (!problems_.empty()) return problems_;
    model_.clear_function();
    return {};
  }

 private:
  using Names = std::map<std::string, std::string>;

  void problem(const std::string& where, std::string what, std::string hint) {
    if (problems_.empty()) problems_.add(file_ + ": " + where, std::move(what), std::move(hint));
  }

  // Readers look at the model's operator sets alone.
  void check_operator_sets() {
    std::map<std::string, int64_t> sets;
    for (const format::OperatorSet& set : model_.operator_set())
      sets[domain_of(set.domain())] = set.version();
    for (const format::Function& function : model_.function())
      for (const format::OperatorSet& set : function.operator_set()) {
        const auto [known, is_new] = sets.try_emplace(domain_of(set.domain()), set.version());
        if (is_new) {
          *model_.add_operator_set() = set;
        } else if (known->second != set.version()) {
          problem(fmt::format("function '{}'", printable(function.name())),
                  fmt::format("is written in operator set {}{}{}, the model in {}", set.version(),
                              known->first.empty() ? "" : " of ", printable(known->first),
                              known->second),
                  "convert it with onnx.version_converter, or inline it when exporting "
                  "(onnx.inliner.inline_local_functions with convert_version)");
        }
      }
  }

  const format::Function* called(const format::Node& node) const {
    const auto at = functions_.find({domain_of(node.domain()), node.type(), node.overload()});
    if (at == functions_.end() || find_operator(domain_of(node.domain()), node.type()) != nullptr)
      return nullptr;
    return at->second;
  }

  void expand(format::Graph& graph, int depth) {
    google::protobuf::RepeatedPtrField<format::Node> nodes;
    nodes.Swap(graph.mutable_node());
    for (format::Node& node : nodes) add(std::move(node), graph, depth);
  }

  // The node, or what it calls.
  void add(format::Node node, format::Graph& graph, int depth) {
    if (!problems_.empty()) return;
    for (format::Attribute& attribute : *node.mutable_attribute())
      if (attribute.has_graph()) expand(*attribute.mutable_graph(), depth);
    const format::Function* function = called(node);
    if (function == nullptr) {
      if (++operators_ > kMostOperators)
        problem("its functions", fmt::format("become more than {} operators", kMostOperators),
                "such models are not computed; split the model");
      *graph.add_node() = std::move(node);
      return;
    }
    const std::string label = fmt::format("function '{}'", printable(function->name()));
    if (depth >= kDeepestCall)
      return problem(label, "is called by itself, or too deep in others",
                     "export the model without functions that call themselves");
    if (node.input_size() > function->input_size() || node.output_size() > function->output_size())
      return problem(label,
                     fmt::format("takes {} values and gives {}, but a call has {} and {}",
                                 function->input_size(), function->output_size(), node.input_size(),
                                 node.output_size()),
                     "export the model again");
    const std::string call =
        node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
    Names names{{"", ""}};
    std::vector<format::Node> copies;
    for (int i = 0; i < function->input_size(); ++i)
      names[function->input(i)] = i < node.input_size() ? node.input(i) : "";
    for (int i = 0; i < function->output_size(); ++i) {
      const std::string& inside = function->output(i);
      const std::string outside = i < node.output_size() ? node.output(i) : "";
      if (outside.empty()) continue;
      if (names.contains(inside)) {  // given as it was taken, or twice
        format::Node& copy = copies.emplace_back();
        copy.set_type("Identity");
        copy.set_name(outside);
        copy.add_input(names[inside]);
        copy.add_output(outside);
      } else {
        names[inside] = outside;
      }
    }
    std::set<std::string> made;
    for (const format::Node& inner : function->node()) collect_made(inner, made);
    for (const std::string& name : made)
      if (!names.contains(name)) names[name] = fresh(call + "/" + name);
    for (const format::Node& inner : function->node()) {
      format::Node copy = inner;
      if (!copy.name().empty()) copy.set_name(call + "/" + copy.name());
      substitute(copy, *function, node, names);
      add(std::move(copy), graph, depth + 1);
    }
    for (format::Node& copy : copies) *graph.add_node() = std::move(copy);
  }

  std::string fresh(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  static void substitute(format::Node& node, const format::Function& function,
                         const format::Node& call, const Names& names) {
    const auto rename = [&](std::string& name) {
      if (const auto at = names.find(name); at != names.end()) name = at->second;
    };
    for (std::string& name : *node.mutable_input()) rename(name);
    for (std::string& name : *node.mutable_output()) rename(name);
    google::protobuf::RepeatedPtrField<format::Attribute> attributes;
    attributes.Swap(node.mutable_attribute());
    for (format::Attribute& attribute : attributes) {
      if (!attribute.reference().empty()) {
        const format::Attribute* given = attribute_of(function, call, attribute.reference());
        if (given == nullptr) continue;  // it has its default
        const std::string name = attribute.name();
        attribute = *given;
        attribute.set_name(name);
      } else if (attribute.has_graph()) {
        format::Graph& graph = *attribute.mutable_graph();
        for (format::Named& input : *graph.mutable_input()) rename(*input.mutable_name());
        for (format::Named& output : *graph.mutable_output()) rename(*output.mutable_name());
        for (format::Tensor& constant : *graph.mutable_initialiser())
          rename(*constant.mutable_name());
        for (format::Node& inner : *graph.mutable_node()) substitute(inner, function, call, names);
      }
      *node.add_attribute() = std::move(attribute);
    }
  }

  // What the call says, or else the function.
  static const format::Attribute* attribute_of(const format::Function& function,
                                               const format::Node& call, const std::string& name) {
    for (const format::Attribute& attribute : call.attribute())
      if (attribute.name() == name) return &attribute;
    for (const format::Attribute& attribute : function.attribute_default())
      if (attribute.name() == name) return &attribute;
    return nullptr;
  }

  format::Model& model_;
  const std::string& file_;
  Diagnostics problems_;
  std::map<std::tuple<std::string, std::string, std::string>, const format::Function*> functions_;
  std::set<std::string> taken_;
  int operators_ = 0;
};

}  // namespace

Result<void> inline_functions(format::Model& model, const std::string& file) {
  if (model.function_size() == 0) return {};
  return Inliner(model, file).run();
}

}  // namespace intarsia::onnx
