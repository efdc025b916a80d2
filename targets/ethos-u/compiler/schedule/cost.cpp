#include "schedule/cost.h"

#include <algorithm>

#include "intarsia/plugin/check.h"
#include "schedule/operation_timing.h"

namespace intarsia::targets::ethos_u {
namespace {

namespace timing = operation_timing;

timing::Volume volume(const Extent& extent) {
  return {extent.height, extent.width, extent.depth};
}

timing::Work work_of(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::Conv:
      return timing::Work::Conv;
    case OperationKind::Depthwise:
      return timing::Work::Depthwise;
    case OperationKind::MaxPool:
      return timing::Work::MaxPool;
    case OperationKind::AveragePool:
      return timing::Work::OtherPool;
    case OperationKind::ReduceSum:
      return timing::Work::ReduceSum;
    case OperationKind::Mul:
      return timing::Work::Multiply;
    case OperationKind::Add:
    case OperationKind::Sub:
      return operation.operand_scaling == OperandScaling::Both ? timing::Work::SimpleAddSub
                                                               : timing::Work::AddSub;
    default:
      return timing::Work::OtherElementwise;
  }
}

const isa::ethos_u::NpuTiming& timing_of(const Hardware& hardware) {
  const isa::ethos_u::NpuTiming* npu = isa::ethos_u::find_npu_timing(hardware.tag);
  INTARSIA_CHECK(npu != nullptr, "every configuration has a timing");
  return *npu;
}

// Words that the commands of an operation and of a transfer take, about. Only what has changed is set again: recorded
// streams, ours and those of Arm's compiler, have 17 to 27 and about 10. The stream itself is not there yet.
constexpr double kOperationWords = 20, kTransferWords = 10;

void cut_into(timing::OperationTiming& described, const BlockConfig& block) {
  described.ofm_block = volume(block.ofm);
  described.part_kernel_first = block.part_kernel;
  described.acc40 = block.accumulators == AccumulatorFormat::Int40;
}

}  // namespace

CostModel::CostModel(const Hardware& hardware, const isa::ethos_u::MemorySystem& system)
    : npu_(timing_of(hardware)), system_(system) {}

bool CostModel::is_packed(const FeatureMap& map) {
  return map.stride_x == map.extent.depth * element_bytes(map.type) || map.extent.width == 1;
}

bool CostModel::clamps(const Operation& operation, DataType type) {
  if (type == DataType::Int32) return false;
  const auto [low, high] = type == DataType::UInt8  ? std::pair(0, 255)
                           : type == DataType::Int8 ? std::pair(-128, 127)
                                                    : std::pair(-32768, 32767);
  return operation.clamp_low > low || operation.clamp_high < high;
}

timing::OperationTiming CostModel::described(const Operation& operation, const Maps& maps,
                                             const Places& places) const {
  const auto map = [&](const FeatureMap& from, Memory where) {
    return timing::MapTiming{volume(from.extent), 8 * element_bytes(from.type),
                             from.layout == Layout::Nhcwb16, is_packed(from), memory(where)};
  };
  timing::OperationTiming described;
  described.work = work_of(operation);
  described.ifm = map(maps.ifm, places.ifm);
  described.ofm = map(maps.ofm, places.ofm);
  if (maps.ifm2 != nullptr) described.ifm2 = map(*maps.ifm2, places.ifm2);
  described.is_binary = is_elementwise(operation.kind) && !is_unary(operation.kind);
  if (!is_elementwise(operation.kind)) {
    const Kernel& kernel = operation.kernel;
    described.kernel_height = kernel.height;
    described.kernel_width = kernel.width;
    described.stride_y = kernel.stride_y;
    described.stride_x = kernel.stride_x;
    described.dilation_y = kernel.dilation_y;
    described.dilation_x = kernel.dilation_x;
    described.upscale = operation.upscale == Upscale::None ? 1 : 2;
  }
  described.uses_table = operation.activation != Activation::None;
  described.uses_clamp = !described.uses_table && clamps(operation, maps.ofm.type);
  described.constants = memory(places.weights);
  if (places.scales) described.scale_memory = memory(*places.scales);
  return described;
}

