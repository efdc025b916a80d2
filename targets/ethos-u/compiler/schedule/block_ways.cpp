#include "schedule/block_ways.h"

#include <algorithm>
#include <array>
#include <utility>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "schedule/operation_timing.h"

namespace intarsia::targets::ethos_u {
namespace {

namespace block_timing = operation_timing;

// Weights and zeros between them in the stream: padding costs a little space.
double padded_share(const Operation& operation, bool part_kernel, int32_t ifm_bits) {
  if (operation.kind != OperationKind::Conv) return 1;
  const auto up = [](int32_t value, int32_t to) { return intarsia::round_up(value, to); };
  const int32_t elements = operation.kernel.height * operation.kernel.width;
  const int32_t depth = operation.ifm.extent.depth;
  const double real = static_cast<double>(elements) * depth;
  const double padded =
      part_kernel ? static_cast<double>(up(elements, ifm_bits == 16 ? 2 : 4)) * up(depth, 8)
                  : static_cast<double>(elements) * up(depth, ifm_bits == 16 ? 16 : 32);
  return padded / real;
}

// A preference, and no fact of the hardware: a stream of weights that padding makes twice as long is worth three percent of
// time, beside what reading it takes. Padding is zeros, which the code makes short.
constexpr double kPaddingWeight = 0.03;

// By Arm's estimate, with ports that several maps share.
double full_cycles(const CostModel& model, const CostModel::Places& places, bool has_ifm2,
                   const block_timing::OperationBlocks::FullCycles& full) {
  std::array<double, npu::kMostPorts> ports = {};
  ports[model.port(places.ifm)] += full.ifm;
  if (has_ifm2) ports[model.port(places.ifm2)] += full.ifm2;
  ports[model.port(places.ofm)] += full.ofm;
  return std::max(full.pipeline, *std::max_element(ports.begin(), ports.end()));
}

BlockWays ways_of(const Hardware& hardware, const CostModel& model, const Operation& operation,
                  const CostModel::Maps& maps, const CostModel::Places& places) {
  BlockRequest request = block_request(operation, maps.ifm.type, maps.ofm.extent);
  request.ifm = maps.ifm.extent;
  BlockWays result;
  result.places = places;
  result.has_ifm2 = maps.ifm2 != nullptr;
  const BlockSizes sizes = block_sizes(hardware, request);
  for (const bool part_kernel : sizes.part_kernel) {
    block_timing::OperationTiming described = model.described(operation, maps, places);
    described.part_kernel_first = part_kernel;
    described.acc40 = accumulators_of(request) == AccumulatorFormat::Int40;
    if (has_weights(operation.kind)) described.weight_bytes = described.scale_bytes = 1;
    const block_timing::OperationBlocks blocks(model.npu(), described);
    std::vector<block_timing::OperationBlocks::Cut> rows, columns;
    for (const int32_t height : sizes.heights) rows.push_back(blocks.rows(height));
    for (const int32_t width : sizes.widths) columns.push_back(blocks.columns(width));
    const double padding =
        has_weights(operation.kind)
            ? 1 + kPaddingWeight * (padded_share(operation, part_kernel, request.ifm_bits) - 1)
            : 1;
    for (const int32_t depth : sizes.depths) {
      const block_timing::OperationBlocks::Cut channels = blocks.channels(depth);
      for (size_t y = 0; y < rows.size(); ++y)
        for (size_t x = 0; x < columns.size(); ++x) {
          const auto block =
              try_block(hardware, request, {sizes.heights[y], sizes.widths[x], depth}, part_kernel);
          if (!block) continue;
          const block_timing::OperationCycles cycles = blocks.cycles(rows[y], columns[x], channels);
          result.ways.push_back(
              {*block, padding, cycles.pipeline, cycles.decoding,
               static_cast<double>(rows[y].axis.blocks() * columns[x].axis.blocks()),
               cycles.ifm.cycles, cycles.ifm2.cycles, cycles.ofm.cycles, cycles.first_fetch,
               cycles.drain,
               full_cycles(model, places, result.has_ifm2,
                           blocks.full_cycles(rows[y], columns[x], channels))});
        }
    }
  }
  INTARSIA_CHECK(!result.ways.empty(), "one micro-block fits every configuration");
  const double least =
      std::min_element(result.ways.begin(), result.ways.end(), [](const auto& a, const auto& b) {
        return a.full < b.full;
      })->full;
  for (BlockWays::Way& way : result.ways)
    way.padding *= 1 + kFullBlocksWeight * (way.full / least - 1);
  return result;
}

}  // namespace

OperationCost BlockWays::cost(const CostModel& model, const Way& way,
                              const ConstantSizes& constants) const {
  OperationCost result;
  result.pipeline = way.pipeline;
  double weight_cycles = 0, scale_cycles = 0;
  if (constants.weights > 0) {
    result.pipeline = std::max(way.pipeline, way.decoding + constants.header_cycles * way.areas);
    const double weights = static_cast<double>(constants.weights) * way.areas;
    const auto scales = static_cast<double>(constants.scales);
    weight_cycles = block_timing::port_cycles(model.memory(places.weights), weights, weights);
    scale_cycles = block_timing::port_cycles(model.memory(places.of_scales()), scales, scales);
  }
  result.first_fetch = way.first_fetch;
  result.drain = way.drain;
  result.start = isa::ethos_u::kAssumed.command_start;
  result.ports[model.port(places.ifm)] += way.ifm;
  if (has_ifm2) result.ports[model.port(places.ifm2)] += way.ifm2;
  model.add_constants(result, places, weight_cycles, scale_cycles);
  result.ports[model.port(places.ofm)] += way.ofm;
  return result;
}

size_t KnownBlockWays::Hash::operator()(const Shape& shape) const {
  uint64_t state = 0x9e3779b97f4a7c15;
  for (const int32_t word : shape) {
    state = (state ^ static_cast<uint32_t>(word)) * 0xd6e8feb86659fd93;
    state ^= state >> 32;
  }
  return static_cast<size_t>(state);
}

KnownBlockWays::Shape KnownBlockWays::shape_of(const Operation& operation,
                                               const CostModel::Maps& maps,
                                               const CostModel::Places& places) {
  Shape shape = {};
  size_t at = 1;  // the first is the device's
  const auto add = [&](auto value) { shape.at(at++) = static_cast<int32_t>(value); };
  const auto add_map = [&](const FeatureMap& map, Memory memory) {
    add(map.extent.height), add(map.extent.width), add(map.extent.depth);
    add(static_cast<int32_t>(map.type) << 8 | static_cast<int32_t>(map.layout) << 4 |
        (CostModel::is_packed(map) ? 8 : 0) | static_cast<int32_t>(memory));
  };
  add(static_cast<int32_t>(operation.kind) << 12 | static_cast<int32_t>(operation.activation) << 8 |
      static_cast<int32_t>(operation.upscale) << 4 |
      static_cast<int32_t>(operation.operand_scaling) << 2 |
      (CostModel::clamps(operation, maps.ofm.type) ? 2 : 0) | (maps.ifm2 != nullptr ? 1 : 0));
  add(static_cast<int32_t>(places.weights) << 8 | static_cast<int32_t>(places.of_scales()));
  add_map(maps.ifm, places.ifm);
  add_map(maps.ofm, places.ofm);
  if (maps.ifm2 != nullptr) add_map(*maps.ifm2, places.ifm2);
  const Kernel& kernel = operation.kernel;
  at = 15;
  add(kernel.height), add(kernel.width);
  add(kernel.stride_y), add(kernel.stride_x);
  add(kernel.dilation_y), add(kernel.dilation_x);
  return shape;
}

int32_t KnownBlockWays::number_of(const Hardware& hardware,
                                  const isa::ethos_u::MemorySystem& system) {
  const auto is_same = [&](const Device& device) {
    const isa::ethos_u::MemorySystem& other = device.system;
    return device.hardware == &hardware && other.constants == system.constants &&
           other.arena == system.arena && other.cache == system.cache &&
           std::equal(other.ports.begin(), other.ports.end(), system.ports.begin(),
                      [](const auto& a, const auto& b) {
                        return a.bytes_per_cycle == b.bytes_per_cycle &&
                               a.burst_bytes == b.burst_bytes && a.read_latency == b.read_latency &&
                               a.write_latency == b.write_latency;
                      });
  };
  const auto known = std::find_if(devices_.begin(), devices_.end(), is_same);
  if (known == devices_.end()) {
    devices_.push_back({&hardware, system});
    return static_cast<int32_t>(devices_.size()) - 1;
  }
  return static_cast<int32_t>(known - devices_.begin());
}

std::shared_ptr<const BlockWays> KnownBlockWays::of(const Hardware& hardware,
                                                    const CostModel& model,
                                                    const Operation& operation,
                                                    const CostModel::Maps& maps,
                                                    const CostModel::Places& places) {
  Shape shape = shape_of(operation, maps, places);
  {
    const std::lock_guard lock(mutex_);
    shape[0] = number_of(hardware, model.system());
    if (const auto known = known_.find(shape); known != known_.end()) return known->second;
  }
  auto made = std::make_shared<const BlockWays>(ways_of(hardware, model, operation, maps, places));
  const std::lock_guard lock(mutex_);
  if (ways_ > kMostWays) {
    known_.clear();
    ways_ = 0;
  }
  ways_ += std::ssize(made->ways);
  return known_.emplace(shape, std::move(made)).first->second;
}

}  // namespace intarsia::targets::ethos_u
