// What the operators of classical machine learning (ai.onnx.ml) share: rows of features, scores of classes and labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Operand 0 as floats [rows,features]; one row where it has one axis. No tensor, and a problem, where it has more than two.
graph::TensorId feature_rows(Reader& in);

// `x` [rows,columns] and a known number for each column, by an arithmetic of two.
graph::TensorId with_row(Reader& in, graph::OpKind kind, graph::TensorId x,
                         const std::vector<float>& row, std::string_view suffix);
// Where x is above the bound, as truth values.
graph::TensorId is_above(Reader& in, graph::TensorId x, float bound);

// The classes of a classifier, in the order of its scores. Those with names are known by their places.
struct Classes {
  std::vector<int64_t> numbers;
  std::vector<std::string> names;

  int64_t count() const { return names.empty() ? std::ssize(numbers) : std::ssize(names); }
};

// From the attribute with integers or the one with strings; a problem where both are absent.
std::optional<Classes> classes_of(Reader& in, const std::string& integers,
                                  const std::string& strings);

// Output 0: the label of the class at each of these places, [rows] of int32. What has names gives places, which a remark says.
void give_labels(Reader& in, const Classes& classes, graph::TensorId places);
// The same by the largest score of each row, the first of several.
void give_best_labels(Reader& in, const Classes& classes, graph::TensorId scores);

// Scores [rows,classes] after the attribute post_transform; a problem where that is one that nobody computes so.
graph::TensorId transformed_scores(Reader& in, graph::TensorId scores);

// [rows,2] out of the score of the second class, [rows,1], where the first has none of its own. `complement`: the first is 1 less it,
// else it negated; of chances (LOGISTIC) both are the same.
graph::TensorId scores_of_two(Reader& in, graph::TensorId score, bool complement);
// 1 where the score [rows,1] is above the bound, as places [rows].
graph::TensorId places_above(Reader& in, graph::TensorId score, float bound);

}  // namespace intarsia::onnx
