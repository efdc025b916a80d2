#include <algorithm>
#include <string>

#include "intarsia/targets/ethos_u85/operation.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

// Reads registers and remembers the first thing that is wrong with them.
class U85Reader {
 public:
  U85Reader(const CommandState& state, const DecodedCommand& command)
      : state_(state), command_(command) {}

  int32_t get(const FieldRow& row) {
    require(row.command);
    return static_cast<int32_t>(state_.get(row));
  }
  bool flag(const FieldRow& row) { return get(row) != 0; }
  uint64_t address(Command command) {
    require(command);
    return state_.address(command);
  }
  int64_t stride(Command command) {
    require(command);
    return state_.stride(command);
  }
  uint64_t address_or_zero(Command command) const { return state_.address(command); }
  // Of nothing the base need not be set.
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
  std::optional<Fault> fault() const { return fault_; }

 private:
  void require(Command command) {
    if (!state_.known(command))
      fail("needs register " + std::string(row_of(command).name + 4) + ", which nobody set");
  }

  const CommandState& state_;
  const DecodedCommand& command_;
  std::optional<Fault> fault_;
};

// The commands of one of the three feature maps.
struct U85MapCommands {
  const char* name;
  std::array<Command, 4> base;
  Command stride_x, stride_y, stride_c;
  const FieldRow *height0, *height1, *width0, *region, *zero_point, *type, *precision, *format,
      *storage;
};

#define U85_MAP_COMMANDS(map)                                                                  \
  U85MapCommands {                                                                             \
#map, {Command::SET_##map##_BASE0, Command::SET_##map##_BASE1, Command::SET_##map##_BASE2, \
           Command::SET_##map##_BASE3 },                                                       \
           Command::SET_##map##_STRIDE_X, Command::SET_##map##_STRIDE_Y,                       \
           Command::SET_##map##_STRIDE_C, &field::SET_##map##_HEIGHT0_M1_height_m1,            \
           &field::SET_##map##_HEIGHT1_M1_height_m1, &field::SET_##map##_WIDTH0_M1_width_m1,   \
           &field::SET_##map##_REGION_region, &field::SET_##map##_ZERO_POINT_zero_point,       \
           &field::SET_##map##_PRECISION_activation_type,                                      \
           &field::SET_##map##_PRECISION_activation_precision,                                 \
           &field::SET_##map##_PRECISION_activation_format,                                    \
           &field::SET_##map##_PRECISION_activation_storage                                    \
  }

const U85MapCommands kU85Ifm = U85_MAP_COMMANDS(IFM);
const U85MapCommands kU85Ifm2 = U85_MAP_COMMANDS(IFM2);
const U85MapCommands kU85Ofm = U85_MAP_COMMANDS(OFM);
#undef U85_MAP_COMMANDS

ElementType read_type(U85Reader& read, const U85MapCommands& commands) {
  const bool sign = read.get(*commands.type) == value::activation_type_SIGNED;
  switch (read.get(*commands.precision)) {
    case value::activation_precision_B8:
      return sign ? ElementType::S8 : ElementType::U8;
    case value::activation_precision_B16:
      return sign ? ElementType::S16 : ElementType::U16;
    case value::activation_precision_B32:
      if (!sign) read.fail("feature maps of 32 bits without a sign are not simulated");
      return ElementType::S32;
    default:
      if (!sign) read.fail("feature maps of 64 bits without a sign are not simulated");
      return ElementType::S64;
  }
}

// Sixteen bits with the sign of the type.
int32_t sixteen_as(int32_t sixteen, ElementType type) {
  return type == ElementType::U16 ? sixteen & 0xFFFF : sixteen;
}

void read_quantisation(U85Reader& read, const U85MapCommands& commands, FeatureMap& map) {
  map.type = read_type(read, commands);
  map.zero_point = sixteen_as(read.get(*commands.zero_point), map.type);
}

