// The NPU program: operations as the hardware has them, on tensors that have neither an address nor
// a memory layout yet. `legalise` makes it from a graph function; `schedule` decides layouts, block
// configurations, stripes and buffers; the stream writer encodes the result.
//
// An Operation means what Arm's Ethos-U command of the same name means, with every register that
// decides its result already chosen; what is left open (layout, block configuration, slices, waits)
// changes speed and memory but no output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "intarsia/graph/data_type.h"

namespace intarsia::targets::ethos_u {

struct Extent {
  int32_t height = 1, width = 1, depth = 1;
  int64_t elements() const { return int64_t{height} * width * depth; }
  bool operator==(const Extent&) const = default;
};

// One image: batches are separate operations on views of the same storage.
struct NpuTensor {
  enum class Kind : uint8_t { Input, Output, Inner, Constant, State };
  std::string name;
  Kind kind = Kind::Inner;
  DataType type = DataType::Int8;  // Int8, UInt8, Int16, Int32
  Extent extent;
  int32_t parameter =
      -1;  // Input, Output: index among the function's inputs, outputs; State: among its tensors
  // The memory in which an earlier run left what this one reads, maybe as another tensor. It is written behind
  // all operations that read what was left.
  bool is_kept = false;
  std::vector<uint8_t> bytes;  // Constant: dense, NHWC, little-endian
  // The same bytes from `alias_offset` on as another tensor of the program: a reshape, or one image
  // of a batch. Both are then NHWC unless the scheduler proves that the reinterpretation also holds in NHCWB16.
  // Readers and writers through an alias read and write the tensor it names.
  int32_t alias_of = -1;
  int64_t alias_offset = 0;  // bytes
  // The node that writes it reads every element of these tensors before it writes the same one of this, which may
  // then take the place of one of them.
  std::vector<int32_t> may_replace;
};

// A box of a tensor as an operand: slices, concatenation and strided slices are views, not copies.
// Element (y, x, c) of the operand is tensor element (origin + step * (y, x, c)).
// The IFM of a window is what the window reads: extent = (OFM extent - 1) * stride + dilated kernel -
// pads; rows and columns of the tensor beyond it are not part of the operand.
//
// With a `walk` an operand goes through the tensor's memory in other steps than its rows and pixels, in
// elements of a tensor in NHWC; origin and step count in these. Channels stay neighbours. So rows and
// columns change places, or a pixel of many channels becomes several of few.
struct Walk {
  int64_t y = 0, x = 0;
  bool operator==(const Walk&) const = default;
};
struct Operand {
  int32_t tensor = -1;  // index into Program::tensors
  Extent origin = {0, 0, 0};
  Extent step = {1, 1, 1};  // other than 1: the tensor must be NHWC
  Extent extent;
  int32_t zero_point = 0;
  std::optional<Walk> walk;
};

struct Kernel {
  int32_t height = 1, width = 1;  // elements, before dilation
  int32_t stride_y = 1, stride_x = 1;
  int32_t dilation_y = 1, dilation_x = 1;
};
struct Pads {
  int32_t top = 0, left = 0, bottom = 0, right = 0;
};
enum class Upscale : uint8_t { None, Nearest, Zeros };

// Weight minus zero point, -255..255. Conv: [ofm depth][kernel height][kernel width][ifm depth].
// Depthwise: [depth][kernel height][kernel width].
using Weights = std::vector<int16_t>;

// The same of an operation, which does not change them: programs, views and schedules that were made from one another have
// them in common.
class SharedWeights {
 public:
  SharedWeights() = default;
  SharedWeights(Weights weights) : made_(std::make_shared<const Weights>(std::move(weights))) {}

  operator const Weights&() const {
    static const Weights kNone;
    return made_ != nullptr ? *made_ : kNone;
  }
  const Weights& values() const { return *this; }
  size_t size() const { return values().size(); }
  bool empty() const { return values().empty(); }
  const int16_t* data() const { return values().data(); }
  int16_t operator[](size_t at) const { return values()[at]; }
  auto begin() const { return values().begin(); }
  auto end() const { return values().end(); }
  bool operator==(const SharedWeights& other) const {
    return made_ == other.made_ || values() == other.values();
  }

