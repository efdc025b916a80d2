// Modules of one operator, and what the compiler and the simulated NPU make of them beside the reference.
#pragma once

#include <string>
#include <vector>

#include "end_to_end.h"
#include "intarsia/graph.h"
#include "support/random_operator.h"

namespace intarsia::test::ethos_n {

inline constexpr const char* kTags[] = {"ethos-n78-1tops-4ple", "ethos-n78-4tops-2ple",
                                        "ethos-n78-4tops-4ple", "ethos-n78-8tops-2ple"};

struct Comparison {
  bool taken = false;
  std::string
      kind;  // of the operator that was asked about: what moves nothing has become a reshape
  std::string refusal, note;
  int most = 0;  // difference
  std::string problem;
};
Comparison run_one(const graph::Module& module, const std::string& tag,
                   const std::vector<graph::TensorValue>& inputs);

// A module to be filled.
struct Made {
  graph::Module module;
  graph::Function& main() { return module.functions[0]; }

  Made();
  graph::TensorId tensor(const char* name, Shape shape, float scale, int64_t zero_point);
  // Constants; weights have a scale for each of `channels` along `axis`.
  graph::TensorId weights(intarsia::testing::Random& random, Shape shape, size_t channels,
                          int32_t axis);
  graph::TensorId bias(intarsia::testing::Random& random, size_t channels);
};

struct Window {
  int64_t height, width, channels, ofms, kernel, stride;
  bool same;
  int64_t kernel_w = 0;  // 0: as high as wide
};
// A convolution, or for other kinds: `channels` stay as many. No kernel may be larger than its image.
graph::Module windowed(intarsia::testing::Random& random, graph::OpKind kind, const Window& window);

}  // namespace intarsia::test::ethos_n
