// A well-formed board.json as text, and a way to spoil one place of it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "intarsia/board.h"

namespace intarsia::board {

inline const std::string kSample = R"({
  "name": "sample",
  "summary": "a board for tests",
  "compiler": "arm-none-eabi-gcc",
  "port": "semihosting",
  "cores": [{"name": "cortex-m4", "flags": ["-mcpu=cortex-m4", "-mthumb"]}],
  "also_runs": [{"name": "cortex-m3", "flags": ["-mcpu=cortex-m3", "-mthumb"]}],
  "memories": [
    {"name": "flash", "kind": "flash", "base": 0, "size": "512K", "reserved": "8K"},
    {"name": "rom", "kind": "flash", "base": "0x10000000", "size": 65536, "cycles_per_access": 4},
    {"name": "ram", "kind": "ram", "base": "0x20000000", "size": "64K", "reserved": 1024},
    {"name": "ddr", "kind": "ram", "base": "0x60000000", "size": "1G", "cycles_per_access": 9,
     "accessible_by": ["cpu", "ethos-u"]}
  ],
  "roles": {"code": "flash", "constants": "rom", "data": "ram", "stack": "ram",
            "activations": ["ram", "ddr"]},
  "stack_size": "4K",
  "run": {"emulator": "qemu-system-arm", "machine": "none", "arguments": ["-d", "unimp"],
          "shared_memory": "ddr"}
})";

// The sample with `from` replaced by `to`; `from` must be in it once.
inline std::string with(const std::string& from, const std::string& to) {
  std::string text = kSample;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

inline Board sample_board() {
  const Result<Board> board = parse_board(kSample, "sample.json");
  EXPECT_TRUE(board.ok()) << board.error().to_string();
  return *board;
}

}  // namespace intarsia::board
