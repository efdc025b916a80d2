#include "legalise/gather.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

// All times here are those that the MAC arrays take for one step of one result. A step of a micro-block is four
// cycles, so that results come at another rate on each configuration; on all of them the output unit takes twice
// as long for an element that is copied (OUTPUT_TIMING in isa/timing.def, of operations of no other kind).
constexpr double kCopySteps = 2;

// What two more operations take on the fastest configuration, where it weighs most: each waits for the one
// before it, reads its first block, and writes its last.
constexpr double wait_steps() {
  double results = 0;  // of a step, all cores
#define PRODUCT(...)
#define CONFIGURATION(name, tag, product, macs, cores, width, height, depth, ...) \
  results = std::max(results, double{width} * height * depth * cores);
#define GRANULES(...)
#include "intarsia/targets/ethos_u/configurations.def"
#undef PRODUCT
#undef CONFIGURATION
#undef GRANULES
  enum Memory { Sram, OffChipFlash, Dram };
  double latency = 0;  // of the memory that feature maps lie in
#define SYSTEM(...)
#define SYSTEM_MEMORY(system, memory, scale, burst, read, write) \
  if (memory == Sram) latency = std::max(latency, double{read} + write);
#define MEMORY_MODE(...)
#include "intarsia/targets/ethos_u/memory_systems.def"
#undef SYSTEM
#undef SYSTEM_MEMORY
#undef MEMORY_MODE
  constexpr double kStepCycles = 4;
  return 2 * latency * results / kStepCycles;
}

Operand walked(Operand operand, const Walk& walk, int64_t first, const Extent& extent) {
  operand.walk = walk;
  operand.origin = {0, 0, static_cast<int32_t>(first)};
  operand.extent = extent;
  return operand;
}

}  // namespace

int64_t mac_steps(int64_t kernel_height, int64_t kernel_width, int64_t channels) {
  constexpr int64_t kSubKernel = 8, kOutputSteps = 2;
  int64_t by_parts = 0;
  for (int64_t y = 0; y < kernel_height; y += kSubKernel)
    for (int64_t x = 0; x < kernel_width; x += kSubKernel)
      by_parts +=
          ceil_div(std::min(kSubKernel, kernel_height - y) * std::min(kSubKernel, kernel_width - x),
                   4) *
          ceil_div(channels, 8);
  return std::max(kOutputSteps,
                  std::min(by_parts, kernel_height * kernel_width * ceil_div(channels, 32)));
}

std::optional<Gather> gather_rows(const Program& program, const Operand& ifm, const Extent& ofm,
                                  const WindowAxis& y, const WindowAxis& x, int64_t steps) {
  const NpuTensor& tensor = program.tensors.at(static_cast<size_t>(ifm.tensor));
  const bool is_whole = !ifm.walk && ifm.extent == tensor.extent && ifm.step == Extent{};
  const int64_t depth = ifm.extent.depth;
  if (!is_whole || x.dilation != 1 || x.kernel == 1 || bits(tensor.type) != 8) return std::nullopt;

  Gather gather;
  gather.before = x.before;
  const int64_t width = (x.places - 1) * x.step() + x.kernel;
  gather.columns = std::min(x.extent, width - x.before);
  gather.after = width - x.before - gather.columns;
  const int64_t padding = gather.before + gather.after;
  if (gather.columns <= padding || gather.columns * depth > kMostExtent) return std::nullopt;
  const int64_t copied = padding == 0 ? 0
                                      : x.extent * depth * ifm.extent.height +
                                            padding * depth * (ifm.extent.height + 1);
  const double saved =
      static_cast<double>((steps - mac_steps(y.kernel, 1, x.kernel * depth)) * ofm.elements());
  const double cost = padding == 0 ? 0 : kCopySteps * static_cast<double>(copied) + wait_steps();
  return saved > cost ? std::optional(gather) : std::nullopt;
}

