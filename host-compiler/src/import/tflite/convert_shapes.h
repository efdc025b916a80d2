// SHAPE, RANK, RANGE and BROADCAST_ARGS: numbers that importing knows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "import/tflite/operator_reader.h"

namespace intarsia::tflite {

// The bytes of the operator's result, whose shape is decided. None, and a report, when it is not known.
std::optional<std::vector<uint8_t>> compute_shape(OperatorReader& in);

}  // namespace intarsia::tflite
