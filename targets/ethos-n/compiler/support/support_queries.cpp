#include "support/support_queries.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kWidestMax3x3 = 417;
constexpr size_t kY = 1, kX = 2, kC = 3;  // of NHWC

struct Asked {
  const Variant& variant;
  const Query& query;
};

bool is_8_bit(DataType type) {
  return type == DataType::Int8 || type == DataType::UInt8;
}

bool in_range(DataType type, int64_t zero_point) {
  if (type == DataType::Int8) return zero_point >= -128 && zero_point <= 127;
  if (type == DataType::UInt8) return zero_point >= 0 && zero_point <= 255;
  return true;
}

// The DMA cannot split NHWC in channels, unless there is one column.
bool depth_fits(const Variant& variant, const std::array<int64_t, 4>& shape) {
  return shape[kX] == 1 || 64 * shape[kC] <= variant.sram_bytes();
}

// Before and behind: all three ways to share out an odd number of elements count as SAME.
struct Pad {
  int64_t before, after;
  bool operator==(const Pad&) const = default;
};
std::array<Pad, 3> same_pads(int64_t size, int64_t kernel, int64_t stride) {
  const int64_t covered = (ceil_div(size, stride) - 1) * stride + kernel;
  const int64_t pad = std::max<int64_t>(0, covered - size), more = (pad + 1) / 2, less = pad - more;
  return {{{more, more}, {more, less}, {less, more}}};
}
// The same way in both directions.
bool is_same(const Query& q, int64_t height, int64_t width) {
  const auto y = same_pads(height, q.kernel_h, q.stride_y),
             x = same_pads(width, q.kernel_w, q.stride_x);
  for (size_t i = 0; i < y.size(); ++i)
    if (Pad{q.top, q.bottom} == y[i] && Pad{q.left, q.right} == x[i]) return true;
  return false;
}
bool is_unpadded(const Query& q) {
  return q.top == 0 && q.bottom == 0 && q.left == 0 && q.right == 0;
}
bool is_padded_behind(const Query& q) {
  return q.top == 0 && q.bottom == 1 && q.left == 0 && q.right == 1;
}

std::vector<float> weight_scales_of_accumulator(const Query& q) {
  std::vector<float> scales;
  for (const float scale : q.weights.scales) scales.push_back(q.input().scales.at(0) * scale);
  return scales;
}

bool is_stride(const Query& q, int64_t stride) {
  return q.stride_y == stride && q.stride_x == stride;
}

int64_t longest_for_max_of_stride_1(const Variant& variant) {
  return (variant.sram_bytes() - kKernelBytes) / 2 / (8 * 16) / 8 * 8;
}

int64_t weights_depth(const Query& q) {
  return q.kind == QueryKind::Depthwise ? q.weights.shape[2] * q.weights.shape[3]
                                        : q.weights.shape[3];
}

// Of HWIO, and of HWIM.
int64_t output_axis(const Query& q) {
  return q.kind == QueryKind::Depthwise ? 2 : 3;
}

// Of a space to depth.
std::array<int64_t, 4> shape_of_blocks(const Query& q) {
  const auto& shape = q.input().shape;
  return {shape[0], shape[kY] / q.block, shape[kX] / q.block, shape[kC] * q.block * q.block};
}

