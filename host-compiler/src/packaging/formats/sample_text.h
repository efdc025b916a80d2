// The sample application of a package, in text that is C99 and C++11 alike. Every format wraps it into what its
// ecosystem starts.
#pragma once

#include <string>

#include "intarsia/package.h"
#include "packaging/formats/sample_data.h"

namespace intarsia::packaging {

// <model>_test_data.h: an array for each input and each expected output; where there are no data, nothing but why.
std::string test_data_text(const PackageManifest& manifest, const SampleData& data);

// #include lines, memory, one instance, and `static int run_<model>_sample(void)`: initialises the model, gives it the test
// inputs, runs it, prints the outputs (of a vector of classes the largest too) and how many of the values are the
// expected ones ("10 of 10 exact"). It returns 0, or 1 when something is wrong. `print` is the name of a function that takes what
// printf does; neither it nor the standard library has to print floating point. Models with devices get them from
// intarsia_board_device(), which <model>_devices.c defines.
std::string sample_text(const PackageManifest& manifest, const SampleData& data,
                        const std::string& print);

// What a program must provide besides, as a comment's or README's sentence; empty when nothing.
std::string sample_needs(const PackageManifest& manifest, const SampleData& data);

}  // namespace intarsia::packaging
