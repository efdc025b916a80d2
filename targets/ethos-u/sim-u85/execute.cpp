#include "intarsia/targets/ethos_u85/execute.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "intarsia/targets/ethos_u/feature_map.h"
#include "intarsia/targets/ethos_u85/arithmetic.h"
#include "intarsia/targets/ethos_u85/weights.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

constexpr uint64_t kMostResults = uint64_t{1} << 26;

Fault operand_fault(std::string what) {
  return {Cause::Operand, 0, "", std::move(what)};
}

std::string shape_text(int32_t height, int32_t width, int32_t depth) {
  return std::to_string(height) + "x" + std::to_string(width) + "x" + std::to_string(depth);
}

std::optional<Fault> check_size(const Operation& op, uint64_t max_macs) {
  const auto u = [](int32_t value) { return static_cast<uint64_t>(value); };
  if (op.results() > kMostResults)
    return operand_fault("the operation is larger than a simulation takes");
  const bool all_channels = op.kind == OperationKind::Conv || op.pooling == PoolingMode::ReduceSum;
  const uint64_t each =
      op.kind == OperationKind::Elementwise
          ? 1
          : u(op.kernel.width) * u(op.kernel.height) * (all_channels ? u(op.ifm.map.depth) : 1);
  if (each > max_macs / std::max<uint64_t>(1, op.results()))
    return operand_fault("the operation is larger than a simulation takes");
  const FeatureMap& ifm = op.ifm.map;
  const uint64_t padded = (u(ifm.width) + u(op.padding.left) + u(op.padding.right)) *
                          (u(ifm.height) + u(op.padding.top) + u(op.padding.bottom));
  if (op.kind != OperationKind::Elementwise && ifm.depth > 0 &&
      padded > 2 * kMostResults / u(ifm.depth))
    return operand_fault("the operation is larger than a simulation takes");
  // The weights as decoded, with what the order pads at its worst: blocks, micro-blocks, and groups of elements of the
  // sub-kernels, which are no smaller than 4 x 4.
  if (op.has_weights()) {
    const uint64_t width = u(op.kernel.width), height = u(op.kernel.height);
    const uint64_t depth = op.kind == OperationKind::Depthwise ? 1 : u(ifm.depth) + 128;
    const uint64_t blocks = u(op.ofm_depth) / u(op.block_depth) + 1;
    const uint64_t channels = u(op.ofm_depth) + blocks * u(op.micro_block.depth);
    const uint64_t elements = 2 * width * height + 16 * (width / 4 + 1) * (height / 4 + 1);
    if (elements > (uint64_t{1} << 29) / (channels * depth))
      return operand_fault("the weights are more than a simulation takes");
  }
  return std::nullopt;
}

std::optional<Fault> check_places(const Operation& op, const Memory& memory) {
  const auto check = [&](const Operand& operand, const char* name,
                         bool for_writing) -> std::optional<Fault> {
    if (!operand.in_memory()) return std::nullopt;
    return ethos_u::check_map(operand.map, name, memory, for_writing);
  };
  if (auto fault = check(op.ofm, "OFM", true)) return fault;
  if (auto fault = check(op.ifm, "IFM", false)) return fault;
  if (op.has_ifm2)
    if (auto fault = check(op.ifm2, "IFM2", false)) return fault;
  return std::nullopt;
}

bool takes_extremes(const Operation& op) {
  return op.kind == OperationKind::Pool &&
         (op.pooling == PoolingMode::Max || op.pooling == PoolingMode::Min);
}

// Joins what earlier operations left in the accumulators.
std::optional<Fault> join_kept(const Operation& op, Machine& machine, Results& sums) {
  const bool can = op.kind != OperationKind::Resize &&
                   !(op.kind == OperationKind::Pool &&
                     (op.pooling == PoolingMode::Average || op.pooling == PoolingMode::ArgmaxX));
  if (!can) return operand_fault("this operation does not go on with kept sums");
  if (!machine.kept) return operand_fault("no operation left sums in the accumulators");
  const Machine::Kept& kept = *machine.kept;
  if (kept.height != op.ofm_height || kept.width != op.ofm_width || kept.depth != op.ofm_depth)
    return operand_fault(
        "the sums that were kept are of " + shape_text(kept.height, kept.width, kept.depth) +
        " elements, the operation makes " + shape_text(op.ofm_height, op.ofm_width, op.ofm_depth));
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!takes_extremes(op))
      sums[i] = wrap(sums[i] + kept.sums[i], 48);
    else
      sums[i] = op.pooling == PoolingMode::Max ? std::max(sums[i], kept.sums[i])
                                               : std::min(sums[i], kept.sums[i]);
  }
  machine.kept.reset();
  return std::nullopt;
}

std::optional<Fault> make_sums(const Operation& op, const Configuration& configuration,
                               const Memory& memory, Machine& machine, Results& sums) {
  std::optional<Fault> fault;
  if (op.kind == OperationKind::Pool)
    fault = sum_pool(op, memory, sums);
  else if (op.kind == OperationKind::Resize)
    sum_resize(op, memory, sums);
  else
    fault = sum_convolution(op, configuration, memory, sums);
  if (!fault && op.accumulator_input == AccumulatorInput::Kept)
    fault = join_kept(op, machine, sums);
  return fault;
}

std::optional<Fault> scale_sums(const Operation& op, const Memory& memory, Results& sums) {
  const int32_t bits = op.wide_accumulators ? 48 : 32;
  const Rounding rounding = op.ofm_scale.rounding;
  if (!op.has_scales()) {
    for (int64_t& sum : sums) sum = scale_round(wrap(sum, bits), op.ofm_scale, rounding);
    return std::nullopt;
  }
  std::vector<ChannelScale> scales;
  if (auto fault = load_scales(op, memory, scales)) return fault;
  size_t c = 0;
  for (int64_t& sum : sums) {
    const ChannelScale& channel = scales[c];
    sum = scale_round(wrap(sum + channel.bias, bits), channel.scale, rounding);
    if (++c == scales.size()) c = 0;
  }
  return std::nullopt;
}