// Everything but the extent.
void read_operand(U85Reader& read, const U85MapCommands& commands, Operand& operand) {
  FeatureMap& map = operand.map;
  read_quantisation(read, commands, map);
  switch (read.get(*commands.storage)) {
    case value::activation_storage_TILE2X2:
      break;
    case value::activation_storage_CHAINED:
      operand.place = Place::Chained;
      operand.buffer = static_cast<uint32_t>(read.get(*commands.region));
      return;
    case value::activation_storage_NOT_STORED:
      operand.place = Place::Nowhere;
      return;
    default:
      read.fail(std::string("tiles of 3x1 of the ") + commands.name + " are not simulated");
      return;
  }
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

Scale read_scale(U85Reader& read, const FieldRow& multiplier, const FieldRow& shift,
                 const FieldRow& double_rounding, const FieldRow& rounding) {
  const int32_t mode = read.get(rounding);
  if (mode > value::round_mode_DOWN) read.fail("a round_mode without a meaning");
  return {static_cast<uint32_t>(read.get(multiplier)), read.get(shift), read.get(double_rounding),
          static_cast<Rounding>(mode)};
}

#define U85_SCALE(read, map)                                                       \
  read_scale(read, field::SET_##map##_SCALE_scale, field::SET_##map##_SCALE_shift, \
             field::SET_##map##_SCALE_dbl_rnd, field::SET_##map##_SCALE_round_mode)

void read_stored_extent(Operation& op) {
  FeatureMap& map = op.ofm.map;
  const int32_t h = op.ofm_height, w = op.ofm_width, c = op.ofm_depth;
  const auto set = [&](int32_t height, int32_t width, int32_t depth) {
    map.height = height;
    map.width = width;
    map.depth = depth;
  };
  switch (op.transpose) {
    case Transpose::HWC:
      return set(h, w, c);
    case Transpose::WHC:
      return set(w, h, c);
    case Transpose::HCW:
      return set(h, c, w);
    case Transpose::WCH:
      return set(w, c, h);
    case Transpose::CHW:
      return set(c, h, w);
    case Transpose::CWH:
      return set(c, w, h);
  }
}

void read_ofm(U85Reader& read, Operation& op) {
  read_operand(read, kU85Ofm, op.ofm);
  op.ofm_height = read.get(field::SET_OFM_HEIGHT_M1_height_m1) + 1;
  op.ofm_width = read.get(field::SET_OFM_WIDTH_M1_width_m1) + 1;
  op.ofm_depth = read.get(field::SET_OFM_DEPTH_M1_depth_m1) + 1;
  const int32_t transpose = read.get(field::SET_OFM_PRECISION_activation_transpose);
  if (transpose == 4 || transpose == 5) read.fail("an activation_transpose without a meaning");
  op.transpose = static_cast<Transpose>(transpose);
  op.reverse = static_cast<Reverse>(read.get(field::SET_OFM_PRECISION_activation_reverse));
  const bool moves = op.transpose != Transpose::HWC || op.reverse != Reverse::None;
  if (op.transpose != Transpose::HWC && op.reverse != Reverse::None)
    read.fail("an OFM is transposed or reversed, not both");
  if (moves && op.ofm.place != Place::Memory)
    read.fail("an OFM that is transposed or reversed lies in memory");
  const bool turns = op.transpose != Transpose::HWC && op.transpose != Transpose::HCW &&
                     op.transpose != Transpose::CHW;
  if (op.kind == OperationKind::Elementwise && (turns || op.reverse != Reverse::None))
    read.fail("OP_ELEMENTWISE transposes to HCW and CHW alone, and reverses nothing");
  if (op.kind == OperationKind::Resize && moves)
    read.fail("OP_RESIZE neither transposes nor reverses");
  read_stored_extent(op);
}

void read_kernel(U85Reader& read, Operation& op) {
  Kernel& kernel = op.kernel;
  kernel.stride_x = 1 + read.get(field::SET_KERNEL_STRIDE_stride_x_lsb) +
                    2 * read.get(field::SET_KERNEL_STRIDE_stride_x_msb);
  kernel.stride_y = 1 + read.get(field::SET_KERNEL_STRIDE_stride_y_lsb) +
                    2 * read.get(field::SET_KERNEL_STRIDE_stride_y_msb);
  kernel.dilation_x = 1 + read.get(field::SET_KERNEL_STRIDE_dilation_x);
  kernel.dilation_y = 1 + read.get(field::SET_KERNEL_STRIDE_dilation_y);
  kernel.part_kernel_first =
      read.get(field::SET_KERNEL_STRIDE_weight_order) == value::weight_order_PART_KERNEL_FIRST;
  if (read.get(field::SET_KERNEL_STRIDE_decomposition) != value::kernel_decomposition_D8X8)
    read.fail("sub-kernels of 4x4 are not simulated");
  const int32_t width_m1 = read.get(field::SET_KERNEL_WIDTH_M1_width_m1);
  const int32_t height_m1 = read.get(field::SET_KERNEL_HEIGHT_M1_height_m1);
  if (width_m1 % kernel.dilation_x != 0 || height_m1 % kernel.dilation_y != 0)
    read.fail("the extent of the kernel minus 1 is no multiple of its dilation");
  kernel.width = width_m1 / kernel.dilation_x + 1;
  kernel.height = height_m1 / kernel.dilation_y + 1;
  op.padding = {read.get(field::SET_IFM_PAD_TOP_pad), read.get(field::SET_IFM_PAD_LEFT_pad),
                read.get(field::SET_IFM_PAD_BOTTOM_pad), read.get(field::SET_IFM_PAD_RIGHT_pad)};
}

// There is no register for the extent of the IFM: it is what the kernel walks over.
void read_ifm_extent(U85Reader& read, Operation& op) {
  const Kernel& kernel = op.kernel;
  const auto walked = [](int64_t outputs, int64_t stride, int64_t extent, int64_t padding) {
    const int64_t all = (outputs - 1) * stride + extent - padding;
    return static_cast<int32_t>(all > INT32_MAX ? INT32_MAX : all);
  };
  FeatureMap& map = op.ifm.map;
  map.width =
      walked(op.ofm_width, kernel.stride_x, kernel.extent_x(), op.padding.left + op.padding.right);
  map.height =
      walked(op.ofm_height, kernel.stride_y, kernel.extent_y(), op.padding.top + op.padding.bottom);
  if (map.width < 1 || map.height < 1)
    read.fail("the kernel meets nothing but padding: the IFM would be " +
              std::to_string(map.width) + " wide and " + std::to_string(map.height) + " high");
}

void read_weights(U85Reader& read, const Configuration& configuration, Operation& op) {
  op.fast_weights = read.get(field::SET_WEIGHT_FORMAT_weight_format) == value::weight_format_FWD;
  op.sparse_weights =
      read.get(field::SET_WEIGHT_FORMAT_weight_sparsity) == value::weight_sparsity_SPARSE_2_4;
  if (op.kind == OperationKind::Depthwise && (op.fast_weights || op.sparse_weights))
    read.fail("the weights of OP_DEPTHWISE are neither FWD nor sparse");
  op.weight_region = static_cast<uint32_t>(read.get(field::SET_WEIGHT_REGION_region));
  constexpr std::array<std::array<Command, 2>, 4> kStreams = {
      {{Command::SET_WEIGHT_BASE, Command::SET_WEIGHT_LENGTH},
       {Command::SET_WEIGHT1_BASE, Command::SET_WEIGHT1_LENGTH},
       {Command::SET_WEIGHT2_BASE, Command::SET_WEIGHT2_LENGTH},
       {Command::SET_WEIGHT3_BASE, Command::SET_WEIGHT3_LENGTH}}};
  const auto streams = static_cast<size_t>(op.fast_weights ? 1 : configuration.decoders);
  for (size_t i = 0; i < streams; ++i) op.weights[i] = read.range(kStreams[i][0], kStreams[i][1]);
}

// An operand of an elementwise operation.
struct BroadcastFields {
  const FieldRow *h, *w, *c, *scalar;
};
#define U85_BROADCAST(map)                                                                        \
  BroadcastFields {                                                                               \
    &field::SET_##map##_BROADCAST_broadcast_h, &field::SET_##map##_BROADCAST_broadcast_w,         \
        &field::SET_##map##_BROADCAST_broadcast_c, &field::SET_##map##_BROADCAST_broadcast_scalar \
  }

int64_t as_type(int64_t scalar, ElementType type) {
  switch (type) {
    case ElementType::U8:
      return static_cast<uint8_t>(scalar);
    case ElementType::S8:
      return static_cast<int8_t>(scalar);
    case ElementType::U16:
      return static_cast<uint16_t>(scalar);
    case ElementType::S16:
      return static_cast<int16_t>(scalar);
    default:
      return scalar;
  }
}

void read_elementwise_operand(U85Reader& read, const U85MapCommands& commands,
                              const BroadcastFields& broadcast, const Operation& op,
                              Operand& operand) {
  FeatureMap& map = operand.map;
  if (read.flag(*broadcast.scalar)) {
    read_quantisation(read, commands, map);
    operand.is_scalar = true;
    operand.place = Place::Nowhere;
    operand.scalar = as_type(read.get(field::SET_OP_SCALAR_scalar), map.type) - map.zero_point;
    map.width = map.height = map.depth = 1;
    return;
  }
  read_operand(read, commands, operand);
  if (operand.place == Place::Nowhere)
    read.fail(std::string("the ") + commands.name + " is stored nowhere and is no scalar");
  map.height = read.flag(*broadcast.h) ? 1 : op.ofm_height;
  map.width = read.flag(*broadcast.w) ? 1 : op.ofm_width;
  map.depth = read.flag(*broadcast.c) ? 1 : op.ofm_depth;
}

void read_elementwise(U85Reader& read, Operation& op) {
  read_elementwise_operand(read, kU85Ifm, U85_BROADCAST(IFM), op, op.ifm);
  op.ifm_scale = U85_SCALE(read, IFM);
  if (op.elementwise == value::elementwise_mode_LRELU) op.ifm2_scale = U85_SCALE(read, IFM2);
  if (op.is_unary()) return;
  op.has_ifm2 = true;
  read_elementwise_operand(read, kU85Ifm2, U85_BROADCAST(IFM2), op, op.ifm2);
  op.ifm2_scale = U85_SCALE(read, IFM2);
  if (op.ifm.is_scalar && op.ifm2.is_scalar) read.fail("both operands are the scalar");
}

void read_resize(U85Reader& read, Operation& op) {
  op.ifm.map.height = read.get(field::SET_KERNEL_HEIGHT_M1_height_m1) + 1;
  op.ifm.map.width = read.get(field::SET_KERNEL_WIDTH_M1_width_m1) + 1;
  op.resize_x = {read.get(field::SET_RESIZE_X_SCALE_N_M1_resize_x_scale_n_m1) + 1,
                 read.get(field::SET_RESIZE_X_one_step_int),
                 read.get(field::SET_RESIZE_X_one_step_mod),
                 read.get(field::SET_RESIZE_X_OFFSET_resize_x_offset)};
  op.resize_y = {read.get(field::SET_RESIZE_Y_SCALE_N_M1_resize_y_scale_n_m1) + 1,
                 read.get(field::SET_RESIZE_Y_one_step_int),
                 read.get(field::SET_RESIZE_Y_one_step_mod),
                 read.get(field::SET_RESIZE_Y_OFFSET_resize_y_offset)};
  for (const Operation::ResizeAxis& axis : {op.resize_x, op.resize_y})
    if (axis.step_rest >= axis.steps)
      read.fail("a step of OP_RESIZE has a rest of " + std::to_string(axis.step_rest) + " of " +
                std::to_string(axis.steps));
  if (op.resize == ResizeMode::Replicate) read.fail("the mode REPLICATE is not simulated");
}

void read_accumulators(U85Reader& read, const Configuration& configuration, Operation& op) {
  const int32_t format = read.get(field::SET_ACC_FORMAT_acc_format);
  if (format > value::acc_format_I48) read.fail("an acc_format without a meaning");
  op.wide_accumulators = format == value::acc_format_I48;
  const int32_t input = read.get(field::SET_ACC_FORMAT_acc_input);
  if (input > value::acc_input_FROM_IFM2) read.fail("an acc_input without a meaning");
  op.accumulator_input = static_cast<AccumulatorInput>(input);
  op.keeps_accumulators = read.get(field::SET_ACC_FORMAT_acc_output) == value::acc_output_KEPT;
  const int32_t shape = read.get(field::SET_ACC_FORMAT_microblock);
  if (const auto block = micro_block(configuration, shape))
    op.micro_block = *block;
  else
    read.fail("an " + std::string(configuration.tag) + " has no micro-block of value " +
              std::to_string(shape));
  if (op.kind == OperationKind::Elementwise &&
      (op.accumulator_input != AccumulatorInput::Zero || op.keeps_accumulators))
    read.fail("OP_ELEMENTWISE has no accumulators");
  if (op.keeps_accumulators && op.ofm.place != Place::Nowhere)
    read.fail("sums that stay in the accumulators have no OFM");
  if (!op.keeps_accumulators && op.ofm.place == Place::Nowhere)
    read.fail("the OFM is stored nowhere");
}

void read_activation(U85Reader& read, Operation& op) {
  const ElementType type = op.ofm.map.type;
  op.activation = read.get(field::SET_ACTIVATION_activation_function);
  op.table = read.get(field::SET_ACTIVATION_table);
  op.clips =
      read.get(field::SET_ACTIVATION_activation_clip_range) == value::activation_clip_range_CLIP;
  if (!op.clips) return;
  op.minimum = sixteen_as(read.get(field::SET_ACTIVATION_MIN_clip_boundary), type);
  op.maximum = sixteen_as(read.get(field::SET_ACTIVATION_MAX_clip_boundary), type);
}

void read_kind(U85Reader& read, const DecodedCommand& command, Operation& op) {
  switch (command.command) {
    case Command::OP_CONV:
      op.kind = OperationKind::Conv;
      op.dynamic_weights = command.get(field::OP_CONV_weights_ifm2) != 0;
      break;
    case Command::OP_DEPTHWISE:
      op.kind = OperationKind::Depthwise;
      break;
    case Command::OP_POOL:
      op.kind = OperationKind::Pool;
      op.pooling = static_cast<PoolingMode>(command.get(field::OP_POOL_pooling_mode));
      break;
    case Command::OP_ELEMENTWISE: {
      op.kind = OperationKind::Elementwise;
      op.elementwise = command.get(field::OP_ELEMENTWISE_elementwise_mode);
      bool exists = false;
#define ENUMERATOR(group, name, number) \
  exists |= std::string_view(#group) == "elementwise_mode" && op.elementwise == number;
#include "intarsia/targets/ethos_u/u85_commands.def"
      if (!exists) read.fail("an elementwise_mode without a meaning");
      break;
    }
    case Command::OP_RESIZE: {
      op.kind = OperationKind::Resize;
      const int32_t mode = command.get(field::OP_RESIZE_resize_mode);
      if (mode > value::resize_mode_NEAREST) read.fail("a resize_mode without a meaning");
      op.resize = static_cast<ResizeMode>(mode);
      break;
    }
    default:
      read.fail("starts no operation on feature maps");
  }
}

// How the depths of IFM and OFM belong together.
void check_depths(U85Reader& read, const Operation& op) {
  const int32_t ifm = op.ifm.map.depth, ofm = op.ofm_depth;
  const bool reduces = op.kind == OperationKind::Pool && op.pooling == PoolingMode::ReduceSum;
  if (reduces && ofm != 1)
    read.fail("REDUCE_SUM makes an OFM of depth 1, not " + std::to_string(ofm));
  if (!reduces && op.kind != OperationKind::Conv && op.kind != OperationKind::Elementwise &&
      ifm != ofm)
    read.fail("IFM_DEPTH " + std::to_string(ifm) + " is not OFM_DEPTH " + std::to_string(ofm));
}

void check_types(U85Reader& read, const Operation& op) {
  const ElementType ifm = op.ifm.map.type;
  if (op.kind == OperationKind::Conv || op.kind == OperationKind::Depthwise) {
    if (ifm == ElementType::S32 || ifm == ElementType::S64 || ifm == ElementType::U16)
      read.fail("a convolution takes IFMs of U8, S8 and S16");
    const int64_t zero = op.ifm.map.zero_point;
    if (zero < lowest(ifm) || zero > highest(ifm) || (ifm == ElementType::S16 && zero != 0))
      read.fail("IFM_ZERO_POINT " + std::to_string(zero) + " does not fit the IFM's type");
    if (op.has_weights() && op.global_scale)
      read.fail("a global scale beside a stream of weights is not simulated");
    if (op.dynamic_weights && !op.global_scale)
      read.fail("weights of a feature map go with a global scale");
  }
  if (op.kind == OperationKind::Resize && element_bytes(ifm) > 2)
    read.fail("OP_RESIZE takes IFMs of 8 and 16 bits");
  if (op.has_ifm2 && op.ifm2.map.type == ElementType::S64 && op.ifm2.map.zero_point != 0)
    read.fail("IFM2 of 64 bits has no zero point");
  if (op.kind == OperationKind::Elementwise && !op.global_scale)
    read.fail("OP_ELEMENTWISE has a global scale");
  const bool is_wide = op.ofm.map.type == ElementType::S64 || ifm == ElementType::S64 ||
                       (op.has_ifm2 && op.ifm2.map.type == ElementType::S64);
  if (is_wide && op.kind == OperationKind::Elementwise)
    read.fail("OP_ELEMENTWISE on 64 bits is not simulated");
}

}  // namespace

std::optional<Fault> make_operation(const CommandState& state, const DecodedCommand& command,
                                    const Configuration& configuration, Operation& op) {
  op = {};
  op.offset = command.offset;
  U85Reader read(state, command);
  read_kind(read, command, op);
  if (read.fault()) return read.fault();

  read_ofm(read, op);
  read_accumulators(read, configuration, op);
  if (op.kind == OperationKind::Elementwise) {
    read_elementwise(read, op);
  } else {
    const bool from_ifm2 = op.accumulator_input == AccumulatorInput::Ifm2;
    const bool no_ifm = op.kind == OperationKind::Pool && op.pooling == PoolingMode::None;
    if (no_ifm && !from_ifm2 && op.accumulator_input != AccumulatorInput::Kept)
      read.fail("POOL of mode NONE takes its sums from IFM2 or from what was kept");
    if (from_ifm2 && !no_ifm)
      read.fail("sums that begin with IFM2 are simulated for POOL of mode NONE alone");
    if (op.kind != OperationKind::Resize &&
        read.get(field::SET_IFM_UPSCALE_mode) != value::resampling_mode_NONE)
      read.fail("upscaling of the IFM is not simulated");
    if (no_ifm) {
      op.ifm.place = Place::Nowhere;
    } else {
      read_operand(read, kU85Ifm, op.ifm);
      if (op.ifm.place != Place::Memory)
        read.fail("the IFM of a chained operation that is not OP_ELEMENTWISE lies in memory");
      op.ifm.map.depth = read.get(field::SET_IFM_DEPTH_M1_depth_m1) + 1;
      if (op.kind == OperationKind::Resize) {
        read_resize(read, op);
      } else {
        read_kernel(read, op);
        read_ifm_extent(read, op);
      }
    }
    if (op.dynamic_weights || from_ifm2) {
      op.has_ifm2 = true;
      read_operand(read, kU85Ifm2, op.ifm2);
      FeatureMap& map = op.ifm2.map;
      map.height = from_ifm2 ? op.ofm_height : 1;
      map.width = from_ifm2 ? op.ofm_width : op.ofm_depth;
      map.depth = from_ifm2 ? op.ofm_depth : op.ifm.map.depth;
      if (op.ifm2.place != Place::Memory) read.fail("this IFM2 lies in memory");
      if (op.dynamic_weights && (op.kernel.width != 1 || op.kernel.height != 1))
        read.fail("weights of a feature map make a kernel of 1x1");
    }
    if (op.has_weights()) read_weights(read, configuration, op);
  }
  op.global_scale = read.get(field::SET_OFM_PRECISION_scale_mode) == value::ofm_scale_mode_GLOBAL;
  op.ofm_scale = U85_SCALE(read, OFM);
  if (op.has_scales() && !op.keeps_accumulators) {
    op.scale_region = static_cast<uint32_t>(read.get(field::SET_SCALE_REGION_region));
    op.scales = read.range(Command::SET_SCALE_BASE, Command::SET_SCALE_LENGTH);
  }
  read_activation(read, op);
  op.block_height = read.get(field::SET_OFM_BLK_HEIGHT_M1_height_m1) + 1;
  op.block_width = read.get(field::SET_OFM_BLK_WIDTH_M1_width_m1) + 1;
  op.block_depth = read.get(field::SET_OFM_BLK_DEPTH_M1_depth_m1) + 1;
  op.blockdep = read.get(field::SET_BLOCKDEP_blockdep);
  if (op.ifm.place == Place::Memory) check_depths(read, op);
  check_types(read, op);
  return read.fault();
}

std::optional<Fault> make_transfer(const CommandState& state, const DecodedCommand& command,
                                   DmaTransfer& dma) {
  dma = {};
  dma.offset = command.offset;
  U85Reader read(state, command);
  dma.source_region = static_cast<uint32_t>(read.get(field::SET_DMA0_SRC_REGION_region));
  dma.target_region = static_cast<uint32_t>(read.get(field::SET_DMA0_DST_REGION_region));
  dma.source_internal =
      read.get(field::SET_DMA0_SRC_REGION_region_mode) == value::dma_region_mode_INTERNAL;
  dma.target_internal =
      read.get(field::SET_DMA0_DST_REGION_region_mode) == value::dma_region_mode_INTERNAL;
  dma.source_indexed =
      read.get(field::SET_DMA0_SRC_REGION_idx_mode) == value::dma_index_mode_INDEXED;
  dma.target_indexed =
      read.get(field::SET_DMA0_DST_REGION_idx_mode) == value::dma_index_mode_INDEXED;
  dma.source = read.address(Command::SET_DMA0_SRC);
  dma.target = read.address(Command::SET_DMA0_DST);
  dma.length = read.address(Command::SET_DMA0_LEN);
  const int32_t mode = read.get(field::SET_DMA0_SRC_REGION_stride_mode);
  if (mode > value::dma_stride_mode_D3) read.fail("a stride_mode without a meaning");
  const bool indexed = dma.source_indexed || dma.target_indexed;
  if (indexed && mode != value::dma_stride_mode_D2)
    read.fail("transfers by index are simulated with stride_mode D2 alone");
  if (dma.source_indexed && dma.target_indexed)
    read.fail("an index for source and target is not simulated");
  if (mode >= value::dma_stride_mode_D2) {
    dma.size0 = static_cast<uint32_t>(read.get(field::SET_DMA0_SIZE0_size));
    dma.source_stride0 = read.stride(Command::SET_DMA0_SRC_STRIDE0);
    dma.target_stride0 = read.stride(Command::SET_DMA0_DST_STRIDE0);
  }
  if (mode == value::dma_stride_mode_D3) {
    dma.size1 = static_cast<uint32_t>(read.get(field::SET_DMA0_SIZE1_size));
    dma.source_stride1 = read.stride(Command::SET_DMA0_SRC_STRIDE1);
    dma.target_stride1 = read.stride(Command::SET_DMA0_DST_STRIDE1);
  }
  constexpr uint64_t kMostRows = uint64_t{1} << 17, kMostBytes = uint64_t{1} << 32;
  const uint64_t rows = uint64_t{dma.size0} * dma.size1;
  if (rows > kMostRows || dma.length > kMostBytes / std::max<uint64_t>(1, rows))
    read.fail("the transfer is larger than a simulation takes");
  if (indexed) {
    dma.index_region = static_cast<uint32_t>(read.get(field::SET_DMA0_IDX_REGION_region));
    dma.indices = read.address(Command::SET_DMA0_IDX);
    dma.largest_index = read.get(field::SET_DMA0_IDX_MAX_idx_max);
  }
  return read.fault();
}

}  // namespace intarsia::simulators::ethos_u85
