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

Result<FormatFacts> make_format_facts(const graph::Module& module, const TargetRegistry& registry,
                                      const TargetSpec& target, const board::Board& board,
                                      std::string measured_with) {
  FormatFacts facts;
  INTARSIA_TRY(facts.sample, make_sample_data(module));
  facts.zephyr_boards = board.zephyr_names;
  facts.measured_with = std::move(measured_with);
  for (const KernelLibrary& library : registry.kind_of(target.host()).kernel_libraries)
    if (library.core_names && !facts.core) facts.core = library.core_names(target.host());
  // Of everything that a device may be given.
  for (const Target& device : target.devices())
    for (const graph::Node& node : module.entry_function().nodes)
      if (registry.kind_of(device).tolerance(device, node) > 0)
        facts.sample.inexact_device = device.name;
  return facts;
}

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
