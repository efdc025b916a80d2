#include "legalise/elementwise.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/hardware.h"
#include "hardware/limits.h"
#include "intarsia/plugin/rounding.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;
using graph::TensorId;

// How an operand's images and rows repeat. `Whole`: as one box; `ByImage`: one operation per image.
enum class Repeats { Whole, ByImage, Otherwise };

Repeats repeats(const Shape& operand, const Shape& out) {
  if (out.size() < 3) return Repeats::Whole;
  const size_t missing = out.size() - operand.size(), leading = out.size() - 2;
  bool all = true, none = true;
  for (size_t i = 0; i < leading; ++i) {
    const int64_t extent = i < missing ? 1 : operand[i - missing];
    if (extent != out[i]) all = false;
    if (extent != 1) none = false;
  }
  if (all || none) return Repeats::Whole;
  return out.size() == 4 ? Repeats::ByImage : Repeats::Otherwise;
}

struct Pairing {
  bool swapped = false;  // the node's second operand is the one that does not repeat
  bool by_image = false;
  std::optional<size_t> copied = {};  // an operand that takes the output's shape by copies first
};

std::optional<Pairing> pairing_of(const Shape& a, const Shape& b, const Shape& out,
                                  bool a_is_constant) {
  const bool a_whole = element_count(a) == element_count(out);
  const bool b_whole = element_count(b) == element_count(out);
  if (!a_whole && !b_whole) return std::nullopt;
  const Repeats of_a = repeats(a, out), of_b = repeats(b, out);
  if (of_a == Repeats::Otherwise || of_b == Repeats::Otherwise) return std::nullopt;
  return Pairing{.swapped = !a_whole || (b_whole && a_is_constant),
                 .by_image = of_a == Repeats::ByImage || of_b == Repeats::ByImage};
}

std::optional<Pairing> pairing_of(const Site& site) {
  const Shape &a = site.in(0).shape, &b = site.in(1).shape, &out = site.out().shape;
  if (const auto pairing = pairing_of(a, b, out, site.in(0).constant.valid())) return pairing;
  for (const size_t copied : {size_t{0}, size_t{1}}) {
    if (refuses_repeats(site.in(copied).shape, out)) continue;
    auto pairing = pairing_of(copied == 0 ? out : a, copied == 0 ? b : out, out, false);
    if (!pairing) continue;
    pairing->copied = copied;
    return pairing;
  }
  return std::nullopt;
}

// What the n-th image of the output takes of an operand.
Operand image_of(const Site& site, const Pairing& pairing, size_t operand, const Operand& all,
                 int64_t n, int64_t images) {
  const Shape& shape = pairing.copied == operand ? site.out().shape : site.in(operand).shape;
  const bool has_images =
      !shape.empty() && shape.size() == site.out().shape.size() && shape[0] == images;
  return has_images ? image(all, n, images) : all;
}

int32_t first_element(const Site& site, const graph::Tensor& constant) {
  const uint8_t* bytes = site.module.constant(constant.constant).bytes.data();
  if (constant.type == DataType::Int8) return static_cast<int8_t>(bytes[0]);
  int16_t value = 0;
  std::memcpy(&value, bytes, 2);
  return value;
}

}  // namespace

Reason refuses_pairing(const Site& site) {
  if (site.in(0).constant.valid() && site.in(1).constant.valid())
    return std::string("both operands are constant");
  if (!pairing_of(site))
    return fmt::format("operands of shapes [{}] and [{}] both repeat, the NPU repeats one, and {}",
                       fmt::join(site.in(0).shape, ","), fmt::join(site.in(1).shape, ","),
                       refuses_repeats(site.in(0).shape, site.out().shape)
                           .value_or("the images of the other repeat beside its rows"));
  return std::nullopt;
}

Operands operands_of(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  Operands operands = {builder.read(node.inputs.at(0)), builder.read(node.inputs.at(1)),
                       builder.write(node.outputs.at(0))};
  if (const auto copied = pairing_of(site)->copied) {
    Operand& operand = *copied == 0 ? operands.a : operands.b;
    operand = repeated(builder, operand, site.in(*copied).shape, site.out().shape);
  }
  return operands;
}

