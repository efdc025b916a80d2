#include <fmt/format.h>

#include "intarsia/target.h"
#include "quoted_text.h"

namespace intarsia {

namespace {

AttributeSpec make(std::string name, AttributeType type, std::string help) {
  AttributeSpec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.help = std::move(help);
  return spec;
}

}  // namespace

AttributeSpec AttributeSpec::boolean(std::string name, bool default_value, std::string help) {
  AttributeSpec spec = make(std::move(name), AttributeType::Bool, std::move(help));
  spec.default_value = default_value;
  return spec;
}

AttributeSpec AttributeSpec::integer(std::string name, std::optional<int64_t> default_value,
                                     int64_t minimum, int64_t maximum, std::string help) {
  AttributeSpec spec = make(std::move(name), AttributeType::Int, std::move(help));
  if (default_value) spec.default_value = *default_value;
  spec.minimum = minimum;
  spec.maximum = maximum;
  return spec;
}

AttributeSpec AttributeSpec::one_of(std::string name, std::optional<int64_t> default_value,
                                    std::vector<int64_t> values, std::string help) {
  AttributeSpec spec = make(std::move(name), AttributeType::Int, std::move(help));
  if (default_value) spec.default_value = *default_value;
  spec.int_choices = std::move(values);
  return spec;
}

AttributeSpec AttributeSpec::word(std::string name, std::optional<std::string> default_value,
                                  std::vector<std::string> words, std::string help) {
  AttributeSpec spec = make(std::move(name), AttributeType::Enum, std::move(help));
  if (default_value) spec.default_value = std::move(*default_value);
  spec.choices = std::move(words);
  return spec;
}

AttributeSpec AttributeSpec::text(std::string name, std::optional<std::string> default_value,
                                  std::string help) {
  AttributeSpec spec = make(std::move(name), AttributeType::String, std::move(help));
  if (default_value) spec.default_value = std::move(*default_value);
  return spec;
}

AttributeSpec AttributeSpec::list(std::string name, std::vector<std::string> default_value,
                                  std::string help) {
  AttributeSpec spec = make(std::move(name), AttributeType::StringList, std::move(help));
  spec.default_value = std::move(default_value);
  return spec;
}

std::string describe_type(const AttributeSpec& attribute) {
  switch (attribute.type) {
    case AttributeType::Bool:
      return "bool";
    case AttributeType::String:
      return "text";
    case AttributeType::Enum:
      return join(attribute.choices, " | ");
    case AttributeType::StringList:
      return attribute.choices.empty() ? "list" : "list of " + join(attribute.choices, " | ");
    case AttributeType::Int:
      break;
  }
  if (!attribute.int_choices.empty()) {
    return fmt::format("{}", fmt::join(attribute.int_choices, " | "));
  }
  const bool low = attribute.minimum != std::numeric_limits<int64_t>::min();
  const bool high = attribute.maximum != std::numeric_limits<int64_t>::max();
  if (low && high) return fmt::format("int, {}..{}", attribute.minimum, attribute.maximum);
  if (low) return fmt::format("int, at least {}", attribute.minimum);
  if (high) return fmt::format("int, at most {}", attribute.maximum);
  return "int";
}

const AttributeSpec* KindSpec::attribute(std::string_view attribute_name) const {
  for (const AttributeSpec& spec : attributes) {
    if (spec.name == attribute_name) return &spec;
  }
  return nullptr;
}

}  // namespace intarsia
