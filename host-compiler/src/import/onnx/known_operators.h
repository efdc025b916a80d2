// Which operators of ONNX are read, and by which function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::onnx {

class Reader;

struct KnownOperator {
  std::string_view domain, type;
  void (*read)(Reader& in);
  size_t least_inputs, most_inputs;
  graph::OpKind kind;  // of an element-wise operator
};

const KnownOperator* find_operator(std::string_view domain,
                                   std::string_view type);  // null: not ours
// Whether each element of the result is made of those at its place alone: of one that is ours.
bool works_on_elements(std::string_view domain, std::string_view type);

}  // namespace intarsia::onnx
