// ONNX files made in tests.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "intarsia/import.h"
#include "onnx_format/onnx_format.pb.h"

namespace intarsia::onnx_models {

namespace format = onnx::format;

inline constexpr int kFloat = 1, kInt8 = 3, kInt64 = 7, kBool = 9;

class Model {
 public:
  explicit Model(int64_t set = 17) {
    model_.set_format_version(8);
    model_.add_operator_set()->set_version(set);
  }

  format::Node& node(const std::string& type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
    format::Node& node = *graph().add_node();
    node.set_type(type), node.set_name("the_" + type);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  Model& input(const std::string& name, const std::vector<int64_t>& shape, int element = kFloat,
               const std::string& symbol = "N") {
    format::Named& named = *graph().add_input();
    named.set_name(name);
    named.mutable_kind()->mutable_tensor()->set_element(element);
    format::Extents& extents = *named.mutable_kind()->mutable_tensor()->mutable_extents();
    for (const int64_t extent : shape)
      if (extent < 0)
        extents.add_dimension()->set_symbol(symbol);
      else
        extents.add_dimension()->set_extent(extent);
    return *this;
  }
  Model& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  format::Tensor& constant(const std::string& name, const std::vector<int64_t>& shape,
                           int element = kFloat) {
    format::Tensor& tensor = *graph().add_initialiser();
    tensor.set_name(name), tensor.set_element(element);
    int64_t count = element == kInt64 ? 8 : element == kInt8 ? 1 : 4;
    for (const int64_t extent : shape) tensor.add_extent(extent), count *= extent;
    tensor.set_raw(std::string(static_cast<size_t>(count), '\1'));
    return tensor;
  }
  // An attribute of an operator.
  static format::Attribute& attribute(format::Node& node, const std::string& name) {
    format::Attribute& attribute = *node.add_attribute();
    attribute.set_name(name);
    return attribute;
  }
  void integers(const std::string& name, const std::vector<int64_t>& values) {
    std::string raw(values.size() * 8, '\0');
    std::memcpy(raw.data(), values.data(), raw.size());
    constant(name, {static_cast<int64_t>(values.size())}, kInt64).set_raw(raw);
  }
  format::Graph& graph() { return *model_.mutable_graph(); }
  format::Model& raw() { return model_; }
  std::string raw_text() const { return model_.SerializeAsString(); }

  // With shapes of inputs, as `--shape` gives them.
  Result<graph::Module> read(Diagnostics* notes = nullptr,
                             const std::map<std::string, Shape>& shapes = {}) const {
    const std::string text = model_.SerializeAsString();
    ImportOptions options;
    options.file = "some/m.onnx", options.notes = notes, options.shapes = shapes;
    return import_model({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, options);
  }
  std::string refusal(const std::map<std::string, Shape>& shapes = {}) const {
    const Result<graph::Module> module = read(nullptr, shapes);
    return module.ok() ? "is taken" : module.error().to_string();
  }

 private:
  format::Model model_;
};

}  // namespace intarsia::onnx_models
