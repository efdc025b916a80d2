// LSTM, GRU, RNN: one `recurrent` of the graph per direction. Its loop over the steps keeps the code small, however
// long the sequence is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <utility>

#include "import/onnx/byte_lstm.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

// Operands, of all three operators.
enum Operand : size_t {
  kInput,
  kWeights,
  kRecurrence,
  kBias,
  kLengths,
  kInitialHidden,
  kInitialCell,
  kPeepholes,
  kScales  // of DynamicQuantizeLSTM: scale and zero point of the weights, then of the recurrence
};

struct SquashingFunction {
  std::string_view onnx, ours;  // in small letters: exporters differ
  std::optional<float> alpha, beta;
};
constexpr auto kSquashingFunctions = std::to_array<SquashingFunction>({
    {"sigmoid", "sigmoid", {}, {}},
    {"tanh", "tanh", {}, {}},
    {"relu", "relu", {}, {}},
    {"leakyrelu", "leaky_relu", 0.01f, {}},
    {"thresholdedrelu", "thresholded_relu", 1.0f, {}},
    {"affine", "affine", 1.0f, 0.0f},
    {"scaledtanh", "scaled_tanh", 1.0f, 1.0f},
    {"hardsigmoid", "hard_sigmoid", 0.2f, 0.5f},
    {"elu", "elu", 1.0f, {}},
    {"softsign", "softsign", {}, {}},
    {"softplus", "softplus", {}, {}},
});

class Recurrent {
 public:
  explicit Recurrent(Reader& in) : in_(in) {}

  void read() {
    if (!read_sizes() || !read_functions() || !read_lengths()) return;
    TensorId input = in_.operand(kInput);
    if (batch_first_) input = ordered(input, {1, 0, 2});
    std::array<std::vector<TensorId>, 3> results;  // the sequence, and both states
    for (int64_t direction = 0; direction < directions_; ++direction) {
      const std::array<TensorId, 3> made = one_direction(direction, input);
      for (size_t i = 0; i < made.size(); ++i)
        if (made[i].valid()) results[i].push_back(made[i]);
    }
    if (!in_.ok()) return;
    give(0, joined(results[0], 1), {2, 0, 1, 3});
    give(1, joined(results[1], 0), {1, 0, 2});
    if (is_lstm_) give(2, joined(results[2], 0), {1, 0, 2});
  }

 private:
  bool read_sizes() {
    batch_first_ = in_.integer("layout", 0) != 0;
    is_dynamic_ = in_.is("DynamicQuantizeLSTM");
    is_lstm_ = in_.is("LSTM") || is_dynamic_;
    gates_ = is_lstm_ ? 4 : in_.is("GRU") ? 3 : 1;
    const std::string direction = in_.text("direction", "forward");
    directions_ = direction == "bidirectional" ? 2 : 1;
    first_is_reverse_ = direction == "reverse";
    if (!in_.require(directions_ == 2 || first_is_reverse_ || direction == "forward",
                     fmt::format("has the direction '{}'", tflite::printable(direction)),
                     "forward, reverse and bidirectional are possible"))
      return false;
    const Shape x = in_.shape_of(kInput);
    Shape w = in_.shape_of(kWeights), r = in_.shape_of(kRecurrence);
    if (!in_.require(
            x.size() == 3 && w.size() == 3 && r.size() == 3,
            fmt::format("has the input [{}] and weights [{}] and [{}]; each has three axes",
                        fmt::join(x, ","), fmt::join(w, ","), fmt::join(r, ","))))
      return false;
    if (!in_.require(!is_dynamic_ || (in_.has(kScales) && in_.has(kScales + 2)),
                     "lacks the scales of its weights"))
      return false;
    if (is_dynamic_) std::swap(w[1], w[2]), std::swap(r[1], r[2]);
    units_ = r[2];
    const int64_t stated = in_.integer("hidden_size", units_);
    steps_ = x[batch_first_ ? 1 : 0], batches_ = x[batch_first_ ? 0 : 1];
    const int64_t rows = gates_ * units_;
    bool fits = stated == units_ && w == Shape{directions_, rows, x[2]} &&
                r == Shape{directions_, rows, units_};
    if (in_.has(kBias)) fits &= in_.shape_of(kBias) == Shape{directions_, 2 * rows};
    const Shape state =
        batch_first_ ? Shape{batches_, directions_, units_} : Shape{directions_, batches_, units_};
    for (const Operand operand : {kInitialHidden, kInitialCell})
      if (in_.has(operand)) fits &= in_.shape_of(operand) == state;
    if (in_.has(kPeepholes)) fits &= in_.shape_of(kPeepholes) == Shape{directions_, 3 * units_};
    return in_.require(
        fits, fmt::format("has operands that do not fit {} direction{} of {} units and inputs [{}]",
                          directions_, directions_ == 1 ? "" : "s", stated, fmt::join(x, ",")));
  }