void emit_binary(Builder& builder, const Node& node, OperationKind kind, const Operands& operands,
                 const std::function<void(Operation&)>& complete) {
  const Site site{builder.module(), builder.function(), node};
  const Pairing pairing = *pairing_of(site);
  const size_t second = pairing.swapped ? 0 : 1;
  const int64_t images = pairing.by_image ? site.out().shape.at(0) : 1;
  const auto of_image = [&](size_t operand, int64_t n) {
    return image_of(site, pairing, operand, operand == 0 ? operands.a : operands.b, n, images);
  };
  for (int64_t n = 0; n < images; ++n) {
    Operation op = builder.start(kind, of_image(1 - second, n), image(operands.out, n, images));
    op.reverse_operands = pairing.swapped;
    const Operand b = of_image(second, n);
    const NpuTensor& tensor = builder.program().tensors.at(static_cast<size_t>(b.tensor));
    op.ifm2_type = tensor.type;
    if (tensor.kind == NpuTensor::Kind::Constant && tensor.type != DataType::Int32 &&
        tensor.extent.elements() == 1) {
      op.ifm2_scalar = first_element(site, site.in(second));
      op.ifm2_zero_point = b.zero_point;
    } else {
      op.ifm2 = b;
    }
    complete(op);
    builder.emit(std::move(op));
  }
}

namespace {

// The operand's elements follow each other without a gap.
bool has_no_gaps(const Builder& builder, const Operand& operand) {
  const Extent& whole = builder.program().tensors.at(static_cast<size_t>(operand.tensor)).extent;
  return !operand.walk && operand.step == Extent{} && operand.extent.depth == whole.depth &&
         (operand.extent.width == whole.width || operand.extent.height == 1);
}

// Its rows as pixels of one brick's channels.
Operand in_whole_pixels(const Builder& builder, Operand operand) {
  const Extent& whole = builder.program().tensors.at(static_cast<size_t>(operand.tensor)).extent;
  const Extent& at = operand.origin;
  const int64_t first = (int64_t{at.height} * whole.width + at.width) * whole.depth;
  const int32_t row = operand.extent.width * operand.extent.depth;
  operand.origin = {0, 0, static_cast<int32_t>(first)};
  operand.extent = {operand.extent.height, static_cast<int32_t>(row / kBrickDepth), kBrickDepth};
  operand.walk = Walk{row, kBrickDepth};
  return operand;
}

// The output unit puts out sixteen channels at a time, and a pixel of 24 takes as long as one of 32: where no operand repeats, such
// rows are gone through as if pixels had sixteen.
Operands without_broken_pixels(const Builder& builder, const Operands& all) {
  const Extent& extent = all.out.extent;
  const auto fits = [&](const Operand& operand) {
    return operand.extent == extent && has_no_gaps(builder, operand);
  };
  if (builder.confirmed_only() || extent.depth % kBrickDepth == 0 ||
      extent.width * extent.depth % kBrickDepth != 0 || extent.elements() < kLeastBandElements ||
      !fits(all.a) || !fits(all.b) || !fits(all.out))
    return all;
  return {in_whole_pixels(builder, all.a), in_whole_pixels(builder, all.b),
          in_whole_pixels(builder, all.out)};
}

}  // namespace

void in_bands(Builder& builder, const Operands& each,
              const std::function<void(const Operands&)>& emit, int64_t widened) {
  const Operands all = without_broken_pixels(builder, each);
  const Extent& extent = all.out.extent;
  int32_t Extent::*axis = extent.height > 1 ? &Extent::height : &Extent::width;
  const int64_t count = extent.*axis, slice = extent.elements() / count;
  const int64_t bytes = bits(builder.type_of(all.out)) / 8;
  const int64_t whole =
      std::max({int64_t{1}, count * bytes / (4 * widened), ceil_div(kLeastBandElements, slice)});
  const int64_t at_most = builder.in_band(
      whole, std::max(ceil_div(whole, kNarrower), ceil_div(2 * kLeastBandElements, slice)));
  // As many bands of about the same size need less memory than full ones and a rest.
  const int64_t bands = ceil_div(count, at_most), most = ceil_div(count, bands);
  for (int64_t first = 0; first < count; first += most) {
    const auto part = [&](const Operand& of) {
      Extent origin{0, 0, 0}, band = of.extent;
      if (band.*axis == 1 && count > 1) return of;
      origin.*axis = static_cast<int32_t>(first);
      band.*axis = static_cast<int32_t>(std::min(most, count - first));
      return box(of, origin, band);
    };
    emit({part(all.a), part(all.b), part(all.out)});
  }
}

