// What the stream asks for, resolved: everything an OP command means given the registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "intarsia/targets/ethos_u/command_state.h"
#include "intarsia/targets/ethos_u/fault.h"
#include "intarsia/targets/ethos_u/isa.h"

namespace intarsia::simulators::ethos_u {

enum class OperationKind : uint8_t { Conv, Depthwise, Pool, Elementwise };
enum class PoolingMode : uint8_t { Max, Average, ReduceSum };
enum class ElementwiseMode : uint8_t { Mul, Add, Sub, Min, Max, LeakyRelu, Abs, Clz, Shr, Shl };
enum class ElementType : uint8_t { U8, S8, U16, S16, S32, S64 };  // S64: of an Ethos-U85 alone
enum class Rounding : uint8_t { Tfl, Truncate, Natural };
enum class Upscale : uint8_t { None, Nearest, Zeros };
enum class AccumulatorFormat : uint8_t { I32, I40, F16 };
enum class ActivationFunction : uint8_t { Clamp, Tanh, Sigmoid, Table };
enum class OperandScale : uint8_t { Both16, A32, B32 };  // IFM_PRECISION.scale_mode

constexpr int32_t element_bytes(ElementType type) {
  if (type >= ElementType::S32) return type == ElementType::S32 ? 4 : 8;
  return type >= ElementType::U16 ? 2 : 1;
}
constexpr bool is_signed(ElementType type) {
  return type != ElementType::U8 && type != ElementType::U16;
}
constexpr int64_t lowest(ElementType type) {
  return is_signed(type) ? INT64_MIN >> (64 - 8 * element_bytes(type)) : 0;
}
constexpr int64_t highest(ElementType type) {
  return INT64_MAX >> (64 - 8 * element_bytes(type) - (is_signed(type) ? 0 : 1));
}

// A feature map in memory. There is no register for the extent of an IFM: it is what the operation
// reads. Tiles only say which base an element is counted from.
struct FeatureMap {
  uint32_t region = 0;
  std::array<uint64_t, 4> base = {};  // tiles: upper left, upper right, lower left, lower right
  int32_t height0 = 0, height1 = 0;   // rows of the upper left and of the upper right tile
  int32_t width0 = 0;                 // columns of the left tiles
  int32_t width = 0, height = 0, depth = 0;
  int64_t stride_x = 0, stride_y = 0, stride_c = 0;  // negative: towards lower addresses
  bool brick = false;                                // NHCWB16; else NHWC
  ElementType type = ElementType::S8;
  int32_t zero_point = 0;

  // Which tile holds (y, x), and where that element's channel 0 lies, as an offset in the region.
  int32_t tile_of(int32_t y, int32_t x) const {
    const int32_t right = x >= width0;
    return (y >= (right ? height1 : height0) ? 2 : 0) + right;
  }
  uint64_t address(int32_t y, int32_t x, int32_t c) const {
    const int32_t tile = tile_of(y, x);
    const int32_t in_y = tile < 2 ? y : y - (tile == 3 ? height1 : height0);
    const int32_t in_x = tile % 2 == 0 ? x : x - width0;
    const auto bytes = static_cast<uint64_t>(element_bytes(type));
    const uint64_t row = base[static_cast<size_t>(tile)] + static_cast<uint64_t>(in_y * stride_y);
    if (!brick)
      return row + static_cast<uint64_t>(in_x * stride_x) + static_cast<uint64_t>(c) * bytes;
    return row + static_cast<uint64_t>(c / kBrickDepth * stride_c) +
           (static_cast<uint64_t>(in_x) * kBrickDepth + static_cast<uint64_t>(c % kBrickDepth)) *
               bytes;
  }
};

struct Kernel {
  int32_t width = 1, height = 1;  // without dilation
  int32_t stride_x = 1, stride_y = 1;
  int32_t dilation_x = 1, dilation_y = 1;
  bool part_kernel_first = false;
  int32_t decomposition = 8;  // 8 or 4: the largest sub-kernel, before dilation

