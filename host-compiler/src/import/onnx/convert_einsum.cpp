// Einsum: operands are contracted one after another, each time as one matrix product in batches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/weighted.h"
#include "import/onnx/whole_numbers.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// Axes by their letters; what an ellipsis stands for has digits, the last axis 0.
using Letters = std::string;

struct Term {
  TensorId id;
  Letters letters;
};

bool contains(const Letters& letters, char letter) {
  return letters.find(letter) != Letters::npos;
}

template <typename Keep>
Letters those(const Letters& letters, Keep&& keep) {
  Letters kept;
  std::ranges::copy_if(letters, std::back_inserter(kept), keep);
  return kept;
}

// "ij,jk->ik", without spaces.
struct Equation {
  std::vector<Letters> terms;
  std::optional<Letters> result;
};

Equation parsed(std::string text) {
  std::erase_if(text, [](char c) { return c == ' '; });
  Equation equation;
  if (const size_t arrow = text.find("->"); arrow != std::string::npos) {
    equation.result = text.substr(arrow + 2);
    text.resize(arrow);
  }
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    equation.terms.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return equation;
}

class Einsum {
 public:
  explicit Einsum(Reader& in) : in_(in), equation_(parsed(in.text("equation", ""))) {}

  void read() {
    if (!name_axes()) return;
    const Tail tail = in_.tail(false);
    if (plain_product() && in_.is_real(0) && in_.is_real(1) && tail.as) {
      const TensorId made = in_.attempt([&]() -> TensorId {
        TensorId weights = in_.value(1).tensor;
        if (in_.is_constant(weights)) weights = symmetric_weights(in_, weights);
        if (!weights.valid()) return {};
        return finished(contracted({in_.value(0).tensor, terms_[0]}, {weights, terms_[1]}, result_,
                                   tail.as->type, tail.as->quantization));
      });
      if (made.valid()) return in_.result(0, {made, Form::Real, {}});
    }
    // Masks of whole numbers, which exporters multiply with each other, are of 32 bits.
    const DataType given = in_.tensor(in_.operand(0)).type;
    const DataType type = is_whole(given) ? DataType::Int32 : kFloat;
    std::vector<Term> terms;
    for (size_t i = 0; i < terms_.size(); ++i) {
      const TensorId id = in_.operand(i);
      terms.push_back(without_diagonals({is_whole(given) ? narrowed(in_, id) : id, terms_[i]}));
    }
    for (size_t i = 0; i < terms.size() && in_.ok(); ++i) terms[i] = usable(terms[i]);
    Term product = terms.front();
    for (size_t i = 1; i < terms.size() && in_.ok(); ++i) {
      Letters wanted = result_;
      for (size_t k = i + 1; k < terms.size(); ++k) wanted += terms[k].letters;
      product = contracted(summed(product, wanted + terms[i].letters),
                           summed(terms[i], wanted + product.letters), wanted, type, {});
    }
    if (!in_.ok()) return;
    const TensorId made = finished(summed(product, result_));
    if (in_.ok()) in_.result(is_whole(given) ? in_.cast(made, given) : made);
  }

 private:
  bool wrong(const std::string& why) {
    in_.problem(
        fmt::format("has the equation '{}', {}", tflite::printable(in_.text("equation", "")), why));
    return false;
  }

  // Letters of every axis of every operand and of the result, and the extents that they stand for.
  bool name_axes() {
    const size_t count = in_.node().inputs.size();
    if (equation_.terms.size() != count)
      return wrong(
          fmt::format("which is of {} operands, and {} of them", equation_.terms.size(), count));
    size_t most = 0;  // axes of an ellipsis
    for (size_t i = 0; i < count; ++i) {
      const Shape& shape = in_.shape_of(i);
      const std::optional<Letters> letters = spelt(equation_.terms[i], shape.size());
      if (!letters)
        return wrong(fmt::format("whose operand {} has the shape [{}]", i, fmt::join(shape, ",")));
      terms_.push_back(*letters);
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        int64_t& extent = extents_.try_emplace((*letters)[axis], 1).first->second;
        if (extent != 1 && shape[axis] != 1 && extent != shape[axis])
          return wrong(fmt::format("in which an axis has {} and {} elements", extent, shape[axis]));
        extent = std::max(extent, shape[axis]);
      }
      most = std::max<size_t>(most, static_cast<size_t>(std::ranges::count_if(*letters, is_digit)));
    }
    if (!equation_.result) {  // what an ellipsis stands for, then the letters that occur once
      Letters all;
      for (const Letters& term : terms_) all += those(term, [](char c) { return !is_digit(c); });
      std::ranges::sort(all);
      result_ = digits(most) + those(all, [&](char c) { return std::ranges::count(all, c) == 1; });
      return true;
    }
    const size_t written = equation_.result->size() - (contains(*equation_.result, '.') ? 3 : 0);
    const std::optional<Letters> letters =
        spelt(*equation_.result, written + (contains(*equation_.result, '.') ? most : 0));
    if (!letters) return wrong("whose result cannot be read");
    for (const char letter : *letters)
      if (!extents_.contains(letter) || std::ranges::count(*letters, letter) != 1)
        return wrong("whose result names an axis that is not there once");
    result_ = *letters;
    return true;
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static Letters digits(size_t count) {
    Letters result;
    while (count-- > 0) result.push_back(static_cast<char>('0' + count));
    return result;
  }

