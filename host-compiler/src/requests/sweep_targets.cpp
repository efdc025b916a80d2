#include "requests/sweep_targets.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

namespace intarsia::requests {
namespace {

constexpr const char* kOption = "--attribute";

struct Attribute {
  std::string name;
  std::vector<std::string> values;
  bool is_used = false;
};

std::vector<Attribute> read_attributes(const std::vector<std::string>& texts,
                                       Diagnostics& problems) {
  std::vector<Attribute> attributes;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    Attribute attribute{text.substr(0, equals), {}};
    if (equals != std::string::npos) {
      std::istringstream list(text.substr(equals + 1));
      for (std::string value; std::getline(list, value, ',');)
        if (!value.empty() && std::find(attribute.values.begin(), attribute.values.end(), value) ==
                                  attribute.values.end())
          attribute.values.push_back(value);
    }
    if (attribute.name.empty() || attribute.values.empty())
      problems.add(kOption, fmt::format("'{}' is not NAME=VALUE,VALUE", text),
                   "'intarsia targets KIND' lists the attributes of a kind");
    else if (std::any_of(attributes.begin(), attributes.end(),
                         [&](const Attribute& other) { return other.name == attribute.name; }))
      problems.add(kOption, fmt::format("'{}' has values already", attribute.name),
                   "give all of them at once, with commas between");
    else
      attributes.push_back(std::move(attribute));
  }
  return attributes;
}

Result<AttributeValue> value_of(const AttributeSpec& spec, const std::string& text) {
  const auto wrong = [&] {
    return Diagnostics(kOption, fmt::format("'{}' is no value of '{}'", text, spec.name),
                       fmt::format("it is {}", describe_type(spec)));
  };
  switch (spec.type) {
    case AttributeType::Bool:
      if (text == "true" || text == "false") return AttributeValue(text == "true");
      return wrong();
    case AttributeType::Int: {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return wrong();
      return AttributeValue(number);
    }
    case AttributeType::String:
    case AttributeType::Enum:
      return AttributeValue(text);
    case AttributeType::StringList:
      break;
  }
  return Diagnostics(kOption, fmt::format("'{}' is a list, which cannot be varied", spec.name),
                     "give targets of their own with --target");
}

struct Varied {
  std::vector<Target> devices;
  std::string shown;
};

// Every one of the targets with every value, where a device has the attribute.
Result<std::vector<Varied>> with_values(const TargetCatalogue& catalogue,
                                        const std::vector<Varied>& targets, Attribute& attribute) {
  std::vector<Varied> result;
  for (const Varied& target : targets) {
    const auto spec_of = [&](const Target& device) {
      return catalogue.kind(device.kind)->attribute(attribute.name);
    };
    if (std::none_of(target.devices.begin(), target.devices.end(),
                     [&](const Target& device) { return spec_of(device) != nullptr; })) {
      result.push_back(target);
      continue;
    }
    attribute.is_used = true;
    for (const std::string& value : attribute.values) {
      Varied& varied = result.emplace_back(target);
      varied.shown += fmt::format(" -{}={}", attribute.name, value);
      for (Target& device : varied.devices) {
        const AttributeSpec* spec = spec_of(device);
        if (spec == nullptr) continue;
        INTARSIA_TRY(AttributeValue written, value_of(*spec, value));
        device.attributes.write(attribute.name, std::move(written));
      }
    }
  }
  return result;
}

}  // namespace

Result<std::vector<TargetChoice>> target_choices(const TargetCatalogue& catalogue,
                                                 const std::vector<std::string>& targets,
                                                 const std::vector<std::string>& attributes) {
  Diagnostics problems;
  std::vector<Attribute> varied = read_attributes(attributes, problems);
  if (targets.empty() && !varied.empty())
    problems.add(kOption, "the board's own core is compiled for as it is",
                 "name the devices that have the attribute with --target");
  std::vector<TargetChoice> choices;
  if (targets.empty()) choices.emplace_back();
  bool all_are_known = true;
  for (const std::string& text : targets) {
    const Result<TargetSpec> target = parse_target_argument(catalogue, text);
    if (!target.ok()) {
      problems.append(target.error());
      all_are_known = false;
      continue;
    }
    const auto devices = target->devices();
    std::vector<Varied> variants = {{{devices.begin(), devices.end()}, text}};
    for (Attribute& attribute : varied) {
      Result<std::vector<Varied>> more = with_values(catalogue, variants, attribute);
      if (more.ok())
        variants = *std::move(more);
      else
        problems.append(more.error());
    }
    for (const Varied& variant : variants) {
      if (variant.shown == text) {
        choices.push_back({text, text});
        continue;
      }
      const Result<TargetSpec> made = make_target(catalogue, variant.devices, variant.shown);
      if (made.ok())
        choices.push_back({to_string(*made), variant.shown});
      else
        problems.append(made.error());
    }
  }
  for (const Attribute& attribute : varied)
    if (!attribute.is_used && all_are_known && !targets.empty())
      problems.add(kOption,
                   fmt::format("no device of any target has an attribute '{}'", attribute.name),
                   "'intarsia targets KIND' lists those of a kind");
  if (!problems.empty()) return problems;
  return choices;
}

}  // namespace intarsia::requests