  // By default, or by lists of names and of numbers, which those functions take in turn that have any.
  bool read_functions() {
    const size_t each = is_lstm_ ? 3 : gates_ == 3 ? 2 : 1;
    std::vector<std::string> names;
    const auto list = [&](const char* attribute) -> const format::Attribute* {
      const auto found = in_.node().attributes.find(attribute);
      return found == in_.node().attributes.end() ? nullptr : &found->second;
    };
    if (const format::Attribute* given = list("activations"))
      names.assign(given->texts().begin(), given->texts().end());
    if (names.empty())
      for (int64_t i = 0; i < directions_; ++i) {
        if (each > 1) names.emplace_back("sigmoid");
        for (size_t k = each > 1 ? 1 : 0; k < each; ++k) names.emplace_back("tanh");
      }
    const size_t wanted = each * static_cast<size_t>(directions_);
    if (!in_.require(names.size() == wanted,
                     fmt::format("names {} activations, needs {}", names.size(), wanted)))
      return false;
    const format::Attribute *alphas = list("activation_alpha"), *betas = list("activation_beta");
    int alpha = 0, beta = 0;
    const auto next = [](const format::Attribute* from, int& at, std::optional<float> absent) {
      if (!absent) return 0.0f;
      return from != nullptr && at < from->reals_size() ? from->reals(at++) : *absent;
    };
    for (const std::string& name : names) {
      std::string small = name;
      for (char& letter : small)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      const auto known = std::ranges::find(kSquashingFunctions, small, &SquashingFunction::onnx);
      if (!in_.require(known != kSquashingFunctions.end(),
                       fmt::format("has the activation '{}'", tflite::printable(name)),
                       "the standard's own are possible: Sigmoid, Tanh, Relu, HardSigmoid, ..."))
        return false;
      functions_.push_back({std::string(known->ours), next(alphas, alpha, known->alpha),
                            next(betas, beta, known->beta)});
    }
    return true;
  }

  bool read_lengths() {
    if (!in_.has(kLengths)) return true;
    const auto given = in_.known_integers(kLengths, "the lengths of its sequences");
    if (!given) return false;
    if (!in_.require(std::ssize(*given) == batches_,
                     fmt::format("has {} lengths for {} sequences", given->size(), batches_)))
      return false;
    for (const int64_t length : *given)
      if (!in_.require(length >= 1 && length <= steps_,
                       fmt::format("has a sequence of {} steps of {}", length, steps_)))
        return false;
    lengths_ = *given;
    return true;
  }

  // Sequences of one length run together.
  std::array<TensorId, 3> one_direction(int64_t direction, TensorId input) {
    if (std::ranges::adjacent_find(lengths_, std::not_equal_to{}) == lengths_.end())
      return run(direction, input, 0, batches_, lengths_.empty() ? steps_ : lengths_.front());
    std::array<std::vector<TensorId>, 3> parts;
    for (int64_t batch = 0; batch < batches_; ++batch) {
      const std::array<TensorId, 3> made =
          run(direction, input, batch, 1, lengths_[static_cast<size_t>(batch)]);
      for (size_t i = 0; i < made.size(); ++i)
        if (made[i].valid()) parts[i].push_back(made[i]);
    }
    return {joined(parts[0], 2), joined(parts[1], 1), joined(parts[2], 1)};
  }