namespace rule {

bool batch_is_one(const Asked& a) {
  return a.query.input().shape[0] == 1;
}
bool input_depth_fits(const Asked& a) {
  return depth_fits(a.variant, a.query.input().shape);
}
bool output_depth_fits(const Asked& a) {
  return depth_fits(a.variant, a.query.output_shape);
}
bool inputs_are_8_bit(const Asked& a) {
  return std::all_of(a.query.inputs.begin(), a.query.inputs.end(),
                     [](const QueryTensor& t) { return is_8_bit(t.type); });
}
bool input_is_per_tensor(const Asked& a) {
  return !a.query.input().axis && a.query.input().scales.size() == 1;
}
bool inputs_are_per_tensor(const Asked& a) {
  return std::none_of(a.query.inputs.begin(), a.query.inputs.end(),
                      [](const QueryTensor& t) { return t.axis.has_value(); });
}
bool input_zero_point(const Asked& a) {
  return in_range(a.query.input().type, a.query.input().zero_point);
}
bool second_zero_point(const Asked& a) {
  return in_range(a.query.inputs.at(1).type, a.query.inputs.at(1).zero_point);
}
bool all_zero_points(const Asked& a) {
  return std::all_of(a.query.inputs.begin(), a.query.inputs.end(),
                     [](const QueryTensor& t) { return in_range(t.type, t.zero_point); });
}
bool output_zero_point(const Asked& a) {
  return in_range(a.query.output_type, a.query.output_zero_point);
}

bool weights_are_8_bit(const Asked& a) {
  return is_8_bit(a.query.weights.type);
}
bool bias_is_32_bit(const Asked& a) {
  return a.query.bias.type == DataType::Int32;
}
bool bias_has_a_value_per_output(const Asked& a) {
  const auto& shape = a.query.bias.shape;
  return shape[0] * shape[1] * shape[2] == 1 && shape[3] == weights_depth(a.query);
}
bool weights_match_channels(const Asked& a) {
  return a.query.weights.shape[2] == a.query.input().shape[kC];
}
bool weights_match_elements(const Asked& a) {
  const auto& shape = a.query.input().shape;
  return a.query.weights.shape[2] == shape[kY] * shape[kX] * shape[kC];
}
bool weights_are_a_matrix(const Asked& a) {
  return a.query.weights.shape[0] == 1 && a.query.weights.shape[1] == 1;
}
bool weights_are_per_tensor(const Asked& a) {
  return a.query.weights.scales.size() == 1 && a.query.bias.scales.size() == 1;
}
bool weights_axis_is_output(const Asked& a) {
  return !a.query.weights.axis || *a.query.weights.axis == output_axis(a.query);
}
bool weights_have_a_scale_per_output(const Asked& a) {
  const QueryTensor& weights = a.query.weights;
  return !weights.axis || static_cast<int64_t>(weights.scales.size()) ==
                              weights.shape[static_cast<size_t>(output_axis(a.query))];
}
bool weights_zero_point(const Asked& a) {
  return in_range(a.query.weights.type, a.query.weights.zero_point);
}
bool kernel_and_stride_exist(const Asked& a) {
  return a.query.kernel_h != 0 && a.query.kernel_w != 0 && a.query.stride_y != 0 &&
         a.query.stride_x != 0;
}
bool output_exists(const Asked& a) {
  return std::all_of(a.query.output_shape.begin(), a.query.output_shape.end(),
                     [](int64_t size) { return size > 0; });
}
bool bias_zero_point_is_0(const Asked& a) {
  return a.query.bias.zero_point == 0;
}
bool bias_scale_matches(const Asked& a) {
  return a.query.bias.scales == weight_scales_of_accumulator(a.query);
}
bool bias_is_of_the_accumulator(const Asked& a) {
  return bias_zero_point_is_0(a) && bias_scale_matches(a);
}
bool is_known_size(int64_t size) {
  return size == 1 || size == 2 || size == 3 || size == 5 || size == 7 || size == 9;
}
bool kernel_is_known(const Asked& a) {
  return is_known_size(a.query.kernel_h) && is_known_size(a.query.kernel_w);
}
bool kernel_is_known_and_square(const Asked& a) {
  return a.query.kernel_h == a.query.kernel_w && is_known_size(a.query.kernel_h);
}
bool stride_is_1_or_2(const Asked& a) {
  return is_stride(a.query, 1) || is_stride(a.query, 2);
}
bool stride_is_2(const Asked& a) {
  return is_stride(a.query, 2);
}
bool strided_kernel_is_small(const Asked& a) {
  return a.query.stride_x == 1 || (a.query.kernel_h <= 7 && a.query.kernel_w <= 7);
}
bool no_strided_1x1(const Asked& a) {
  return a.query.stride_x == 1 || a.query.kernel_h != 1 || a.query.kernel_w != 1;
}
bool large_kernel_is_padded(const Asked& a) {
  return !is_unpadded(a.query) || (a.query.kernel_h <= 7 && a.query.kernel_w <= 7);
}
bool multiplier_of_one_channel(const Asked& a) {
  return a.query.weights.shape[3] == 1 || a.query.weights.shape[2] == 1;
}
bool padding_is_at_most_7(const Asked& a) {
  const Query& q = a.query;
  return std::max({q.top, q.bottom, q.left, q.right}) <= 7;
}
// Of a transposed convolution: SAME as the convolution from its result to its input has it.
bool padding_is_small_or_same(const Asked& a) {
  if (padding_is_at_most_7(a)) return true;
  const bool transposed = a.query.kind == QueryKind::TransposeConvolution;
  const auto& shape = transposed ? a.query.output_shape : a.query.input().shape;
  return is_same(a.query, shape[kY], shape[kX]);
}
bool overall_scale(const Asked& a) {
  for (const float scale : weight_scales_of_accumulator(a.query)) {
    const float overall = scale / a.query.output_scale;
    if (overall < 0 || overall >= 65536.0f) return false;
  }
  return true;
}
bool identity_scales(const Asked& a) {
  for (const QueryTensor& input : a.query.inputs) {
    const float multiplier = input.scales.at(0) * 0.0078125f / a.query.output_scale;
    if (!(multiplier >= 0 && multiplier < 1)) return false;
  }
  return true;
}

bool axis_exists(const Asked& a) {
  return a.query.axis >= 0 && a.query.axis <= 3;
}
bool axis_is_not_batch(const Asked& a) {
  return a.query.axis != 0;
}
bool other_axes_agree(const Asked& a) {
  for (const QueryTensor& input : a.query.inputs)
    for (size_t axis = 0; axis < 4; ++axis)
      if (static_cast<int64_t>(axis) != a.query.axis &&
          input.shape[axis] != a.query.input().shape[axis])
        return false;
  return true;
}
bool sizes_add_up(const Asked& a) {
  int64_t sum = 0;
  for (const int64_t size : a.query.sizes) sum += size;
  return sum == a.query.input().shape[static_cast<size_t>(a.query.axis)];
}
bool parts_depth_fits(const Asked& a) {
  for (const int64_t size : a.query.sizes) {
    std::array<int64_t, 4> shape = a.query.input().shape;
    shape[static_cast<size_t>(a.query.axis)] = size;
    if (!depth_fits(a.variant, shape)) return false;
  }
  return true;
}
bool all_batches_are_one(const Asked& a) {
  return std::all_of(a.query.inputs.begin(), a.query.inputs.end(),
                     [](const QueryTensor& t) { return t.shape[0] == 1; });
}
bool all_depths_fit(const Asked& a) {
  return std::all_of(a.query.inputs.begin(), a.query.inputs.end(),
                     [&](const QueryTensor& t) { return depth_fits(a.variant, t.shape); });
}
bool broadcasts(const Asked& a, size_t axis) {
  const int64_t first = a.query.inputs.at(0).shape[axis], second = a.query.inputs.at(1).shape[axis];
  return first == second || first == 1 || second == 1;
}
bool heights_broadcast(const Asked& a) {
  return broadcasts(a, kY);
}
bool widths_broadcast(const Asked& a) {
  return broadcasts(a, kX);
}
bool depths_broadcast(const Asked& a) {
  return broadcasts(a, kC);
}
bool types_agree(const Asked& a) {
  return a.query.inputs.at(0).type == a.query.inputs.at(1).type;
}
bool shapes_agree(const Asked& a) {
  return a.query.inputs.at(0).shape == a.query.inputs.at(1).shape;
}
bool input_is_a_vector(const Asked& a) {
  return a.query.input().shape[kY] == 1 && a.query.input().shape[kX] == 1;
}
bool bounds_are_ordered(const Asked& a) {
  return a.query.low <= a.query.high;
}
bool alpha_is_a_fraction(const Asked& a) {
  return a.query.alpha > 0 && a.query.alpha < 1;
}
bool image_is_7x7_or_8x8(const Asked& a) {
  const auto& shape = a.query.input().shape;
  return shape[kY] == shape[kX] && (shape[kY] == 7 || shape[kY] == 8);
}

bool average_is_known(const Asked& a) {
  const Query& q = a.query;
  const auto& shape = q.input().shape;
  if (is_unpadded(q) && q.kernel_w == shape[kX] && q.kernel_h == shape[kY])
    return image_is_7x7_or_8x8(a);
  return q.kernel_w == 3 && q.kernel_h == 3 && is_stride(q, 1) && q.top == 1 && q.bottom == 1 &&
         q.left == 1 && q.right == 1;
}
// Input and output as whole columns of channels, twice when there are more channels than banks.
bool average_3x3_fits(const Asked& a) {
  const Query& q = a.query;
  const auto& shape = q.input().shape;
  if (is_unpadded(q)) return true;
  const int64_t plane = (shape[kY] + 7) / 8 * 8 * ((shape[kX] + 7) / 8 * 8);
  const int64_t stripes = shape[kC] > a.variant.srams() ? 2 : 1;
  return stripes * 2 * plane + kKernelBytes <= a.variant.emc_bytes;
}

bool is_max_2(const Query& q, int64_t size) {
  return is_stride(q, 2) && q.kernel_w == size;
}
bool has_odd(const Query& q) {
  return q.input().shape[kY] % 2 != 0 || q.input().shape[kX] % 2 != 0;
}
bool has_even(const Query& q) {
  return q.input().shape[kY] % 2 == 0 || q.input().shape[kX] % 2 == 0;
}
bool maximum_of_stride_2_is_known(const Asked& a) {
  const Query& q = a.query;
  if (!is_stride(q, 2)) return true;
  if (q.kernel_h != q.kernel_w || q.kernel_h > 3) return false;
  return is_unpadded(q) || (q.kernel_h > 1 && is_padded_behind(q));
}
bool unpadded_2x2_is_even(const Asked& a) {
  return !is_max_2(a.query, 2) || !is_unpadded(a.query) || !has_odd(a.query);
}
bool padded_2x2_is_odd(const Asked& a) {
  return !is_max_2(a.query, 2) || is_unpadded(a.query) || !has_even(a.query);
}
bool maximum_3x3_is_narrow(const Asked& a) {
  return !is_max_2(a.query, 3) || a.query.input().shape[kX] <= kWidestMax3x3;
}
bool unpadded_3x3_is_odd(const Asked& a) {
  return !is_max_2(a.query, 3) || !is_unpadded(a.query) || !has_even(a.query);
}
bool padded_3x3_is_even(const Asked& a) {
  return !is_max_2(a.query, 3) || is_unpadded(a.query) || !has_odd(a.query);
}
bool maximum_of_stride_1_is_known(const Asked& a) {
  const Query& q = a.query;
  if (!is_stride(q, 1)) return true;
  const int64_t longest = std::max(q.kernel_h, q.kernel_w);
  if (is_unpadded(q) && longest <= 9) return true;
  return longest <= 17 && is_same(q, q.input().shape[kY], q.input().shape[kX]);
}
bool maximum_of_stride_1_fits(const Asked& a) {
  const Query& q = a.query;
  const int64_t longest = longest_for_max_of_stride_1(a.variant);
  return !is_stride(q, 1) || ((q.kernel_w == 1 || q.input().shape[kX] <= longest) &&
                              (q.kernel_h == 1 || q.input().shape[kY] <= longest));
}
bool pooling_stride_is_1_or_2(const Asked& a) {
  return is_stride(a.query, 1) || is_stride(a.query, 2);
}
bool image_is_not_smaller_than_pool(const Asked& a) {
  return a.query.input().shape[kX] >= a.query.kernel_w &&
         a.query.input().shape[kY] >= a.query.kernel_h;
}

// The stack counts bytes, and takes the new ones for eight bits each.
bool bytes_agree(const Asked& a) {
  int64_t in = bits(a.query.input().type) / 8, out = 1;
  for (size_t i = 0; i < 4; ++i) in *= a.query.input().shape[i], out *= a.query.output_shape[i];
  return in == out;
}
bool block_divides_channels(const Asked& a) {
  return a.query.block > 0 && a.query.input().shape[kC] % (a.query.block * a.query.block) == 0;
}
bool block_is_2(const Asked& a) {
  return a.query.block == 2;
}
bool block_is_above_1(const Asked& a) {
  return a.query.block > 1;
}
bool block_divides_image(const Asked& a) {
  return a.query.input().shape[kY] % a.query.block == 0 &&
         a.query.input().shape[kX] % a.query.block == 0;
}
bool blocks_depth_fits(const Asked& a) {
  return depth_fits(a.variant, shape_of_blocks(a.query));
}
// One row of blocks at least: its channels apart in a first pass, the blocks' rows beside each other in a second, which
// writes over what it has read of the first.
bool a_row_of_blocks_fits(const Asked& a) {
  const auto& shape = a.query.input().shape;
  const int64_t block = a.query.block, width = shape[kX], row = block * shape[kC];
  int64_t banks = std::min(a.variant.srams(), row);
  while (row % banks != 0) --banks;
  const auto eighths = [](int64_t elements, int64_t of) {
    return (elements + 8 * of - 1) / (8 * of);
  };
  const int64_t first = 64 * eighths(width * shape[kC], banks);
  const int64_t second = 64 * eighths(row, banks) * eighths(width, block);
  return (first + (block - 1) * std::max(first, second) + second) * a.variant.srams() <=
         a.variant.sram_bytes();
}
bool never(const Asked&) {
  return false;
}
bool doubles(int64_t in, int64_t out) {
  return out == 2 * in || out == 2 * in - 1;
}
bool height_doubles(const Asked& a) {
  return doubles(a.query.input().shape[kY], a.query.output_shape[kY]);
}
bool width_doubles(const Asked& a) {
  return doubles(a.query.input().shape[kX], a.query.output_shape[kX]);
}

}  // namespace rule

