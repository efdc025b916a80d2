#include "packaging/formats/allowed_name.h"

#include <fmt/format.h>

#include "support/model_name.h"
#include "support/sha256.h"

namespace intarsia::packaging {
namespace {

constexpr size_t kDigits = 8;

bool begins_badly(const std::string& model, const NameRules& rules) {
  return (rules.begins_with_letter && model.front() == '_') ||
         (!rules.reserved.empty() && lower_case(model).starts_with(rules.reserved));
}

}  // namespace

std::string allowed_name(const std::string& model, const NameRules& rules) {
  const std::string name = begins_badly(model, rules) ? "Intarsia_" + model : model;
  if (name.size() <= rules.longest) return name;
  const std::string digits =
      sha256({reinterpret_cast<const uint8_t*>(model.data()), model.size()}).substr(0, kDigits);
  return name.substr(0, rules.longest - kDigits - 1) + "_" + digits;
}

std::string changed_name_note(const std::string& ecosystem, const std::string& kind,
                              const std::string& model, const std::string& name) {
  return fmt::format("{} allows no {} of the name '{}': it is '{}'; its header is {}.h as always",
                     ecosystem, kind, model, name, model);
}

}  // namespace intarsia::packaging