  // `count` sequences from `first` on, of which `length` steps are there. The results have an axis for the directions.
  std::array<TensorId, 3> run(int64_t direction, TensorId input, int64_t first, int64_t count,
                              int64_t length) {
    if (const auto made = on_bytes(direction, input, count, length)) return *made;
    const auto at = static_cast<size_t>(direction) * (is_lstm_ ? 3 : gates_ == 3 ? 2 : 1);
    graph::RecurrentAttrs attrs;
    attrs.cell = is_lstm_ ? "lstm" : gates_ == 3 ? "gru" : "rnn";
    if (gates_ == 1) attrs.candidate = functions_[at];
    if (gates_ != 1) attrs.gate = functions_[at], attrs.candidate = functions_[at + 1];
    if (is_lstm_) attrs.output = functions_[at + 2];
    attrs.reverse = first_is_reverse_ || direction == 1;
    attrs.sequence = in_.is_read(0);
    attrs.reset_after = gates_ == 3 && in_.integer("linear_before_reset", 0) != 0;
    attrs.coupled = is_lstm_ && in_.integer("input_forget", 0) != 0;
    attrs.clip = in_.real("clip", 0);

    const int64_t features = in_.shape(input).back(), rows = gates_ * units_;
    const auto of_direction = [&](Operand operand, Shape shape) {
      return in_.reshape(cut(weights(operand), {direction, 0, 0}, {1, shape[0], shape.back()}),
                         shape);
    };
    std::vector<TensorId> operands{cut(input, {0, first, 0}, {length, count, features}),
                                   of_direction(kWeights, {rows, features}),
                                   of_direction(kRecurrence, {rows, units_})};
    for (const TensorId bias : biases(direction, attrs.reset_after)) operands.push_back(bias);
    for (const Operand operand : {kInitialHidden, kInitialCell}) {
      const bool given = in_.has(operand) && (operand == kInitialHidden || is_lstm_);
      operands.push_back(given ? state(operand, direction, first, count) : TensorId{});
    }
    operands.emplace_back();
    if (is_lstm_ && in_.has(kPeepholes))
      operands.back() =
          in_.reshape(cut(in_.operand(kPeepholes), {direction, 0}, {1, 3 * units_}), {3 * units_});

    const size_t outputs = 1 + (is_lstm_ ? 1 : 0) + (attrs.sequence ? 1 : 0);
    const std::vector<TensorId> made =
        in_.emit_many(OpKind::Recurrent, attrs, operands, outputs, kFloat, {});
    std::array<TensorId, 3> results;
    if (!in_.ok()) return results;
    for (size_t i = 0; i < (is_lstm_ ? 2u : 1u); ++i)
      results[1 + i] = in_.reshape(made[i], {1, count, units_});
    if (!attrs.sequence) return results;
    TensorId all = in_.reshape(made.back(), {length, 1, count, units_});
    if (length < steps_)
      all = in_.emit_alike(OpKind::Pad, graph::PadAttrs{{0, 0, 0, 0}, {steps_ - length, 0, 0, 0}},
                           {all}, "end");
    results[0] = all;
    return results;
  }

  // What onnxruntime's operator for weights of bytes computes. Nothing where it is to be, or has to be, one of floats.
  std::optional<std::array<TensorId, 3>> on_bytes(int64_t direction, TensorId input, int64_t count,
                                                  int64_t length) {
    if (!is_dynamic_) return std::nullopt;
    const auto at = static_cast<size_t>(direction) * 3;
    constexpr std::array<std::string_view, 3> kOfSteps = {"sigmoid", "tanh", "tanh"};
    bool is_plain = !in_.options().widen_weights && count == batches_ && length == steps_ &&
                    in_.real("clip", 0) == 0 && in_.integer("input_forget", 0) == 0;
    for (size_t i = 0; i < kOfSteps.size(); ++i)
      is_plain = is_plain && functions_[at + i].name == kOfSteps[i];
    const auto initial = [&](Operand operand) {
      return in_.has(operand) ? state(operand, direction, 0, count) : TensorId{};
    };
    std::optional<std::array<TensorId, 3>> made;
    if (is_plain)
      made = read_byte_lstm(in_, {.direction = direction,
                                  .steps = steps_,
                                  .batches = batches_,
                                  .units = units_,
                                  .backwards = first_is_reverse_ || direction == 1,
                                  .input = input,
                                  .hidden = initial(kInitialHidden),
                                  .cell = initial(kInitialCell),
                                  .bytes = &bytes_});
    if (!made) {
      if (!std::exchange(is_told_, true))
        in_.remark(
            "keeps its activations as floats, which onnxruntime rounds to bytes in each step");
      return std::nullopt;
    }
    if (!in_.ok()) return made;
    (*made)[0] = in_.reshape((*made)[0], {steps_, 1, batches_, units_});
    for (const size_t i : {1u, 2u}) (*made)[i] = in_.reshape((*made)[i], {1, batches_, units_});
    return made;
  }

