// What an operation of a stream does, in a few words: the remark that the disassembler puts behind it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "commands/command_text.h"

namespace intarsia::targets::ethos_u {

// The registers that a stream has set so far. They keep their values for all later operations.
class RegisterTrail {
 public:
  void set(const RawCommand& command) { registers_[command.name] = command; }

  // "conv 49x5x2 S8 NHWC 1:0x1f40 -> 25x5x16 S8 NHCWB16 1:0x0, kernel 10x3": empty for what is no
  // operation. Volumes are height x width x depth, addresses region:offset.
  // Of an Ethos-U85 what a map is instead of a place in memory: a buffer of a chain, a scalar, nothing.
  std::string operation_text(const RawCommand& operation) const;

 private:
  struct Extent {
    int64_t height = 1, width = 1, depth = 1;
  };
  // Parameter or address of a register, 0 before it is set.
  int64_t at(std::string_view name) const;
  int64_t field(std::string_view name, std::string_view field) const;
  std::string map_text(std::string_view prefix, Extent extent) const;
  std::string place_text(std::string_view prefix) const;
  std::string dma_text() const;
  std::string end_of_dma(std::string_view end) const;
  Extent ofm_extent() const;
  // Of the input: what the windows reach without the padding; there is no register for it.
  Extent windowed_extent() const;
  // Of an operand of an element-wise operation whose output is `full`.
  Extent operand_extent(std::string_view prefix, Extent full) const;
  int64_t stride(char axis) const;
  std::string window_text() const;
  std::string weights_text(const RawCommand& operation) const;
  std::string second_operand_text(const RawCommand& operation) const;

  std::map<std::string_view, RawCommand> registers_;
};

}  // namespace intarsia::targets::ethos_u
