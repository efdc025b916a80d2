#include <string>

#include "intarsia/targets/ethos_u/operation.h"

namespace intarsia::simulators::ethos_u {
namespace {

using Opt = std::optional<Fault>;

// Reads registers and remembers the first thing that is wrong with them.
class Reader {
 public:
  Reader(const CommandState& state, const DecodedCommand& command)
      : state_(state), command_(command) {}

  int32_t get(const FieldRow& row) {
    require(row.command);
    return state_.get(row);
  }
  int32_t get_or(const FieldRow& row, int32_t fallback) const {
    return state_.known(row.command) ? state_.get(row) : fallback;
  }
  uint64_t address(Command command) {
    require(command);
    return state_.address(command);
  }
  int64_t stride(Command command) {
    require(command);
    return state_.stride(command);
  }
  uint64_t address_or_zero(Command command) const { return state_.address(command); }
  Scale scale(Command command, const FieldRow* shift) {
    require(command);
    return {state_.payload(command), shift != nullptr ? state_.get(*shift) : 0};
  }
  // Of nothing the base is never set: Arm's newer compilers leave it out for a core without channels.
  Range range(Command base, Command length) {
    require(length);
    if (state_.payload(length) == 0) return {};
    require(base);
    return {state_.address(base), state_.payload(length)};
  }

  void fail(std::string what) {
    if (!fault_)
      fault_ =
          Fault{Cause::Operand, command_.offset, row_of(command_.command).name, std::move(what)};
  }
  Opt fault() const { return fault_; }

 private:
  void require(Command command) {
    if (!state_.known(command))
      fail("needs register " + std::string(row_of(command).name + 4) + ", which nobody set");
  }

