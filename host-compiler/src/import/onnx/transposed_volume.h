// Transposed convolutions of volumes: one of images for all slices, whose results along the depth are summed here.
#pragma once

#include "import/onnx/window.h"

namespace intarsia::onnx {

// Of a ConvTranspose: [C,O,KD,KH,KW] becomes [KD*O,KH,KW,C], so that a slice gives what it adds to each slice that it reaches.
graph::TensorId filters_of_planes(Reader& in, graph::TensorId weights);

// [images*D,H,W,groups*KD*O], of these filters for each group, becomes [images,out,H,W,groups*O].
graph::TensorId summed_planes(Reader& in, graph::TensorId planes, const Axis& depth, int64_t images,
                              int64_t groups, int64_t out);

}  // namespace intarsia::onnx