struct Reason {
  bool (*kept)(const Asked&);
  std::string_view name, words;
};
constexpr Reason kReasons[] = {
#define REASON(predicate, name, words) {rule::predicate, name, words},
#include "support/support_reasons.def"
#undef REASON
};

struct Limit {
  QueryKind query;
  Support verdict;
  bool (*kept)(const Asked&);
};
constexpr Limit kLimits[] = {
#define LIMIT(query, verdict, predicate) {QueryKind::query, Support::verdict, rule::predicate},
#include "support/support_rules.def"
#undef LIMIT
};

// An operation that is refused is not called estimated, because its refusals are looked at first.
constexpr bool refusals_come_first() {
  for (size_t i = 1; i < std::size(kLimits); ++i)
    if (kLimits[i].query == kLimits[i - 1].query && kLimits[i].verdict == Support::Unsupported &&
        kLimits[i - 1].verdict == Support::EstimateOnly)
      return false;
  return true;
}
static_assert(refusals_come_first());

constexpr const Reason* reason_of(const Limit& limit) {
  for (const Reason& reason : kReasons)
    if (reason.kept == limit.kept) return &reason;
  return nullptr;
}
static_assert(std::all_of(std::begin(kLimits), std::end(kLimits),
                          [](const Limit& limit) { return reason_of(limit) != nullptr; }));