  // The term with digits for its ellipsis; nothing when it does not have as many axes.
  static std::optional<Letters> spelt(const Letters& term, size_t rank) {
    const size_t dots = term.find("...");
    const Letters before = term.substr(0, std::min(dots, term.size()));
    const Letters after = dots == Letters::npos ? "" : term.substr(dots + 3);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const size_t written = before.size() + after.size();
    const bool sane = std::ranges::all_of(before + after, is_letter) && rank >= written &&
                      rank <= graph::kMaxRank && (dots != Letters::npos || rank == written);
    if (!sane) return std::nullopt;
    return before + digits(rank - written) + after;
  }

  // Two operands without anything to do before they are multiplied.
  bool plain_product() {
    if (terms_.size() != 2) return false;
    for (size_t i = 0; i < 2; ++i)
      for (size_t axis = 0; axis < terms_[i].size(); ++axis) {
        const char letter = terms_[i][axis];
        if (std::ranges::count(terms_[i], letter) != 1 ||
            in_.shape_of(i)[axis] != extents_[letter] || !contains(result_ + terms_[1 - i], letter))
          return false;
      }
    return std::ranges::any_of(terms_[0], [&](char letter) {
      return contains(terms_[1], letter) && !contains(result_, letter);
    });
  }

  // The elements of two axes with one letter whose indices are equal.
  Term without_diagonals(Term term) {
    for (size_t axis = 0; axis < term.letters.size(); ++axis) {
      const char letter = term.letters[axis];
      if (std::ranges::count(term.letters, letter) == 1) continue;
      const int64_t extent = in_.shape(term.id)[axis];
      const size_t other = term.letters.find(letter, axis + 1);
      if (other == Letters::npos || !in_.ok()) continue;
      if (in_.shape(term.id)[other] != extent) {
        wrong("which takes the diagonal of what is not square");
        return term;
      }
      Letters order = term.letters;
      order.erase(other, 1), order.erase(axis, 1);
      std::vector<int64_t> axes;
      for (size_t i = 0; i < term.letters.size(); ++i)
        if (i != axis && i != other) axes.push_back(static_cast<int64_t>(i));
      axes.push_back(static_cast<int64_t>(axis)), axes.push_back(static_cast<int64_t>(other));
      TensorId id = in_.transpose(term.id, axes);
      if (!in_.ok()) return term;
      Shape shape = in_.shape(id);
      shape.pop_back(), shape.back() = extent * extent;
      std::vector<int64_t> places;
      if (!table_fits(in_, extent)) return term;
      for (int64_t i = 0; i < extent; ++i) places.push_back(i * (extent + 1));
      const graph::GatherAttrs attrs{static_cast<int64_t>(shape.size()) - 1, 0};
      const TensorId indices = in_.make_constant(integer_values(DataType::Int32, {extent}, places));
      id = in_.emit_alike(OpKind::Gather, attrs, {in_.reshape(id, shape), indices}, "diagonal");
      return without_diagonals({id, order + letter});
    }
    return term;
  }

  // Without axes of one element that meet longer ones, or that nothing asks for.
  Term usable(const Term& term) {
    Letters letters;
    Shape shape;
    for (size_t axis = 0; axis < term.letters.size(); ++axis) {
      const int64_t extent = in_.shape(term.id)[axis];
      if (extent == 1 && extents_[term.letters[axis]] != 1) continue;
      letters.push_back(term.letters[axis]), shape.push_back(extent);
    }
    return {in_.reshape(term.id, shape), letters};
  }

