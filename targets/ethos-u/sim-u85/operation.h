// What a stream of the Ethos-U85 asks for, resolved: everything an OP command means given the registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "intarsia/targets/ethos_u/operation.h"
#include "intarsia/targets/ethos_u85/command_state.h"

namespace intarsia::simulators::ethos_u85 {

using ethos_u::ElementType;
using ethos_u::FeatureMap;
using ethos_u::Kernel;
using ethos_u::Padding;
using ethos_u::Range;

enum class OperationKind : uint8_t { Conv, Depthwise, Pool, Elementwise, Resize };
// Numbered as the fields are.
enum class PoolingMode : uint8_t { Max, Average, ReduceSum, Sum, None, Min, ArgmaxX, ArgmaxY };
enum class ResizeMode : uint8_t { Bilinear, Replicate, Nearest };
enum class Rounding : uint8_t {
  DoubleSymmetric,
  Natural,
  DoubleAsymmetric,
  Symmetric,
  TowardsZero,
  Down
};
enum class AccumulatorInput : uint8_t { Zero, Kept, Ifm2 };
enum class Transpose : uint8_t { HWC = 0, WHC = 1, HCW = 2, WCH = 3, CHW = 6, CWH = 7 };
enum class Reverse : uint8_t { None, H, W, C };
// Where an input comes from, or an output goes.
enum class Place : uint8_t { Memory, Chained, Nowhere };

struct Scale {
  uint32_t multiplier = 1;
  int32_t shift = 0;
  int32_t double_rounding = 0;  // by how many bits the first of two roundings comes earlier
  Rounding rounding = Rounding::DoubleSymmetric;
};

// An input or an output. In memory `map` says where; of all it says the extent, type and zero point.
struct Operand {
  Place place = Place::Memory;
  FeatureMap map;
  uint32_t buffer = 0;  // Chained
  bool is_scalar = false;
  int64_t scalar = 0;
  // From memory as they are.
  bool in_memory() const { return place == Place::Memory && !is_scalar; }
};

struct Operation {
  uint32_t offset = 0;  // of the OP command in the stream
  uint32_t index = 0;   // how many operations came before
  OperationKind kind = OperationKind::Conv;
  PoolingMode pooling = PoolingMode::Max;  // Pool
  int32_t elementwise = 0;                 // Elementwise: value::elementwise_mode_*
  ResizeMode resize = ResizeMode::Bilinear;

  Operand ifm, ifm2, ofm;  // the OFM's map is what memory holds: after transposition
  bool has_ifm2 = false;
  int32_t ofm_height = 0, ofm_width = 0, ofm_depth = 0;  // before transposition
  Transpose transpose = Transpose::HWC;
  Reverse reverse = Reverse::None;
  Kernel kernel;
  Padding padding;

  bool dynamic_weights = false;  // Conv: of IFM2
  bool fast_weights = false, sparse_weights = false;
  uint32_t weight_region = 0, scale_region = 0;
  std::array<Range, 4> weights;  // by decoder
  Range scales;

  struct ResizeAxis {
    int32_t steps = 1;                      // positions between two elements of the input
    int32_t step_whole = 0, step_rest = 0;  // from an output element to the next
    int32_t offset = 0;
  };
  ResizeAxis resize_x, resize_y;

  bool global_scale = false;  // ofm_scale; else from the scale stream
  Scale ofm_scale, ifm_scale, ifm2_scale;
  int32_t activation = 0;  // value::activation_function_*
  int32_t table = 0;
  bool clips = true;
  int64_t minimum = 0, maximum = 0;

  bool wide_accumulators = false;  // 48 bits
  AccumulatorInput accumulator_input = AccumulatorInput::Zero;
  bool keeps_accumulators = false;  // no output but for the next operation
  MicroBlock micro_block;
  int32_t block_height = 0, block_width = 0, block_depth = 0;
  int32_t blockdep = 0;

  bool has_weights() const {
    return kind == OperationKind::Depthwise || (kind == OperationKind::Conv && !dynamic_weights);
  }
  bool has_scales() const { return !global_scale && kind != OperationKind::Elementwise; }
  bool is_unary() const {
    return elementwise == value::elementwise_mode_LRELU ||
           elementwise == value::elementwise_mode_ABS ||
           elementwise == value::elementwise_mode_CLZ || elementwise == value::elementwise_mode_NOT;
  }
  size_t results() const {
    return static_cast<size_t>(ofm_height) * static_cast<size_t>(ofm_width) *
           static_cast<size_t>(ofm_depth);
  }
};

struct DmaTransfer {
  uint32_t offset = 0;
  uint32_t index = 0;
  uint32_t source_region = 0, target_region = 0;
  bool source_internal = false, target_internal = false;  // the memory of tables
  uint64_t source = 0, target = 0, length = 0;
  // Repetitions: size0 by stride0 (or by index), all of that size1 times by stride1.
  uint32_t size0 = 1, size1 = 1;
  int64_t source_stride0 = 0, source_stride1 = 0, target_stride0 = 0, target_stride1 = 0;
  bool source_indexed = false, target_indexed = false;
  uint32_t index_region = 0;
  uint64_t indices = 0;
  int64_t largest_index = 0;
};

// The operation that `command` starts. Registers that it needs and nobody set, values without a meaning, and what is not
// known to the simulator are faults.
std::optional<Fault> make_operation(const CommandState& state, const DecodedCommand& command,
                                    const Configuration& configuration, Operation& operation);
// The same for OP_DMA_START.
std::optional<Fault> make_transfer(const CommandState& state, const DecodedCommand& command,
                                   DmaTransfer& transfer);

}  // namespace intarsia::simulators::ethos_u85
