#include "compile/host_machine.h"

#include <fmt/format.h>

namespace intarsia {
namespace {

constexpr const char* kMachineHere =
#if defined(__aarch64__)
    "aarch64";
#elif defined(__x86_64__)
    "x86_64";
#else
    "";
#endif

const std::string* text_of(const Target& device, const char* attribute) {
  const AttributeValue* value = device.attributes.find(attribute);
  return value == nullptr ? nullptr : std::get_if<std::string>(value);
}

// "aarch64" of "arm64-apple-darwin": there are two words for it.
std::string machine_of(const std::string& triple) {
  const std::string first = triple.substr(0, triple.find('-'));
  return first == "arm64" ? "aarch64" : first;
}

}  // namespace

Result<void> choose_host_machine(const TargetRegistry& registry, TargetSpec& target) {
  if (registry.kind_of(target.host()).spec.attribute("mtriple") == nullptr) return {};
  for (const Target& device : target.beside_host()) {
    const std::string* machine = text_of(device, "machine");
    if (machine == nullptr) continue;
    const std::string* triple = text_of(target.host(), "mtriple");
    if (triple != nullptr && machine_of(*triple) != *machine)
      return Diagnostics(
          fmt::format("target '{}'", to_string(target)),
          fmt::format("{} works on the host's processor, which has to be {}, and {} is for '{}'",
                      device.name, *machine, target.host().name, *triple),
          fmt::format("leave -mtriple out, or name one of {}", *machine));
    if (triple == nullptr && *machine != kMachineHere)
      target.derive(0, "mtriple", *machine + "-unknown-linux-gnu");
  }
  return {};
}

}  // namespace intarsia
