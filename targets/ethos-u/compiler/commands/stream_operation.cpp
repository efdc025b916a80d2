#include "commands/stream_operation.h"

#include <algorithm>

#include <fmt/format.h>

#include "commands/commands.h"
#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

class Reader {
 public:
  Reader(const Intrinsic& intrinsic, const std::vector<PlacedOperand>& operands)
      : intrinsic_(intrinsic), operands_(operands) {}

  std::optional<int64_t> find(std::string_view command) const {
    const uint32_t code = command_named(command).code;
    for (const RegisterValue& value : intrinsic_.registers)
      if (value.code == code) return value.value;
    return std::nullopt;
  }
  int64_t value(std::string_view command) const {
    const std::optional<int64_t> found = find(command);
    INTARSIA_CHECK(found.has_value(), fmt::format("the intrinsic has the register {}", command));
    return *found;
  }
  int64_t field(std::string_view command, std::string_view field) const {
    return field_value(command, field, static_cast<uint32_t>(value(command)));
  }
  const AddressRange* range(std::string_view base) const {
    const uint32_t code = command_named(base).code;
    for (const PlacedOperand& operand : operands_)
      if (operand.base == code) return &operand.range;
    return nullptr;
  }

  PlacedMap map(const MapCommands& names) const {
    PlacedMap map;
    const AddressRange* place = range(names.bases[0]);
    INTARSIA_CHECK(place != nullptr, "feature maps have a place");
    map.range = *place;
    map.region = place->region;
    for (size_t tile = 0; tile < names.bases.size(); ++tile) {
      const int64_t offset = value(names.bases[tile]);
      map.bases[tile] = offset == kNoTile ? kNoTile : place->begin + offset;
    }
    map.tile_height = value(names.height0_m1) + 1;
    map.tile_width = value(names.width0_m1) + 1;
    map.stride_y = value(names.stride_y);
    map.stride_x = value(names.stride_x);
    map.stride_c = value(names.stride_c);
    map.element_bytes = int64_t{1} << field(names.precision, "activation_precision");
    map.bricks =
        field(names.precision, "activation_format") == enumerator("activation_format", "NHCWB16");
    map.extent.width = static_cast<int32_t>(map.tile_width);
    map.extent.height = static_cast<int32_t>(map.tile_height);
    return map;
  }

 private:
  const Intrinsic& intrinsic_;
  const std::vector<PlacedOperand>& operands_;
};

AddressRange shram(int64_t begin, int64_t end) {
  return {AddressRange::kShram, begin, end};
}

StreamOperation view_transfer(const Reader& in) {
  StreamOperation result;
  result.is_dma = true;
  result.reads.push_back(*in.range("SET_DMA0_SRC"));
  if (const AddressRange* to = in.range("SET_DMA0_DST")) {
    result.writes.push_back(*to);
  } else {
    const int64_t begin = in.value("SET_DMA0_DST");
    result.writes.push_back(shram(begin, begin + in.value("SET_DMA0_LEN")));
  }
  return result;
}

}  // namespace

bool PlacedMap::is_disjoint() const {
  return bricks ||
         (extent.depth * element_bytes <= stride_x && extent.width * stride_x <= stride_y);
}

bool PlacedMap::same_place(const PlacedMap& other) const {
  return is_disjoint() && other.is_disjoint() && region == other.region && bases == other.bases &&
         tile_height == other.tile_height &&
         (bases[1] == kNoTile || tile_width == other.tile_width) && stride_y == other.stride_y &&
         stride_x == other.stride_x && stride_c == other.stride_c &&
         element_bytes == other.element_bytes && bricks == other.bricks;
}

AddressRange PlacedMap::row(int64_t y, int64_t x0, int64_t x1, int64_t c0, int64_t c1) const {
  const bool lower = y >= tile_height && bases[2] != kNoTile;
  const auto is_right = [&](int64_t x) { return x >= tile_width && bases[1] != kNoTile; };
  const auto at = [&](int64_t x, int64_t c) {
    int64_t base = lower ? bases[2] + (y - tile_height) * stride_y : bases[0] + y * stride_y;
    // Maps of a single row alone have a tile at the right.
    if (is_right(x)) base = bases[1], x -= tile_width;
    if (!bricks) return base + x * stride_x + c * element_bytes;
    return base + c / kBrickDepth * stride_c + x * kBrickDepth * element_bytes +
           c % kBrickDepth * element_bytes;
  };
  if (is_right(x0) || !is_right(x1)) return {region, at(x0, c0), at(x1, c1) + element_bytes};
  const int64_t last_left = tile_width - 1;
  return {region, std::min(at(x0, c0), at(tile_width, c0)),
          std::max(at(last_left, c1), at(x1, c1)) + element_bytes};
}

