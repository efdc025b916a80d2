// Readable, unique node names from the names converters give to tensors, such as
// "model/activation_3/Relu;model/conv2d_3/BiasAdd;model/conv2d_9/Conv2D;...": people write these
// names in pins and find them again in emitted functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "intarsia/plugin/unique_names.h"

namespace intarsia::tflite {

// A name for the node that makes the tensor. `words` are lower-case beginnings of layer names that
// fit the operator ("conv"): a part of the tensor's name that starts so is preferred, because a
// fused tensor carries the names of all that was fused. `fallback` serves names that say nothing.
std::string node_name(std::string_view tensor_name, std::span<const std::string_view> words,
                      std::string_view fallback);

// A name from a file, fit for a line of a message: no control characters, fused parts cut off.
std::string printable(std::string_view name);

}  // namespace intarsia::tflite
