// Small graphs before and after dead-channel elimination, for the tests of its steps.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "passes/dead_channel_elimination.h"

namespace intarsia::test {

inline graph::Module parsed(const std::string& body, const std::string& constants = "") {
  const Result<graph::Module> module =
      graph::parse("intarsia.graph test\n" + constants + "\nfunc @main" + body + "\nentry @main\n");
  INTARSIA_CHECK(module.ok(), module.ok() ? "" : module.error().to_string());
  const Result<void> verified = graph::verify(*module);
  INTARSIA_CHECK(verified.ok(), verified.ok() ? "" : verified.error().to_string());
  return module.value();
}

// Reduced, and proven to be the same.
inline ReducedModule reduced(const graph::Module& module, const EliminationOptions& options = {}) {
  const Result<ReducedModule> result = eliminate_dead_channels(module, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  if (!result.ok()) return not_reduced(module);
  const Result<void> same = check_reduced(module, result->module, 40);
  EXPECT_TRUE(same.ok()) << (same.ok() ? "" : same.error().to_string());
  return result.value();
}

inline std::vector<std::string> nodes(const ReducedModule& result) {
  std::vector<std::string> names;
  for (const graph::Node& node : result.module.entry_function().nodes)
    names.push_back(std::string(to_string(node.kind)) + " " + node.name);
  return names;
}

inline const graph::Node& node(const ReducedModule& result, const std::string& name) {
  for (const graph::Node& candidate : result.module.entry_function().nodes)
    if (candidate.name == name) return candidate;
  ADD_FAILURE() << "no operator " << name;
  return result.module.entry_function().nodes.at(0);
}

inline const std::string kPadded = "const @0 w = i8[1, 2, 3, 4, 5, 6, 7, 8, 9] const @1 b = i32[6]";

}  // namespace intarsia::test
