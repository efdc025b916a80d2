// The operators of an ONNX graph in the order they run: names resolved, types known to us, cycles excluded.
// QLinear operators are written out as what they abbreviate (qlinear.h). Nothing is converted yet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/onnx/model_file.h"
#include "import/onnx/tensor_values.h"
#include "intarsia/diagnostics.h"

namespace intarsia::onnx {

struct Node {
  std::string type, domain, name;            // the name is the file's, and may be empty
  int index = 0;                             // in the file
  int64_t operator_set = 0;                  // the version of the domain
  std::vector<std::string> inputs, outputs;  // an absent operand is empty
  std::map<std::string, format::Attribute> attributes;

  // "com.microsoft.Gelu", or the type alone where the domain is ONNX's own.
  std::string full_type() const { return domain.empty() ? type : domain + "." + type; }
  std::string shown_name() const;  // the file's, or that of the first output
  std::string label() const;       // "operator 3 '/conv1/Conv' (Conv, operator set 17)"
};

struct Graph {
  std::vector<Node> nodes;
  std::map<std::string, Values> constants;  // the initialisers, by name
};

// As the file has them, whether they are known or not.
std::vector<Node> nodes_of(const ModelFile& file);

// All problems together: operators we do not have, values that nobody makes, cycles, initialisers that
// cannot be read.
Graph list_graph(const ModelFile& file, Diagnostics& problems);
// Those of a graph within an operator, in the order of the file; it may read what is made around it.
Graph list_branch(const ModelFile& file, const format::Graph& branch, Diagnostics& problems);

}  // namespace intarsia::onnx
