#include "packaging/formats/format.h"

#include <fmt/format.h>

namespace intarsia::packaging {
namespace {

constexpr Format kFormats[] = {
    {"plain", "C files, CMakeLists.txt and a .mk", plain_format},
    {"cmake", "a library for find_package, add_subdirectory and FetchContent", cmake_format},
    {"zephyr", "a Zephyr module", zephyr_format},
    {"pico", "a library for the Raspberry Pi Pico SDK", pico_format},
    {"esp-idf", "an ESP-IDF component", esp_idf_format},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

Result<const Format*> format_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (name == format.name) return &format;
    names.push_back(format.name);
  }
  const std::string near = nearest_name(name, names);
  return Diagnostics("--format", fmt::format("there is no format '{}'", name),
                     near.empty() ? fmt::format("formats: {}", fmt::join(names, ", "))
                                  : fmt::format("did you mean '{}'?", near));
}

Result<FormattedPackage> plain_format(const PackageContents& plain, const FormatFacts&) {
  return FormattedPackage{plain, {}};
}

}  // namespace intarsia::packaging