  // As floats, a row for each gate of each unit. onnxruntime's operator for weights of bytes has a column there, and a scale
  // for each direction or each column.
  TensorId weights(Operand operand) {
    if (!is_dynamic_) return in_.operand(operand);
    const size_t scales = kScales + (operand == kRecurrence ? 2 : 0);
    const auto spread = [&](TensorId id) {
      const Shape shape = in_.shape(id);
      if (shape.empty()) return id;
      return in_.reshape(id, {shape[0], 1, shape.size() > 1 ? shape[1] : 1});
    };
    TensorId id = in_.cast(in_.operand(operand), kFloat);
    const auto apply = [&](OpKind kind, TensorId with, const char* suffix) {
      id = in_.emit(kind, graph::BinaryAttrs{}, {id, with}, kFloat, {}, suffix);
    };
    if (in_.has(scales + 1))
      apply(OpKind::Sub, spread(in_.cast(in_.operand(scales + 1), kFloat)), "zero");
    apply(OpKind::Mul, spread(in_.operand(scales)), "weights");
    return in_.ok() ? in_.transpose(id, {0, 2, 1}) : id;
  }

  // That of the gates, and that of the candidate's recurrent part where a gate comes between both.
  std::array<TensorId, 2> biases(int64_t direction, bool reset_after) {
    if (!in_.has(kBias)) return {};
    const int64_t rows = gates_ * units_;
    const auto part = [&](int64_t from, int64_t count) {
      return in_.reshape(cut(in_.operand(kBias), {direction, from}, {1, count}), {count});
    };
    const auto sum = [&](int64_t count) {
      return in_.emit(OpKind::Add, graph::BinaryAttrs{}, {part(0, count), part(rows, count)},
                      kFloat, {}, "bias");
    };
    if (!reset_after) return {sum(rows), TensorId{}};
    const int64_t before = rows - units_;
    const TensorId bias = in_.emit(OpKind::Concat, graph::AxisAttrs{0},
                                   {sum(before), part(before, units_)}, kFloat, {}, "bias");
    return {bias, part(rows + before, units_)};
  }

  TensorId state(Operand operand, int64_t direction, int64_t first, int64_t count) {
    TensorId id = in_.operand(operand);
    id = batch_first_ ? cut(id, {first, direction, 0}, {count, 1, units_})
                      : cut(id, {direction, first, 0}, {1, count, units_});
    return in_.reshape(id, {count, units_});
  }

  TensorId cut(TensorId id, std::vector<int64_t> begin, Shape size) {
    begin.resize(in_.shape(id).size()), size.resize(begin.size());
    if (in_.shape(id) == size) return id;
    const std::vector<int64_t> stride(begin.size(), 1);
    return in_.emit_alike(OpKind::Slice, graph::SliceAttrs{begin, size, stride, {}}, {id}, "part");
  }

  TensorId joined(const std::vector<TensorId>& parts, int64_t axis) {
    if (parts.empty()) return {};
    if (parts.size() == 1) return parts.front();
    return in_.emit_alike(OpKind::Concat, graph::AxisAttrs{axis}, parts, "join");
  }

  // A transposition that moves only axes of one element is none.
  TensorId ordered(TensorId id, const std::vector<int64_t>& order) {
    Shape shape;
    std::vector<int64_t> longer;
    for (const int64_t axis : order) {
      shape.push_back(in_.shape(id)[static_cast<size_t>(axis)]);
      if (shape.back() != 1) longer.push_back(axis);
    }
    return std::ranges::is_sorted(longer) ? in_.reshape(id, shape) : in_.transpose(id, order);
  }

  void give(size_t output, TensorId id, const std::vector<int64_t>& order) {
    if (!id.valid() || output >= in_.node().outputs.size() || in_.node().outputs[output].empty())
      return;
    in_.result(output, {batch_first_ ? ordered(id, order) : id, Form::Plain, {}});
  }

  Reader& in_;
  bool batch_first_ = false, is_lstm_ = false, is_dynamic_ = false, first_is_reverse_ = false;
  std::vector<TensorId> bytes_;  // of the input, for weights of bytes
  bool is_told_ = false;         // that it computes on floats
  int64_t gates_ = 1, directions_ = 1, units_ = 0, steps_ = 0, batches_ = 0;
  std::vector<graph::ScalarFunctionAttrs> functions_;
  std::vector<int64_t> lengths_;  // empty: all steps of each sequence
};

}  // namespace

void read_recurrent(Reader& in) {
  Recurrent(in).read();
}

}  // namespace intarsia::onnx
