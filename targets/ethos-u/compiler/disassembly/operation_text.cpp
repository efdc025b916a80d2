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
std::string RegisterTrail::map_text(std::string_view prefix, int64_t height, int64_t width,
                                    int64_t depth) const {
  const std::string set = fmt::format("SET_{}_", prefix);
  const std::string precision = set + "PRECISION";
  const auto found = registers_.find(precision);
  const RawCommand row = found == registers_.end() ? RawCommand() : found->second;
  const int64_t bits = int64_t{8} << field_of(row, "activation_precision");
  return fmt::format("{}x{}x{} {}{} {} {}:{:#x}", height, width, depth,
                     field_of(row, "activation_type") != 0 ? "S" : "U", bits,
                     field_of(row, "activation_format") != 0 ? "NHCWB16" : "NHWC",
                     at(set + "REGION"), at(set + "BASE0"));
}

std::string RegisterTrail::end_of_dma(std::string_view end) const {
  const std::string region = fmt::format("SET_DMA0_{}_REGION", end);
  const int64_t offset = at(fmt::format("SET_DMA0_{}", end));
  if (field(region, "region_mode") != 0) return fmt::format("shram:{:#x}", offset);
  return fmt::format("{}:{:#x}", field(region, "region"), offset);
}

std::string RegisterTrail::dma_text() const {
  return fmt::format("{} -> {}, {} bytes", end_of_dma("SRC"), end_of_dma("DST"),
                     at("SET_DMA0_LEN"));
}

std::string RegisterTrail::operation_text(const RawCommand& operation) const {
  const std::string_view name = operation.name;
  if (name == "OP_DMA_START") return dma_text();
  const bool is_elementwise = name == "OP_ELEMENTWISE";
  if (name != "OP_CONV" && name != "OP_DEPTHWISE" && name != "OP_POOL" && !is_elementwise)
    return {};

  std::string what = lower(name.substr(3));
  if (name == "OP_POOL") what = lower(enumerator_of(operation, "pooling_mode")) + " pool";
  if (is_elementwise) what = lower(enumerator_of(operation, "elementwise_mode"));

  const int64_t height = at("SET_OFM_HEIGHT_M1") + 1, width = at("SET_OFM_WIDTH_M1") + 1,
                depth = at("SET_OFM_DEPTH_M1") + 1;
  int64_t ifm_height = height, ifm_width = width;
  std::string rest;
  if (!is_elementwise) {
    const auto stride = [&](char axis) {
      return 1 + field("SET_KERNEL_STRIDE", fmt::format("stride_{}_lsb", axis)) +
             2 * field("SET_KERNEL_STRIDE", fmt::format("stride_{}_msb", axis));
    };
    const int64_t window_y = at("SET_KERNEL_HEIGHT_M1") + 1,
                  window_x = at("SET_KERNEL_WIDTH_M1") + 1;
    const int64_t upscale = at("SET_IFM_UPSCALE") != 0 ? 2 : 1;
    // There is no register for it: what the windows reach without the padding.
    ifm_height =
        (height - 1) * stride('y') + window_y - at("SET_IFM_PAD_TOP") - at("SET_IFM_PAD_BOTTOM");
    ifm_width =
        (width - 1) * stride('x') + window_x - at("SET_IFM_PAD_LEFT") - at("SET_IFM_PAD_RIGHT");
    ifm_height = ceil_div(ifm_height, upscale);
    ifm_width = ceil_div(ifm_width, upscale);
    rest = fmt::format(", window {}x{}", window_y, window_x);
    if (stride('y') != 1 || stride('x') != 1)
      rest += fmt::format(" stride {}x{}", stride('y'), stride('x'));
  }
  const bool is_unary =
      operation.parameter() >= 5 && operation.parameter() <= 7;  // LRELU, ABS, CLZ
  if (is_elementwise && !is_unary) {
    if (field("SET_IFM2_BROADCAST", "broadcast_constant") != 0) {
      rest = fmt::format(", scalar {}", field("SET_IFM2_SCALAR", "scalar"));
    } else {
      const auto extent = [&](std::string_view axis, int64_t full) {
        return field("SET_IFM2_BROADCAST", fmt::format("broadcast_{}", axis)) != 0 ? 1 : full;
      };
      rest =
          ", with " + map_text("IFM2", extent("h", height), extent("w", width), extent("c", depth));
    }
  }
  if (name == "OP_CONV" || name == "OP_DEPTHWISE")
    rest += fmt::format(", weights {}:{:#x} {} bytes", at("SET_WEIGHT_REGION"),
                        at("SET_WEIGHT_BASE"), at("SET_WEIGHT_LENGTH"));
  return fmt::format(
      "{} {} -> {}{}", what,
      map_text("IFM", ifm_height, ifm_width, is_elementwise ? depth : at("SET_IFM_DEPTH_M1") + 1),
      map_text("OFM", height, width, depth), rest);
}

}  // namespace intarsia::targets::ethos_u
