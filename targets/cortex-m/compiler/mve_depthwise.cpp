// Depthwise convolution on cores with Helium: device/mve_depthwise.h.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "depthwise.h"
#include "kernel_costs.h"
#include "wide_weights.h"

namespace intarsia::targets::cortex_m {
namespace {

using namespace operators;

constexpr int64_t kVector = 16, kMostTaps = 64;
// Of planes: fewer channels at a time where they would take more.
constexpr int64_t kPlaneBytes = 4 * 1024, kMostScratch = 16 * 1024;

enum class Family { Dense, Halving, Wide };

struct Layout {
  Window window;  // kernel_w with the gaps of dilation
  Family family;
  int64_t tap_x, tap_y;  // distance of taps in a channel's weights
  int64_t first, bytes;  // of its first tap; of all of them

  int64_t strip_rows() const {
    return family == Family::Dense ? 4 : family == Family::Halving ? 5 : window.kernel_h;
  }
  int64_t out_rows() const { return family == Family::Wide ? 1 : 2; }
  int64_t results() const { return family == Family::Wide ? 8 : 4; }
  int64_t groups() const { return (window.out_w + results() - 1) / results(); }
  int64_t pitch() const {
    return groups() * results() * window.stride_w * strip_rows() +
           (family == Family::Wide ? kMostTaps : kVector);
  }
  int64_t vectors() const { return bytes / kVector; }
  // Constants of the channels that are turned together, where they are copied, and what loads of the last ones' reach.
  int64_t copies() const {
    return window.strip_h == 0
               ? 0
               : window.group * (window.out_c / window.in_c) * (bytes + kVector) + kVector;
  }
  int64_t scratch() const { return window.group * pitch() + copies(); }
  // Each word of a channel's constants waits, once for each strip; dense and halving ones are loaded several times.
  bool saves_by_copies(int64_t waits) const {
    constexpr int64_t kWords = kVector / 4, kCopied = 6;
    const int64_t strips = (window.out_h + out_rows() - 1) / out_rows();
    const int64_t loads = family == Family::Dense ? 4 : family == Family::Halving ? 2 : vectors();
    return strips * (loads + 1) * kWords * waits > (vectors() + 1) * (kCopied + kWords * waits);
  }
  // Cycles on a Cortex-M55, roughly: of eight results, of what comes before them in each channel, and of turned bytes.
  double cost() const {
    const int64_t strips = (window.out_h + out_rows() - 1) / out_rows();
    const int64_t group = family == Family::Wide ? 34 + 5 * bytes / 4 : 31;
    const int64_t turned = family == Family::Dense ? 2 : strip_rows();
    return static_cast<double>(strips) *
           (static_cast<double>(window.out_c * (35 + groups() * group)) +
            0.8 * static_cast<double>(turned * window.in_w * window.in_c));
  }
};

// Of the families that serve the window the cheapest that has room.
std::optional<Layout> lay_out(Window w, int64_t dilation_w) {
  Layout wide{w, Family::Wide, dilation_w * w.kernel_h, 1, 0, 0};
  wide.window.kernel_w = (w.kernel_w - 1) * dilation_w + 1;
  std::vector<Layout> layouts;
  if (w.strip_w == 0 && w.kernel_h <= 3 && w.kernel_w <= 3 && w.dilation_h == 1 &&
      dilation_w == 1) {
    if (w.stride_h == 1 && w.stride_w == 1)
      layouts.push_back({wide.window, Family::Dense, 4, 1, 5, kVector});
    if (w.stride_h == 2 && w.stride_w == 2)
      layouts.push_back({wide.window, Family::Halving, 5, 1, 2, kVector});
  }
  const int64_t taps = w.kernel_h * wide.window.kernel_w;
  wide.bytes = taps <= kVector ? kVector : taps <= 2 * kVector ? 2 * kVector : kMostTaps;
  if (taps <= kMostTaps) layouts.push_back(wide);
  std::optional<Layout> best;
  for (Layout& layout : layouts) {
    layout.window.group = std::min<int64_t>(kVector, w.in_c);
    if (layout.scratch() > kPlaneBytes)
      layout.window.group = std::min<int64_t>(kVector / 2, w.in_c);
    if (layout.scratch() > kMostScratch || layout.pitch() * kVector > UINT16_MAX ||
        !layout.window.fits())
      continue;
    if (!best || layout.cost() < best->cost()) best = layout;
  }
  return best;
}

// A weight is the sum of those of all parts; rows of the parts lie beside each other.
std::vector<uint8_t> weights_of(const std::vector<WeightRows>& parts, const Window& w,
                                const Layout& layout) {
  const auto channels = static_cast<int64_t>(parts[0].size()),
             together = static_cast<int64_t>(parts.size());
  std::vector<uint8_t> bytes(static_cast<size_t>(channels * layout.bytes + kVector), 0);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t y = 0; y < w.kernel_h; ++y)
      for (int64_t x = 0; x < w.kernel_w; ++x)
        for (int64_t part = 0; part < together; ++part) {
          const bool turned = layout.window.transposed != 0;
          const int64_t place = layout.first + (turned ? y : x) * layout.tap_x +
                                (together * (turned ? x : y) + part) * layout.tap_y;
          bytes[static_cast<size_t>(c * layout.bytes + place)] =
              static_cast<uint8_t>(parts[static_cast<size_t>(part)][static_cast<size_t>(c)]
                                        [static_cast<size_t>(y * w.kernel_w + x)]);
        }
  return bytes;
}

std::string kernel_of(Family family) {
  const std::string name = family == Family::Dense     ? "dense"
                           : family == Family::Halving ? "halving"
                                                       : "wide";
  return "intarsia_mve_depthwise_" + name + "_s8";
}

// Channels of the output in the order in which the kernels take them (device/mve_depthwise.h).
std::vector<size_t> order_of(const Window& w) {
  const int64_t multiplier = w.out_c / w.in_c;
  std::vector<size_t> order;
  for (int64_t c = 0; c < w.in_c; c += w.group) {
    const int64_t together = std::min(w.in_c - c, w.group), all = together * multiplier;
    for (int64_t i = 0; i < all; ++i)
      order.push_back(static_cast<size_t>(
          c * multiplier + (multiplier <= w.group ? i % together * multiplier + i / together : i)));
  }
  return order;
}

template <typename List>
List in_order(const List& list, const std::vector<size_t>& order) {
  List ordered;
  for (const size_t channel : order) ordered.push_back(list[channel]);
  return ordered;
}

Stmt lower(OpLowering& op, std::vector<WeightRows> parts, const Window& w, Channels channels,
           const Layout& layout) {
  const std::vector<size_t> order = order_of(layout.window);
  for (WeightRows& part : parts) part = in_order(part, order);
  channels.list = in_order(channels.list, order);
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const BufferId scratch = op.b.local("scratch", DataType::Int8, {layout.scratch()}, 4);
  std::vector<uint8_t> bytes = weights_of(parts, w, layout);
  const auto size = static_cast<int64_t>(bytes.size());
  const BufferId weights =
      op.constant("weights", DataType::Int8, {size}, std::move(bytes), tir::ConstantUse::Weights);
  const BufferId table = op.constant("channels", DataType::Int32, {w.out_c, 4},
                                     channels.scalar_table(), tir::ConstantUse::Weights);
  return call_kernel(op.b.func(), {kernel_of(layout.family),
                                   layout.window.values(),
                                   {op.in(0)},
                                   op.out(),
                                   scratch,
                                   {weights, table}});
}

// Pixel by pixel (device/mve_depthwise_pixels.c).
std::string pixels_kernel_of(const Window& w) {
  return w.in_c == w.out_c ? "intarsia_mve_depthwise_pixels_s8"
                           : "intarsia_mve_depthwise_shared_pixels_s8";
}

constexpr int64_t kPixelChannels8 = 8, kPixelWindows = 16, kPixelWindowBytes = 20;

std::vector<uint8_t> pixel_constants(const Depthwise& d, const Channels& channels) {
  constexpr int64_t kOrder[] = {0, 2, 4, 6, 1, 3, 5, 7};
  std::vector<uint8_t> bytes;
  const auto count = static_cast<int64_t>(d.rows.size());
  for (int64_t first = 0; first < count; first += kPixelChannels8) {
    const auto words = [&](const auto& of) {
      for (const int64_t lane : kOrder) {
        const auto c = static_cast<size_t>(first + lane);
        append_word(bytes, first + lane < count ? of(channels.list[c], d.rows[c]) : 0);
      }
    };
    words([&](const Channel& c, const std::vector<int8_t>& row) {
      int64_t bias = c.bias;
      for (const int8_t weight : row) bias += d.window.in_zero * weight;
      return bias;
    });
    words([](const Channel& c, const auto&) { return int64_t{c.multiplier.value}; });
    words([&](const Channel& c, const auto&) {
      return channels.out_zero * (int64_t{1} << -c.multiplier.shift) +
             (int64_t{1} << (-c.multiplier.shift - 1));
    });
    words([](const Channel& c, const auto&) { return int64_t{24 + c.multiplier.shift}; });
    for (size_t tap = 0; tap < d.rows[0].size(); ++tap)
      for (int64_t lane = 0; lane < kPixelChannels8; ++lane)
        bytes.push_back(first + lane < count
                            ? static_cast<uint8_t>(d.rows[static_cast<size_t>(first + lane)][tap])
                            : uint8_t{0});
  }
  return bytes;
}

Stmt lower_pixels(OpLowering& op, const Depthwise& d, const Channels& channels) {
  const Window& w = d.window;
  op.declare({Shape{w.batches, w.in_h, w.in_w, w.in_c}},
             Shape{w.batches, w.out_h, w.out_w, w.out_c});
  const int64_t block = 16 * kPixelChannels8 + kPixelChannels8 * w.kernel_h * w.kernel_w;
  const BufferId scratch =
      op.b.local("scratch", DataType::Int8, {block + kPixelWindows * kPixelWindowBytes}, 4);
  std::vector<uint8_t> bytes = pixel_constants(d, channels);
  const auto size = static_cast<int64_t>(bytes.size());
  const BufferId weights =
      op.constant("weights", DataType::Int8, {size}, std::move(bytes), tir::ConstantUse::Weights);
  return call_kernel(op.b.func(),
                     {pixels_kernel_of(w), w.values(), {op.in(0)}, op.out(), scratch, {weights}});
}

// Without wait states.
double mve_cycles(const std::string& kernel, const Window& w) {
  return cycles_of_work(CostCore::M55, work_of_call(CoreClass::Mve, kernel, w.values(), {}))
      .value_or(0);
}

// Whether it saves what its code is worth beside the kernels that turn channels into planes.
bool pixels_are_worth_it(const Window& w, const std::optional<Layout>& layout) {
  constexpr double kWorthItsCode = 8192;
  if (!layout) return false;
  return mve_cycles(pixels_kernel_of(w), w) + kWorthItsCode <=
         mve_cycles(kernel_of(layout->family), layout->window);
}

}  // namespace

