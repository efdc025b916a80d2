// Lines and support vectors of classical machine learning: products with known matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/coupled_chances.h"
#include "import/onnx/learned.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/weighted.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// x [rows,features] times the rows of a matrix that is known, and an offset for each of these.
TensorId line(Reader& in, TensorId x, const std::vector<float>& matrix,
              const std::vector<float>& offsets, int64_t results) {
  const int64_t features = in.shape(x)[1];
  if (!in.require(results > 0 && std::ssize(matrix) == results * features,
                  fmt::format("has {} coefficients for {} results of {} features", matrix.size(),
                              results, features)) ||
      !in.require(offsets.empty() || std::ssize(offsets) == results,
                  fmt::format("has {} offsets for {} results", offsets.size(), results)))
    return {};
  const TensorId weights = in.make_constant(real_values({results, features}, matrix));
  const TensorId y = matrix_product(in, x, in.transpose(weights, {1, 0}), kFloat, {});
  return offsets.empty() ? y : with_row(in, OpKind::Add, y, offsets, "offset");
}

struct Kernel {
  std::string type;
  float gamma = 0, offset = 0, degree = 0;
};

Kernel kernel_of(Reader& in) {
  std::vector<float> parameters = in.reals("kernel_params");
  parameters.resize(3, 0);
  return {in.text("kernel_type", "LINEAR"), parameters[0], parameters[1], parameters[2]};
}

// exp(-gamma |x - v|^2) as exp(2 gamma xv - gamma v^2 - gamma x^2), around the middle of the vectors, where the squares are not so large that
// their difference loses digits.
TensorId radial(Reader& in, TensorId x, std::vector<float> vectors, int64_t count, float gamma) {
  const auto width = static_cast<size_t>(in.shape(x)[1]);
  std::vector<float> middle(width), squares(static_cast<size_t>(count));
  for (size_t i = 0; i < width; ++i) {
    double sum = 0;
    for (size_t at = i; at < vectors.size(); at += width) sum += vectors[at];
    middle[i] = static_cast<float>(sum / static_cast<double>(count));
  }
  for (size_t v = 0; v < squares.size(); ++v) {
    double square = 0;
    for (size_t i = 0; i < width; ++i) {
      float& element = vectors[v * width + i];
      element -= middle[i];
      square += static_cast<double>(element) * element;
      element *= 2 * gamma;
    }
    squares[v] = static_cast<float>(-gamma * square);
  }
  const TensorId centred = with_row(in, OpKind::Sub, x, middle, "centred");
  const TensorId square = in.emit_alike(OpKind::Square, NoAttrs{}, {centred}, "square");
  const TensorId length =
      in.emit(OpKind::Mul, BinaryAttrs{},
              {in.emit(OpKind::Sum, graph::ReduceAttrs{{1}, true}, {square}, kFloat, {}, "length"),
               in.number(gamma)},
              kFloat, {}, "length");
  const TensorId products = line(in, centred, vectors, squares, count);
  if (!in.ok()) return {};
  return in.emit_alike(
      OpKind::Exp, NoAttrs{},
      {in.emit(OpKind::Sub, BinaryAttrs{}, {products, length}, kFloat, {}, "distance")}, "near");
}

// How near each row is to each of the vectors: [rows,vectors].
TensorId nearness(Reader& in, TensorId x, std::vector<float> vectors, int64_t count) {
  const Kernel kernel = kernel_of(in);
  if (!in.require(count > 0 && std::ssize(vectors) == count * in.shape(x)[1],
                  fmt::format("has {} numbers for {} support vectors of {} features",
                              vectors.size(), count, in.shape(x)[1])))
    return {};
  if (kernel.type == "RBF") return radial(in, x, std::move(vectors), count, kernel.gamma);
  if (kernel.type == "LINEAR") return line(in, x, vectors, {}, count);
  if (!in.require(kernel.type == "POLY" || kernel.type == "SIGMOID",
                  fmt::format("has the kernel '{}'", tflite::printable(kernel.type)),
                  "LINEAR, POLY, RBF and SIGMOID are possible"))
    return {};
  for (float& element : vectors) element *= kernel.gamma;
  const std::vector<float> offsets(static_cast<size_t>(count), kernel.offset);
  const TensorId y = line(in, x, vectors, offsets, count);
  if (!in.ok()) return {};
  if (kernel.type == "SIGMOID") return in.emit_alike(OpKind::Tanh, NoAttrs{}, {y}, "near");
  return in.emit(OpKind::Pow, NoAttrs{}, {y, in.number(kernel.degree)}, kFloat, {}, "near");
}

