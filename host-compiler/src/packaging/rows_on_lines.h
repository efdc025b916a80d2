// JSON that people read and compare line by line: what is short, a row of a table say, is one line.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace intarsia::packaging {

// Without a line feed at the end. Bytes that are no UTF-8 become U+FFFD.
std::string rows_on_lines(const nlohmann::ordered_json& json);

}  // namespace intarsia::packaging
