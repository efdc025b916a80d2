// Short ways to import a model that a test has made.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "intarsia/import.h"
#include "tflite_builder.h"

namespace intarsia::test {

// A tensor of floats.
inline TensorSpec real(const char* name, std::vector<int32_t> shape) {
  return {name, std::move(shape), kFloat32, {}, {}};
}

inline Result<graph::Module> import(const ModelSpec& model) {
  return import_model(build(model), {"some/m.tflite"});
}

// What the user reads; empty when the import succeeds.
inline std::string errors(const ModelSpec& model) {
  const auto result = import(model);
  return result.ok() ? "" : result.error().to_string();
}

// The entry function of a model that must import.
inline graph::Function imported(const ModelSpec& model) {
  const auto result = import(model);
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return result.ok() ? result->entry_function() : graph::Function();
}

}  // namespace intarsia::test
