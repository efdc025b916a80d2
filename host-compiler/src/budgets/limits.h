// The limits that a user sets, as text and as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/result.h"

namespace intarsia::budgets {

enum class Unit : uint8_t { Bytes, Cycles };
std::string_view to_string(Unit unit);  // "bytes"

// "ram", "flash", "stack", "cycles": what there are budgets for, as in --max-<name> and in "max_<name>".
enum class Kind : uint8_t { Ram, Flash, Stack, Cycles };
std::string_view to_string(Kind kind);
Unit unit_of(Kind kind);

struct Limit {
  Kind kind = Kind::Ram;
  std::string of;  // one memory, or the cycles of one device; empty: all together
  int64_t most = 0;

  // "ram", "ram of sram", "cycles of npu"
  std::string name() const;
};

// "20K", or "sram=20K" where a memory or a device can be named. `where` names the text in messages.
Result<Limit> parse_limit(Kind kind, std::string_view text, const std::string& where);

// By how much figures may exceed a baseline's, in thousandths of a per cent.
using Growth = int64_t;
Result<Growth> parse_growth(std::string_view text, const std::string& where);

}  // namespace intarsia::budgets
