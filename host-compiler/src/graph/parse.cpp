// Reads the text form that print.cpp describes. Only the syntax is checked here: whether numbers of
// tensors, constants and functions name something is the verifier's question.
#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "intarsia/graph.h"
#include "support/text_reader.h"

namespace intarsia::graph {
namespace {

constexpr int64_t kMostIndex = std::numeric_limits<int32_t>::max();

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : in_(text, file) {}

  Result<Module> run() {
    in_.expect("intarsia.graph");
    module_.name = in_.name("the module's name");
    while (!in_.at_end()) {
      if (in_.accept("const")) {
        constant();
      } else if (in_.accept("func")) {
        function();
      } else if (in_.accept("entry")) {
        in_.expect("@");
        module_.entry = in_.name("the entry function's name");
      } else {
        in_.next();  // reports a malformed token in its own words
        in_.fail("expected 'const', 'func' or 'entry' before this");
      }
    }
    if (!in_.ok()) return in_.error();
    return std::move(module_);
  }

 private:
  // ---- constants ----

  void constant() {
    sequential_index("@", module_.constants.size(), "constants");
    Constant constant;
    constant.name = in_.name("the constant's name");
    in_.expect("=");
    if (in_.is("x")) {
      constant.bytes = in_.hex("the constant");
    } else {
      const DataType type = data_type();
      std::vector<uint8_t> bytes;
      in_.list("[", "]", [&] { append_element(bytes, type); });
      constant.bytes = std::move(bytes);
    }
    module_.constants.push_back(std::move(constant));
  }

