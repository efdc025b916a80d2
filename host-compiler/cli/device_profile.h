// What simulated devices tell of a run, as a table.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace intarsia::cli {

// The array that a program wrote; an empty one for no text, or for what is none.
nlohmann::ordered_json read_device_profile(const std::string& text);

// For each stream: cycles, where they went, traffic, and the operators that took them.
std::string device_profile_text(const nlohmann::ordered_json& devices);

}  // namespace intarsia::cli
