// Typed attribute values from words and from JSON, each with its complaint.
#pragma once

#include <optional>
#include <string>

#include "intarsia/diagnostics.h"
#include "intarsia/target.h"
#include "json_text.h"
#include "scanner.h"

namespace intarsia {

// An attribute of a kind, and where it was written.
struct AttributePlace {
  const KindSpec& kind;
  const AttributeSpec& attribute;
  std::string where;
};

// Null text: a flag, which only a Bool may be. The value may still break the rule: see check_value.
std::optional<AttributeValue> value_from_text(const AttributePlace& place,
                                              const std::optional<ScannedValue>& text,
                                              Diagnostics& diagnostics);
std::optional<AttributeValue> value_from_json(const AttributePlace& place, const Json& json,
                                              Diagnostics& diagnostics);

// Type, range, choices, and text that can be printed.
bool check_value(const AttributePlace& place, const AttributeValue& value,
                 Diagnostics& diagnostics);

}  // namespace intarsia
