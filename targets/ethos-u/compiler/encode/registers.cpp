#include "encode/registers.h"

#include <algorithm>
#include <optional>

#include "commands/commands.h"
#include "intarsia/plugin/check.h"

namespace intarsia::targets::ethos_u {
namespace {

std::string_view precision_name(DataType type) {
  switch (element_bytes(type)) {
    case 1:
      return "B8";
    case 2:
      return "B16";
    default:
      return "B32";
  }
}

std::string_view layout_name(Layout layout) {
  return layout == Layout::Nhwc ? "NHWC" : "NHCWB16";
}

class Encoder {
 public:
  // A register with one field of that name.
  void set(std::string_view command, std::string_view field, int64_t value) {
    registers_.push_back({command_named(command).code, field_bits(command, field, value)});
  }
  void set_bits(std::string_view command, uint32_t bits) {
    registers_.push_back({command_named(command).code, bits});
  }
  void set_long(std::string_view command, int64_t value, uint32_t parameter = 0) {
    registers_.push_back(
        {command_named(command).code, with_payload(parameter | static_cast<uint32_t>(value >> 32),
                                                   static_cast<uint32_t>(value))});
  }
  void set_scale(std::string_view command, const ChannelScale& scale, bool has_shift = true) {
    const uint32_t shift = has_shift ? field_bits(command, "shift", scale.shift) : 0;
    registers_.push_back({command_named(command).code, with_payload(shift, scale.multiplier)});
  }

  // What IFM, IFM2 and OFM have alike.
  void set_map(const MapCommands& names, const FeatureMap& map) {
    // Tiles: rows from `wrap_height` on lie elsewhere, or of a single row columns from `wrap_width` on.
    const auto within_span = [&](std::optional<int64_t> base) {
      return base ? *base - map.span.offset : kNoTile;
    };
    const int64_t bases[] = {within_span(map.base), within_span(map.right_tile()),
                             within_span(map.lower_tile()), kNoTile};
    for (size_t tile = 0; tile < names.bases.size(); ++tile)
      registers_.push_back({command_named(names.bases[tile]).code, bases[tile]});
    set(names.width0_m1, "width_m1", map.tile_width() - 1);
    set(names.height0_m1, "height_m1", map.tile_height() - 1);
    set(names.height1_m1, "height_m1", map.tile_height() - 1);
    set_long(names.stride_c, map.stride_c);
    set_long(names.stride_y, map.stride_y);
    set_long(names.stride_x, map.stride_x);
    set(names.zero_point, "zero_point", map.zero_point);
  }

  // IFM_PRECISION and its like; what is not in all of them is or-ed in.
  uint32_t precision(std::string_view command, const FeatureMap& map) {
    return field_bits(command, "activation_type",
                      enumerator("activation_type", is_signed(map.type) ? "SIGNED" : "UNSIGNED")) |
           field_bits(command, "activation_precision",
                      enumerator("activation_precision", precision_name(map.type))) |
           field_bits(command, "activation_format",
                      enumerator("activation_format", layout_name(map.layout)));
  }

  std::vector<RegisterValue> finish() { return std::move(registers_); }

