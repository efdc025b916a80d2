// Networks of several layers, one behind the other and around each other, to be filled with random weights.
#pragma once

#include <string>

#include "made_operators.h"

namespace intarsia::test::ethos_n {

class Chain {
 public:
  Chain(intarsia::testing::Random& random, int64_t height, int64_t width, int64_t channels);

  // Each takes the result so far.
  Chain& conv(int64_t ofms, int64_t kernel, int64_t stride = 1, bool same = true);
  Chain& depthwise(int64_t kernel, int64_t stride = 1, bool same = true);
  Chain& max_pool();       // 2x2, stride 2
  Chain& wide_max_pool();  // 3x3, stride 2: padded behind where sizes are even
  Chain& dense_max_pool(int64_t kernel, bool same);  // stride 1
  Chain& relu();
  Chain& leaky_relu();
  Chain& up();  // each pixel twice
  // Adds the result of an earlier step, of the same shape; else does nothing.
  Chain& add(graph::TensorId earlier);
  Chain& output();  // what is there now leaves the network too

  graph::TensorId last() const { return last_; }
  const Shape& shape() const { return made_.module.functions[0].tensor(last_).shape; }
  graph::Module finish();

 private:
  graph::TensorId result(Shape shape, float scale);
  void push(graph::OpKind kind, std::vector<graph::TensorId> inputs, graph::TensorId out);
  float scale_of(graph::TensorId id) const {
    return made_.module.functions[0].tensor(id).quantization.scale.at(0);
  }
  graph::Node& node() { return made_.main().nodes.back(); }
  Chain& pool(int64_t kernel, int64_t stride, const graph::Padding2d& padding);
  Chain& windowed(graph::OpKind kind, int64_t ofms, int64_t kernel, int64_t stride, bool same);

  intarsia::testing::Random& random_;
  Made made_;
  graph::TensorId last_;
  int count_ = 0;
};

// Two to seven layers on a feature map of some thousand pixels.
graph::Module random_chain(intarsia::testing::Random& random);

}  // namespace intarsia::test::ethos_n