void in_symmetric_bands(Builder& builder, const Node& node, const Operands& all,
                        const std::function<void(const Operands&, bool)>& emit) {
  const Site site{builder.module(), builder.function(), node};
  const Pairing pairing = *pairing_of(site);
  const int64_t images = pairing.by_image ? site.out().shape.at(0) : 1;
  for (int64_t n = 0; n < images; ++n) {
    const Operands one = {image_of(site, pairing, 0, all.a, n, images),
                          image_of(site, pairing, 1, all.b, n, images), image(all.out, n, images)};
    in_bands(builder, pairing.swapped ? Operands{one.b, one.a, one.out} : one,
             [&](const Operands& band) { emit(band, pairing.swapped); });
  }
  for (const Operand& operand : {all.a, all.b})
    if (operand.extent == all.out.extent && !operand.walk) builder.may_replace(all.out, {operand});
}

namespace {

double mul_factor(const Site& site) {
  return scale_of(site.in(0)) * scale_of(site.in(1)) / scale_of(site.out());
}

// What an operand is away from its zero point at most.
int64_t largest_distance_of(const Site& site, size_t operand) {
  const graph::Tensor& tensor = site.in(operand);
  if (tensor.type == DataType::Int8) return 255;
  if (!tensor.constant.valid()) return 1 << 15;
  const uint8_t* bytes = site.module.constants[tensor.constant.at()].bytes.data();
  int32_t largest = 0;
  for (int64_t i = 0; i < element_count(tensor.shape); ++i) {
    const auto value = static_cast<int16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
    largest = std::max(largest, std::abs(int32_t{value}));
  }
  return largest;
}

}  // namespace

Reason refuses_mul(const Site& site) {
  if (Reason reason = refuses_pairing(site)) return reason;
  const double factor = mul_factor(site);
  if (!channel_scale(factor))
    return std::string("the output's scale is too small for the operands' scales");
  // TFLite shifts the product left by the factor's exponent, in 32 bits.
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  const int64_t product = largest_distance_of(site, 0) * largest_distance_of(site, 1);
  if (product > kMost >> std::clamp(fixed_factor(factor).exponent, 0, 62))
    return fmt::format("the products are scaled by {}, and TFLite's leave 32 bits", factor);
  return std::nullopt;
}

// Of the stored values, whatever they stand for: so TFLM does.
Reason refuses_extremum(const Site& site) {
  return refuses_pairing(site);
}

static void emit_extremum(Builder& builder, const Node& node, OperationKind kind) {
  Operands operands = operands_of(builder, node);
  operands.a.zero_point = operands.b.zero_point = operands.out.zero_point = 0;
  emit_binary(builder, node, kind, operands, [](Operation& op) { op.reverse_operands = false; });
}

void legalise_minimum(Builder& builder, const Node& node) {
  emit_extremum(builder, node, OperationKind::Minimum);
}

void legalise_maximum(Builder& builder, const Node& node) {
  emit_extremum(builder, node, OperationKind::Maximum);
}

void legalise_mul(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Clamp clamp = clamp_of(node.attrs<graph::BinaryAttrs>().activation, site.out());
  emit_binary(builder, node, OperationKind::Mul, operands_of(builder, node), [&](Operation& op) {
    op.reverse_operands = false;
    op.global_scale = *channel_scale(mul_factor(site));
    op.clamp_low = clamp.low;
    op.clamp_high = clamp.high;
  });
}

}  // namespace intarsia::targets::ethos_u
