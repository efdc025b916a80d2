// Cuts a target text into devices, and devices into words: no meaning yet, only form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/diagnostics.h"
#include "intarsia/target.h"

namespace intarsia {

// What stands after '=', with quotes and escapes taken away.
struct ScannedValue {
  struct Element {
    std::string text;
    bool quoted = false;  // tells an empty string from nothing at all
  };
  std::string text;               // the whole, read as one value
  std::vector<Element> elements;  // cut at the commas outside quotes, read as a list
  bool quoted = false;
};

struct ScannedAttribute {
  std::string name;
  std::optional<ScannedValue> value;  // absent: a flag
  size_t offset = 0;
};

struct ScannedDevice {
  std::string name;  // before ':', may be empty
  std::string head;  // kind or tag; empty when `json` is not
  std::string json;  // an object, as written
  std::vector<ScannedAttribute> attributes;
  size_t offset = 0;       // of the device
  size_t head_offset = 0;  // of the head, or the JSON object
  std::string spelled;     // all of it, as written
};

// Nothing after a complaint in `diagnostics`; never an empty list. The catalogue serves messages.
std::optional<std::vector<ScannedDevice>> scan_devices(const TargetCatalogue& catalogue,
                                                       std::string_view text,
                                                       const std::string& where,
                                                       Diagnostics& diagnostics);

// "--target, character 7"; the very beginning is just "--target".
std::string place(const std::string& where, std::string_view text, size_t offset);

}  // namespace intarsia