// Rounding modes, where they have an effect.
std::optional<Fault> check_roundings(const Operation& op) {
  const auto unknown = [](const Scale& scale) { return !is_known(scale.rounding); };
  if (unknown(op.ofm_scale) || unknown(op.ifm_scale) || unknown(op.ifm2_scale))
    return operand_fault(
        "of the roundings DOUBLE_SYMMETRIC, NATURAL, SYMMETRIC and DOWN are simulated alone");
  if (op.ofm_scale.double_rounding != 0)
    return operand_fault("an OFM_SCALE with dbl_rnd is not simulated");
  return std::nullopt;
}

// Into the order in which memory holds them.
Results stored_order(const Operation& op, const Results& results) {
  if (op.transpose == Transpose::HWC && op.reverse == Reverse::None) return results;
  const FeatureMap& map = op.ofm.map;
  Results stored(results.size());
  size_t from = 0;
  for (int32_t h = 0; h < op.ofm_height; ++h)
    for (int32_t w = 0; w < op.ofm_width; ++w)
      for (int32_t c = 0; c < op.ofm_depth; ++c, ++from) {
        int32_t y = h, x = w, z = c;
        switch (op.transpose) {
          case Transpose::HWC:
            break;
          case Transpose::WHC:
            y = w, x = h;
            break;
          case Transpose::HCW:
            x = c, z = w;
            break;
          case Transpose::WCH:
            y = w, x = c, z = h;
            break;
          case Transpose::CHW:
            y = c, x = h, z = w;
            break;
          case Transpose::CWH:
            y = c, z = h;
            break;
        }
        if (op.reverse == Reverse::H) y = map.height - 1 - y;
        if (op.reverse == Reverse::W) x = map.width - 1 - x;
        if (op.reverse == Reverse::C) z = map.depth - 1 - z;
        stored[(static_cast<size_t>(y) * static_cast<size_t>(map.width) + static_cast<size_t>(x)) *
                   static_cast<size_t>(map.depth) +
               static_cast<size_t>(z)] = results[from];
      }
  return stored;
}

}  // namespace

std::optional<Fault> execute(const Operation& op, const Configuration& configuration,
                             Memory& memory, Machine& machine, uint64_t max_macs) {
  if (auto fault = check_size(op, max_macs)) return fault;
  if (auto fault = check_places(op, memory)) return fault;
  if (auto fault = OutputStage::check(op)) return fault;
  if (auto fault = check_roundings(op)) return fault;

  Results results(op.results());
  if (op.kind == OperationKind::Elementwise) {
    if (auto fault = do_elementwise(op, memory, machine, results)) return fault;
  } else {
    if (auto fault = make_sums(op, configuration, memory, machine, results)) return fault;
    if (op.keeps_accumulators) {
      machine.kept = {op.ofm_height, op.ofm_width, op.ofm_depth, std::move(results)};
      return std::nullopt;
    }
    if (auto fault = scale_sums(op, memory, results)) return fault;
  }
  const OutputStage output(op, memory);
  for (int64_t& result : results) result = output(result);
  if (op.ofm.place == Place::Chained) {
    machine.chained[op.ofm.buffer] = std::move(results);
    return std::nullopt;
  }
  machine.chained.clear();
  ethos_u::scatter(op.ofm.map, stored_order(op, results), memory);
  return std::nullopt;
}

std::optional<Fault> execute(const DmaTransfer& dma, Memory& memory) {
  const auto outside = [&](const char* side, uint64_t at, uint32_t region, bool internal) {
    return Fault{Cause::Bus, 0, "",
                 std::string("the ") + side + " of bytes " + std::to_string(at) + " to " +
                     std::to_string(at + dma.length) + " lies outside of " +
                     (internal ? "the memory of tables" : "region " + std::to_string(region))};
  };
  for (uint32_t n1 = 0; n1 < dma.size1; ++n1)
    for (uint32_t n0 = 0; n0 < dma.size0; ++n0) {
      int64_t source_step = n0, target_step = n0;
      if (dma.source_indexed || dma.target_indexed) {
        const uint64_t at = dma.indices + uint64_t{4} * n0;
        const uint8_t* bytes = memory.read(dma.index_region, at, 4);
        if (bytes == nullptr) return outside("list of indices", at, dma.index_region, false);
        int32_t index;
        std::memcpy(&index, bytes, 4);
        if (index < 0 || index > dma.largest_index)
          return operand_fault("index " + std::to_string(index) + " is not between 0 and " +
                               std::to_string(dma.largest_index));
        (dma.source_indexed ? source_step : target_step) = index;
      }
      const uint64_t source = dma.source + static_cast<uint64_t>(source_step * dma.source_stride0 +
                                                                 n1 * dma.source_stride1),
                     target = dma.target + static_cast<uint64_t>(target_step * dma.target_stride0 +
                                                                 n1 * dma.target_stride1);
      const uint8_t* from = dma.source_internal
                                ? memory.shram_at(source, dma.length)
                                : memory.read(dma.source_region, source, dma.length);
      if (from == nullptr) return outside("source", source, dma.source_region, dma.source_internal);
      uint8_t* to = dma.target_internal ? memory.shram_at(target, dma.length)
                                        : memory.write(dma.target_region, target, dma.length);
      if (to == nullptr) return outside("target", target, dma.target_region, dma.target_internal);
      std::memmove(to, from, static_cast<size_t>(dma.length));
    }
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u85