  Term summed(const Term& term, const Letters& wanted) {
    graph::ReduceAttrs attrs;
    for (size_t axis = 0; axis < term.letters.size(); ++axis)
      if (!contains(wanted, term.letters[axis])) attrs.axes.push_back(static_cast<int64_t>(axis));
    if (attrs.axes.empty() || !in_.ok()) return term;
    return {in_.emit_alike(OpKind::Sum, attrs, {term.id}, "sum"),
            those(term.letters, [&](char letter) { return contains(wanted, letter); })};
  }

  // The product of two terms, each of whose letters is in the other one or wanted: summed over those that are not wanted.
  Term contracted(const Term& a, const Term& b, const Letters& wanted, DataType type,
                  const graph::Quantization& q) {
    const auto in_both = [&](char c) { return contains(a.letters, c) && contains(b.letters, c); };
    const Letters batch =
        those(a.letters, [&](char c) { return in_both(c) && contains(wanted, c); });
    const Letters inner =
        those(a.letters, [&](char c) { return in_both(c) && !contains(wanted, c); });
    const Letters rows = those(a.letters, [&](char c) { return !in_both(c); });
    const Letters columns = those(b.letters, [&](char c) { return !in_both(c); });
    if (in_.is_constant(a.id) && !in_.is_constant(b.id) && batch.empty() && !inner.empty())
      return contracted(b, a, wanted, type, q);  // weights are the second operand
    const Shape shape = shape_of(batch + rows + columns);
    const int64_t batches = count_of(batch);
    TensorId y;
    if (inner.empty()) {
      const TensorId left = in_.reshape(ordered(a, batch + rows), {batches, count_of(rows), 1});
      const TensorId right =
          in_.reshape(ordered(b, batch + columns), {batches, 1, count_of(columns)});
      y = in_.emit(OpKind::Mul, BinaryAttrs{}, {left, right}, type, q);
    } else if (batch.empty() && in_.is_constant(b.id)) {
      const TensorId left =
          in_.reshape(ordered(a, rows + inner), {count_of(rows), count_of(inner)});
      const TensorId right =
          in_.reshape(ordered(b, inner + columns), {count_of(inner), count_of(columns)});
      y = matrix_product(in_, left, right, type, q);
    } else {
      // Whichever order of the matrix the operand has already is as good as the other.
      const bool a_turned = a.letters == batch + inner + rows && !rows.empty();
      const bool b_turned = b.letters == batch + columns + inner && !columns.empty();
      const auto matrix = [&](const Term& term, const Letters& first, const Letters& second) {
        return in_.reshape(ordered(term, batch + first + second),
                           {batches, count_of(first), count_of(second)});
      };
      const TensorId left = a_turned ? matrix(a, inner, rows) : matrix(a, rows, inner);
      const TensorId right = b_turned ? matrix(b, columns, inner) : matrix(b, inner, columns);
      y = in_.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{a_turned, b_turned}, {left, right},
                   type, q);
    }
    return {in_.ok() ? in_.reshape(y, shape) : TensorId{}, batch + rows + columns};
  }

  TensorId ordered(const Term& term, const Letters& order) {
    std::vector<int64_t> axes;
    for (const char letter : order) axes.push_back(static_cast<int64_t>(term.letters.find(letter)));
    return in_.transpose(term.id, axes);
  }

  TensorId finished(const Term& term) {
    if (!in_.ok()) return {};
    Letters there = those(result_, [&](char c) { return contains(term.letters, c); });
    const TensorId id = ordered(term, there);
    return in_.ok() ? in_.reshape(id, shape_of(result_)) : TensorId{};
  }

  Shape shape_of(const Letters& letters) const {
    Shape shape;
    for (const char letter : letters) shape.push_back(extents_.at(letter));
    return shape;
  }
  int64_t count_of(const Letters& letters) const { return element_count(shape_of(letters)); }

  Reader& in_;
  const Equation equation_;
  std::vector<Letters> terms_;
  Letters result_;
  std::map<char, int64_t> extents_;
};

}  // namespace

void read_einsum(Reader& in) {
  Einsum(in).read();
}

}  // namespace intarsia::onnx
