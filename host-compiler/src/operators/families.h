// The families: each is a file of that name with the table of its operators. table.cpp joins them.
#pragma once

#include <span>

#include "operators/operator.h"

namespace intarsia::operators {

std::span<const Operator> accumulation_operators();
std::span<const Operator> activation_operators();
std::span<const Operator> arithmetic_operators();
std::span<const Operator> comparison_operators();
std::span<const Operator> control_operators();
std::span<const Operator> conversion_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> depthwise_convolution_operators();
std::span<const Operator> detection_operators();
std::span<const Operator> elementary_function_operators();
std::span<const Operator> hybrid_operators();
std::span<const Operator> joining_operators();
std::span<const Operator> lookup_operators();
std::span<const Operator> lstm_operators();
std::span<const Operator> matrix_product_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> padding_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> rearrangement_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> resizing_operators();
std::span<const Operator> scatter_operators();
std::span<const Operator> selection_operators();
std::span<const Operator> signal_operators();
std::span<const Operator> signal_transform_operators();
std::span<const Operator> svdf_operators();
std::span<const Operator> transpose_convolution_operators();

// Every family's, in the order of the alphabet.
std::span<const std::span<const Operator>> all_families();

}  // namespace intarsia::operators
