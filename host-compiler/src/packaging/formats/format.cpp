#include "packaging/formats/format.h"

#include <algorithm>

#include <fmt/format.h>

#include "target_kind/tolerated_steps.h"

namespace intarsia::packaging {
namespace {

constexpr Format kFormats[] = {
    {"plain", "C files, CMakeLists.txt and a .mk", plain_format},
    {"cmake", "a library for find_package, add_subdirectory and FetchContent", cmake_format},
    {"zephyr", "a Zephyr module", zephyr_format},
    {"pico", "a library for the Raspberry Pi Pico SDK", pico_format},
    {"esp-idf", "an ESP-IDF component", esp_idf_format},
    {"arduino", "a library for the Arduino IDE and arduino-cli", arduino_format},
    {"platformio", "a library for PlatformIO", platformio_format},
    {"cmsis-pack", "a CMSIS-Pack", cmsis_pack_format, cmsis_pack_of_runtime},
    {"clayer", "a layer of a csolution project (CMSIS-Toolbox)", clayer_format, clayer_of_runtime},
    {"rust", "a crate without dependencies, for no_std", rust_format},
};

// More than the conversion of integers at the model's edges.
bool computes_floats(const graph::Module& module) {
  return std::ranges::any_of(module.functions, [](const graph::Function& function) {
    return std::ranges::any_of(function.nodes, [&](const graph::Node& node) {
      return node.kind != graph::OpKind::Dequantize &&
             std::ranges::any_of(node.outputs, [&](graph::TensorId id) {
               return id.valid() && function.tensor(id).type == DataType::Float32;
             });
    });
  });
}

}  // namespace

Result<FormatFacts> make_format_facts(const graph::Module& module, const TargetRegistry& registry,
                                      const TargetSpec& target, const board::Board& board) {
  FormatFacts facts;
  INTARSIA_TRY(facts.sample, make_sample_data(module));
  facts.sample.computes_floats = computes_floats(module);
  facts.board = board;
  for (const KernelLibrary& library : registry.kind_of(target.host()).kernel_libraries)
    if (library.core_names && !facts.core) facts.core = library.core_names(target.host());
  const graph::Function& entry = module.entry_function();
  // Of everything that a device may be given.
  for (const Target& device : target.devices())
    for (const graph::Node& node : entry.nodes)
      if (tolerated_steps(registry, device, entry, node) > 0)
        facts.sample.inexact_device = device.name;
  return facts;
}

std::span<const Format> formats() {
  return kFormats;
}

Result<const Format*> format_named(const std::string& name,
                                   const std::vector<std::string>& others) {
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (name == format.name) return &format;
    names.push_back(format.name);
  }
  names.insert(names.end(), others.begin(), others.end());
  const std::string near = nearest_name(name, names);
  return Diagnostics("--format", fmt::format("there is no format '{}'", name),
                     near.empty() ? fmt::format("formats: {}", fmt::join(names, ", "))
                                  : fmt::format("did you mean '{}'?", near));
}

Result<void> may_hold_objects(const std::string& option, const PackageManifest& manifest) {
  const auto is_object = [](const std::string& source) { return source.ends_with(".o"); };
  if (std::ranges::none_of(manifest.sources, is_object)) return {};
  return Diagnostics(option,
                     fmt::format("takes sources in C, and {} is an object file for {}",
                                 manifest.model, manifest.target),
                     "compile for kind c, or take --format plain or cmake");
}

Result<void> may_have_runtime_apart(const Format& format) {
  if (format.make == plain_format || format.describe_runtime != nullptr) return {};
  std::vector<std::string> able = {"plain"};
  for (const Format& other : kFormats)
    if (other.describe_runtime != nullptr) able.push_back(other.name);
  return Diagnostics(
      fmt::format("--format {}", format.name),
      "--runtime has no use here: the runtime's files are taken once where several "
      "models have them",
      fmt::format("leave --runtime out; the formats with a runtime of its own are {}",
                  fmt::join(able, ", ")));
}

Result<FormattedPackage> plain_format(const PackageContents& plain, const FormatFacts&) {
  return FormattedPackage{plain, {}};
}

}  // namespace intarsia::packaging
