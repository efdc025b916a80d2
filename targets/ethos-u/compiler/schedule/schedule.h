// The scheduled program: which memory everything lies in, in which layout, cut into which pieces, in
// which order. Only addresses are still open, and with them waits and block dependencies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "schedule/block_config.h"

namespace intarsia::targets::ethos_u {

// NHCWB16 keeps bricks of 16 channels of one pixel together: all pixels of a row of the first 16
// channels, then of the next.
enum class Layout : uint8_t { Nhwc, Nhcwb16 };

// One piece of memory: a parameter of the function, scratch, constant bytes, or what is kept from one run to the next.
struct Storage {
  enum class Kind : uint8_t { Input, Output, Inner, Constant, State };
  std::string name;
  Kind kind = Kind::Inner;
  int32_t parameter = -1;  // State: the tensor of the graph function
  int64_t bytes = 0;
  std::vector<uint8_t> contents;  // Constant
  bool fast = false;              // Inner: in the SRAM that is the NPU's own, where there is one
};

inline bool is_there_before(Storage::Kind kind) {
  return kind == Storage::Kind::Input || kind == Storage::Kind::State;
}
inline bool is_there_after(Storage::Kind kind) {
  return kind == Storage::Kind::Output || kind == Storage::Kind::State;
}

struct Span {
  int32_t storage = -1;
  int64_t offset = 0, bytes = 0;
};

// An operand of an operation as it lies in memory.
struct FeatureMap {
  Span span;  // all bytes that may be touched
  DataType type = DataType::Int8;
  Layout layout = Layout::Nhwc;
  Extent extent;
  int64_t base = 0;  // of the first element, in the storage
  // Of row `wrap_height`, or of a single row of column `wrap_width`: rolling buffers.
  std::optional<int64_t> wrap_base;
  int32_t wrap_height = 0, wrap_width = 0;
  int64_t stride_y = 0, stride_x = 0, stride_c = 0;
  int32_t zero_point = 0;

  // Rows and columns of the first tile, and where those at its right and below it begin, where there are such.
  int32_t tile_height() const { return wrap_height > 0 ? wrap_height : extent.height; }
  int32_t tile_width() const { return wrap_width > 0 ? wrap_width : extent.width; }
  std::optional<int64_t> right_tile() const { return wrap_width > 0 ? wrap_base : std::nullopt; }
  std::optional<int64_t> lower_tile() const { return wrap_height > 0 ? wrap_base : std::nullopt; }
};

struct Step {
  int32_t operation = -1;  // of the schedule; -1: a DMA transfer
  std::string node;

  FeatureMap ifm, ofm;
  std::optional<FeatureMap> ifm2;
  Pads pads;
  BlockConfig block;
  std::vector<Span> weights, scales;  // one per core; empty spans where a core has no channels
  int32_t table_slot = 0;             // of Activation::Lut: the register's number

  // Storages that a transfer issued later may already write while this operation runs.
  std::vector<int32_t> reserved;

  // DMA: into a storage, or into SHRAM where `to.storage` is -1.
  Span from, to;
};

// What is worth to be told: this many times as fast.
constexpr double kMuchFaster = 1.5;

struct Schedule {
  std::vector<Operation> operations;  // the program's, and behind them other views of these
  std::vector<Storage> storages;
  std::vector<Step> steps;
  double cycles = 0;  // estimated
  int64_t fast_bytes =
      0;  // that feature maps and what is fetched take at most, gaps between them aside
  // What it would take for time alone, about, where that is much less: more copies of weights would stay.
  struct Faster {
    double cycles = 0;
    int64_t fast_bytes = 0;
  };
  std::optional<Faster> faster;
};

}  // namespace intarsia::targets::ethos_u
