#include "packaging/rows_on_lines.h"

namespace intarsia::packaging {
namespace {

using Json = nlohmann::ordered_json;

std::string on_one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Rows of tables are one line however long they are; so are lists of plain values, and small objects.
bool fits_a_line(const Json& json) {
  constexpr size_t kMostKeys = 12;
  if (!json.is_structured() || json.empty()) return true;
  if (json.is_object() && json.size() > kMostKeys) return false;
  for (const Json& value : json) {
    if (!value.is_structured()) continue;
    if (json.is_array()) return false;
    for (const Json& inner : value)
      if (inner.is_structured()) return false;
  }
  return true;
}

void write(const Json& json, size_t indent, std::string& text) {
  if (fits_a_line(json)) {
    text += on_one_line(json);
    return;
  }
  const bool is_object = json.is_object();
  const char* separator = "\n";
  text += is_object ? '{' : '[';
  for (const auto& [key, value] : json.items()) {
    text += separator;
    separator = ",\n";
    text.append(indent + 2, ' ');
    if (is_object) (text += on_one_line(Json(key))) += ": ";
    write(value, indent + 2, text);
  }
  text += '\n';
  text.append(indent, ' ');
  text += is_object ? '}' : ']';
}

}  // namespace

std::string rows_on_lines(const Json& json) {
  std::string text;
  write(json, 0, text);
  return text;
}

}  // namespace intarsia::packaging