  int32_t extent_x() const { return dilation_x * (width - 1) + 1; }
  int32_t extent_y() const { return dilation_y * (height - 1) + 1; }
};

struct Padding {
  int32_t top = 0, left = 0, bottom = 0, right = 0;
  bool any() const { return (top | left | bottom | right) != 0; }
};

struct Range {  // of a region
  uint64_t base = 0, length = 0;
};

struct Scale {
  uint32_t multiplier = 1;
  int32_t shift = 0;
};

struct Activation {
  ActivationFunction function = ActivationFunction::Clamp;
  int32_t table = 0;                        // which, of eight
  std::optional<ElementType> forced_range;  // activation_clip_range; absent: the OFM's
  int32_t minimum = 0, maximum = 0;
};

struct ShramLayout {  // banks
  int32_t ifm_ib_end = 0, ifm2_ib_start = 0, ab_start = 0;
};

struct Operation {
  uint32_t offset = 0;  // of the OP command in the stream
  uint32_t index = 0;   // how many operations came before
  OperationKind kind = OperationKind::Conv;
  PoolingMode pooling = PoolingMode::Max;              // Pool
  ElementwiseMode elementwise = ElementwiseMode::Add;  // Elementwise

  FeatureMap ifm, ofm;
  Upscale upscale = Upscale::None;
  int32_t upscaled_width = 0, upscaled_height = 0;  // what the kernel walks over, without padding
  Kernel kernel;                                    // not Elementwise
  Padding padding;                                  // not Elementwise

  // Elementwise. Operand A is the IFM and operand B the IFM2, unless reversed.
  bool has_ifm2 = false;  // in memory
  FeatureMap ifm2;  // its extent is 1 where it is broadcast; zero point and type of a scalar too
  bool has_scalar = false;
  int32_t scalar = 0;
  bool reversed = false;
  OperandScale operand_scale = OperandScale::Both16;
  Scale opa_scale, opb_scale;
  Rounding operand_rounding = Rounding::Tfl;  // of the operand that has a 32-bit factor

  // Conv, Depthwise: per core; core c makes OFM channels c, c + cores, ...
  int32_t cores = 1;
  uint32_t weight_region = 0, scale_region = 0;
  std::array<Range, 2> weights, scales;

  bool global_scale = false;  // ofm_scale; else from the scale stream, or none
  Scale ofm_scale;
  Rounding rounding = Rounding::Tfl;
  Activation activation;
  AccumulatorFormat accumulators = AccumulatorFormat::I32;
  Block ofm_block;
  ShramLayout shram;
  int32_t blockdep = 0;

  bool has_weights() const {
    return kind == OperationKind::Conv || kind == OperationKind::Depthwise;
  }
  bool is_unary() const {
    return elementwise == ElementwiseMode::LeakyRelu || elementwise == ElementwiseMode::Abs ||
           elementwise == ElementwiseMode::Clz;
  }
};

struct DmaTransfer {
  uint32_t offset = 0;  // of the OP command in the stream
  uint32_t index = 0;   // how many transfers came before
  uint32_t source_region = 0, target_region = 0;
  bool source_internal = false, target_internal = false;  // SHRAM, not a region
  uint64_t source = 0, target = 0, length = 0;
};

enum class WaitKind : uint8_t { Kernel, Dma };

struct Wait {
  uint32_t offset = 0;
  WaitKind kind = WaitKind::Kernel;
  int32_t outstanding = 0;  // at most this many may still be under way afterwards
};

// The operation that `command` (OP_CONV, OP_DEPTHWISE, OP_POOL or OP_ELEMENTWISE) starts. Registers
// that it needs and nobody set, values without a meaning and extents below one are faults.
std::optional<Fault> make_operation(const CommandState& state, const DecodedCommand& command,
                                    const Configuration& configuration, Operation& operation);
// The same for OP_DMA_START.
std::optional<Fault> make_transfer(const CommandState& state, const DecodedCommand& command,
                                   DmaTransfer& transfer);

}  // namespace intarsia::simulators::ethos_u