// Rows of the copy overlap: the padding behind a row is in front of the next row's, and one strip of
// both begins every row of memory.
Operand gathered(Builder& builder, const Operand& ifm, const Gather& gather, const WindowAxis& x) {
  const int64_t depth = ifm.extent.depth, padding = (gather.before + gather.after) * depth;
  const auto windows = [&](const Operand& from, int64_t row, int64_t first) {
    return walked(from, {row, x.step() * depth}, first,
                  {ifm.extent.height, static_cast<int32_t>(x.places),
                   static_cast<int32_t>(x.kernel * depth)});
  };
  if (padding == 0) return windows(ifm, x.extent * depth, 0);

  const int64_t row = gather.width() * depth;
  const int32_t height = ifm.extent.height;
  Operand to = builder.inner("windows", builder.type_of(ifm),
                             {height + 1, static_cast<int32_t>(gather.width()), ifm.extent.depth},
                             ifm.zero_point);
  // Whatever the input holds is clamped to what the padding is.
  const Extent strips = {1, height + 1, static_cast<int32_t>(padding)};
  builder.copy(walked(ifm, {0, padding}, 0, strips), walked(to, {0, row}, 0, strips),
               ifm.zero_point);
  const Extent rows = {1, height, static_cast<int32_t>(gather.columns * depth)};
  builder.copy(walked(ifm, {0, x.extent * depth}, 0, rows), walked(to, {0, row}, padding, rows));
  return windows(to, row, gather.after * depth);
}

// With the zero point: whatever the image holds is clamped to it.
static void fill(Builder& builder, const Operand& image, const Operand& to) {
  const Extent& extent = to.extent;
  if (extent.elements() == 0) return;
  if (extent.height <= image.extent.height && extent.width <= image.extent.width)
    builder.copy(box(image, {0, 0, 0}, extent), to, image.zero_point);
  else
    builder.copy(builder.filled(builder.type_of(image), extent, image.zero_point), to);
}

// Around what lies in the middle.
static void fill_around(Builder& builder, const Operand& image, const Operand& to, const Extent& at,
                        const Extent& middle) {
  const Extent& all = to.extent;
  const int32_t below = at.height + middle.height, right = at.width + middle.width;
  fill(builder, image, box(to, {0, 0, 0}, {at.height, all.width, all.depth}));
  fill(builder, image, box(to, {below, 0, 0}, {all.height - below, all.width, all.depth}));
  fill(builder, image, box(to, {at.height, 0, 0}, {middle.height, at.width, all.depth}));
  fill(builder, image,
       box(to, {at.height, right, 0}, {middle.height, all.width - right, all.depth}));
}

// The image with its padding, and without what no window reaches.
static Operand padded_image(Builder& builder, const Operand& image, const WindowAxis& y,
                            const WindowAxis& x) {
  const NpuTensor& tensor = builder.program().tensors.at(static_cast<size_t>(image.tensor));
  const bool is_whole = !image.walk && image.extent == tensor.extent && image.step == Extent{};
  if (is_whole && y.before + y.after() + x.before + x.after() == 0) return image;
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  const Extent middle = {narrow(y.read()), narrow(x.read()), image.extent.depth};
  const Extent all = {narrow(y.before + y.read() + y.after()),
                      narrow(x.before + x.read() + x.after()), middle.depth};
  const Operand to = builder.inner("padded", builder.type_of(image), all, image.zero_point);
  const Extent at = {narrow(y.before), narrow(x.before), 0};
  builder.copy(box(image, {0, 0, 0}, middle), box(to, at, middle));
  fill_around(builder, image, to, at, middle);
  return to;
}

