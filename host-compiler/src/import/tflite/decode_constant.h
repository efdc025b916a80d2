// Constants that TFLite Micro's tools have made smaller, as they were.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/graph.h"

namespace intarsia::tflite {

// `header` says how, and `made` what comes out. "", or what is wrong.
std::string decode_constant(std::span<const uint8_t> encoded, std::span<const uint8_t> header,
                            const graph::Tensor& made, std::vector<uint8_t>& bytes);

}  // namespace intarsia::tflite
