#include "schedule/units.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "intarsia/plugin/rounding.h"
#include "schedule/views.h"

namespace intarsia::targets::ethos_u {
namespace {

// What the estimate of a stream leaves out: zeros between weights, and its end.
constexpr int64_t kStreamTail = 16;

int64_t aligned(int64_t bytes) {
  return round_up(bytes, kStreamAlignment);
}

CostModel::Maps maps_of(const Unit& unit) {
  return {unit.ifm, unit.ofm, unit.ifm2 ? &*unit.ifm2 : nullptr};
}

RowRange all_rows(const Operation& operation) {
  return {0, operation.ofm.extent.*stripe_axis(operation)};
}

ConstantSizes constants_of(const Operation& operation, const Unit& unit) {
  if (!has_weights(operation.kind)) return {};
  return {unit.estimated_bytes - unit.scale_bytes, unit.scale_bytes, unit.header_cycles};
}

}  // namespace

FeatureMap UnitMaker::map_of(const Operand& operand) const {
  const auto tensor = static_cast<size_t>(operand.tensor);
  return feature_map(program_.tensors.at(tensor), operand, places_.at(tensor));
}

UnitMaker::UnitMaker(const Hardware& hardware, const Program& program,
                     std::vector<Operation>& operations, const CostModel& cost,
                     KnownBlockWays& known, EncodedStreams& encoded,
                     const std::vector<TensorPlace>& places, const std::vector<Memory>& memories)
    : hardware_(hardware),
      program_(program),
      operations_(operations),
      views_(program.operations.size()),
      cost_(cost),
      known_(known),
      encoded_(encoded),
      places_(places),
      memories_(memories),
      weight_bytes_(program.operations.size(), -1) {}

// Other steps than those of pixels and rows are possible where bytes lie in that order.
bool UnitMaker::can_walk(const Operation& operation) const {
  const auto is_plain = [&](const Operand& operand) {
    const TensorPlace& place = places_.at(static_cast<size_t>(operand.tensor));
    return place.layout == Layout::Nhwc && place.rolling_rows == 0;
  };
  return is_plain(operation.ifm) && is_plain(operation.ofm) &&
         (!operation.ifm2 || is_plain(*operation.ifm2));
}

const std::vector<int32_t>& UnitMaker::views_of(int32_t operation) {
  std::optional<std::vector<int32_t>>& views = views_.at(static_cast<size_t>(operation));
  if (!views) {
    views.emplace(1, operation);
    for (Operation& view :
         other_views(hardware_, program_, program_.operations.at(static_cast<size_t>(operation)))) {
      views->push_back(static_cast<int32_t>(operations_.size()));
      operations_.push_back(std::move(view));
    }
  }
  return *views;
}

Unit UnitMaker::describe(int32_t index, int32_t view, int32_t first, int32_t end,
                         const RowRange& rows) {
  const Operation& operation = operations_.at(static_cast<size_t>(view));
  Unit unit;
  unit.operation = index;
  unit.view = view;
  unit.first = first;
  unit.end = end;
  unit.rows = rows;
  unit.pads = operation.pads;
  Operand ifm = operation.ifm, ofm = operation.ofm;
  ofm.origin.depth += first;
  ofm.extent.depth = end - first;
  if (operation.kind == OperationKind::Depthwise) {
    ifm.origin.depth += first;
    ifm.extent.depth = end - first;
  }
  const StripeAxis axis = stripe_axis(operation);
  if (rows.count() < ofm.extent.*axis) {
    const RowWindow window = stripe_window(operation);
    const RowRange input = input_rows(operation, rows), reached = rows_of_window(window, rows);
    const auto before = static_cast<int32_t>(std::max<int64_t>(0, -reached.first)),
               behind = static_cast<int32_t>(
                   std::max<int64_t>(0, reached.end - operation.ifm.extent.*axis));
    const bool is_row = axis == &Extent::width;
    (is_row ? unit.pads.left : unit.pads.top) = before;
    (is_row ? unit.pads.right : unit.pads.bottom) = behind;
    ofm.origin.*axis += static_cast<int32_t>(rows.first) * ofm.step.*axis;
    ofm.extent.*axis = static_cast<int32_t>(rows.count());
    ifm.origin.*axis += static_cast<int32_t>(input.first) * ifm.step.*axis;
    ifm.extent.*axis = static_cast<int32_t>(input.count());
  }
  unit.ifm = map_of(ifm);
  unit.ofm = map_of(ofm);
  if (operation.ifm2) unit.ifm2 = map_of(*operation.ifm2);
  unit.repeated = copies_.group_of(index);
  unit.weights_kept = unit.repeated >= 0 && copies_.groups[static_cast<size_t>(unit.repeated)].kept;
  if (has_weights(operation.kind)) {
    int64_t& whole = weight_bytes_.at(static_cast<size_t>(index));
    if (whole < 0) whole = encoded_.estimated_bytes(operation.weights);
    unit.scale_bytes = hardware_.cores *
                       aligned((end - first + hardware_.cores - 1) / hardware_.cores * kScaleBytes);
    // Where they are fetched by themselves, their size is not an estimate: a core may have fewer channels, or none.
    if (unit.repeated >= 0) {
      unit.scale_bytes = 0;
      for (int32_t core = 0; core < hardware_.cores; ++core)
        unit.scale_bytes +=
            aligned((end - first - core + hardware_.cores - 1) / hardware_.cores * kScaleBytes);
    }
    unit.header_cycles = least_header_cycles();
    unit.estimated_bytes =
        unit.scale_bytes +
        aligned(whole * (end - first) / operation.ofm.extent.depth + hardware_.cores * kStreamTail);
  }
  return unit;
}

Unit UnitMaker::make(int32_t index, int32_t first, int32_t end, bool after_columns) {
  Unit best;
  double least = std::numeric_limits<double>::infinity();
  const Operation& all = program_.operations.at(static_cast<size_t>(index));
  const bool walks = can_walk(all), whole = first == 0 && end == all.ofm.extent.depth;
  for (const int32_t view : views_of(index)) {
    if (view != index && (!walks || copies_.group_of(index) >= 0)) continue;
    const Operation& operation = operations_.at(static_cast<size_t>(view));
    const int32_t depth = whole ? operation.ofm.extent.depth : end;
    if (!whole && operation.ofm.extent.depth != all.ofm.extent.depth) continue;
    Unit unit = describe(index, view, first, depth, all_rows(operation));
    choose_blocks(operation, unit);
    double cycles = unit.fetched.alone() + kFullBlocksWeight * unit.full_cycles;
    // Columns behind an operation that went through rows: the first block needs some of the last.
    if (is_window(operation) && by_columns(unit) != after_columns)
      cycles += unit.fetched.first_fetch;
    // Pixels that others do not have: neither does it begin before all is there, nor what reads it before all is done.
    if (operation.ofm.extent.depth != all.ofm.extent.depth)
      cycles += unit.fetched.first_fetch + unit.fetched.drain;
    if (cycles >= least) continue;
    least = cycles;
    best = std::move(unit);
  }
  return best;
}

Unit UnitMaker::make_part(const Unit& whole, int32_t first, int32_t end) {
  const Operation& operation = operations_.at(static_cast<size_t>(whole.view));
  Unit unit = describe(whole.operation, whole.view, first, end, all_rows(operation));
  choose_blocks(operation, unit);
  return unit;
}

bool UnitMaker::by_columns(const Unit& unit) const {
  return exchanges_axes(program_.operations.at(static_cast<size_t>(unit.operation)),
                        operations_.at(static_cast<size_t>(unit.view)));
}

Unit UnitMaker::make_stripe(int32_t index, const RowRange& rows, const Unit* like) {
  if (like == nullptr) {
    Unit best;
    double least = std::numeric_limits<double>::infinity();
    const bool walks = can_walk(program_.operations.at(static_cast<size_t>(index)));
    for (const int32_t view : views_of(index)) {
      if (view != index && (!walks || copies_.group_of(index) >= 0)) continue;
      const Operation& operation = operations_.at(static_cast<size_t>(view));
      if (!keeps_rows(program_.operations.at(static_cast<size_t>(index)), operation)) continue;
      Unit unit = describe(index, view, 0, operation.ofm.extent.depth, rows);
      choose_blocks(operation, unit);
      // One encoding of the constants serves both.
      if (has_weights(operation.kind)) {
        unit.direct_block = unit.fetched_block;
        unit.direct = cost_of(operation, unit, unit.direct_block, Memory::Constants);
      }
      if (unit.fetched.alone() >= least) continue;
      least = unit.fetched.alone();
      best = std::move(unit);
    }
    return best;
  }
  const Operation& operation = operations_.at(static_cast<size_t>(like->view));
  Unit unit = describe(index, like->view, 0, operation.ofm.extent.depth, rows);
  unit.direct_block = like->direct_block;
  unit.fetched_block = like->fetched_block;
  unit.direct = cost_of(operation, unit, unit.direct_block, Memory::Constants);
  unit.fetched = has_weights(operation.kind)
                     ? cost_of(operation, unit, unit.fetched_block, Memory::Cache)
                     : unit.direct;
  return unit;
}

void UnitMaker::reconsider(Unit& unit) {
  const Operation& operation = operations_.at(static_cast<size_t>(unit.view));
  if (!is_stripe(operation, unit)) {
    choose_blocks(operation, unit);
    return;
  }
  unit.direct = cost_of(operation, unit, unit.direct_block, Memory::Constants);
  unit.fetched = has_weights(operation.kind)
                     ? cost_of(operation, unit, unit.fetched_block, Memory::Cache)
                     : unit.direct;
}

CostModel::Places UnitMaker::places_of(const Operation& operation, const Unit& unit,
                                       Memory constants) const {
  CostModel::Places places;
  // Constants that are read as a feature map are fetched like weights.
  const auto place = [&](const FeatureMap& map) {
    const Memory memory = memory_of(map);
    return memory == Memory::Constants ? constants : memory;
  };
  places.ifm = place(unit.ifm);
  places.ofm = place(unit.ofm);
  if (unit.ifm2) places.ifm2 = place(*unit.ifm2);
  places.weights = has_weights(operation.kind) ? constants : Memory::Constants;
  if (unit.repeated >= 0) {
    places.weights = unit.weights_kept ? Memory::Cache : constants;
    places.scales = unit.weights_kept ? constants : Memory::Constants;
  }
  return places;
}

OperationCost UnitMaker::cost_of(const Operation& operation, const Unit& unit,
                                 const BlockConfig& block, Memory constants) const {
  return cost_.cost(operation, maps_of(unit), block, places_of(operation, unit, constants),
                    constants_of(operation, unit));
}

std::vector<BlockOption> UnitMaker::block_options(const Unit& unit, Memory constants) const {
  const Operation& operation = operations_.at(static_cast<size_t>(unit.view));
  const std::shared_ptr<const BlockWays> known =
      known_.of(hardware_, cost_, operation, maps_of(unit), places_of(operation, unit, constants));
  const ConstantSizes sizes = constants_of(operation, unit);
  std::vector<BlockOption> options;
  options.reserve(known->ways.size());
  for (const BlockWays::Way& way : known->ways)
    options.push_back({way.block, known->cost(cost_, way, sizes), way.padding});
  return options;
}

void UnitMaker::count_again(Unit& unit) const {
  const Operation& operation = operations_.at(static_cast<size_t>(unit.view));
  unit.direct = cost_of(operation, unit, unit.direct_block, Memory::Constants);
  unit.fetched = cost_of(operation, unit, unit.fetched_block, Memory::Cache);
}

void UnitMaker::set_block(Unit& unit, const BlockConfig& block) const {
  unit.direct_block = unit.fetched_block = block;
  count_again(unit);
}

bool is_stripe(const Operation& operation, const Unit& unit) {
  return unit.rows != all_rows(operation);
}

bool is_ordered_alike(const BlockConfig& one, const BlockConfig& other) {
  return one.ofm.depth == other.ofm.depth && one.part_kernel == other.part_kernel;
}

void UnitMaker::take(WeightCopies copies) {
  copies_ = std::move(copies);
  block_of_group_.assign(copies_.groups.size(), std::nullopt);
}

void UnitMaker::choose_blocks(const Operation& operation, Unit& unit) {
  std::optional<BlockConfig>* const like =
      unit.repeated < 0 ? nullptr : &block_of_group_.at(static_cast<size_t>(unit.repeated));
  const ConstantSizes sizes = constants_of(operation, unit);
  const auto choose = [&](const CostModel::Places& places, BlockConfig& block,
                          OperationCost& cost) {
    const std::shared_ptr<const BlockWays> known =
        known_.of(hardware_, cost_, operation, maps_of(unit), places);
    double least = std::numeric_limits<double>::infinity();
    for (const BlockWays::Way& way : known->ways) {
      if (like != nullptr && *like && !is_ordered_alike(way.block, **like)) continue;
      const OperationCost made = known->cost(cost_, way, sizes);
      const double score = made.alone() * way.padding;
      if (score >= least) continue;
      least = score;
      block = way.block;
      cost = made;
      unit.full_cycles = way.full;
    }
  };
  const CostModel::Places direct = places_of(operation, unit, Memory::Constants),
                          fetched = places_of(operation, unit, Memory::Cache);
  if (like != nullptr) {
    choose(fetched, unit.fetched_block, unit.fetched);
    if (!*like) *like = unit.fetched_block;
    unit.direct_block = unit.fetched_block;
    unit.direct = cost_of(operation, unit, unit.direct_block, Memory::Constants);
    return;
  }
  choose(direct, unit.direct_block, unit.direct);
  if (direct == fetched) {
    unit.fetched_block = unit.direct_block;
    unit.fetched = unit.direct;
  } else if (has_weights(operation.kind)) {
    choose(fetched, unit.fetched_block, unit.fetched);
  } else {
    unit.fetched_block = unit.direct_block;
    unit.fetched = cost_of(operation, unit, unit.direct_block, Memory::Cache);
  }
}

}  // namespace intarsia::targets::ethos_u
