#include <fmt/format.h>

#include <cmath>

#include "intarsia/plugin/c_expr.h"

namespace intarsia::emission {

std::string c_literal(DataType type, int64_t value) {
  switch (type) {
    case DataType::Bool:
      return value != 0 ? "true" : "false";
    case DataType::UInt32:
      return fmt::format("{}u", value);
    case DataType::Int64:
      if (value == INT64_MIN) return "INT64_MIN";
      if (value < INT32_MIN || value > INT32_MAX) return fmt::format("INT64_C({})", value);
      break;
    default:
      break;
  }
  return value == INT32_MIN ? "INT32_MIN" : fmt::format("{}", value);
}

std::string c_literal(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::string text = fmt::format("{}", value);  // the shortest that reads back as the same float
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace intarsia::emission
