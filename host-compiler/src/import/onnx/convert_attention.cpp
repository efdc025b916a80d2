// Attention of many heads, written out: two products, and what happens to the scores between them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "import/onnx/attention.h"
#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

constexpr float kNever = std::numeric_limits<float>::lowest();  // the score of what is masked

class Attention {
 public:
  Attention(Reader& in, const AttentionOperands& given) : in_(in), given_(given) {}

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

  TensorId weights(TensorId scores, int64_t past) {
    if (const float cap = in_.real("softcap", 0); cap != 0) {
      const TensorId inner = two(OpKind::Mul, scores, in_.number(1 / cap), "cap");
      scores = two(OpKind::Mul, in_.emit(OpKind::Tanh, NoAttrs{}, {inner}, kFloat, {}, "cap"),
                   in_.number(cap), "cap");
    }
    const auto masked = [&](TensorId mask, TensorId id, float instead) {
      return in_.emit(OpKind::Select, NoAttrs{}, {mask, id, in_.number(instead)}, kFloat, {},
                      "mask");
    };
    std::vector<TensorId> masks;
    if (const TensorId near = near_steps(scores, past); near.valid()) masks.push_back(near);
    for (const TensorId given : {given_.mask, given_.bias}) {
      if (given.valid() && in_.ok() &&
          !in_.require(
              !in_.shape(given).empty() && in_.shape(given).back() == in_.shape(scores).back(),
              "has a mask of fewer steps than keys"))
        return {};
    }
    if (given_.mask.valid()) masks.push_back(given_.mask);
    if (given_.bias.valid()) scores = two(OpKind::Add, scores, given_.bias, "bias");
    for (const TensorId mask : masks) scores = masked(mask, scores, kNever);
    TensorId result =
        in_.emit(OpKind::Softmax, graph::SoftmaxAttrs{}, {scores}, kFloat, {}, "weights");
    // Who may look nowhere sees nothing.
    for (const TensorId mask : masks)
      if (!in_.is_constant(mask)) result = masked(mask, result, 0);
    return result;
  }

  // Steps up to the query's own, or within a window around it; no tensor where these are all.
  TensorId near_steps(TensorId scores, int64_t past) {
    const int64_t left = in_.integer("left_window_size", -1),
                  right = given_.is_causal ? 0 : in_.integer("right_window_size", -1);
    if (!in_.ok() || (left < 0 && right < 0)) return {};
    const int64_t rows = in_.shape(scores)[2], columns = in_.shape(scores)[3];
    std::vector<int64_t> mask;
    if (!table_fits(in_, rows * columns)) return {};
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        const int64_t ahead = column - row - past;
        mask.push_back((right < 0 || ahead <= right) && (left < 0 || -ahead <= left) ? 1 : 0);
      }
    return in_.make_constant(integer_values(DataType::Bool, {rows, columns}, mask));
  }

  Reader& in_;
  const AttentionOperands& given_;
  int64_t kept_steps_ = 0;  // of the keys, without those of the past
};

}  // namespace

void write_attention(Reader& in, const AttentionOperands& operands) {
  Attention(in, operands).write();
}

void read_attention(Reader& in) {
  if (!in.require(!in.has(6), "has the lengths of its keys as an operand", "mask the keys") ||
      !in.require(in.node().outputs.size() < 4 || in.node().outputs[3].empty(),
                  "gives its scores, too"))
    return;
  AttentionOperands given = {.query = in.operand(0),
                             .key = in.operand(1),
                             .value = in.operand(2),
                             .past_key = in.optional_operand(4),
                             .past_value = in.optional_operand(5),
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
  const int64_t heads = in.integer("num_heads", 0);
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
