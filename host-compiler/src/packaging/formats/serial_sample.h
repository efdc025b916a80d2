// What the sample application is between for Arduino's functions: Arduino's own tools and PlatformIO start it so. In C++.
#pragma once

#include <string>

namespace intarsia::packaging {

// A function that takes what printf does and prints to the serial port; its name, for sample_text().
std::string serial_print_name(const std::string& model);
std::string serial_print_function(const std::string& model);

// setup(), which runs the sample, and an empty loop().
std::string serial_entry(const std::string& model);

}  // namespace intarsia::packaging
