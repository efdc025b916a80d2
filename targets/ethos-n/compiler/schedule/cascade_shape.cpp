#include "schedule/cascade_shape.h"

#include <algorithm>
#include <map>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kGroupRows = 8;

bool is_read_behind(const Program& program, int32_t storage, size_t end) {
  for (size_t i = end; i < program.layers.size(); ++i)
    for (const FeatureMap& map : program.layers[i].inputs)
      if (map.storage == storage) return true;
  return false;
}

bool is_same_box(const FeatureMap& a, const FeatureMap& b) {
  return a.storage == b.storage && a.layout == b.layout && a.rows == b.rows &&
         a.columns == b.columns && a.channels == b.channels && a.y == b.y && a.x == b.x &&
         a.c == b.c && a.height == b.height && a.width == b.width && a.depth == b.depth &&
         a.is_signed == b.is_signed && a.zero_point == b.zero_point;
}

class Shaper {
 public:
  Shaper(const Program& program, size_t end) : program_(program), end_(end) {}

  bool add(size_t number) {
    const Layer& layer = program_.layers[number];
    if (is_vector_product(layer)) return false;
    if (is_copy(layer)) return add_copy(layer);
    CascadeLayer made;
    made.number = number;
    for (const FeatureMap& input : layer.inputs) {
      const std::optional<size_t> map = read(input);
      if (!map) return false;
      made.inputs.push_back(*map);
    }
    const PleKernel& kernel = kernel_for(layer);
    const auto found =
        std::find_if(result_.kernels.begin(), result_.kernels.end(),
                     [&](const CascadeKernel& other) { return other.kernel == &kernel; });
    made.kernel = static_cast<size_t>(found - result_.kernels.begin());
    if (found == result_.kernels.end()) result_.kernels.push_back({&kernel, false, 0});
    made.output = result_.maps.size();
    result_.maps.push_back({.map = layer.output, .stores = {}});
    result_.layers.push_back(std::move(made));
    return write(layer.output, result_.maps.size() - 1);
  }

  Cascade finish() { return std::move(result_); }

 private:
  bool write(const FeatureMap& output, size_t map) {
    // A storage with several writers, or one that was read before: DRAM would have to be in step.
    if (written_.contains(output.storage) || loaded_.contains(output.storage)) return false;
    written_[output.storage] = is_whole(output) ? std::optional(map) : std::nullopt;
    const bool leaves =
        program_.storages[static_cast<size_t>(output.storage)].kind == Storage::Kind::Output ||
        !is_whole(output) || is_read_behind(program_, output.storage, end_);
    if (leaves) result_.maps[map].stores.push_back(output);
    return true;
  }

  std::optional<size_t> read(const FeatureMap& input) {
    if (const auto found = written_.find(input.storage); found != written_.end()) {
      if (!found->second || !is_same_whole(result_.maps[*found->second].map, input))
        return std::nullopt;
      return found->second;
    }
    std::vector<size_t>& maps = loaded_[input.storage];
    for (const size_t map : maps)
      if (is_same_box(result_.maps[map].map, input)) return map;
    maps.push_back(result_.maps.size());
    result_.maps.push_back({.map = input, .loads = true, .stores = {}});
    return maps.back();
  }

  // What lies in SRAM already has no layout of DRAM: the same map by another name.
  bool add_copy(const Layer& layer) {
    const auto found = written_.find(layer.inputs[0].storage);
    if (found == written_.end() || !found->second) return false;
    const size_t map = *found->second;
    if (!is_same_whole(result_.maps[map].map, layer.inputs[0]) ||
        !is_same_whole(layer.inputs[0], layer.output))
      return false;
    return write(layer.output, map);
  }

  const Program& program_;
  size_t end_;
  Cascade result_;
  std::map<int32_t, std::optional<size_t>> written_;  // nothing: in parts
  std::map<int32_t, std::vector<size_t>> loaded_;
};