// The coefficients of the comparison of every two classes, a row for each: a vector of the first class has one for each of the others.
std::vector<float> compared_by_two(const std::vector<float>& coefficients,
                                   const std::vector<int64_t>& vectors_per_class) {
  const size_t count = coefficients.size() / std::max<size_t>(vectors_per_class.size() - 1, 1);
  std::vector<size_t> begin{0};
  for (const int64_t vectors : vectors_per_class)
    begin.push_back(begin.back() + static_cast<size_t>(vectors));
  std::vector<float> rows;
  for (size_t i = 0; i + 1 < vectors_per_class.size(); ++i)
    for (size_t j = i + 1; j < vectors_per_class.size(); ++j) {
      std::vector<float> row(count, 0.0f);
      for (size_t v = begin[i]; v < begin[i + 1]; ++v) row[v] = coefficients[(j - 1) * count + v];
      for (size_t v = begin[j]; v < begin[j + 1]; ++v) row[v] = coefficients[i * count + v];
      rows.insert(rows.end(), row.begin(), row.end());
    }
  return rows;
}

// How often each class is the one of the two: [rows,classes].
TensorId votes(Reader& in, TensorId scores, int64_t classes) {
  const int64_t pairs = in.shape(scores)[1];
  const TensorId above = in.cast(is_above(in, scores, 0), kFloat);
  std::vector<float> for_class(static_cast<size_t>(classes * pairs), 0.0f),
      against(static_cast<size_t>(classes), 0.0f);
  size_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      for_class[static_cast<size_t>(i * pairs) + pair] = 1;
      for_class[static_cast<size_t>(j * pairs) + pair] = -1;
      against[static_cast<size_t>(j)] += 1;
    }
  return line(in, above, for_class, against, classes);
}

constexpr int64_t kMostCoupled = 16;

// 1 / (1 + exp(slope s + shift)) of each comparison, which is never quite 0 or 1, and what these say of all classes.
TensorId chances_of_scores(Reader& in, TensorId scores, int64_t classes,
                           const std::vector<float>& slopes, const std::vector<float>& shifts) {
  std::vector<float> negated_slopes, negated_shifts;
  for (const float slope : slopes) negated_slopes.push_back(-slope);
  for (const float shift : shifts) negated_shifts.push_back(-shift);
  const TensorId scaled = with_row(in, OpKind::Mul, scores, negated_slopes, "scaled"),
                 shifted = with_row(in, OpKind::Add, scaled, negated_shifts, "scaled");
  TensorId first = in.emit_alike(OpKind::Logistic, NoAttrs{}, {shifted}, "first");
  first = in.emit_alike(OpKind::Maximum, NoAttrs{}, {first, in.number(1e-7f)}, "first");
  first = in.emit_alike(OpKind::Minimum, NoAttrs{}, {first, in.number(1 - 1e-7f)}, "first");
  return in.ok() ? coupled_chances(in, first, classes, line) : TensorId{};
}

}  // namespace

void read_linear_regressor(Reader& in) {
  const TensorId x = feature_rows(in);
  if (!in.ok()) return;
  const TensorId y =
      line(in, x, in.reals("coefficients"), in.reals("intercepts"), in.integer("targets", 1));
  if (in.ok()) in.result(transformed_scores(in, y));
}

