// Recorded results: where they lie, and how values are compared with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "float_values.h"
#include "intarsia/graph.h"
#include "recorded_data.h"

namespace intarsia::graph {

using test::shared_folder;

inline std::vector<uint8_t> bytes_of(const std::filesystem::path& file) {
  return test::read_bytes(file);
}

using test::largest_steps;

// "" when the value is as expected, else where it is not. Elements of int16 may be `steps` off.
inline std::string difference(DataType type, const TensorValue& actual, const TensorValue& expected,
                              int64_t steps = 0) {
  if (actual.size() != expected.size())
    return std::to_string(actual.size()) + " bytes instead of " + std::to_string(expected.size());
  if (type == DataType::Float32)
    return test::float_difference(actual, expected, test::kOtherLibraryOfTensor);
  if (steps != 0 && type == DataType::Int16) {
    for (size_t at = 0; at + 2 <= expected.size(); at += 2) {
      int16_t a, e;
      std::memcpy(&a, &actual[at], 2), std::memcpy(&e, &expected[at], 2);
      if (std::abs(a - e) > steps) return "element " + std::to_string(at / 2) + " differs too much";
    }
    return "";
  }
  const auto [a, e] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (a == actual.end()) return "";
  return "byte " + std::to_string(a - actual.begin()) + " is " + std::to_string(*a) +
         " instead of " + std::to_string(*e);
}

// Names of the folders of the repository's own recorded results in `kind`, "models" or "operators".
inline std::set<std::string> own_folders(const std::string& kind) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test::golden_folder() / kind))
    if (entry.is_directory() && entry.path().filename() != "__pycache__")
      names.insert(entry.path().filename().string());
  return names;
}

// Names of those among `folders` that are the repository's own.
inline std::set<std::string> own_names(const std::vector<std::filesystem::path>& folders) {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : folders)
    if (test::is_own(folder)) names.insert(folder.filename().string());
  return names;
}

}  // namespace intarsia::graph