// Row by row of the window, of all windows at once: a row lies in one piece, and windows may overlap.
Operand gathered_windows(Builder& builder, const Operand& image, const WindowAxis& y,
                         const WindowAxis& x) {
  const Operand from = padded_image(builder, image, y, x);
  const int64_t depth = from.extent.depth, row = from.extent.width * depth, each = x.kernel * depth;
  const auto places = [&](int64_t channels) {
    return Extent{static_cast<int32_t>(y.places), static_cast<int32_t>(x.places),
                  static_cast<int32_t>(channels)};
  };
  const Operand to =
      builder.inner("windows", builder.type_of(image), places(y.kernel * each), image.zero_point);
  for (int64_t ky = 0; ky < y.kernel; ++ky)
    builder.copy(
        walked(from, {y.step() * row, x.step() * depth}, ky * y.dilation * row, places(each)),
        box(to, {0, 0, static_cast<int32_t>(ky * each)}, places(each)));
  return to;
}

std::vector<Operand> windows_by_rows(Builder& builder, const Operand& image, const WindowAxis& y,
                                     const WindowAxis& x) {
  const Operand from = padded_image(builder, image, y, x);
  const int64_t depth = from.extent.depth, row = from.extent.width * depth;
  std::vector<Operand> rows;
  for (int64_t place = 0; place < y.places; ++place)
    rows.push_back(walked(from, {y.dilation * row, x.step() * depth}, place * y.step() * row,
                          {static_cast<int32_t>(y.kernel), static_cast<int32_t>(x.places),
                           static_cast<int32_t>(x.kernel * depth)}));
  return rows;
}

static Tap::Places places_of(const WindowAxis& axis, int64_t tap) {
  const int64_t at = tap * axis.dilation - axis.before;  // of the first window
  const int64_t first = std::min(ceil_div(std::max<int64_t>(-at, 0), axis.step()), axis.places);
  const int64_t end = at < axis.extent ? (axis.extent - 1 - at) / axis.step() + 1 : 0;
  return {first, std::max(first, std::min(end, axis.places))};
}

std::vector<Tap> seen_taps(const WindowAxis& y, const WindowAxis& x) {
  std::vector<Tap> taps;
  for (int64_t ky = 0; ky < y.kernel; ++ky)
    for (int64_t kx = 0; kx < x.kernel; ++kx) {
      const Tap tap = {ky, kx, places_of(y, ky), places_of(x, kx)};
      if (tap.rows.count() > 0 && tap.columns.count() > 0) taps.push_back(tap);
    }
  if (taps.empty()) taps.push_back({});
  return taps;
}

Operand gathered_taps(Builder& builder, const Operand& image, const WindowAxis& y,
                      const WindowAxis& x, const std::vector<Tap>& taps) {
  const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
  const Extent places = {narrow(y.places), narrow(x.places), image.extent.depth};
  const auto count = narrow(std::ssize(taps));
  const Operand to =
      builder.inner("taps", builder.type_of(image),
                    {count * places.height, places.width, places.depth}, image.zero_point);
  int32_t row = 0;
  for (const Tap& tap : taps) {
    const Operand all = box(to, {row, 0, 0}, places);
    const Extent at = {narrow(tap.rows.first), narrow(tap.columns.first), 0};
    const Extent seen = {narrow(tap.rows.count()), narrow(tap.columns.count()), places.depth};
    if (seen.elements() > 0) {
      Operand from = box(image,
                         {narrow(tap.y * y.dilation - y.before + tap.rows.first * y.step()),
                          narrow(tap.x * x.dilation - x.before + tap.columns.first * x.step()), 0},
                         seen);
      from.step.height *= narrow(y.step());
      from.step.width *= narrow(x.step());
      builder.copy(from, box(all, at, seen));
    }
    fill_around(builder, image, all, at, seen);
    row += places.height;
  }
  return builder.reshaped(to, {count, places.height * places.width, places.depth});
}

double copy_steps(int64_t elements, int64_t operations) {
  return kCopySteps * static_cast<double>(elements) +
         static_cast<double>(operations) * wait_steps() / 2;
}

}  // namespace intarsia::targets::ethos_u
