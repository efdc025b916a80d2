// What a stub tells of its target as XML: memories that have to be written as flash, and the numbers of registers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/result.h"

namespace intarsia::debug_probe {

struct StubMemory {
  uint64_t base = 0, size = 0;
  bool is_flash = false;
  bool is_ram = false;
  uint64_t block_size = 0;  // of flash: what is erased at a time

  bool holds(uint64_t address) const { return address >= base && address - base < size; }
};
// `where` names the stub in diagnostics.
Result<std::vector<StubMemory>> parse_memory_map(std::string_view xml, const std::string& where);

// A list of registers: their numbers by their names, in lower case, and the files that are part of it.
struct RegisterNumbers {
  std::map<std::string, int, std::less<>> numbers;
  std::vector<std::string> included;
};
// A register without a number has the one after the register before it; `next` is that of the first. What cannot be
// understood is left out.
RegisterNumbers parse_registers(std::string_view xml, int& next);

}  // namespace intarsia::debug_probe
