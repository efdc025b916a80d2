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

// Channel 1 of `first` is max(10 * 0.5 * 1 / 1, 0) - 3 = 2, five steps above the zero point; `second`
// reads it with the weight 4.
inline std::string two_convolutions(const std::string& second_window,
                                    const std::string& second_attributes,
                                    const std::string& output_shape) {
  return R"((%0) -> (%6) {
    %0 x: i8[1,4,4,1] q(0.5:1)
    %1 w: i8[2,1,1,1] q(1) = @0
    %2 b: i32[2] = @1
    %3 t: i8[1,4,4,2] q(1:-3)
    %4 v: i8[1,)" +
         second_window + R"(,2] q(1) = @2
    %5 c: i32[1] = @3
    %6 y: i8[)" +
         output_shape + R"(] q(1)
    conv2d first(%0, %1, %2) -> (%3) {activation=relu}
    conv2d second(%3, %4, %5) -> (%6) )" +
         second_attributes + "\n}";
}
inline const std::string kTwoConvolutions = "const @0 w = i8[2, 0] const @1 b = i32[6, 10] ";

}  // namespace intarsia::test
