// Refused models: a valid one, one change to it, and what the user then reads.
#pragma once

#include "import_support.h"

namespace intarsia::test {

// A model with one change and the lines it must give.
struct Refusal {
  const char* name;
  ModelSpec (*model)();
  void (*change)(ModelSpec&);
  std::string line;
};

inline void expect_refused(const Refusal& refusal) {
  ModelSpec model = refusal.model();
  ASSERT_EQ(errors(model), "");
  refusal.change(model);
  EXPECT_EQ(errors(model), std::string(refusal.line).append("\n"));
}

inline constexpr const char* kConv = "some/m.tflite: operator 0 'conv' (CONV_2D v3): ";

}  // namespace intarsia::test
