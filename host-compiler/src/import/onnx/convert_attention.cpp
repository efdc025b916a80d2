// Attention of many heads, written out: two products, and what happens to the scores between them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "import/onnx/attention.h"
#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/stretches.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

constexpr float kNever = std::numeric_limits<float>::lowest();  // the score of what is masked

// What the scores are like when they are an output, too.
enum class Scores { Products, Capped, Masked, Weights };

class Attention {
 public:
  Attention(Reader& in, const AttentionOperands& given, std::optional<Scores> wanted)
      : in_(in), given_(given), wanted_(wanted) {}

  void write() {
    const TensorId query = heads(given_.query, given_.query_heads);
    TensorId key = heads(given_.key, given_.key_heads),
             value = heads(given_.value, given_.key_heads);
    if (!in_.ok()) return;
    key = behind_past(given_.past_key, key), value = behind_past(given_.past_value, value);
    if (!in_.ok()) return;
    const Shape q = in_.shape(query), k = in_.shape(key), v = in_.shape(value);
    if (!in_.require(
            k[1] == v[1] && k[2] == v[2] && q[3] == k[3] && q[1] % k[1] == 0 && q[0] == k[0],
            fmt::format("asks [{}] with keys [{}] and values [{}]", fmt::join(q, ","),
                        fmt::join(k, ","), fmt::join(v, ","))))
      return;
    // Heads of keys serve several heads of queries each.
    const Shape groups{q[0], k[1], q[1] / k[1]};
    const auto grouped = [&](TensorId id, bool is_query, int64_t rows, int64_t columns) {
      if (groups[2] == 1) return id;
      return in_.reshape(id, {groups[0], groups[1], is_query ? groups[2] : 1, rows, columns});
    };
    const float scale = given_.scale != 0 ? given_.scale : 1 / std::sqrt(static_cast<float>(q[3]));
    const TensorId scaled = two(OpKind::Mul, query, in_.number(scale), "scale");
    TensorId scores = in_.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{false, true},
                               {grouped(scaled, true, q[2], q[3]), grouped(key, false, k[2], k[3])},
                               kFloat, {}, "scores");
    scores = weights(in_.reshape(scores, {q[0], q[1], q[2], k[2]}), k[2] - kept_steps_);
    TensorId y =
        in_.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{},
                 {grouped(scores, true, q[2], k[2]), grouped(value, false, k[2], v[3])}, kFloat);
    if (!in_.ok()) return;
    if (wanted_) in_.result(3, {scores_, Form::Plain, {}});
    y = in_.reshape(y, {q[0], q[1], q[2], v[3]});
    if (in_.shape_of(0).size() == 3)
      y = in_.reshape(in_.transpose(y, {0, 2, 1, 3}), {q[0], q[2], q[1] * v[3]});
    in_.result(y);
    in_.result(1, {key, Form::Plain, {}});
    in_.result(2, {value, Form::Plain, {}});
  }

 private:
  TensorId two(OpKind kind, TensorId a, TensorId b, std::string_view suffix) {
    return in_.emit(kind, BinaryAttrs{}, {a, b}, kFloat, {}, suffix);
  }

  // [batch, heads, steps, features], of rows that may hold the features of all heads.
  TensorId heads(TensorId id, int64_t count) {
    const Shape shape = in_.shape(id);
    if (shape.size() == 4) return id;
    if (!in_.require(shape.size() == 3 && count >= 1 && shape[2] % count == 0,
                     fmt::format("has the operand [{}] of {} heads", fmt::join(shape, ","), count)))
      return {};
    return in_.transpose(in_.reshape(id, {shape[0], shape[1], count, shape[2] / count}),
                         {0, 2, 1, 3});
  }

  TensorId behind_past(TensorId past, TensorId id) {
    kept_steps_ = in_.shape(id)[2];
    if (!past.valid()) return id;
    return in_.emit(OpKind::Concat, graph::AxisAttrs{2}, {past, id}, kFloat, {}, "present");
  }

  void keep(Scores which, TensorId scores) {
    if (wanted_ == which) scores_ = scores;
  }

  TensorId weights(TensorId scores, int64_t past) {
    keep(Scores::Products, scores);
    if (const float cap = in_.real("softcap", 0); cap != 0) {
      const TensorId inner = two(OpKind::Mul, scores, in_.number(1 / cap), "cap");
      scores = two(OpKind::Mul, in_.emit(OpKind::Tanh, NoAttrs{}, {inner}, kFloat, {}, "cap"),
                   in_.number(cap), "cap");
    }
    keep(Scores::Capped, scores);
    const auto masked = [&](TensorId mask, TensorId id, float instead) {
      return in_.emit(OpKind::Select, NoAttrs{}, {mask, id, in_.number(instead)}, kFloat, {},
                      "mask");
    };
    if (!in_.ok()) return {};
    const int64_t steps = in_.shape(scores)[3];
    std::vector<TensorId> masks = near_steps(scores, past);
    if (!in_.ok()) return {};
    if (given_.mask.valid()) masks.push_back(up_to(steps, given_.mask));
    const TensorId bias = given_.bias.valid() ? up_to(steps, given_.bias) : TensorId{};
    if (bias.valid()) scores = two(OpKind::Add, scores, bias, "bias");
    if (!in_.ok()) return {};
    const bool is_bounded = !bias.valid() || is_finite(bias);
    const bool may_be_blind = !is_bounded || !leave_something(masks);
    if (!in_.ok()) return {};
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (is_bounded && wanted_ != Scores::Masked) {
      for (const TensorId mask : masks) scores = masked(mask, scores, kNever);
    } else {
      for (const TensorId mask : masks) scores = masked(mask, scores, -kInfinity);
      keep(Scores::Masked, scores);
    }
    // Of a row of nothing but infinities there would be no softmax.
    TensorId finite = scores;
    if (!is_bounded || (may_be_blind && wanted_ == Scores::Masked))
      finite =
          in_.emit(OpKind::Maximum, NoAttrs{}, {scores, in_.number(kNever)}, kFloat, {}, "finite");
    TensorId result =
        in_.emit(OpKind::Softmax, graph::SoftmaxAttrs{}, {finite}, kFloat, {}, "weights");
    // Who may look nowhere sees nothing.
    if (!is_bounded) {
      const TensorId is_seen = in_.emit(
          OpKind::Greater, NoAttrs{}, {scores, in_.number(-kInfinity)}, DataType::Bool, {}, "seen");
      result = masked(is_seen, result, 0);
    } else if (may_be_blind) {
      for (const TensorId mask : masks) result = masked(mask, result, 0);
    }
    keep(Scores::Weights, result);
    return result;
  }

  // Whether it is known, and has no infinity.
  bool is_finite(TensorId bias) const {
    if (!in_.is_constant(bias)) return false;
    const std::vector<float> values = as_reals(in_.values_of(bias));
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
  }

  // Whether it is known of every query that it may look at some key.
  bool leave_something(const std::vector<TensorId>& masks) {
    if (masks.empty()) return true;
    TensorId all = masks.front();
    for (const TensorId mask : masks) {
      if (!in_.is_constant(mask)) return false;
      if (mask != all)
        all = in_.emit(OpKind::LogicalAnd, NoAttrs{}, {all, mask}, DataType::Bool, {}, "mask");
    }
    if (!in_.ok() || !in_.is_constant(all)) return false;
    const std::vector<int64_t> seen = as_integers(in_.values_of(all));
    const auto keys = static_cast<size_t>(in_.shape(all).back());
    for (size_t row = 0; row < seen.size(); row += keys)
      if (std::ranges::count(std::span(seen).subspan(row, keys), 0) == static_cast<ptrdiff_t>(keys))
        return false;
    return true;
  }

  // A mask of so many steps: what it does not speak of is not looked at.
  TensorId up_to(int64_t steps, TensorId mask) {
    const Shape shape = in_.shape(mask);
    const bool is_bias = in_.tensor(mask).type == kFloat;
    if (!in_.require(!shape.empty() && shape.back() <= steps,
                     fmt::format("has the mask [{}] for {} keys", fmt::join(shape, ","), steps)))
      return {};
    if (shape.back() == steps) return mask;
    Shape rest = shape;
    rest.back() = steps - shape.back();
    const TensorId never = filled(in_, rest, in_.tensor(mask).type,
                                  is_bias ? -std::numeric_limits<double>::infinity() : 0);
    return in_.emit_alike(OpKind::Concat, graph::AxisAttrs{std::ssize(shape) - 1}, {mask, never},
                          "mask");
  }

  // Masks of the keys that there are, and of steps up to the query's own or within a window around it. The last query stands at
  // the last key where the number of keys is an operand, else behind those of the past.
  std::vector<TensorId> near_steps(TensorId scores, int64_t past) {
    const int64_t left = in_.integer("left_window_size", -1),
                  right = given_.is_causal ? 0 : in_.integer("right_window_size", -1);
    const Shape shape = in_.shape(scores);
    const int64_t rows = shape[2], columns = shape[3];
    if (!in_.ok() || !table_fits(in_, rows * columns)) return {};
    if (!given_.lengths.valid()) {
      if (left < 0 && right < 0) return {};
      std::vector<int64_t> mask;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column) {
          const int64_t ahead = column - row - past;
          mask.push_back((right < 0 || ahead <= right) && (left < 0 || -ahead <= left) ? 1 : 0);
        }
      return {in_.make_constant(integer_values(DataType::Bool, {rows, columns}, mask))};
    }
    if (!in_.require(in_.shape(given_.lengths) == Shape{shape[0]},
                     fmt::format("has [{}] lengths of keys for {} samples",
                                 fmt::join(in_.shape(given_.lengths), ","), shape[0])))
      return {};
    const TensorId numbers = in_.cast(in_.cast(given_.lengths, DataType::Int32), kFloat);
    if (!in_.ok()) return {};
    const TensorId lengths = in_.reshape(numbers, {shape[0], 1, 1, 1});
    const auto compared = [&](OpKind kind, TensorId places, int64_t more) {
      const TensorId bound =
          more == 0 ? lengths
                    : two(OpKind::Add, lengths, in_.number(static_cast<float>(more)), "bound");
      return in_.emit(kind, NoAttrs{}, {places, bound}, DataType::Bool, {}, "near");
    };
    std::vector<float> keys, ahead;
    for (int64_t column = 0; column < columns; ++column) keys.push_back(static_cast<float>(column));
    std::vector<TensorId> masks = {
        compared(OpKind::Less, in_.make_constant(real_values({1, 1, 1, columns}, keys)), 0)};
    if (left < 0 && right < 0) return masks;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        ahead.push_back(static_cast<float>(column - row));
    const TensorId places = in_.make_constant(real_values({1, 1, rows, columns}, ahead));
    if (right >= 0) masks.push_back(compared(OpKind::LessEqual, places, right - rows));
    if (left >= 0) masks.push_back(compared(OpKind::GreaterEqual, places, -left - rows));
    return masks;
  }

  Reader& in_;
  const AttentionOperands& given_;
  std::optional<Scores> wanted_;
  TensorId scores_;         // as they are wanted
  int64_t kept_steps_ = 0;  // of the keys, without those of the past
};

}  // namespace