StreamOperation view_operation(const Hardware& hardware, const Intrinsic& intrinsic,
                               const std::vector<PlacedOperand>& operands) {
  const Reader in(intrinsic, operands);
  if (intrinsic.operation == command_named("OP_DMA_START").code) return view_transfer(in);

  StreamOperation result;
  for (const PlacedOperand& operand : operands)
    (operand.base == command_named("SET_OFM_BASE0").code ? result.writes : result.reads)
        .push_back(operand.range);
  result.ifm = in.map(kIfm);
  result.ofm = in.map(kOfm);
  result.ifm.extent.depth = static_cast<int32_t>(in.value("SET_IFM_DEPTH_M1") + 1);
  result.ofm.extent = {static_cast<int32_t>(in.value("SET_OFM_HEIGHT_M1") + 1),
                       static_cast<int32_t>(in.value("SET_OFM_WIDTH_M1") + 1),
                       static_cast<int32_t>(in.value("SET_OFM_DEPTH_M1") + 1)};
  result.ofm_block = {static_cast<int32_t>(in.value("SET_OFM_BLK_HEIGHT_M1") + 1),
                      static_cast<int32_t>(in.value("SET_OFM_BLK_WIDTH_M1") + 1),
                      static_cast<int32_t>(in.value("SET_OFM_BLK_DEPTH_M1") + 1)};
  result.elementwise = intrinsic.operation == command_named("OP_ELEMENTWISE").code;
  result.sums_depth = intrinsic.operation == command_named("OP_CONV").code ||
                      (intrinsic.operation == command_named("OP_POOL").code &&
                       field_value("OP_POOL", "pooling_mode", intrinsic.parameter) ==
                           enumerator("pooling_mode", "REDUCE_SUM"));
  if (in.range("SET_IFM2_BASE0") != nullptr) {
    result.ifm2 = in.map(kIfm2);
    const auto broadcast = [&](std::string_view field) {
      return in.field("SET_IFM2_BROADCAST", field) != 0;
    };
    result.ifm2->extent.depth = broadcast("broadcast_c") ? 1 : result.ifm.extent.depth;
  }
  if (!result.elementwise) {
    const auto stride = [&](std::string_view lsb, std::string_view msb) {
      return in.field("SET_KERNEL_STRIDE", lsb) + 2 * in.field("SET_KERNEL_STRIDE", msb) + 1;
    };
    result.stride_x = stride("stride_x_lsb", "stride_x_msb");
    result.stride_y = stride("stride_y_lsb", "stride_y_msb");
    result.kernel_height = in.value("SET_KERNEL_HEIGHT_M1") + 1;
    result.kernel_width = in.value("SET_KERNEL_WIDTH_M1") + 1;
    result.pad_top = in.value("SET_IFM_PAD_TOP");
    result.pad_left = in.value("SET_IFM_PAD_LEFT");
    result.upscale = in.value("SET_IFM_UPSCALE") == enumerator("resampling_mode", "NONE") ? 1 : 2;
  }

  // Accumulators reach to the end of SHRAM unless a table, or the reserve, keeps the last banks.
  const int64_t function = in.field("SET_ACTIVATION", "activation_function");
  result.uses_lut = function >= enumerator("activation_function", "TABLE_0");
  const int64_t end = hardware.banks * kShramBankBytes;
  if (result.uses_lut) {
    const int64_t bytes = result.ofm.element_bytes == 4   ? kLutTableBytes32
                          : result.ifm.element_bytes == 2 ? kLutTableBytes16
                                                          : kLutTableBytes8;
    const int64_t slot = function - enumerator("activation_function", "TABLE_0");
    const int64_t begin = hardware.lut_address() + slot * kLutSlotBytes;
    result.reads.push_back(shram(begin, begin + bytes));
  }
  const bool keeps_tables = result.uses_lut || hardware.reserved_banks() > 0;
  result.writes.push_back(shram(0, keeps_tables ? hardware.lut_address() : end));
  return result;
}

}  // namespace intarsia::targets::ethos_u
