// Graphs for tests, written as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "intarsia/graph.h"

namespace intarsia::graph {

// Parses, or fails the test and returns an empty module.
inline Module parsed(std::string_view text) {
  Result<Module> module = parse(text);
  if (!module.ok()) {
    ADD_FAILURE() << module.error().to_string() << text;
    return {};
  }
  return std::move(module).value();
}

// One function of the given body: "(%0) -> (%1) { ... }" and whatever constants come before it.
inline Module with_main(std::string_view body, std::string_view constants = "") {
  return parsed("intarsia.graph test\n" + std::string(constants) + "\nfunc @main" +
                std::string(body) + "\nentry @main\n");
}

// All messages of a failed verification, or "" when it passes.
inline std::string complaints(const Module& module) {
  const Result<void> result = verify(module);
  return result.ok() ? "" : result.error().to_string();
}

}  // namespace intarsia::graph
