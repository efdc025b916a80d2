#include "attribute_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "quoted_text.h"

namespace intarsia {

namespace {

std::string name_of(const AttributePlace& place) {
  return fmt::format("attribute '{}' of '{}'", place.attribute.name, place.kind.name);
}

void wrong_type(const AttributePlace& place, const std::string& got, Diagnostics& diagnostics) {
  const char* takes = "";
  switch (place.attribute.type) {
    case AttributeType::Bool:
      takes = "true or false";
      break;
    case AttributeType::Int:
      takes = "an integer";
      break;
    case AttributeType::String:
      takes = "text";
      break;
    case AttributeType::Enum:
      takes = "a word";
      break;
    case AttributeType::StringList:
      takes = "a list of texts";
      break;
  }
  std::string hint;
  if (place.attribute.type == AttributeType::Enum) {
    hint = "choices: " + join(place.attribute.choices, ", ");
  }
  diagnostics.add(place.where, fmt::format("{} takes {}, got {}", name_of(place), takes, got),
                  hint);
}

std::optional<AttributeValue> int_from_text(const AttributePlace& place, const std::string& text,
                                            Diagnostics& diagnostics) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) {
    diagnostics.add(place.where,
                    fmt::format("{} has no room for {}", name_of(place), in_quotes(text)));
    return std::nullopt;
  }
  if (error != std::errc() || stop != end) {
    wrong_type(place, in_quotes(text), diagnostics);
    return std::nullopt;
  }
  return value;
}

std::optional<AttributeValue> list_from_text(const AttributePlace& place, const ScannedValue& text,
                                             Diagnostics& diagnostics) {
  std::vector<std::string> list;
  const bool empty = text.elements.size() == 1 && text.text.empty() && !text.quoted;
  if (empty) return list;
  for (const ScannedValue::Element& element : text.elements) {
    if (element.text.empty() && !element.quoted) {
      diagnostics.add(place.where, fmt::format("{} has an empty element", name_of(place)),
                      "take the comma away, or write \"\"");
      return std::nullopt;
    }
    list.push_back(element.text);
  }
  return list;
}

bool check_text(const AttributePlace& place, const std::string& text, Diagnostics& diagnostics) {
  if (!find_unreadable(text, false)) return true;
  diagnostics.add(place.where, fmt::format("{} has control characters or is not UTF-8: {}",
                                           name_of(place), in_quotes(text)));
  return false;
}

bool check_choice(const AttributePlace& place, const std::string& word, Diagnostics& diagnostics) {
  const std::vector<std::string>& choices = place.attribute.choices;
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return true;
  std::string hint = did_you_mean(word, choices);
  if (!hint.empty()) hint += " ";
  diagnostics.add(place.where, fmt::format("{} cannot be {}", name_of(place), in_quotes(word)),
                  hint + "choices: " + join(choices, ", "));
  return false;
}

bool check_int(const AttributePlace& place, int64_t value, Diagnostics& diagnostics) {
  const AttributeSpec& spec = place.attribute;
  const bool listed =
      spec.int_choices.empty() ||
      std::find(spec.int_choices.begin(), spec.int_choices.end(), value) != spec.int_choices.end();
  if (listed && value >= spec.minimum && value <= spec.maximum) return true;
  const std::string range = describe_type(spec);
  diagnostics.add(place.where, fmt::format("{} cannot be {}", name_of(place), value),
                  "it takes " + range);
  return false;
}

}  // namespace

std::optional<AttributeValue> value_from_text(const AttributePlace& place,
                                              const std::optional<ScannedValue>& text,
                                              Diagnostics& diagnostics) {
  const AttributeType type = place.attribute.type;
  const bool nothing = !text || (text->text.empty() && !text->quoted);
  if (type == AttributeType::Bool && !text) return true;
  if (!text || (nothing && type != AttributeType::StringList)) {
    diagnostics.add(
        place.where, name_of(place) + " has no value",
        fmt::format("write -{}=<{}>", place.attribute.name, describe_type(place.attribute)));
    return std::nullopt;
  }
  switch (type) {
    case AttributeType::Bool:
      if (text->text == "true" || text->text == "1") return true;
      if (text->text == "false" || text->text == "0") return false;
      wrong_type(place, in_quotes(text->text), diagnostics);
      return std::nullopt;
    case AttributeType::Int:
      return int_from_text(place, text->text, diagnostics);
    case AttributeType::StringList:
      return list_from_text(place, *text, diagnostics);
    case AttributeType::String:
    case AttributeType::Enum:
      break;
  }
  return text->text;
}

std::optional<AttributeValue> value_from_json(const AttributePlace& place, const Json& json,
                                              Diagnostics& diagnostics) {
  const auto all_strings = [](const Json& list) {
    return std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_string(); });
  };
  switch (place.attribute.type) {
    case AttributeType::Bool:
      if (json.is_boolean()) return json.get<bool>();
      break;
    case AttributeType::Int:
      if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX}) {
        diagnostics.add(place.where, fmt::format("{} has no room for '{}'", name_of(place),
                                                 json.get<uint64_t>()));
        return std::nullopt;
      }
      if (json.is_number_integer()) return json.get<int64_t>();
      break;
    case AttributeType::String:
    case AttributeType::Enum:
      if (json.is_string()) return json.get<std::string>();
      break;
    case AttributeType::StringList:
      if (json.is_array() && all_strings(json)) return json.get<std::vector<std::string>>();
      break;
  }
  const bool container = json.is_structured();
  wrong_type(place,
             json.is_string() ? in_quotes(json.get_ref<const std::string&>())
             : container      ? std::string("a JSON ") + json.type_name()
                              : json.dump(),
             diagnostics);
  return std::nullopt;
}

bool check_value(const AttributePlace& place, const AttributeValue& value,
                 Diagnostics& diagnostics) {
  switch (place.attribute.type) {
    case AttributeType::Bool:
      if (std::holds_alternative<bool>(value)) return true;
      break;
    case AttributeType::Int:
      if (const auto* number = std::get_if<int64_t>(&value)) {
        return check_int(place, *number, diagnostics);
      }
      break;
    case AttributeType::String:
      if (const auto* text = std::get_if<std::string>(&value)) {
        return check_text(place, *text, diagnostics);
      }
      break;
    case AttributeType::Enum:
      if (const auto* word = std::get_if<std::string>(&value)) {
        return check_choice(place, *word, diagnostics);
      }
      break;
    case AttributeType::StringList:
      if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        return std::all_of(list->begin(), list->end(), [&](const std::string& element) {
          return check_text(place, element, diagnostics) &&
                 (place.attribute.choices.empty() || check_choice(place, element, diagnostics));
        });
      }
      break;
  }
  wrong_type(place, in_quotes(to_string(value)), diagnostics);
  return false;
}

}  // namespace intarsia
