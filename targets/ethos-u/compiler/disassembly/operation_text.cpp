#include "disassembly/operation_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

}  // namespace

int64_t RegisterTrail::at(std::string_view name) const {
  const auto found = registers_.find(name);
  return found == registers_.end() ? 0 : static_cast<int64_t>(found->second.value());
}

int64_t RegisterTrail::field(std::string_view name, std::string_view field) const {
  const auto found = registers_.find(name);
  return found == registers_.end() ? 0 : field_of(found->second, field);
}

// "25x5x16 S8 NHCWB16 1:0x0".
std::string RegisterTrail::map_text(std::string_view prefix, Extent extent) const {
  const std::string precision = fmt::format("SET_{}_PRECISION", prefix);
  const int64_t bits = int64_t{8} << field(precision, "activation_precision");
  return fmt::format("{}x{}x{} {}{} {}", extent.height, extent.width, extent.depth,
                     field(precision, "activation_type") != 0 ? "S" : "U", bits,
                     place_text(prefix));
}

std::string RegisterTrail::place_text(std::string_view prefix) const {
  const std::string set = fmt::format("SET_{}_", prefix);
  const auto found = registers_.find(set + "PRECISION");
  const RawCommand row = found == registers_.end() ? RawCommand() : found->second;
  const std::string_view storage = enumerator_of(row, "activation_storage");
  if (field(set + "BROADCAST", "broadcast_scalar") != 0)
    return fmt::format("scalar {}", field("SET_OP_SCALAR", "scalar"));
  if (storage == "CHAINED") return fmt::format("chain {}", at(set + "REGION"));
  if (storage == "NOT_STORED") return "not stored";
  return fmt::format("{} {}:{:#x}", field_of(row, "activation_format") != 0 ? "NHCWB16" : "NHWC",
                     at(set + "REGION"), at(set + "BASE0"));
}

std::string RegisterTrail::end_of_dma(std::string_view end) const {
  const std::string region = fmt::format("SET_DMA0_{}_REGION", end);
  const int64_t offset = at(fmt::format("SET_DMA0_{}", end));
  if (field(region, "region_mode") != 0) {
    const bool is_u85 = registers_.begin()->second.set == CommandSet::U85;
    return fmt::format("{}:{:#x}", is_u85 ? "tables" : "shram", offset);
  }
  return fmt::format("{}:{:#x}", field(region, "region"), offset);
}

std::string RegisterTrail::dma_text() const {
  std::string text =
      fmt::format("{} -> {}, {} bytes", end_of_dma("SRC"), end_of_dma("DST"), at("SET_DMA0_LEN"));
  if (field("SET_DMA0_SRC_REGION", "idx_mode") != 0) text += ", gathered";
  if (field("SET_DMA0_DST_REGION", "idx_mode") != 0) text += ", scattered";
  return text;
}

RegisterTrail::Extent RegisterTrail::ofm_extent() const {
  return {at("SET_OFM_HEIGHT_M1") + 1, at("SET_OFM_WIDTH_M1") + 1, at("SET_OFM_DEPTH_M1") + 1};
}

int64_t RegisterTrail::stride(char axis) const {
  return 1 + field("SET_KERNEL_STRIDE", fmt::format("stride_{}_lsb", axis)) +
         2 * field("SET_KERNEL_STRIDE", fmt::format("stride_{}_msb", axis));
}

RegisterTrail::Extent RegisterTrail::windowed_extent() const {
  const Extent ofm = ofm_extent();
  const int64_t upscale = at("SET_IFM_UPSCALE") != 0 ? 2 : 1;
  const int64_t height = (ofm.height - 1) * stride('y') + at("SET_KERNEL_HEIGHT_M1") + 1 -
                         at("SET_IFM_PAD_TOP") - at("SET_IFM_PAD_BOTTOM");
  const int64_t width = (ofm.width - 1) * stride('x') + at("SET_KERNEL_WIDTH_M1") + 1 -
                        at("SET_IFM_PAD_LEFT") - at("SET_IFM_PAD_RIGHT");
  return {ceil_div(height, upscale), ceil_div(width, upscale), at("SET_IFM_DEPTH_M1") + 1};
}

RegisterTrail::Extent RegisterTrail::operand_extent(std::string_view prefix, Extent full) const {
  const std::string broadcast = fmt::format("SET_{}_BROADCAST", prefix);
  if (field(broadcast, "broadcast_scalar") != 0) return {};
  if (field(broadcast, "broadcast_h") != 0) full.height = 1;
  if (field(broadcast, "broadcast_w") != 0) full.width = 1;
  if (field(broadcast, "broadcast_c") != 0) full.depth = 1;
  return full;
}

std::string RegisterTrail::window_text() const {
  std::string text =
      fmt::format(", window {}x{}", at("SET_KERNEL_HEIGHT_M1") + 1, at("SET_KERNEL_WIDTH_M1") + 1);
  if (stride('y') != 1 || stride('x') != 1)
    text += fmt::format(" stride {}x{}", stride('y'), stride('x'));
  return text;
}

std::string RegisterTrail::weights_text(const RawCommand& operation) const {
  if (field_of(operation, "weights_ifm2") != 0)
    return ", weights " +
           map_text("IFM2", {1, at("SET_OFM_DEPTH_M1") + 1, at("SET_IFM_DEPTH_M1") + 1});
  return fmt::format(", weights {}:{:#x} {} bytes", at("SET_WEIGHT_REGION"), at("SET_WEIGHT_BASE"),
                     at("SET_WEIGHT_LENGTH"));
}

std::string RegisterTrail::second_operand_text(const RawCommand& operation) const {
  const std::string_view mode = enumerator_of(operation, "elementwise_mode");
  if (mode == "LRELU" || mode == "ABS" || mode == "CLZ" || mode == "NOT") return {};
  if (field("SET_IFM2_BROADCAST", "broadcast_constant") != 0)
    return fmt::format(", scalar {}", field("SET_IFM2_SCALAR", "scalar"));
  return ", with " + map_text("IFM2", operand_extent("IFM2", ofm_extent()));
}

std::string RegisterTrail::operation_text(const RawCommand& operation) const {
  const std::string_view name = operation.name;
  if (name == "OP_DMA_START") return dma_text();
  Extent ifm = windowed_extent();
  std::string what = name.starts_with("OP_") ? lower(name.substr(3)) : std::string();
  std::string rest;
  if (name == "OP_CONV" || name == "OP_DEPTHWISE") {
    rest = window_text() + weights_text(operation);
  } else if (name == "OP_POOL") {
    what = lower(enumerator_of(operation, "pooling_mode")) + " pool";
    rest = window_text();
  } else if (name == "OP_ELEMENTWISE") {
    what = lower(enumerator_of(operation, "elementwise_mode"));
    // An Ethos-U55 has the bits of the second operand alone.
    ifm = operand_extent("IFM", ofm_extent());
    rest = second_operand_text(operation);
  } else if (name == "OP_RESIZE") {
    what = lower(enumerator_of(operation, "resize_mode")) + " resize";
    ifm = {at("SET_KERNEL_HEIGHT_M1") + 1, at("SET_KERNEL_WIDTH_M1") + 1,
           at("SET_IFM_DEPTH_M1") + 1};
  } else {
    return {};
  }
  return fmt::format("{} {} -> {}{}", what, map_text("IFM", ifm), map_text("OFM", ofm_extent()),
                     rest);
}

}  // namespace intarsia::targets::ethos_u
