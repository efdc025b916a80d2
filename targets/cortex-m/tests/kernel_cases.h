// The operators that every kernel is tested with, on this machine and on emulated cores: all small shapes and
// larger ones at random.
#pragma once

#include <vector>

#include <cstdint>
#include <span>
#include <string>

#include "operator_modules.h"

namespace intarsia::test::cortex_m {

struct WideCase;
graph::Activation any_activation(Random& random);
// What a window may reach over the edges of an image, and still see some of it.
graph::Padding2d any_padding(Random& random, const WideCase& c);

std::vector<graph::Module> small_convolutions();
std::vector<graph::Module> larger_convolutions();
std::vector<graph::Module> convolutions_beside_edges();
std::vector<graph::Module> deep_convolutions();
std::vector<graph::Module> depthwise_convolutions();
std::vector<graph::Module> depthwise_convolutions_of_few_pixels();
std::vector<graph::Module> depthwise_convolutions_of_lines();
std::vector<graph::Module> dilated_depthwise_convolutions();
std::vector<graph::Module> multiplied_depthwise_convolutions();
std::vector<graph::Module> fully_connected_layers();
std::vector<graph::Module> long_and_thin();
std::vector<graph::Module> grouped_and_dilated_convolutions();
std::vector<graph::Module> transposed_convolutions();
std::vector<graph::Module> matrix_products();
std::vector<graph::Module> float_convolutions();
std::vector<graph::Module> poolings_and_rows();
std::vector<graph::Module> float_depthwise_convolutions();
std::vector<graph::Module> float_matrix_products();
// Of floats made int8 as the model runs.
std::vector<graph::Module> hybrid_layers();
std::vector<graph::Module> shifted_layers();
std::vector<graph::Module> rows_to_steps();
std::vector<graph::Module> float_elements();
std::vector<graph::Module> moved_rows();
std::vector<graph::Module> normalized_rows();
std::vector<graph::Module> resizings();
std::vector<graph::Module> float_curves();
std::vector<graph::Module> floats_to_steps();
std::vector<graph::Module> steps_to_floats();
// Int16 activations.
std::vector<graph::Module> wide_depthwise_of_any_window();
std::vector<graph::Module> wide_depthwise_of_three_columns();
std::vector<graph::Module> wide_depthwise_with_multipliers();
std::vector<graph::Module> wide_depthwise_of_lines();
std::vector<graph::Module> wide_convolutions();
std::vector<graph::Module> wide_sums_and_poolings();
std::vector<graph::Module> wide_products_and_curves();
std::vector<graph::Module> wide_matrix_products();
std::vector<graph::Module> squared_differences();
std::vector<graph::Module> extremes();
std::vector<graph::Module> wide_staged_convolutions();
std::vector<graph::Module> constants_and_tables();
std::vector<graph::Module> additions();
std::vector<graph::Module> differences_and_products();
// By channel, alphas of that scale.
graph::Module prelu_of_almost_nothing(Random& random, DataType type, float alpha_scale);
std::vector<graph::Module> prelus();
std::vector<graph::Module> comparisons_and_quotients();
std::vector<graph::Module> means_and_sums();

// "" where the results are those that are expected: bit for bit, or, of floats, but for the order of sums.
std::string difference(const graph::Module& module, std::span<const uint8_t> actual,
                       std::span<const uint8_t> expected);

}  // namespace intarsia::test::cortex_m
