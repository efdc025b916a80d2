#include "intarsia/targets/ethos_u/execute.h"

#include <cstring>

#include "intarsia/targets/ethos_u/execute_families.h"
#include "intarsia/targets/ethos_u/feature_map.h"
#include "intarsia/targets/ethos_u/windows.h"

namespace intarsia::simulators::ethos_u {

std::optional<Fault> execute(const Operation& op, const Configuration& configuration,
                             Memory& memory, uint64_t max_macs) {
  if (auto fault = check_map(op.ofm, "OFM", memory, true)) return fault;
  if (auto fault = check_map(op.ifm, "IFM", memory, false)) return fault;
  if (op.has_ifm2)
    if (auto fault = check_map(op.ifm2, "IFM2", memory, false)) return fault;
  if (op.kind != OperationKind::Elementwise)
    if (auto fault = check_windows(op, max_macs)) return fault;
  if (auto fault = OutputStage::check(op)) return fault;

  const OutputStage output(op, configuration, memory);
  OfmValues ofm(static_cast<size_t>(element_count(op.ofm)));
  std::optional<Fault> fault;
  switch (op.kind) {
    case OperationKind::Conv:
    case OperationKind::Depthwise:
      fault = execute_convolution(op, configuration, memory, output, ofm);
      break;
    case OperationKind::Pool:
      fault = execute_pool(op, memory, output, ofm);
      break;
    case OperationKind::Elementwise:
      fault = execute_elementwise(op, memory, output, ofm);
      break;
  }
  if (!fault) scatter(op.ofm, ofm, memory);
  return fault;
}

std::optional<Fault> execute(const DmaTransfer& dma, Memory& memory) {
  const auto fault = [&](const char* side, uint64_t at, bool internal, uint32_t region) {
    return Fault{
        Cause::Bus, 0, "",
        std::string(side) + " bytes " + std::to_string(at) + " to " +
            std::to_string(at + dma.length) + " lie outside of " +
            (internal ? "SHRAM" : "region " + std::to_string(region) + " or may not be written")};
  };
  const uint8_t* from = dma.source_internal
                            ? memory.shram_at(dma.source, dma.length)
                            : memory.read(dma.source_region, dma.source, dma.length);
  if (from == nullptr) return fault("source", dma.source, dma.source_internal, dma.source_region);
  uint8_t* to = dma.target_internal ? memory.shram_at(dma.target, dma.length)
                                    : memory.write(dma.target_region, dma.target, dma.length);
  if (to == nullptr) return fault("target", dma.target, dma.target_internal, dma.target_region);
  std::memmove(to, from, static_cast<size_t>(dma.length));
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u