 private:
  std::vector<RegisterValue> registers_;
};

void set_ifm(Encoder& out, const Operation& operation, const Step& step) {
  constexpr std::string_view kScaling[] = {"OPA_OPB_16", "OPA_32", "OPB_32"};
  constexpr std::string_view kUpscale[] = {"NONE", "NEAREST", "TRANSPOSE"};
  out.set_map(kIfm, step.ifm);
  out.set("SET_IFM_DEPTH_M1", "depth_m1", step.ifm.extent.depth - 1);
  out.set_bits(
      "SET_IFM_PRECISION",
      out.precision("SET_IFM_PRECISION", step.ifm) |
          field_bits("SET_IFM_PRECISION", "scale_mode",
                     enumerator("ifm_scale_mode",
                                kScaling[static_cast<size_t>(operation.operand_scaling)])));
  out.set("SET_IFM_UPSCALE", "mode",
          enumerator("resampling_mode", kUpscale[static_cast<size_t>(operation.upscale)]));
  if (is_elementwise(operation.kind)) return;
  out.set("SET_IFM_PAD_TOP", "pad", step.pads.top);
  out.set("SET_IFM_PAD_LEFT", "pad", step.pads.left);
  out.set("SET_IFM_PAD_RIGHT", "pad", step.pads.right);
  out.set("SET_IFM_PAD_BOTTOM", "pad", step.pads.bottom);
}

void set_ifm2(Encoder& out, const Operation& operation, const Step& step) {
  const auto broadcast = [](std::string_view field, bool value) {
    return field_bits("SET_IFM2_BROADCAST", field, value ? 1 : 0);
  };
  uint32_t bits = broadcast("broadcast_constant", operation.ifm2_scalar.has_value()) |
                  broadcast("operand_order", operation.reverse_operands);
  FeatureMap map;
  if (step.ifm2) {
    map = *step.ifm2;
    out.set_map(kIfm2, map);
    bits |= broadcast("broadcast_h", map.extent.height != step.ifm.extent.height) |
            broadcast("broadcast_w", map.extent.width != step.ifm.extent.width) |
            broadcast("broadcast_c", map.extent.depth != step.ifm.extent.depth);
    out.set("SET_IFM2_IB_START", "ib_start", step.block.shram.ifm2_start);
  } else {
    map.type = operation.ifm2_type;
    out.set("SET_IFM2_ZERO_POINT", "zero_point", operation.ifm2_zero_point);
    out.set("SET_IFM2_SCALAR", "scalar", *operation.ifm2_scalar);
  }
  out.set_bits("SET_IFM2_PRECISION", out.precision("SET_IFM2_PRECISION", map));
  out.set_bits("SET_IFM2_BROADCAST", bits);
}

void set_ofm(Encoder& out, const Operation& operation, const Step& step) {
  constexpr std::string_view kRounding[] = {"TFL", "TRUNCATE", "NATURAL"};
  out.set_map(kOfm, step.ofm);
  out.set("SET_OFM_HEIGHT_M1", "height_m1", step.ofm.extent.height - 1);
  out.set("SET_OFM_WIDTH_M1", "width_m1", step.ofm.extent.width - 1);
  out.set("SET_OFM_DEPTH_M1", "depth_m1", step.ofm.extent.depth - 1);
  out.set_bits(
      "SET_OFM_PRECISION",
      out.precision("SET_OFM_PRECISION", step.ofm) |
          field_bits(
              "SET_OFM_PRECISION", "scale_mode",
              enumerator("ofm_scale_mode", operation.global_scale ? "GLOBAL" : "PER_CHANNEL")) |
          field_bits("SET_OFM_PRECISION", "round_mode",
                     enumerator("round_mode", kRounding[static_cast<size_t>(operation.rounding)])));
  if (operation.global_scale) out.set_scale("SET_OFM_SCALE", *operation.global_scale);
  if (operation.kind == OperationKind::Add || operation.kind == OperationKind::Sub) {
    out.set_scale("SET_OPA_SCALE", operation.ifm_scale);
    out.set_scale("SET_OPB_SCALE", operation.ifm2_scale, false);
  }
}

void set_kernel(Encoder& out, const Operation& operation, const Step& step) {
  const Kernel& kernel = operation.kernel;
  out.set("SET_KERNEL_HEIGHT_M1", "height_m1", kernel.dilation_y * (kernel.height - 1));
  out.set("SET_KERNEL_WIDTH_M1", "width_m1", kernel.dilation_x * (kernel.width - 1));
  const auto field = [](std::string_view name, int64_t value) {
    return field_bits("SET_KERNEL_STRIDE", name, value);
  };
  const int32_t x = kernel.stride_x - 1, y = kernel.stride_y - 1;
  out.set_bits("SET_KERNEL_STRIDE",
               field("stride_x_lsb", x & 1) | field("stride_y_lsb", y & 1) |
                   field("stride_x_msb", x >> 1) | field("stride_y_msb", y >> 1) |
                   field("dilation_x", kernel.dilation_x - 1) |
                   field("dilation_y", kernel.dilation_y - 1) |
                   field("weight_order",
                         enumerator("weight_order",
                                    step.block.part_kernel ? "PART_KERNEL_FIRST" : "DEPTH_FIRST")));
}

void set_activation(Encoder& out, const Operation& operation, const Step& step) {
  int64_t function = enumerator("activation_function", "RELU");
  if (operation.activation == Activation::Tanh)
    function = enumerator("activation_function", "TANH");
  if (operation.activation == Activation::Sigmoid)
    function = enumerator("activation_function", "SIGMOID");
  if (operation.activation == Activation::Lut)
    function = enumerator("activation_function", "TABLE_0") + step.table_slot;
  out.set_bits(
      "SET_ACTIVATION",
      field_bits("SET_ACTIVATION", "activation_function", function) |
          field_bits("SET_ACTIVATION", "activation_clip_range",
                     enumerator("activation_clip_range",
                                operation.force_int8_lut_range ? "FORCE_INT8" : "OFM_PRECISION")));
  // The registers have 16 bits; wider results are not clamped.
  const int32_t low = is_signed(step.ofm.type) ? -32768 : 0;
  out.set("SET_ACTIVATION_MIN", "clip_boundary", std::clamp(operation.clamp_low, low, 32767));
  out.set("SET_ACTIVATION_MAX", "clip_boundary", std::clamp(operation.clamp_high, low, 32767));
}

void set_block(Encoder& out, const Step& step) {
  const BlockConfig& block = step.block;
  out.set("SET_OFM_BLK_HEIGHT_M1", "height_m1", block.ofm.height - 1);
  out.set("SET_OFM_BLK_WIDTH_M1", "width_m1", block.ofm.width - 1);
  out.set("SET_OFM_BLK_DEPTH_M1", "depth_m1", block.ofm.depth - 1);
  out.set("SET_IFM_IB_END", "ib_end", block.shram.ifm_end);
  out.set("SET_AB_START", "ab_start", block.shram.acc_start);
  out.set("SET_ACC_FORMAT", "acc_format",
          enumerator("acc_format", block.accumulators == AccumulatorFormat::Int40 ? "I40" : "I32"));
}

struct Start {
  std::string_view command, field, of, value;
};

Start start_of(OperationKind kind) {
  constexpr std::string_view pool = "OP_POOL", element = "OP_ELEMENTWISE";
  const auto pooling = [&](std::string_view mode) {
    return Start{pool, "pooling_mode", "pooling_mode", mode};
  };
  const auto elementwise = [&](std::string_view mode) {
    return Start{element, "elementwise_mode", "elementwise_mode", mode};
  };
  switch (kind) {
    case OperationKind::Conv:
      return {"OP_CONV", "", "", ""};
    case OperationKind::Depthwise:
      return {"OP_DEPTHWISE", "", "", ""};
    case OperationKind::MaxPool:
      return pooling("MAX");
    case OperationKind::AveragePool:
      return pooling("AVERAGE");
    case OperationKind::ReduceSum:
      return pooling("REDUCE_SUM");
    case OperationKind::Mul:
      return elementwise("MUL");
    case OperationKind::Add:
      return elementwise("ADD");
    case OperationKind::Sub:
      return elementwise("SUB");
    case OperationKind::Minimum:
      return elementwise("MIN");
    case OperationKind::Maximum:
      return elementwise("MAX");
    case OperationKind::LeakyRelu:
      return elementwise("LRELU");
    case OperationKind::Abs:
      return elementwise("ABS");
    case OperationKind::CountLeadingZeros:
      return elementwise("CLZ");
    case OperationKind::ShiftRight:
      return elementwise("SHR");
    case OperationKind::ShiftLeft:
      return elementwise("SHL");
  }
  INTARSIA_CHECK(false, "every kind of operation has a command");
}

}  // namespace

Encoded encode_operation(const Hardware& hardware, const Operation& operation, const Step& step) {
  Encoder out;
  if (hardware.is_u65)
    out.set("SET_PARALLEL_MODE", "parallel_mode",
            enumerator("parallel_mode", hardware.cores > 1 ? "DUAL_CORE_DEPTH" : "SINGLE_CORE"));
  set_ifm(out, operation, step);
  set_ofm(out, operation, step);
  if (!is_elementwise(operation.kind)) set_kernel(out, operation, step);
  for (size_t core = 0; core < step.weights.size(); ++core) {
    out.set_long(core == 0 ? "SET_WEIGHT_LENGTH" : "SET_WEIGHT1_LENGTH", step.weights[core].bytes);
    out.set_long(core == 0 ? "SET_SCALE_LENGTH" : "SET_SCALE1_LENGTH", step.scales[core].bytes);
  }
  set_activation(out, operation, step);
  set_block(out, step);
  if (is_elementwise(operation.kind) && !is_unary(operation.kind)) set_ifm2(out, operation, step);

  const Start start = start_of(operation.kind);
  Encoded result;
  result.registers = out.finish();
  result.operation = command_named(start.command).code;
  if (!start.field.empty())
    result.parameter = field_bits(start.command, start.field, enumerator(start.of, start.value));
  return result;
}

Encoded encode_transfer(const Step& step) {
  Encoder out;
  if (step.to.storage < 0) {
    out.set_bits("SET_DMA0_DST_REGION", field_bits("SET_DMA0_DST_REGION", "region_mode",
                                                   enumerator("dma_region_mode", "INTERNAL")));
    out.set_long("SET_DMA0_DST", step.to.offset);
  }
  out.set_long("SET_DMA0_LEN", step.from.bytes);
  return {out.finish(), command_named("OP_DMA_START").code, 0};
}

}  // namespace intarsia::targets::ethos_u
