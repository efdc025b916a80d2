// What classical machine learning does to features before and behind its models (ai.onnx.ml).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "import/onnx/elements.h"
#include "import/onnx/learned.h"
#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// A number for each feature, or one for all of them.
TensorId of_features(Reader& in, const std::vector<float>& numbers, int64_t features,
                     std::string_view what) {
  if (!in.require(numbers.size() == 1 || std::ssize(numbers) == features,
                  fmt::format("has {} {} for {} features", numbers.size(), what, features)))
    return {};
  return in.make_constant(real_values({std::ssize(numbers)}, numbers));
}

TensorId floats(Reader& in) {
  return in.cast(in.operand(0), kFloat);
}

}  // namespace

void read_scaler(Reader& in) {
  const Shape shape = in.shape_of(0);
  if (!in.require(!shape.empty(), "works on a scalar")) return;
  TensorId x = floats(in);
  if (const auto offsets = in.reals("offset"); !offsets.empty())
    x = in.emit(OpKind::Sub, BinaryAttrs{}, {x, of_features(in, offsets, shape.back(), "offsets")},
                kFloat, {}, "offset");
  if (const auto factors = in.reals("scale"); in.ok() && !factors.empty())
    x = in.emit(OpKind::Mul, BinaryAttrs{}, {x, of_features(in, factors, shape.back(), "factors")},
                kFloat, {}, "scale");
  if (in.ok()) in.result(x);
}

// Rows over their sum of magnitudes, their length or their largest element; a row that has none stays as it is.
void read_normalizer(Reader& in) {
  const TensorId x = feature_rows(in);
  if (!in.ok()) return;
  const std::string norm = in.text("norm", "MAX");
  const auto over_rows = [&](OpKind kind, TensorId id) {
    return in.emit(kind, graph::ReduceAttrs{{1}, true}, {id}, kFloat, {}, "norm");
  };
  TensorId size;
  if (norm == "L1")
    size = over_rows(OpKind::Sum, in.emit_alike(OpKind::Abs, NoAttrs{}, {x}, "magnitude"));
  else if (norm == "L2")
    size = in.emit_alike(
        OpKind::Sqrt, NoAttrs{},
        {over_rows(OpKind::Sum, in.emit_alike(OpKind::Square, NoAttrs{}, {x}, "square"))}, "root");
  else if (norm == "MAX")
    size = over_rows(OpKind::ReduceMax, x);
  else
    return in.problem(fmt::format("has the norm '{}'", tflite::printable(norm)),
                      "MAX, L1 and L2 are possible");
  const TensorId none =
      in.emit(OpKind::Equal, NoAttrs{}, {size, in.number(0)}, DataType::Bool, {}, "none");
  const TensorId by =
      in.emit(OpKind::Select, NoAttrs{}, {none, in.number(1), size}, kFloat, {}, "by");
  in.result(in.emit(OpKind::Div, BinaryAttrs{}, {x, by}, kFloat));
}

void read_binarizer(Reader& in) {
  const TensorId above = is_above(in, floats(in), in.real("threshold", 0));
  in.result(in.cast(above, in.tensor(in.operand(0)).type));
}

// What is the number that stands for absent values becomes another one.
void read_imputer(Reader& in) {
  const Shape shape = in.shape_of(0);
  const std::vector<float> values = in.reals("imputed_value_floats");
  if (!in.require(!shape.empty() && !values.empty(), "has no values of floats to put") ||
      !in.require(in.tensor(in.operand(0)).type == kFloat,
                  fmt::format("works on {}", to_string(in.tensor(in.operand(0)).type)),
                  "floats are possible"))
    return;
  const TensorId x = in.operand(0), put = of_features(in, values, shape.back(), "values");
  const float absent = in.real("replaced_value_float", 0);
  if (!in.ok()) return;
  const TensorId is_absent =
      std::isnan(absent)
          ? in.emit(OpKind::NotEqual, NoAttrs{}, {x, x}, DataType::Bool, {}, "absent")
          : in.emit(OpKind::Equal, NoAttrs{}, {x, in.number(absent)}, DataType::Bool, {}, "absent");
  in.result(in.emit(OpKind::Select, NoAttrs{}, {is_absent, put, x}, kFloat));
}

// Elements of the last axis at places that are one row.
void read_array_feature_extractor(Reader& in) {
  const Shape shape = in.shape_of(0);
  if (!in.require(!shape.empty(), "works on a scalar")) return;
  const TensorId places =
      in.reshape(in.cast(in.operand(1), DataType::Int32), {element_count(in.shape_of(1))});
  const int64_t last = std::ssize(shape) - 1;
  move(in, [&](TensorId id) {
    const TensorId taken =
        in.emit_alike(OpKind::Gather, graph::GatherAttrs{last, 0}, {id, places}, "taken");
    return last == 0 ? in.reshape(taken, {1, element_count(in.shape(places))}) : taken;
  });
}