// The largest whole part of a slot that is no more than `most` rows and whole units; 0: there is none.
int64_t piece_of(int64_t slot, int64_t unit, int64_t most) {
  for (int64_t parts = 1; parts <= slot / unit; ++parts)
    if (slot % parts == 0 && slot / parts % unit == 0 &&
        (slot / parts <= most || slot / parts == unit))
      return slot / parts;
  return 0;
}

}  // namespace

bool is_whole(const FeatureMap& map) {
  return map.height == map.rows && map.width == map.columns && map.depth == map.channels;
}
bool is_same_whole(const FeatureMap& written, const FeatureMap& read) {
  return is_whole(written) && is_whole(read) && written.height == read.height &&
         written.width == read.width && written.depth == read.depth;
}

std::optional<Cascade> shape_of(const Program& program, size_t first, size_t end) {
  Shaper shaper(program, end);
  for (size_t i = first; i < end; ++i)
    if (!shaper.add(i)) return std::nullopt;
  return shaper.finish();
}

bool assign_rows(const Variant& variant, const Program& program, Cascade& cascade, int64_t most) {
  constexpr int64_t kAll = INT64_MAX;  // of the rows, in one slot
  for (CascadeMap& map : cascade.maps) map.slot_rows = 0;
  // From the last layer on: slots are as long as their readers' stripes.
  for (size_t l = cascade.layers.size(); l-- > 0;) {
    CascadeLayer& made = cascade.layers[l];
    const Layer& layer = program.layers[made.number];
    CascadeMap& out = cascade.maps[made.output];
    const int64_t height = layer.output.height, factor = upscale_factor(layer);
    const int64_t ratio = layer.mce ? rows_per_output_row(layer) : 1, unit = kGroupRows * factor;
    int64_t piece = std::max(most / unit * unit, unit);
    if (out.slot_rows != 0 && out.slot_rows != kAll) piece = piece_of(out.slot_rows, unit, most);
    if (piece == 0) return false;
    const bool whole = piece >= height || needs_whole_height(layer);
    if (whole) piece = round_up(height, kGroupRows);
    if (out.slot_rows == 0 || whole) {
      if (out.slot_rows != 0 && out.slot_rows != kAll && out.slot_rows < height) return false;
      if (out.slot_rows == 0) out.slot_rows = piece;
    }
    if (out.slot_rows == kAll) out.slot_rows = round_up(height, piece);
    out.piece_rows = piece;

    StripePlan& plan = made.plan;
    plan = {};
    plan.count = whole ? 1 : ceil_div(height, piece);
    plan.depth = layer.output.depth;
    plan.output_rows = whole ? height : piece;
    plan.mce_rows = layer.mce ? (whole ? layer.mce->height : piece * ratio) : 0;
    plan.input_rows = whole ? kAll : piece * ratio / factor;
    plan.needs_neighbours =
        layer.mce && !whole && (layer.mce->kernel_h > 1 || layer.mce->pad_top > 0 || factor > 1);
    for (const size_t i : made.inputs) {
      CascadeMap& in = cascade.maps[i];
      if (in.slot_rows != 0 && in.slot_rows != plan.input_rows) return false;
      in.slot_rows = plan.input_rows;
    }
  }
  for (CascadeMap& map : cascade.maps) {
    if (map.loads) {
      if (map.slot_rows == kAll) map.slot_rows = round_up(map.map.height, kGroupRows);
      map.piece_rows = map.slot_rows;
    }
    map.slot_bytes = sram_bytes(variant, map.slot_rows, map.map.width, map.map.depth);
  }
  for (CascadeLayer& made : cascade.layers) {
    const CascadeMap& in = cascade.maps[made.inputs[0]];
    made.plan.input_rows = in.slot_rows;
    made.plan.input_slot_bytes = in.slot_bytes;
  }
  return true;
}

}  // namespace intarsia::targets::ethos_n
