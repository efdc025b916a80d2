// Networks of the repository as far as an Ethos-N takes them in one piece.
#pragma once

#include <algorithm>

#include "intarsia/graph.h"

namespace intarsia::test::ethos_n {

// The convolutions, pools and additions that a network begins with.
inline graph::Module trunk_of(graph::Module module) {
  graph::Function& main = module.functions.at(0);
  const auto behind =
      std::find_if(main.nodes.begin(), main.nodes.end(), [](const graph::Node& node) {
        return node.kind != graph::OpKind::Conv2d && node.kind != graph::OpKind::DepthwiseConv2d &&
               node.kind != graph::OpKind::MaxPool2d && node.kind != graph::OpKind::Add;
      });
  main.nodes.erase(behind, main.nodes.end());
  main.outputs = main.nodes.back().outputs;
  return module;
}

}  // namespace intarsia::test::ethos_n
