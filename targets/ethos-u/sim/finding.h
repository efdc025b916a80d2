// What the checker holds against a stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::simulators::ethos_u {

enum class FindingKind : uint8_t {
  Stopped,  // the run ended with a fault: a command that is none, registers that make no operation
  OutsideRegion,       // bytes that no region has
  ReadOnlyWrite,       // output into memory that only may be read
  UninitialisedRead,   // bytes that nobody wrote
  UnwrittenOutput,     // bytes of an output of the stream that nobody wrote
  OutputOverInput,     // a block writes what a later block still reads
  OutputOverOutput,    // two elements of an OFM at one address
  MissingDmaWait,      // an operation and a transfer that may still be under way share bytes
  MissingKernelWait,   // a transfer and an operation that may still be under way share bytes
  BlockDependency,     // BLOCKDEP lets a block start before its input is complete
  BlockConfiguration,  // no block that the device can make
  ShramLayout,         // buffers that do not fit between IB_END, AB_START and the tables
  Alignment,           // addresses, strides and lengths
  LookUpTable,         // a table that was never loaded, or was overwritten
  KernelSize,          // windows larger, or with longer strides, than the device has
  Padding,             // more padding than it has, or windows of nothing else
  OperandTypes,        // element types that no operation joins
  WaitValue,           // waits for nothing
  Registers,           // values that contradict each other
  WeightStream,        // weights or scales that are too short, too long or broken
  StreamEnd,           // words behind OP_STOP
};

// "missing-dma-wait".
std::string_view to_string(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::Stopped;
  uint32_t offset = 0;  // of the command in the stream, bytes
  std::string command;  // disassembled
  std::string node;     // of the model; empty: not known
  std::string what;     // one sentence, lower case

  // "0x148 OP_CONV (conv_1): missing-dma-wait: ..."
  std::string to_string() const;
};

// Collects findings: the first of a kind at a command says it all, and a stream that is wrong
// throughout need not be listed to its end.
class FindingList {
 public:
  static constexpr size_t kMost = 100;

  void add(Finding finding);
  const std::vector<Finding>& all() const { return findings_; }
  size_t left_out() const { return left_out_; }
  bool has(uint32_t offset, FindingKind kind) const;

 private:
  std::vector<Finding> findings_;
  size_t left_out_ = 0;
};

}  // namespace intarsia::simulators::ethos_u