 private:
  std::shared_ptr<const Weights> made_;
};

// out = round((accumulator + bias) * multiplier, shift): one per OFM channel.
struct ChannelScale {
  int64_t bias = 0;         // 40 bit
  uint32_t multiplier = 0;  // 32 bit
  int32_t shift = 0;        // 0..63
  bool operator==(const ChannelScale&) const = default;
};

enum class OperationKind : uint8_t {
  Conv,
  Depthwise,
  MaxPool,
  AveragePool,
  ReduceSum,
  Mul,
  Add,
  Sub,
  Minimum,
  Maximum,
  LeakyRelu,
  Abs,
  CountLeadingZeros,
  ShiftRight,
  ShiftLeft,
};
bool is_elementwise(OperationKind kind);
bool is_unary(OperationKind kind);
bool is_pool(OperationKind kind);
bool has_weights(OperationKind kind);

enum class Rounding : uint8_t { Tfl, Truncate, Natural };
enum class Activation : uint8_t { None, Tanh, Sigmoid, Lut };
// IFM_PRECISION.op_to_scale of ADD and SUB. `First` is the left operand: ifm2 where the operands are
// reversed. Both: each times its multiplier. Else that operand is scaled with OPA_SCALE (`ifm_scale`)
// and rounded, the other is shifted left by 19 bits (16-bit operands: 14).
enum class OperandScaling : uint8_t { Both, First, Second };

struct Operation {
  OperationKind kind = OperationKind::Conv;
  std::string node;  // the model's operator, for findings, `explain` and profiles

  Operand ifm, ofm;
  std::optional<Operand> ifm2;         // binary element-wise; extents of 1 broadcast
  std::optional<int32_t> ifm2_scalar;  // instead of a tensor, in the type of ifm2
  DataType ifm2_type = DataType::Int8;
  int32_t ifm2_zero_point = 0;    // of the scalar
  bool reverse_operands = false;  // ifm2 OP ifm

  Kernel kernel;
  Pads pads;
  Upscale upscale = Upscale::None;

  SharedWeights weights;             // Conv, Depthwise
  std::vector<ChannelScale> scales;  // one per OFM channel; Conv and Depthwise
  // Everything else (and pools): OFM_PRECISION.global_scale and OFM_SCALE. Absent: bit clear. An
  // average pool without it is a padded one, which divides by the elements inside of the image.
  // On 32-bit operands only the shift counts: round(a OP b, shift), saturated to 32 bits.
  std::optional<ChannelScale> global_scale;
  OperandScaling operand_scaling = OperandScaling::Both;
  ChannelScale ifm_scale, ifm2_scale;  // OPA_SCALE, OPB_SCALE of ADD and SUB; bias unused

  Rounding rounding = Rounding::Tfl;
  Activation activation = Activation::None;
  int32_t lut = -1;                            // Activation::Lut: index into Program::tables
  bool force_int8_lut_range = false;           // a table of 32-bit results indexed by an int8
  int32_t clamp_low = -128, clamp_high = 127;  // ACTIVATION_MIN, ACTIVATION_MAX
};

// Whether each output element follows from the input elements at its own place.
bool is_pointwise(const Operation& op);

// A look-up table as it lies in SHRAM: 256 bytes, 512 words of slope and base, or 256 words.
struct LookUpTable {
  std::string name;
  std::vector<uint8_t> bytes;
  bool operator==(const LookUpTable&) const = default;
};

struct Program {
  std::string name;
  std::vector<NpuTensor> tensors;
  std::vector<Operation> operations;  // in an executable order
  std::vector<LookUpTable> tables;
  bool confirmed_only =
      false;             // windows are made as they stand, and no operation is cut into stripes
  bool gathers = false;  // some convolution reads windows that overlap in memory
  bool copies_windows = false;  // and some one copies its windows beside each other
  bool looks_ahead =
      false;  // some recurrent layer makes products of its input of several steps at once
  // Parts of some tensor, or a branch, are made before the model has them, to take less memory at once.
  bool parts_are_early = false;
  std::set<std::string> banded;  // nodes that smaller bands would take less memory for

  // The tensor whose bytes these are: itself, where it is no alias.
  int32_t root_of(int32_t tensor) const {
    const int32_t alias_of = tensors[static_cast<size_t>(tensor)].alias_of;
    return alias_of < 0 ? tensor : alias_of;
  }
};

// The one dump of it, for `intarsia dump` and tests: a line per tensor and per operation.
std::string print(const Program& program);

}  // namespace intarsia::targets::ethos_u
