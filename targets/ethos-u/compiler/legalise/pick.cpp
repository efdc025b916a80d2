// Elements at places along an axis that are known when the model is compiled: a copy for each run of neighbours.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/limits.h"
#include "legalise/operators.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int64_t kMostPickedRuns = 64;

struct PickedRun {
  int64_t to, from, count;
};

int64_t picked_place(const graph::Tensor& places, const uint8_t* bytes, int64_t i) {
  const auto at = [&]<typename T>(T place) {
    std::memcpy(&place, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return static_cast<int64_t>(place);
  };
  return places.type == DataType::Int64 ? at(int64_t{}) : at(int32_t{});
}

std::vector<PickedRun> picked_runs(const Site& site) {
  const graph::Tensor& places = site.in(1);
  const uint8_t* bytes = site.module.constant(places.constant).bytes.data();
  std::vector<PickedRun> runs;
  for (int64_t i = 0; i < element_count(places.shape); ++i) {
    const int64_t place = picked_place(places, bytes, i);
    if (!runs.empty() && runs.back().from + runs.back().count == place)
      ++runs.back().count;
    else
      runs.push_back({i, place, 1});
  }
  return runs;
}

// Whatever lies before and behind the axis beside each other; an axis of single elements is one of channels.
struct PickView {
  int64_t outer = 1, extent = 1, inner = 1;

  PickView(const Shape& shape, size_t axis) : extent(shape[axis]) {
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != axis) (i < axis ? outer : inner) *= shape[i];
  }
  Shape shape_with(int64_t count) const {
    return inner == 1 ? Shape{1, outer, count} : Shape{outer, count, inner};
  }
  Operand part(const Operand& whole, int64_t first, int64_t count) const {
    Extent origin{0, 0, 0};
    (inner == 1 ? origin.depth : origin.width) = static_cast<int32_t>(first);
    return box(whole, origin, extent_of(shape_with(count)));
  }
};

PickView pick_view(const Site& site) {
  return {site.in().shape, static_cast<size_t>(site.node.attrs<graph::GatherAttrs>().axis)};
}

}  // namespace

Reason refuses_pick(const Site& site) {
  if (!site.in(1).constant.valid())
    return std::string("the places are known only when the model runs");
  if (site.node.attrs<graph::GatherAttrs>().batch_dims != 0)
    return std::string("places differ between batches");
  if (site.in().quantization != site.out().quantization)
    return std::string("input and output differ in quantisation");
  const PickView view = pick_view(site);
  for (const int64_t count : {view.extent, element_count(site.in(1).shape)}) {
    const Shape seen = view.shape_with(count);
    if (std::ranges::max(seen) > kMostExtent || std::ranges::min(seen) < 1)
      return fmt::format("picking along an axis of [{}] has extents of [{}], above {}",
                         fmt::join(site.in().shape, ","), fmt::join(seen, ","), kMostExtent);
  }
  const std::vector<PickedRun> runs = picked_runs(site);
  for (const PickedRun& run : runs)
    if (run.from < 0 || run.from + run.count > view.extent)
      return fmt::format("element {} of {} is picked",
                         run.from < 0 ? run.from : run.from + run.count - 1, view.extent);
  if (std::ssize(runs) > kMostPickedRuns)
    return fmt::format("the places lie in {} runs, more than {}", runs.size(), kMostPickedRuns);
  return std::nullopt;
}

void legalise_pick(Builder& builder, const graph::Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const PickView view = pick_view(site);
  const Operand from = builder.read_as(node.inputs.at(0), extent_of(view.shape_with(view.extent)));
  const Operand to = builder.write_as(node.outputs.at(0),
                                      extent_of(view.shape_with(element_count(site.in(1).shape))));
  for (const PickedRun& run : picked_runs(site))
    builder.copy(view.part(from, run.from, run.count), view.part(to, run.to, run.count));
}

}  // namespace intarsia::targets::ethos_u
