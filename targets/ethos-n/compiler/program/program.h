// What a region becomes before it is commands: layers on feature maps in DRAM. A layer is one pass
// of the device: from DRAM to SRAM, through MCE and PLE or the PLE alone, and back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/plugin/rounding.h"
#include "program/tables.h"

namespace intarsia::targets::ethos_n {

enum class Layout : uint8_t { Nhwc, Nhwcb };

struct Storage {
  enum class Kind : uint8_t { Input, Output, Intermediate };
  Kind kind = Kind::Intermediate;
  int32_t parameter = -1;  // of the region: which input or output
  int64_t bytes = 0;
  std::string name;
};

// A box of a tensor in a storage. Batch is 1 everywhere.
struct FeatureMap {
  int32_t storage = -1;
  Layout layout = Layout::Nhwc;
  int64_t rows = 1, columns = 1, channels = 1;  // of the tensor
  int64_t y = 0, x = 0, c = 0;                  // where the box begins in it
  int64_t height = 1, width = 1, depth = 1;     // of the box
  bool is_signed = true;
  int32_t zero_point = 0;

  static FeatureMap whole(int32_t storage, int64_t rows, int64_t columns, int64_t channels) {
    FeatureMap map;
    map.storage = storage;
    map.rows = map.height = rows;
    map.columns = map.width = columns;
    map.channels = map.depth = channels;
    return map;
  }
  uint8_t zero_byte() const { return static_cast<uint8_t>(zero_point); }
};
int64_t bytes_of(Layout layout, int64_t rows, int64_t columns, int64_t channels);

// q = (acc * scale >> shift, rounded half up) + zero point: 2^15 <= scale < 2^16, or 0.
struct ChannelScale {
  uint32_t scale = 0, shift = 0;
};
// `multiplier` as single precision has it: input scale * weight scale / output scale.
ChannelScale channel_scale(float input, float weight, float output);

enum class MceMode : uint8_t { Convolution, Depthwise, FullyConnected };
enum class Upscale : uint8_t { None, Nearest, Zeros };  // doubles rows and columns

struct MceStep {
  MceMode mode = MceMode::Convolution;
  // Channels of the input before they were interleaved for a stride of 2 (then `stride` is 2 and
  // the input has rows and columns halved and four sub-maps).
  int64_t channels = 0;
  int64_t input_height = 0, input_width = 0;  // before interleaving, after upscaling
  int64_t kernel_h = 1, kernel_w = 1, stride = 1;
  int64_t pad_top = 0, pad_left = 0;
  Upscale upscale = Upscale::None;
  // Zero points subtracted. Convolution [o][y][x][i], depthwise [c][y][x], fully connected [o][i].
  std::vector<int16_t> weights;
  std::vector<int32_t> bias;
  std::vector<ChannelScale> scales;
  int32_t zero_point = 0;  // of what the MCE makes
  int32_t relu_min = -128, relu_max = 127;
  int64_t height = 0, width = 0, depth = 0;  // of what it makes
};

struct PleOperand {
  int32_t zero_point = 0;
  uint32_t multiplier = 0, shift = 0;
};
struct PleStep {
  PleOperation operation = PleOperation::PASSTHROUGH;
  std::array<PleOperand, 2> operands;
  int32_t zero_point = 0;  // of the output
  PleDirection direction = PleDirection::None;
  int64_t pool_before = 0, pool_size = 0;  // MAXPOOL1D
};

struct Layer {
  std::string name;  // the model's operator
  std::vector<FeatureMap> inputs;
  FeatureMap output;
  std::optional<MceStep> mce;
  std::optional<PleStep> ple;  // neither: a copy
};
inline bool is_vector_product(const Layer& layer) {
  return layer.mce && layer.mce->mode == MceMode::FullyConnected;
}
inline bool is_copy(const Layer& layer) {
  return !layer.mce && !layer.ple;
}

struct Program {
  std::vector<Storage> storages;
  std::vector<Layer> layers;
};

// Channels of the interleaved form: four sub-maps in slices of as many channels as there are banks.
int64_t interleaved_channels(const Variant& variant, int64_t channels);

}  // namespace intarsia::targets::ethos_n