// Scores become a map from labels in Python. Here they stay a tensor.
void read_zip_map(Reader& in) {
  in.remark("makes maps from labels to scores; here they stay a tensor, in the order of the labels",
            "export with zipmap=False (skl2onnx, onnxmltools) for the same output elsewhere");
  in.result(in.operand(0));
}

// Numbers by a table of numbers: an element that is no key gets the default.
void read_label_encoder(Reader& in) {
  const auto whole_keys = in.integers("keys_int64s");
  const auto whole_values = in.integers("values_int64s");
  const std::vector<float> real_keys = in.reals("keys_floats"), real = in.reals("values_floats");
  const size_t keys = whole_keys ? whole_keys->size() : real_keys.size();
  const size_t values = whole_values ? whole_values->size() : real.size();
  if (!in.require(keys > 0 && keys == values, "has no table from numbers to numbers",
                  "encode strings outside of the model") ||
      !table_fits(in, element_count(in.shape_of(0)) * static_cast<int64_t>(keys)))
    return;
  const auto count = static_cast<int64_t>(keys);
  // One key more, which every element meets.
  Shape apart = in.shape_of(0), row{count + 1};
  apart.push_back(1);
  const auto with_last = [](auto numbers) {
    numbers.push_back(numbers.back());
    return numbers;
  };
  const TensorId x =
      in.reshape(whole_keys ? in.cast(in.operand(0), DataType::Int32) : floats(in), apart);
  const TensorId table =
      whole_keys ? in.make_constant(integer_values(DataType::Int32, row, with_last(*whole_keys)))
                 : in.make_constant(real_values(row, with_last(real_keys)));
  std::vector<int64_t> is_last(keys + 1, 0);
  is_last.back() = 1;
  const TensorId here =
      in.emit(OpKind::LogicalOr, NoAttrs{},
              {in.emit(OpKind::Equal, NoAttrs{}, {x, table}, DataType::Bool, {}, "here"),
               in.make_constant(integer_values(DataType::Bool, row, is_last))},
              DataType::Bool, {}, "here_or_last");
  const TensorId place = in.emit(OpKind::ArgMax, graph::AxisAttrs{std::ssize(apart) - 1},
                                 {in.cast(here, kFloat)}, DataType::Int32, {}, "place");
  if (!in.ok()) return;
  if (whole_values) {
    std::vector<int64_t> all = *whole_values;
    all.push_back(in.integer("default_int64", -1));
    const TensorId known = in.make_constant(integer_values(DataType::Int32, {count + 1}, all));
    return in.result(in.cast(
        in.emit_alike(OpKind::Gather, graph::GatherAttrs{0, 0}, {known, place}), DataType::Int64));
  }
  std::vector<float> all = real;
  all.push_back(in.real("default_float", 0));
  in.result(in.emit_alike(OpKind::Gather, graph::GatherAttrs{0, 0},
                          {in.make_constant(real_values({count + 1}, all)), place}));
}

// One column for each category, 1 where it is the element's.
void read_one_hot_encoder(Reader& in) {
  const auto categories = in.integers("cats_int64s");
  if (!in.require(categories && !categories->empty(), "has no categories that are whole numbers",
                  "encode strings outside of the model") ||
      !in.require(in.integer("zeros", 1) != 0, "fails where an element is in no category",
                  "export with zeros=1, which gives a row of zeros"))
    return;
  Shape apart = in.shape_of(0);
  if (!table_fits(in, element_count(apart) * std::ssize(*categories))) return;
  apart.push_back(1);
  // Floats are cut off, as onnxruntime does.
  const TensorId x = in.reshape(in.cast(in.operand(0), DataType::Int32), apart);
  const TensorId table =
      in.make_constant(integer_values(DataType::Int32, {std::ssize(*categories)}, *categories));
  const TensorId here = in.emit(OpKind::Equal, NoAttrs{}, {x, table}, DataType::Bool, {}, "here");
  in.result(in.cast(here, kFloat));
}

// Features of several operands beside each other.
void read_feature_vectorizer(Reader& in) {
  std::vector<TensorId> parts;
  for (size_t i = 0; i < in.node().inputs.size(); ++i) {
    TensorId part = in.cast(in.operand(i), kFloat);
    if (in.shape(part).size() == 1) part = in.reshape(part, {1, in.shape(part)[0]});
    parts.push_back(part);
  }
  if (in.ok()) in.result(in.emit(OpKind::Concat, graph::AxisAttrs{1}, parts, kFloat));
}

}  // namespace intarsia::onnx
