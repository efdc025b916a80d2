#include "import/onnx/fold_integers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "import/onnx/known_operators.h"

namespace intarsia::onnx {

namespace {

// Tables of thousands of numbers are no shapes.
constexpr int64_t kMostNumbers = 1 << 16;

int64_t wrapped(uint64_t value) {
  return static_cast<int64_t>(value);
}
uint64_t raw(int64_t value) {
  return static_cast<uint64_t>(value);
}

struct OfTwo {
  std::string_view type;
  bool gives_bool;
  int64_t (*compute)(int64_t a, int64_t b);  // sums and products wrap around
};
constexpr auto kOfTwo = std::to_array<OfTwo>({
    {"Add", false, [](int64_t a, int64_t b) { return wrapped(raw(a) + raw(b)); }},
    {"Sub", false, [](int64_t a, int64_t b) { return wrapped(raw(a) - raw(b)); }},
    {"Mul", false, [](int64_t a, int64_t b) { return wrapped(raw(a) * raw(b)); }},
    {"Div", false, [](int64_t a, int64_t b) { return b == -1 ? wrapped(-raw(a)) : a / b; }},
    {"Mod", false,
     [](int64_t a, int64_t b) {
       const int64_t rest = b == -1 ? 0 : a % b;
       return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
     }},
    {"Min", false, [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"Max", false, [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"Equal", true, [](int64_t a, int64_t b) { return int64_t{a == b}; }},
    {"Greater", true, [](int64_t a, int64_t b) { return int64_t{a > b}; }},
    {"GreaterOrEqual", true, [](int64_t a, int64_t b) { return int64_t{a >= b}; }},
    {"Less", true, [](int64_t a, int64_t b) { return int64_t{a < b}; }},
    {"LessOrEqual", true, [](int64_t a, int64_t b) { return int64_t{a <= b}; }},
    {"And", true, [](int64_t a, int64_t b) { return a & b; }},
    {"Or", true, [](int64_t a, int64_t b) { return a | b; }},
    {"Xor", true, [](int64_t a, int64_t b) { return a ^ b; }},
});

struct OfOne {
  std::string_view type;
  int64_t (*compute)(int64_t a);
};
constexpr auto kOfOne = std::to_array<OfOne>({
    {"Neg", [](int64_t a) { return wrapped(-raw(a)); }},
    {"Abs", [](int64_t a) { return a < 0 ? wrapped(-raw(a)) : a; }},
    {"Sign", [](int64_t a) { return int64_t{a > 0} - int64_t{a < 0}; }},
    {"Not", [](int64_t a) { return int64_t{a == 0}; }},
});

struct OfMany {
  std::string_view type;
  int64_t first;
  int64_t (*add)(int64_t sum, int64_t value);
};
constexpr auto kOfMany = std::to_array<OfMany>({
    {"ReduceSum", 0, kOfTwo[0].compute},
    {"ReduceProd", 1, kOfTwo[2].compute},
    {"ReduceMin", INT64_MAX, kOfTwo[5].compute},
    {"ReduceMax", INT64_MIN, kOfTwo[6].compute},
});

struct Numbers {
  DataType type;
  Shape shape;
  std::vector<int64_t> values;
};

std::optional<Shape> common_shape(const std::vector<Numbers>& operands) {
  Shape shape;
  for (const Numbers& operand : operands) {
    if (operand.shape.size() > shape.size())
      shape.insert(shape.begin(), operand.shape.size() - shape.size(), 1);
    for (size_t i = 0; i < operand.shape.size(); ++i) {
      int64_t& extent = shape[shape.size() - 1 - i];
      const int64_t own = operand.shape[operand.shape.size() - 1 - i];
      if (extent != 1 && own != 1 && extent != own) return std::nullopt;
      extent = extent == 1 ? own : extent;
    }
  }
  return shape;
}

// The place in `own` of element `index` of `shape`, to which it is broadcast.
size_t place_in(const Shape& own, const Shape& shape, int64_t index) {
  int64_t place = 0, step = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t at = index % shape[shape.size() - 1 - i];
    index /= shape[shape.size() - 1 - i];
    if (i >= own.size()) continue;
    const int64_t extent = own[own.size() - 1 - i];
    place += (extent == 1 ? 0 : at) * step, step *= extent;
  }
  return static_cast<size_t>(place);
}

std::optional<Numbers> folded(const OfTwo& what, const std::vector<Numbers>& operands) {
  const std::optional<Shape> shape = common_shape(operands);
  if (!shape || element_count(*shape) > kMostNumbers) return std::nullopt;
  const bool divides = what.type == "Div" || what.type == "Mod";
  Numbers result{what.gives_bool ? DataType::Bool : operands[0].type, *shape, {}};
  for (int64_t i = 0; i < element_count(*shape); ++i) {
    int64_t value = operands[0].values[place_in(operands[0].shape, *shape, i)];
    for (size_t k = 1; k < operands.size(); ++k) {
      const int64_t other = operands[k].values[place_in(operands[k].shape, *shape, i)];
      if (divides && other == 0) return std::nullopt;
      value = what.compute(value, other);
    }
    result.values.push_back(value);
  }
  return result;
}

std::optional<Numbers> chosen(const std::vector<Numbers>& operands) {
  const std::optional<Shape> shape = common_shape(operands);
  if (!shape || operands.size() != 3 || element_count(*shape) > kMostNumbers) return std::nullopt;
  Numbers result{operands[1].type, *shape, {}};
  for (int64_t i = 0; i < element_count(*shape); ++i) {
    const Numbers& from =
        operands[operands[0].values[place_in(operands[0].shape, *shape, i)] != 0 ? 1 : 2];
    result.values.push_back(from.values[place_in(from.shape, *shape, i)]);
  }
  return result;
}

// Over all axes, or over those that an attribute or the second operand names.
std::optional<Numbers> reduced(Reader& in, const OfMany& what,
                               const std::vector<Numbers>& operands) {
  const Numbers& x = operands[0];
  std::vector<int64_t> axes = operands.size() > 1
                                  ? operands[1].values
                                  : in.integers("axes").value_or(std::vector<int64_t>{});
  if (axes.empty() && in.integer("noop_with_empty_axes", 0) != 0) return x;
  std::vector<bool> goes(x.shape.size(), axes.empty());
  for (const int64_t axis : axes) {
    const int64_t at = axis < 0 ? axis + std::ssize(x.shape) : axis;
    if (at < 0 || at >= std::ssize(x.shape)) return std::nullopt;
    goes[static_cast<size_t>(at)] = true;
  }
  Shape kept = x.shape, shape;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (goes[i]) kept[i] = 1;
    if (!goes[i] || in.integer("keepdims", 1) != 0) shape.push_back(kept[i]);
  }
  std::vector<int64_t> sums(static_cast<size_t>(element_count(kept)), what.first);
  for (size_t i = 0; i < x.values.size(); ++i) {
    int64_t& sum = sums[place_in(kept, x.shape, static_cast<int64_t>(i))];
    sum = what.add(sum, x.values[i]);
  }
  return Numbers{x.type, shape, sums};
}

std::optional<Numbers> computed(Reader& in, const std::vector<Numbers>& operands) {
  const std::string& type = in.node().type;
  if (const auto two = std::ranges::find(kOfTwo, type, &OfTwo::type); two != kOfTwo.end()) {
    if (type == "Mod" && in.integer("fmod", 0) != 0) return std::nullopt;
    return folded(*two, operands);
  }
  if (const auto one = std::ranges::find(kOfOne, type, &OfOne::type); one != kOfOne.end()) {
    Numbers result = operands[0];
    std::ranges::transform(result.values, result.values.begin(), one->compute);
    return result;
  }
  if (const auto many = std::ranges::find(kOfMany, type, &OfMany::type); many != kOfMany.end())
    return reduced(in, *many, operands);
  return type == "Where" ? chosen(operands) : std::nullopt;
}

// Element by element there is nothing of nothing; over all of them the first number of a sum or a product.
bool fold_nothing(Reader& in) {
  const std::string& type = in.node().type;
  if (const auto many = std::ranges::find(kOfMany, type, &OfMany::type); many != kOfMany.end()) {
    if (!in.is_empty(0) || in.shape_of(0).size() != 1) return false;
    in.result(in.make_constant(integer_values(
        DataType::Int64, in.integer("keepdims", 1) != 0 ? Shape{1} : Shape{}, {many->first})));
    return true;
  }
  bool some = false;
  for (size_t i = 0; i < in.node().inputs.size(); ++i) some |= in.is_empty(i);
  if (!some) return false;
  const bool is_elementwise = std::ranges::find(kOfTwo, type, &OfTwo::type) != kOfTwo.end() ||
                              std::ranges::find(kOfOne, type, &OfOne::type) != kOfOne.end() ||
                              works_on_elements(in.node().domain, type);
  if (!is_elementwise) return false;
  std::vector<Numbers> operands;
  for (size_t i = 0; i < in.node().inputs.size(); ++i)
    if (in.has(i) || in.is_empty(i)) operands.push_back({DataType::Int64, in.shape_of(i), {}});
  const std::optional<Shape> shape = common_shape(operands);
  if (in.require(shape.has_value(), "has operands of shapes that do not fit each other"))
    in.result_empty(0, *shape);
  return true;
}

}  // namespace

bool fold_integers(Reader& in) {
  if (in.node().inputs.empty()) return false;
  if (fold_nothing(in)) return true;
  std::vector<Numbers> operands;
  for (size_t i = 0; i < in.node().inputs.size(); ++i) {
    if (!in.has(i)) return false;
    const Value& value = in.value(i);
    const graph::Tensor& tensor = in.tensor(value.tensor);
    const bool whole = is_integer(tensor.type) || tensor.type == DataType::Bool;
    if (value.form != Form::Plain || !tensor.constant.valid() || !whole || bits(tensor.type) < 8 ||
        element_count(tensor.shape) > kMostNumbers || tensor.type == DataType::UInt32)
      return false;
    operands.push_back({tensor.type, tensor.shape, as_integers(in.values_of(value.tensor))});
  }
  const std::optional<Numbers> result = computed(in, operands);
  if (!result) return false;
  in.result(in.make_constant(integer_values(result->type, result->shape, result->values)));
  return true;
}

}  // namespace intarsia::onnx