LowerKernel mve_depthwise_kernel(const Depthwise& d, int64_t dilation_w, const Channels& channels,
                                 SlowConstants slow) {
  if (!channels.quick) return nullptr;
  std::optional<Layout> layout = lay_out(d.window, dilation_w);
  Window turned = transposed(d.window);
  turned.dilation_h = dilation_w;
  const std::optional<Layout> other = lay_out(turned, d.window.dilation_h);
  if (other && (!layout || other->cost() < layout->cost())) layout = other;
  if (pixels_are_worth_it(d.window, layout))
    return [d, channels](OpLowering& op) { return lower_pixels(op, d, channels); };
  if (!layout) return nullptr;
  if (layout->saves_by_copies(slow.waits)) {
    layout->window.strip_h = 1;
    if (layout->scratch() > std::max(kPlaneBytes, slow.free_scratch)) layout->window.strip_h = 0;
  }
  return [d, channels, layout = *layout](OpLowering& op) {
    return lower(op, {d.rows}, d.window, channels, layout);
  };
}

LowerKernel mve_shifted_depthwise_kernel(const Window& w,
                                         const std::vector<std::vector<int16_t>>& rows,
                                         const Channels& channels, SlowConstants slow,
                                         double below) {
  if (!channels.quick) return nullptr;
  // A weight is the sum of two bytes, and each row of the window comes twice.
  std::vector<WeightRows> parts(2);
  for (const std::vector<int16_t>& row : rows) {
    for (WeightRows& part : parts) part.emplace_back();
    for (const int16_t weight : row) {
      constexpr int kMost = 2 * std::numeric_limits<int8_t>::max(), kLeast = -256;
      if (weight > kMost || weight < kLeast) return nullptr;
      const int half = weight / 2;
      parts[0].back().push_back(static_cast<int8_t>(half));
      parts[1].back().push_back(static_cast<int8_t>(weight - half));
    }
  }
  const auto twice = [](Window window, int64_t dilation_h, int64_t dilation_w) {
    window.kernel_h *= 2, window.strip_w = 1, window.dilation_h = dilation_h;
    return lay_out(window, dilation_w);
  };
  std::optional<Layout> layout = twice(w, w.dilation_h, w.dilation_w);
  const std::optional<Layout> other = twice(transposed(w), w.dilation_w, w.dilation_h);
  if (other && (!layout || other->cost() < layout->cost())) layout = other;
  if (!layout || mve_cycles(kernel_of(layout->family), layout->window) >= below) return nullptr;
  if (layout->saves_by_copies(slow.waits)) {
    layout->window.strip_h = 1;
    if (layout->scratch() > std::max(kPlaneBytes, slow.free_scratch)) layout->window.strip_h = 0;
  }
  return [parts, w, channels, layout = *layout](OpLowering& op) {
    return lower(op, parts, w, channels, layout);
  };
}

}  // namespace intarsia::targets::cortex_m
