// Chances of several classes out of chances of every two of them.
#pragma once

#include <cstdint>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// `line` makes rows times a known matrix and offsets of it, as in convert_linear.cpp.
using Line = graph::TensorId (*)(Reader& in, graph::TensorId x, const std::vector<float>& matrix,
                                 const std::vector<float>& offsets, int64_t results);

// The chances of all classes, [rows,classes], out of `first`, [rows,pairs]: in the order (0,1), (0,2) .. (1,2) .., how probable the first one of
// two is. T.-F. Wu, C.-J. Lin, R. C. Weng: Probability estimates for multi-class classification by pairwise coupling, JMLR 5 (2004), algorithm 2,
// which ends as libsvm and onnxruntime end it: where no condition is missed by more than 0.005 / classes, or after 100 steps.
graph::TensorId coupled_chances(Reader& in, graph::TensorId first, int64_t classes, Line line);

}  // namespace intarsia::onnx