void read_linear_classifier(Reader& in) {
  const TensorId x = feature_rows(in);
  const auto classes = classes_of(in, "classlabels_ints", "classlabels_strings");
  if (!in.ok() || !classes) return;
  const std::vector<float> matrix = in.reals("coefficients");
  const int64_t results = std::ssize(matrix) / std::max<int64_t>(in.shape(x)[1], 1);
  const TensorId scores = line(in, x, matrix, in.reals("intercepts"), results);
  if (!in.ok()) return;
  const bool is_one_of_two = results == 1 && classes->count() == 2;
  if (!in.require(is_one_of_two || results == classes->count(),
                  fmt::format("has {} scores for {} classes", results, classes->count())))
    return;
  if (is_one_of_two) {
    in.result(1, {scores_of_two(in, scores, true), Form::Plain, {}});
    return give_labels(in, *classes, places_above(in, scores, 0));
  }
  in.result(1, {transformed_scores(in, scores), Form::Plain, {}});
  give_best_labels(in, *classes, scores);
}

void read_support_vector_regressor(Reader& in) {
  const TensorId x = feature_rows(in);
  if (!in.ok()) return;
  const int64_t count = in.integer("n_supports", 0);
  const std::vector<float> rho = in.reals("rho");
  const TensorId near = count > 0 ? nearness(in, x, in.reals("support_vectors"), count) : x;
  if (!in.ok()) return;
  TensorId y = line(in, near, in.reals("coefficients"), rho, 1);
  if (!in.ok()) return;
  if (in.integer("one_class", 0) == 0) return in.result(transformed_scores(in, y));
  const TensorId inside =
      in.emit(OpKind::Greater, NoAttrs{}, {y, in.number(0)}, DataType::Bool, {}, "inside");
  in.result(in.emit(OpKind::Select, NoAttrs{}, {inside, in.number(1), in.number(-1)}, kFloat));
}

void read_support_vector_classifier(Reader& in) {
  const TensorId x = feature_rows(in);
  const auto classes = classes_of(in, "classlabels_ints", "classlabels_strings");
  if (!in.ok() || !classes) return;
  const auto per_class = in.integers("vectors_per_class").value_or(std::vector<int64_t>{});
  int64_t vectors = 0;
  for (const int64_t count : per_class) vectors += std::max<int64_t>(count, 0);
  const std::vector<float> coefficients = in.reals("coefficients"), rho = in.reals("rho");
  const int64_t count = classes->count(), pairs = count * (count - 1) / 2;
  const std::vector<float> slopes = in.reals("prob_a"), shifts = in.reals("prob_b");
  if (!in.require(slopes.empty() ? shifts.empty()
                                 : std::ssize(slopes) == pairs && std::ssize(shifts) == pairs,
                  fmt::format("has {} and {} numbers for the chances of {} comparisons",
                              slopes.size(), shifts.size(), pairs)) ||
      !in.require(
          slopes.empty() || count <= kMostCoupled,
          fmt::format("gives chances of {} classes", count),
          fmt::format("up to {} are possible; train it without probability=True", kMostCoupled)) ||
      !in.require(vectors > 0, "has no support vectors", "export a linear model as LinearSVC") ||
      !in.require(count >= 2 && std::ssize(per_class) == count &&
                      std::ssize(coefficients) == vectors * (count - 1) && std::ssize(rho) == pairs,
                  fmt::format("has {} coefficients and {} offsets for {} vectors of {} classes",
                              coefficients.size(), rho.size(), vectors, count)))
    return;
  const TensorId near = nearness(in, x, in.reals("support_vectors"), vectors);
  if (!in.ok()) return;
  const TensorId scores = line(in, near, compared_by_two(coefficients, per_class), rho, pairs);
  if (!in.ok()) return;
  give_best_labels(in, *classes, votes(in, scores, count));
  const TensorId given = !slopes.empty() ? chances_of_scores(in, scores, count, slopes, shifts)
                         : count == 2    ? scores_of_two(in, scores, false)
                                         : transformed_scores(in, scores);
  if (in.ok()) in.result(1, {given, Form::Plain, {}});
}

}  // namespace intarsia::onnx
