// For tir_to_runtime of devices with command streams: where the memory plan has put what a function touches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "intarsia/plan.h"
#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/tir.h"

namespace intarsia {

// Statements of a straight-line body, in order.
std::vector<tir::Stmt> statements_of(const tir::Stmt& body);

// What the schedule hands over to `func`: the schedule's buffers behind its parameters, from its one call.
std::vector<tir::BufferId> arguments_of(const tir::Module& module, const tir::Func& func);

// Bytes from `run`'s buffer's beginning to its first element. Its place must be constant.
int64_t first_byte(const tir::Buffer& buffer, const tir::BufferRun& run);

// An address as a command stream has it.
struct StreamPlace {
  int32_t region = 0;  // of the stream
  int64_t offset = 0;  // bytes from the region's base
  bool operator==(const StreamPlace&) const = default;
};

// Places of one function's buffers. Regions and constants come into being as they are asked for.
class StreamPlaces {
 public:
  // `constant_alignment`: bytes every constant begins at a multiple of. `regions`: those the device expects
  // to come first; a region of constants must be the first of them if it is there.
  StreamPlaces(const tir::Module& module, const Plan& plan, const tir::Func& func,
               size_t constant_alignment, std::vector<StreamRegion> regions = {});

  // Of the buffer's first byte, or of the run's.
  StreamPlace of(tir::BufferId buffer);
  StreamPlace of(const tir::BufferRun& run);

  // As arguments_of() has them.
  const std::vector<tir::BufferId>& arguments() const { return arguments_; }
  // For CommandStream::regions: those that were asked for until now.
  const std::vector<StreamRegion>& regions() const { return regions_; }
  // For CommandStream::constants: those that were asked for until now.
  const std::vector<uint8_t>& constants() const { return constants_; }
  // The same, once everything has been asked for: weights are many.
  std::vector<uint8_t> take_constants() { return std::move(constants_); }
  // For each region, bytes from its base to the end of the runs that were asked for.
  const std::vector<int64_t>& extents() const { return extents_; }

 private:
  StreamPlace of_constant(ConstantId id);
  size_t all_constants() const;
  int32_t region(const StreamRegion& wanted);

  const tir::Module& module_;
  const Plan& plan_;
  const tir::Func& func_;
  size_t constant_alignment_;
  std::vector<tir::BufferId> arguments_;
  std::vector<StreamRegion> regions_;
  std::vector<int64_t> extents_;
  std::vector<uint8_t> constants_;
  std::map<int32_t, int64_t> constant_offsets_;
};

}  // namespace intarsia
