// JSON from outside, without exceptions: where it is malformed, keys given twice, and a bound on
// nesting.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "intarsia/diagnostics.h"

namespace intarsia {

using Json = nlohmann::ordered_json;

// `offset`: where `json` begins in `text`, the text whose positions the messages name.
std::optional<Json> read_json_text(std::string_view json, std::string_view text, size_t offset,
                                   const std::string& where, Diagnostics& diagnostics);

}  // namespace intarsia