  void append_element(std::vector<uint8_t>& bytes, DataType type) {
    const auto append = [&](const auto value) {
      const auto* first = reinterpret_cast<const uint8_t*>(&value);
      bytes.insert(bytes.end(), first, first + sizeof value);
    };
    const auto integer = [&](auto zero) {
      using T = decltype(zero);
      append(static_cast<T>(
          in_.integer("an element", std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
    };
    switch (type) {
      case DataType::Int8:
        return integer(int8_t{});
      case DataType::UInt8:
        return integer(uint8_t{});
      case DataType::Int16:
        return integer(int16_t{});
      case DataType::UInt16:
        return integer(uint16_t{});
      case DataType::Int32:
        return integer(int32_t{});
      case DataType::UInt32:
        return integer(uint32_t{});
      case DataType::Int64:
        return integer(int64_t{});
      case DataType::Float32:
        return append(in_.real("an element"));
      case DataType::Bool:
        return append(static_cast<uint8_t>(in_.boolean("an element")));
      case DataType::Int4:
        return in_.fail("elements of i4 are packed", "write the bytes as x\"...\"");
    }
  }

  // ---- functions ----

  void function() {
    Function function;
    in_.expect("@");
    function.name = in_.name("the function's name");
    function.inputs = operands();
    in_.expect("->");
    function.outputs = operands();
    if (in_.is("[")) placement(&function.target, &function.pin);
    in_.expect("{");
    while (!in_.accept("}") && in_.ok()) {
      if (in_.at_end()) return in_.expect("}");
      if (in_.is("%")) {
        function.tensors.push_back(tensor(function.tensors.size()));
      } else {
        function.nodes.push_back(node());
      }
    }
    module_.functions.push_back(std::move(function));
  }

  Tensor tensor(size_t index) {
    Tensor tensor;
    sequential_index("%", index, "tensors of a function");
    tensor.name = in_.name("the tensor's name");
    in_.expect(":");
    tensor.type = data_type();
    in_.list("[", "]", [&] { tensor.shape.push_back(in_.integer("an extent", 0)); });
    if (in_.accept("q")) tensor.quantization = quantization();
    tensor.variable = in_.accept("variable");
    if (in_.accept("=")) {
      in_.expect("@");
      tensor.constant.index = index_number("the number of a constant");
    }
    if (in_.accept("initial")) {
      in_.expect("@");
      tensor.initial.index = index_number("the number of a constant");
    }
    return tensor;
  }

  Quantization quantization() {
    Quantization quantization;
    in_.expect("(");
    quantization.in_single_precision = in_.accept("single");
    if (quantization.in_single_precision) in_.expect(";");
    if (in_.accept("axis")) {
      in_.expect("=");
      quantization.axis = index_number("the axis of quantisation");
      if (in_.accept(")")) return quantization;
      in_.expect(";");
    }
    do {
      quantization.scale.push_back(in_.real("a scale"));
      quantization.zero_point.push_back(in_.accept(":") ? in_.integer("a zero point") : 0);
    } while (in_.accept(","));
    in_.expect(")");
    return quantization;
  }

  Node node() {
    Node node;
    const Token word = in_.peek();
    const std::string kind = in_.word("an operator or '}'");
    if (const std::optional<OpKind> known = op_kind_from_string(kind)) {
      node.kind = *known;
    } else if (in_.ok()) {
      in_.fail_at(word, fmt::format("unknown operator '{}'", kind), similar(kind));
    }
    node.name = in_.name("the operator's name");
    node.inputs = operands();
    in_.expect("->");
    node.outputs = operands();
    node.attributes = default_attributes(node.kind);
    if (in_.is("{")) std::visit([&](auto& attributes) { fields(attributes); }, node.attributes);
    if (in_.is("[")) placement(nullptr, &node.pin);
    return node;
  }

  static std::string similar(const std::string& kind) {
    const std::string nearest = nearest_name(kind, {
#define OP(name, text, attrs, least, most, outputs) text,
#include "intarsia/graph/op_kinds.def"
#undef OP
                                                   });
    return nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest);
  }

  // ---- attributes ----

  template <typename Struct>
  void fields(Struct& value) {
    in_.list("{", "}", [&] {
      const Token word = in_.peek();
      const std::string name = in_.word("an attribute");
      in_.expect("=");
      if (!in_.ok()) return;
      bool known = false;
      std::vector<std::string> names;
      Struct::fields(value, [&](const char* field, auto& place) {
        names.push_back(field);
        if (name != field) return;
        known = true;
        read(place);
      });
      const std::string nearest = nearest_name(name, names);
      if (!known)
        in_.fail_at(word, fmt::format("unknown attribute '{}'", name),
                    nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
    });
  }

  void read(int64_t& value) {
    value = in_.integer("the attribute");
  }
  void read(bool& value) {
    value = in_.boolean("the attribute");
  }
  void read(float& value) {
    value = in_.real("the attribute");
  }
  void read(std::string& value) {
    value = in_.name("the attribute");
  }
  void read(std::vector<int64_t>& value) {
    value.clear();
    in_.list("[", "]", [&] { value.push_back(in_.integer("an element")); });
  }
  void read(Activation& value) {
    const Token word = in_.peek();
    const std::optional<Activation> known = activation_from_string(in_.word("an activation"));
    if (known) value = *known;
    if (!known)
      in_.fail_at(word, fmt::format("unknown activation '{}'", word.text),
                  "use none, relu, relu_n1_to_1 or relu6");
  }
  template <typename Struct>
  void read(Struct& value) {
    value = {};  // what is left out is the structure's default, not that of the place
    fields(value);
  }

  // ---- small parts ----

  DataType data_type() {
    const Token word = in_.peek();
    const std::optional<DataType> type = data_type_from_string(in_.word("an element type"));
    if (!type) in_.fail_at(word, fmt::format("unknown element type '{}'", word.text));
    return type.value_or(DataType::Int8);
  }

  std::vector<TensorId> operands() {
    std::vector<TensorId> ids;
    in_.list("(", ")", [&] {
      if (in_.accept("_")) {
        ids.push_back(TensorId{});
      } else {
        in_.expect("%");
        ids.push_back({index_number("the number of a tensor")});
      }
    });
    return ids;
  }

  // [target=npu, pin=npu]; of a node, pin only.
  void placement(std::string* target, std::string* pin) {
    in_.list("[", "]", [&] {
      if (target != nullptr && in_.accept("target")) {
        in_.expect("=");
        *target = in_.name("a device of the composite target");
      } else {
        in_.expect("pin");
        in_.expect("=");
        *pin = in_.name("a device of the composite target");
      }
    });
  }

  int32_t index_number(std::string_view what) {
    return static_cast<int32_t>(in_.integer(what, 0, kMostIndex));
  }

  void sequential_index(std::string_view mark, size_t expected, std::string_view of) {
    const Token place = in_.peek();
    in_.expect(mark);
    const int64_t index = in_.integer("a number", 0, kMostIndex);
    if (in_.ok() && static_cast<size_t>(index) != expected)
      in_.fail_at(
          place, fmt::format("{} are numbered from 0 in order: expected {}{}", of, mark, expected));
  }

  TextReader in_;
  Module module_;
};

}  // namespace

Result<Module> parse(std::string_view text, std::string_view file) {
  return Parser(text, file).run();
}

}  // namespace intarsia::graph