std::string words_of(const Asked& asked, const Limit& limit, std::string_view words) {
  const Query& q = asked.query;
  const auto& image = q.input().shape;
  const auto output_channels = static_cast<size_t>(output_axis(q));
  const int64_t deep = limit.kept == rule::output_depth_fits   ? q.output_shape[kC]
                       : limit.kept == rule::blocks_depth_fits ? shape_of_blocks(q)[kC]
                                                               : image[kC];
  const int64_t longest = limit.kept == rule::maximum_3x3_is_narrow
                              ? kWidestMax3x3
                              : longest_for_max_of_stride_1(asked.variant);
  const auto sides = [](int64_t height, int64_t width) {
    return fmt::format("{} x {}", height, width);
  };
  return fmt::format(
      fmt::runtime(words), fmt::arg("batch", image[0]), fmt::arg("height", image[kY]),
      fmt::arg("width", image[kX]), fmt::arg("channels", image[kC]),
      fmt::arg("kernel", sides(q.kernel_h, q.kernel_w)),
      fmt::arg("strides", sides(q.stride_y, q.stride_x)),
      fmt::arg("padding", fmt::format("{}, {}, {}, {}", q.top, q.bottom, q.left, q.right)),
      fmt::arg("axis", q.axis), fmt::arg("block", q.block),
      fmt::arg("output", fmt::join(q.output_shape, ",")),
      fmt::arg("weights", fmt::join(q.weights.shape, ",")),
      fmt::arg("scales", q.weights.scales.size()),
      fmt::arg("expected_scales", q.weights.shape[output_channels]), fmt::arg("deep", deep),
      fmt::arg("depth_bytes", 64 * deep), fmt::arg("sram_bytes", asked.variant.sram_bytes()),
      fmt::arg("limit", longest));
}

}  // namespace

Answer ask(const Variant& variant, const Query& query) {
  const Asked asked{variant, query};
  for (const Limit& limit : kLimits) {
    if (limit.query != query.kind || limit.kept(asked)) continue;
    const Reason& reason = *reason_of(limit);
    return {limit.verdict, reason.name, words_of(asked, limit, reason.words)};
  }
  return {};
}

}  // namespace intarsia::targets::ethos_n
