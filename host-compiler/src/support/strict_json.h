// JSON as people write it into files of ours: a key that is there twice is an error rather than one of the two.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "intarsia/result.h"

namespace intarsia {

// `where` names the text in messages, which say the line and column of what is no JSON, and the place of a key that is
// repeated: "budgets.json: models[1]: the key 'board' is there twice". A text that does not even begin as JSON is another
// file than people meant: where there is a `hint`, it says what was expected, and the parser nothing.
Result<nlohmann::json> parse_strict_json(std::string_view text, const std::string& where,
                                         const std::string& hint = {});

}  // namespace intarsia