  const CommandState& state_;
  const DecodedCommand& command_;
  Opt fault_;
};

// The commands of one of the three feature maps.
struct MapCommands {
  std::array<Command, 4> base;
  Command stride_x, stride_y, stride_c;
  const FieldRow *height0, *height1, *width0, *region, *zero_point, *type, *precision, *format;
};

#define MAP_COMMANDS(map)                                                                 \
  MapCommands {                                                                           \
    {Command::SET_##map##_BASE0, Command::SET_##map##_BASE1, Command::SET_##map##_BASE2,  \
     Command::SET_##map##_BASE3},                                                         \
        Command::SET_##map##_STRIDE_X, Command::SET_##map##_STRIDE_Y,                     \
        Command::SET_##map##_STRIDE_C, &field::SET_##map##_HEIGHT0_M1_height_m1,          \
        &field::SET_##map##_HEIGHT1_M1_height_m1, &field::SET_##map##_WIDTH0_M1_width_m1, \
        &field::SET_##map##_REGION_region, &field::SET_##map##_ZERO_POINT_zero_point,     \
        &field::SET_##map##_PRECISION_activation_type,                                    \
        &field::SET_##map##_PRECISION_activation_precision,                               \
        &field::SET_##map##_PRECISION_activation_format                                   \
  }

const MapCommands kIfm = MAP_COMMANDS(IFM);
const MapCommands kIfm2 = MAP_COMMANDS(IFM2);
const MapCommands kOfm = MAP_COMMANDS(OFM);
#undef MAP_COMMANDS

ElementType read_type(Reader& read, const MapCommands& commands) {
  const bool sign = read.get(*commands.type) == value::activation_type_SIGNED;
  switch (read.get(*commands.precision)) {
    case value::activation_precision_B8:
      return sign ? ElementType::S8 : ElementType::U8;
    case value::activation_precision_B16:
      return sign ? ElementType::S16 : ElementType::U16;
    case value::activation_precision_B32:
      if (!sign) read.fail("feature maps of 32 bits are signed");
      return ElementType::S32;
    default:
      read.fail("an activation_precision without a meaning");
      return ElementType::S8;
  }
}

// Sixteen bits with the sign of the type.
int32_t as_type(int32_t sixteen, ElementType type) {
  return type == ElementType::U16 ? sixteen & 0xFFFF : sixteen;
}

void read_quantisation(Reader& read, const MapCommands& commands, FeatureMap& map) {
  map.type = read_type(read, commands);
  map.zero_point = as_type(read.get(*commands.zero_point), map.type);
}

// Everything but the extent.
void read_map(Reader& read, const MapCommands& commands, FeatureMap& map) {
  read_quantisation(read, commands, map);
  map.region = static_cast<uint32_t>(read.get(*commands.region));
  map.base[0] = read.address(commands.base[0]);
  for (size_t i = 1; i < 4; ++i) map.base[i] = read.address_or_zero(commands.base[i]);
  map.height0 = read.get(*commands.height0) + 1;
  map.height1 = read.get(*commands.height1) + 1;
  map.width0 = read.get(*commands.width0) + 1;
  const int32_t format = read.get(*commands.format);
  map.brick = format == value::activation_format_NHCWB16;
  if (format > value::activation_format_NHCWB16)
    read.fail("an activation_format without a meaning");
  map.stride_y = read.stride(commands.stride_y);
  // The other one follows from the format.
  if (map.brick)
    map.stride_c = read.stride(commands.stride_c);
  else
    map.stride_x = read.stride(commands.stride_x);
}

void read_kernel(Reader& read, Operation& op) {
  Kernel& kernel = op.kernel;
  kernel.stride_x = 1 + read.get(field::SET_KERNEL_STRIDE_stride_x_lsb) +
                    2 * read.get(field::SET_KERNEL_STRIDE_stride_x_msb);
  kernel.stride_y = 1 + read.get(field::SET_KERNEL_STRIDE_stride_y_lsb) +
                    2 * read.get(field::SET_KERNEL_STRIDE_stride_y_msb);
  kernel.dilation_x = 1 + read.get(field::SET_KERNEL_STRIDE_dilation_x);
  kernel.dilation_y = 1 + read.get(field::SET_KERNEL_STRIDE_dilation_y);
  kernel.part_kernel_first =
      read.get(field::SET_KERNEL_STRIDE_weight_order) == value::weight_order_PART_KERNEL_FIRST;
  kernel.decomposition =
      read.get(field::SET_KERNEL_STRIDE_decomposition) == value::kernel_decomposition_D4X4 ? 4 : 8;
  const int32_t width_m1 = read.get(field::SET_KERNEL_WIDTH_M1_width_m1);
  const int32_t height_m1 = read.get(field::SET_KERNEL_HEIGHT_M1_height_m1);
  if (width_m1 % kernel.dilation_x != 0 || height_m1 % kernel.dilation_y != 0)
    read.fail("the extent of the kernel minus 1 is no multiple of its dilation");
  kernel.width = width_m1 / kernel.dilation_x + 1;
  kernel.height = height_m1 / kernel.dilation_y + 1;

  op.padding = {read.get(field::SET_IFM_PAD_TOP_pad), read.get(field::SET_IFM_PAD_LEFT_pad),
                read.get(field::SET_IFM_PAD_BOTTOM_pad), read.get(field::SET_IFM_PAD_RIGHT_pad)};
}

// What the kernel walks over, from the OFM; then what of it lies in memory.
void set_ifm_extent(Reader& read, Operation& op) {
  const Kernel& kernel = op.kernel;
  op.upscaled_width =
      (op.ofm.width - 1) * kernel.stride_x + kernel.extent_x() - op.padding.left - op.padding.right;
  op.upscaled_height = (op.ofm.height - 1) * kernel.stride_y + kernel.extent_y() - op.padding.top -
                       op.padding.bottom;
  if (op.upscaled_width < 1 || op.upscaled_height < 1)
    read.fail("the kernel meets nothing but padding: the IFM would be " +
              std::to_string(op.upscaled_width) + " wide and " +
              std::to_string(op.upscaled_height) + " high");
  const int32_t factor = op.upscale == Upscale::None ? 1 : 2;
  op.ifm.width = (op.upscaled_width + factor - 1) / factor;
  op.ifm.height = (op.upscaled_height + factor - 1) / factor;
}

void read_weights(Reader& read, const Configuration& configuration, Operation& op) {
  op.cores = configuration.cores > 1 && read.get_or(field::SET_PARALLEL_MODE_parallel_mode, 0) ==
                                            value::parallel_mode_DUAL_CORE_DEPTH
                 ? 2
                 : 1;
  op.weight_region = static_cast<uint32_t>(read.get(field::SET_WEIGHT_REGION_region));
  op.scale_region = static_cast<uint32_t>(read.get(field::SET_SCALE_REGION_region));
  op.weights[0] = read.range(Command::SET_WEIGHT_BASE, Command::SET_WEIGHT_LENGTH);
  op.scales[0] = read.range(Command::SET_SCALE_BASE, Command::SET_SCALE_LENGTH);
  if (op.cores > 1) {
    op.weights[1] = read.range(Command::SET_WEIGHT1_BASE, Command::SET_WEIGHT1_LENGTH);
    op.scales[1] = read.range(Command::SET_SCALE1_BASE, Command::SET_SCALE1_LENGTH);
  }
}

void read_operands(Reader& read, Operation& op) {
  op.ifm.width = op.ofm.width;
  op.ifm.height = op.ofm.height;
  op.upscaled_width = op.ifm.width;
  op.upscaled_height = op.ifm.height;
  if (op.upscale != Upscale::None) read.fail("OP_ELEMENTWISE does not upscale");
  if (op.ifm.depth != op.ofm.depth)
    read.fail("IFM_DEPTH " + std::to_string(op.ifm.depth) + " is not OFM_DEPTH " +
              std::to_string(op.ofm.depth));
  if (op.is_unary()) return;
  op.reversed = read.get(field::SET_IFM2_BROADCAST_operand_order) == value::operand_order_ORDER_A;
  op.has_scalar = read.get(field::SET_IFM2_BROADCAST_broadcast_constant) != 0;
  op.has_ifm2 = !op.has_scalar;
  if (op.has_scalar) {
    read_quantisation(read, kIfm2, op.ifm2);
    op.scalar = as_type(read.get(field::SET_IFM2_SCALAR_scalar), op.ifm2.type);
    op.ifm2.width = op.ifm2.height = op.ifm2.depth = 1;
  } else {
    read_map(read, kIfm2, op.ifm2);
    const auto extent = [&](const FieldRow& broadcast, int32_t full) {
      return read.get(broadcast) != 0 ? 1 : full;
    };
    op.ifm2.height = extent(field::SET_IFM2_BROADCAST_broadcast_h, op.ofm.height);
    op.ifm2.width = extent(field::SET_IFM2_BROADCAST_broadcast_w, op.ofm.width);
    op.ifm2.depth = extent(field::SET_IFM2_BROADCAST_broadcast_c, op.ofm.depth);
  }
}

void read_elementwise_scales(Reader& read, Operation& op) {
  switch (op.elementwise) {
    case ElementwiseMode::Add:
    case ElementwiseMode::Sub: {
      const int32_t mode = read.get(field::SET_IFM_PRECISION_scale_mode);
      if (mode > value::ifm_scale_mode_OPB_32) read.fail("a scale_mode without a meaning");
      op.operand_scale = static_cast<OperandScale>(mode);
      const int32_t rounding = read.get(field::SET_IFM_PRECISION_round_mode);
      if (rounding > value::round_mode_NATURAL) read.fail("a round_mode without a meaning");
      op.operand_rounding = static_cast<Rounding>(rounding);
      op.opa_scale = read.scale(Command::SET_OPA_SCALE, &field::SET_OPA_SCALE_shift);
      op.opb_scale = read.scale(Command::SET_OPB_SCALE, nullptr);
      break;
    }
    default:
      break;
  }
}

void read_activation(Reader& read, Operation& op) {
  Activation& activation = op.activation;
  const int32_t function = read.get(field::SET_ACTIVATION_activation_function);
  if (function == value::activation_function_RELU) {
    activation.function = ActivationFunction::Clamp;
  } else if (function == value::activation_function_TANH) {
    activation.function = ActivationFunction::Tanh;
  } else if (function == value::activation_function_SIGMOID) {
    activation.function = ActivationFunction::Sigmoid;
  } else if (function >= value::activation_function_TABLE_0 &&
             function <= value::activation_function_TABLE_7) {
    activation.function = ActivationFunction::Table;
    activation.table = function - value::activation_function_TABLE_0;
  } else {
    read.fail("an activation_function without a meaning");
  }
  switch (read.get(field::SET_ACTIVATION_activation_clip_range)) {
    case value::activation_clip_range_OFM_PRECISION:
      break;
    case value::activation_clip_range_FORCE_UINT8:
      activation.forced_range = ElementType::U8;
      break;
    case value::activation_clip_range_FORCE_INT8:
      activation.forced_range = ElementType::S8;
      break;
    case value::activation_clip_range_FORCE_INT16:
      activation.forced_range = ElementType::S16;
      break;
    default:
      read.fail("an activation_clip_range without a meaning");
  }
  activation.minimum = as_type(read.get(field::SET_ACTIVATION_MIN_clip_boundary), op.ofm.type);
  activation.maximum = as_type(read.get(field::SET_ACTIVATION_MAX_clip_boundary), op.ofm.type);
}

void read_block(Reader& read, Operation& op) {
  op.ofm_block = {read.get(field::SET_OFM_BLK_WIDTH_M1_width_m1) + 1,
                  read.get(field::SET_OFM_BLK_HEIGHT_M1_height_m1) + 1,
                  read.get(field::SET_OFM_BLK_DEPTH_M1_depth_m1) + 1};
  op.shram.ifm_ib_end = read.get(field::SET_IFM_IB_END_ib_end);
  op.shram.ab_start = read.get(field::SET_AB_START_ab_start);
  if (op.has_ifm2) op.shram.ifm2_ib_start = read.get(field::SET_IFM2_IB_START_ib_start);
  const int32_t format = read.get(field::SET_ACC_FORMAT_acc_format);
  if (format > value::acc_format_F16) read.fail("an acc_format without a meaning");
  op.accumulators = static_cast<AccumulatorFormat>(format);
  op.blockdep = read.get(field::SET_BLOCKDEP_blockdep);
}

// Which kind of operation, and its mode.
void read_kind(Reader& read, const DecodedCommand& command, Operation& op) {
  switch (command.command) {
    case Command::OP_CONV:
      op.kind = OperationKind::Conv;
      break;
    case Command::OP_DEPTHWISE:
      op.kind = OperationKind::Depthwise;
      break;
    case Command::OP_POOL: {
      op.kind = OperationKind::Pool;
      const int32_t mode = command.get(field::OP_POOL_pooling_mode);
      if (mode > value::pooling_mode_REDUCE_SUM) read.fail("a pooling_mode without a meaning");
      op.pooling = static_cast<PoolingMode>(mode);
      break;
    }
    case Command::OP_ELEMENTWISE: {
      op.kind = OperationKind::Elementwise;
      const int32_t mode = command.get(field::OP_ELEMENTWISE_elementwise_mode);
      if (mode > value::elementwise_mode_SHL) read.fail("an elementwise_mode without a meaning");
      op.elementwise = static_cast<ElementwiseMode>(mode);
      break;
    }
    default:
      read.fail("starts no operation on feature maps");
  }
}

void check_types(Reader& read, const Operation& op) {
  const ElementType ifm = op.ifm.type;
  if (op.has_weights() && (ifm == ElementType::S32 || ifm == ElementType::U16))
    read.fail("a convolution takes IFMs of U8, S8 and S16");
  if (op.kind == OperationKind::Depthwise && op.ifm.depth != op.ofm.depth)
    read.fail("IFM_DEPTH " + std::to_string(op.ifm.depth) + " is not OFM_DEPTH " +
              std::to_string(op.ofm.depth));
  if (op.kind == OperationKind::Pool) {
    if (op.pooling == PoolingMode::ReduceSum && op.ofm.depth != 1)
      read.fail("REDUCE_SUM makes an OFM of depth 1, not " + std::to_string(op.ofm.depth));
    if (op.pooling != PoolingMode::ReduceSum && op.ifm.depth != op.ofm.depth)
      read.fail("IFM_DEPTH " + std::to_string(op.ifm.depth) + " is not OFM_DEPTH " +
                std::to_string(op.ofm.depth));
  }
  if (op.has_weights() && op.accumulators == AccumulatorFormat::F16)
    read.fail("accumulators of 16-bit floating point");
}

}  // namespace

std::optional<Fault> make_operation(const CommandState& state, const DecodedCommand& command,
                                    const Configuration& configuration, Operation& op) {
  op = {};
  op.offset = command.offset;
  Reader read(state, command);
  read_kind(read, command, op);
  if (read.fault()) return read.fault();

  read_map(read, kOfm, op.ofm);
  op.ofm.width = read.get(field::SET_OFM_WIDTH_M1_width_m1) + 1;
  op.ofm.height = read.get(field::SET_OFM_HEIGHT_M1_height_m1) + 1;
  op.ofm.depth = read.get(field::SET_OFM_DEPTH_M1_depth_m1) + 1;
  read_map(read, kIfm, op.ifm);
  op.ifm.depth = read.get(field::SET_IFM_DEPTH_M1_depth_m1) + 1;
  const int32_t upscale = read.get(field::SET_IFM_UPSCALE_mode);
  if (upscale > value::resampling_mode_TRANSPOSE) read.fail("an upscale mode without a meaning");
  op.upscale = static_cast<Upscale>(upscale);

  if (op.kind == OperationKind::Elementwise) {
    read_operands(read, op);
    read_elementwise_scales(read, op);
  } else {
    read_kernel(read, op);
    set_ifm_extent(read, op);
    if (op.has_weights()) read_weights(read, configuration, op);
  }
  const int32_t rounding = read.get(field::SET_OFM_PRECISION_round_mode);
  if (rounding > value::round_mode_NATURAL) read.fail("a round_mode without a meaning");
  op.rounding = static_cast<Rounding>(rounding);
  op.global_scale = read.get(field::SET_OFM_PRECISION_scale_mode) == value::ofm_scale_mode_GLOBAL;
  if (op.global_scale)
    op.ofm_scale = read.scale(Command::SET_OFM_SCALE, &field::SET_OFM_SCALE_shift);
  read_activation(read, op);
  read_block(read, op);
  check_types(read, op);
  return read.fault();
}

std::optional<Fault> make_transfer(const CommandState& state, const DecodedCommand& command,
                                   DmaTransfer& transfer) {
  transfer = {};
  transfer.offset = command.offset;
  Reader read(state, command);
  transfer.source_region = static_cast<uint32_t>(read.get(field::SET_DMA0_SRC_REGION_region));
  transfer.target_region = static_cast<uint32_t>(read.get(field::SET_DMA0_DST_REGION_region));
  transfer.source_internal =
      read.get(field::SET_DMA0_SRC_REGION_region_mode) == value::dma_region_mode_INTERNAL;
  transfer.target_internal =
      read.get(field::SET_DMA0_DST_REGION_region_mode) == value::dma_region_mode_INTERNAL;
  if (read.get(field::SET_DMA0_SRC_REGION_stride_mode) != value::dma_stride_mode_D1 ||
      read.get(field::SET_DMA0_DST_REGION_stride_mode) != value::dma_stride_mode_D1)
    read.fail("strided transfers (stride_mode D2 and D3) are not simulated");
  transfer.source = read.address(Command::SET_DMA0_SRC);
  transfer.target = read.address(Command::SET_DMA0_DST);
  transfer.length = read.address(Command::SET_DMA0_LEN);
  return read.fault();
}

}  // namespace intarsia::simulators::ethos_u