void write_attention(Reader& in, const AttentionOperands& operands) {
  std::optional<Scores> wanted;
  if (in.node().outputs.size() > 3 && !in.node().outputs[3].empty()) {
    const int64_t mode = in.integer("qk_matmul_output_mode", 0);
    if (!in.require(mode >= 0 && mode <= 3, fmt::format("gives its scores by mode {}", mode)))
      return;
    wanted = static_cast<Scores>(mode);
  }
  Attention(in, operands, wanted).write();
}

void read_attention(Reader& in) {
  AttentionOperands given = {.query = in.operand(0),
                             .key = in.operand(1),
                             .value = in.operand(2),
                             .past_key = in.optional_operand(4),
                             .past_value = in.optional_operand(5),
                             .lengths = in.optional_operand(6),
                             .query_heads = in.integer("q_num_heads", 0),
                             .key_heads = in.integer("kv_num_heads", 0),
                             .scale = in.real("scale", 0),
                             .is_causal = in.integer("is_causal", 0) != 0};
  if (in.has(3)) {
    const bool is_mask = in.tensor(in.operand(3)).type == DataType::Bool;
    (is_mask ? given.mask : given.bias) = in.operand(3);
  }
  write_attention(in, given);
}

// Pairs of features of a head, turned by the angle of their place: (a cos - b sin, a sin + b cos). Pairs are neighbours, or
// one of either half.
void read_rotary_embedding(Reader& in) {
  TensorId x = in.operand(0);
  const Shape given = in.shape(x);
  int64_t heads = in.integer("num_heads", 0);
  // onnxruntime's operator has as many heads as there are angles for.
  if (const Shape known = in.shape(in.operand(1));
      heads == 0 && given.size() == 3 && !known.empty() && known.back() > 0)
    heads = given[2] / (2 * known.back());
  if (!in.require(given.size() == 4 || (given.size() == 3 && heads >= 1 && given[2] % heads == 0),
                  fmt::format("turns [{}] of {} heads", fmt::join(given, ","), heads)))
    return;
  // [batch, steps, heads, features]
  x = given.size() == 4 ? in.transpose(x, {0, 2, 1, 3})
                        : in.reshape(x, {given[0], given[1], heads, given[2] / heads});
  const Shape shape = in.shape(x);
  const int64_t asked = in.integer("rotary_embedding_dim", 0);
  const int64_t turned = asked == 0 ? shape[3] : asked, half = turned / 2;
  if (!in.require(turned >= 2 && turned % 2 == 0 && turned <= shape[3],
                  fmt::format("turns {} of {} features", turned, shape[3])))
    return;
  const auto angles = [&](size_t operand) {
    TensorId id = in.operand(operand);
    if (in.has(3))
      id = in.emit_alike(OpKind::Gather, graph::GatherAttrs{0, 0},
                         {id, in.cast(in.operand(3), DataType::Int32)}, "angles");
    const Shape whole{shape[0], shape[1], 1, half};
    if (!in.ok() || !in.require(element_count(in.shape(id)) == element_count(whole),
                                fmt::format("has the angles [{}] for {} pairs of {} steps",
                                            fmt::join(in.shape(id), ","), half, shape[1])))
      return TensorId{};
    return in.reshape(id, whole);
  };
  const TensorId cosine = angles(1), sine = angles(2);
  if (!in.ok()) return;
  const bool neighbours = in.integer("interleaved", 0) != 0;
  const auto part = [&](int64_t begin, int64_t size, int64_t stride) {
    const graph::SliceAttrs cut{
        {0, 0, 0, begin}, {shape[0], shape[1], shape[2], size}, {1, 1, 1, stride}, {}};
    return in.emit_alike(OpKind::Slice, cut, {x}, "part");
  };
  const TensorId a = part(0, half, neighbours ? 2 : 1);
  const TensorId b = part(neighbours ? 1 : half, half, neighbours ? 2 : 1);
  const auto two = [&](OpKind kind, TensorId left, TensorId right) {
    return in.emit(kind, BinaryAttrs{}, {left, right}, kFloat, {}, "turn");
  };
  const TensorId first = two(OpKind::Sub, two(OpKind::Mul, a, cosine), two(OpKind::Mul, b, sine));
  const TensorId second = two(OpKind::Add, two(OpKind::Mul, a, sine), two(OpKind::Mul, b, cosine));
  TensorId y;
  if (neighbours) {
    y = in.emit(OpKind::Pack, graph::AxisAttrs{4}, {first, second}, kFloat, {}, "pairs");
    if (in.ok()) y = in.reshape(y, {shape[0], shape[1], shape[2], turned});
  } else {
    y = in.emit(OpKind::Concat, graph::AxisAttrs{3}, {first, second}, kFloat, {}, "halves");
  }
  if (in.ok() && turned < shape[3])
    y = in.emit(OpKind::Concat, graph::AxisAttrs{3}, {y, part(turned, shape[3] - turned, 1)},
                kFloat, {}, "all");
  if (!in.ok()) return;
  in.result(given.size() == 4 ? in.transpose(y, {0, 2, 1, 3}) : in.reshape(y, given));
}

}  // namespace intarsia::onnx
