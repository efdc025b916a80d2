#include "import/onnx/learned.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

TensorId feature_rows(Reader& in) {
  const Shape shape = in.shape_of(0);
  if (!in.require(shape.size() == 1 || shape.size() == 2,
                  fmt::format("works on rows of features, not on [{}]", fmt::join(shape, ","))))
    return {};
  TensorId id = in.operand(0);
  if (shape.size() == 1) id = in.reshape(id, {1, shape[0]});
  return in.cast(id, kFloat);
}

TensorId with_row(Reader& in, OpKind kind, TensorId x, const std::vector<float>& row,
                  std::string_view suffix) {
  const TensorId numbers = in.make_constant(real_values({1, std::ssize(row)}, row));
  return in.emit(kind, BinaryAttrs{}, {x, numbers}, kFloat, {}, suffix);
}

TensorId is_above(Reader& in, TensorId x, float bound) {
  return in.emit(OpKind::Greater, NoAttrs{}, {x, in.number(bound)}, DataType::Bool, {}, "above");
}

std::optional<Classes> classes_of(Reader& in, const std::string& integers,
                                  const std::string& strings) {
  Classes classes{in.integers(integers).value_or(std::vector<int64_t>{}), in.texts(strings)};
  if (!in.require(classes.count() > 0, fmt::format("has neither {} nor {}", integers, strings)))
    return std::nullopt;
  return classes;
}

void give_labels(Reader& in, const Classes& classes, TensorId places) {
  if (!classes.names.empty() && in.is_read(0)) {
    std::vector<std::string> shown;
    for (const std::string& name : classes.names) shown.push_back(tflite::printable(name));
    in.remark(fmt::format("gives names of classes, which are numbers here: from 0 on '{}'",
                          fmt::join(shown, "', '")));
  }
  std::vector<int64_t> in_order(static_cast<size_t>(classes.count()));
  std::iota(in_order.begin(), in_order.end(), int64_t{0});
  if (classes.names.empty() && classes.numbers != in_order)
    places = in.emit(
        OpKind::Gather, graph::GatherAttrs{0, 0},
        {in.make_constant(integer_values(DataType::Int32, {classes.count()}, classes.numbers)),
         places},
        DataType::Int32, {}, "label");
  in.result(0, {in.cast(places, DataType::Int64), Form::Plain, {}});
}

void give_best_labels(Reader& in, const Classes& classes, TensorId scores) {
  give_labels(in, classes,
              in.emit(OpKind::ArgMax, graph::AxisAttrs{1}, {scores}, DataType::Int32, {}, "best"));
}

TensorId transformed_scores(Reader& in, TensorId scores) {
  const std::string transform = in.text("post_transform", "NONE");
  if (transform == "NONE") return scores;
  if (transform == "LOGISTIC")
    return in.emit(OpKind::Logistic, NoAttrs{}, {scores}, kFloat, {}, "chances");
  if (transform == "SOFTMAX")
    return in.emit(OpKind::Softmax, graph::SoftmaxAttrs{}, {scores}, kFloat, {}, "chances");
  in.problem(fmt::format("has the post_transform '{}'", tflite::printable(transform)),
             "NONE, LOGISTIC and SOFTMAX are possible");
  return {};
}

TensorId scores_of_two(Reader& in, TensorId score, bool complement) {
  const bool are_chances = in.text("post_transform", "NONE") == "LOGISTIC";
  const TensorId first =
      complement && !are_chances
          ? in.emit(OpKind::Sub, BinaryAttrs{}, {in.number(1), score}, kFloat, {}, "other")
          : in.emit(OpKind::Neg, NoAttrs{}, {score}, kFloat, {}, "other");
  const TensorId both =
      in.emit(OpKind::Concat, graph::AxisAttrs{1}, {first, score}, kFloat, {}, "both");
  return are_chances ? transformed_scores(in, both) : both;
}

TensorId places_above(Reader& in, TensorId score, float bound) {
  return in.reshape(in.cast(is_above(in, score, bound), DataType::Int32), {in.shape(score)[0]});
}

}  // namespace intarsia::onnx
