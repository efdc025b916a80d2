// Constants of which a file stores only what is not zero, as they were.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/tflite/tflite_file.h"
#include "intarsia/graph.h"

namespace intarsia::tflite {

// `stored`: elements of `size` bytes. "", or what is wrong.
std::string decode_sparse(const format::Sparsity& sparsity, const Shape& shape, size_t size,
                          std::span<const uint8_t> stored, std::vector<uint8_t>& bytes);

}  // namespace intarsia::tflite