size_t CostModel::port(Memory which) const {
  const int port = which == Memory::Constants ? system_.constants
                   : which == Memory::Arena   ? system_.arena
                                              : system_.cache;
  return static_cast<size_t>(port);
}

const isa::ethos_u::MemoryTiming& CostModel::memory(Memory which) const {
  return system_.ports[port(which)];
}

void CostModel::add_constants(OperationCost& cost, const Places& places, double weights,
                              double scales) const {
  // One sum where both are on one port: roundings would decide between ways that are as good.
  const size_t of_weights = port(places.weights), of_scales = port(places.of_scales());
  if (of_weights == of_scales) {
    cost.ports[of_weights] += weights + scales;
    return;
  }
  cost.ports[of_weights] += weights;
  cost.ports[of_scales] += scales;
}

OperationCost CostModel::cost(const Operation& operation, const Maps& maps,
                              const BlockConfig& block, const Places& places,
                              const ConstantSizes& constants) const {
  timing::OperationTiming described = this->described(operation, maps, places);
  cut_into(described, block);
  described.weight_bytes = constants.weights;
  described.scale_bytes = constants.scales;
  described.weight_headers = constants.header_cycles;
  const timing::OperationCycles cycles = timing::operation_cycles(npu_, described);
  OperationCost result;
  result.pipeline = cycles.pipeline;
  result.first_fetch = cycles.first_fetch;
  result.drain = cycles.drain;
  result.start = cycles.start;
  result.ports[port(places.ifm)] += cycles.ifm.cycles;
  if (maps.ifm2 != nullptr) result.ports[port(places.ifm2)] += cycles.ifm2.cycles;
  add_constants(result, places, cycles.weights.cycles, cycles.scales.cycles);
  result.ports[port(places.ofm)] += cycles.ofm.cycles;
  return result;
}

CostModel::Traffic CostModel::traffic(const Operation& operation, const Step& step,
                                      const Places& places, int64_t weight_bytes,
                                      int64_t scale_bytes) const {
  const Maps maps = {step.ifm, step.ofm, step.ifm2 ? &*step.ifm2 : nullptr};
  timing::OperationTiming described = this->described(operation, maps, places);
  cut_into(described, step.block);
  described.weight_bytes = weight_bytes;
  described.scale_bytes = scale_bytes;
  const timing::OperationCycles cycles = timing::operation_cycles(npu_, described);
  const auto way = [](const timing::Transfer& of) { return Traffic::Way{of.bytes, of.cycles}; };
  return {way(cycles.ifm),    way(cycles.ifm2), way(cycles.ofm), way(cycles.weights),
          way(cycles.scales), cycles.pipeline,  cycles.macs};
}

// The processor reads commands over the port of the constants.
npu::CommandCosts CostModel::commands() const {
  const auto port = static_cast<size_t>(system_.constants);
  const auto of = [&](double words) {
    TransferCost cost;
    cost.ports[port] = 4 * words / system_.ports[port].bytes_per_cycle;
    cost.cycles = std::max(cost.ports[port], words * isa::ethos_u::kAssumed.command_word);
    return cost;
  };
  return {of(kOperationWords), of(kTransferWords)};
}

TransferCost CostModel::transfer(Memory from, std::optional<Memory> to, int64_t bytes) const {
  const size_t target = to ? port(*to) : static_cast<size_t>(isa::ethos_u::kShramPort);
  const size_t source = port(from);
  TransferCost result;
  result.cycles = timing::dma_cycles(system_.ports[source], system_.ports[target], bytes);
  const auto size = static_cast<double>(bytes);
  result.ports[source] += size / system_.ports[source].bytes_per_cycle;
  result.ports[target] += size / system_.ports[target].bytes_per_cycle;
  result.cycles =
      std::max(result.cycles, *std::max_element(result.ports.begin(), result.ports.end()));
  return result;
}

}  // namespace intarsia::targets::ethos_u
