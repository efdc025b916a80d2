#include "support/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "support/amounts.h"

namespace intarsia {
namespace {

using nlohmann::json;

std::optional<uint64_t> amount_of(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const std::optional<int64_t> bytes = parse_bytes(value.get_ref<const std::string&>());
  return bytes ? std::optional(static_cast<uint64_t>(*bytes)) : std::nullopt;
}

}  // namespace

JsonReader::JsonReader(const json& object, std::string where, Diagnostics& problems,
                       std::string keys_page)
    : object_(object),
      where_(std::move(where)),
      problems_(problems),
      keys_page_(std::move(keys_page)) {
  if (!object_.is_object()) problems_.add(where_, "a JSON object is expected here");
}

const json* JsonReader::find(const char* key, bool required) {
  asked_.push_back(key);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  if (found != object_.end()) return &*found;
  if (required) problems_.add(where_, fmt::format("the key '{}' is missing", key));
  return nullptr;
}

void JsonReader::complain_type(const char* key, const char* wanted) {
  problems_.add(where_, fmt::format("'{}' is not {}", key, wanted));
}

std::string JsonReader::text(const char* key) {
  const json* value = find(key, true);
  if (value == nullptr) return {};
  if (value->is_string() && !value->get_ref<const std::string&>().empty()) {
    return value->get<std::string>();
  }
  complain_type(key, "a text");
  return {};
}

std::string JsonReader::optional_text(const char* key) {
  if (object_.is_object() && object_.contains(key)) return text(key);
  asked_.push_back(key);
  return {};
}

uint64_t JsonReader::amount(const char* key) {
  const json* value = find(key, true);
  if (value == nullptr) return 0;
  const std::optional<uint64_t> amount = amount_of(*value);
  if (!amount) complain_type(key, "a number like 4096, \"0x20000000\", \"512K\", \"4M\" or \"2G\"");
  return amount.value_or(0);
}

uint64_t JsonReader::optional_amount(const char* key, uint64_t missing) {
  if (object_.is_object() && object_.contains(key)) return amount(key);
  asked_.push_back(key);
  return missing;
}

std::vector<std::string> JsonReader::texts(const char* key) {
  const json* values = find(key, true);
  std::vector<std::string> result;
  if (values == nullptr) return result;
  const bool all_texts =
      values->is_array() &&
      std::all_of(values->begin(), values->end(), [](const json& v) { return v.is_string(); });
  if (!all_texts) {
    complain_type(key, "a list of texts");
    return result;
  }
  for (const json& value : *values) result.push_back(value.get<std::string>());
  return result;
}

std::vector<std::string> JsonReader::optional_texts(const char* key) {
  if (object_.is_object() && object_.contains(key)) return texts(key);
  asked_.push_back(key);
  return {};
}

std::vector<std::string> JsonReader::text_or_texts(const char* key) {
  const bool is_list = object_.is_object() && object_.contains(key) && object_.at(key).is_array();
  if (is_list) return texts(key);
  const std::string one = text(key);
  return one.empty() ? std::vector<std::string>() : std::vector<std::string>{one};
}

bool JsonReader::optional_flag(const char* key) {
  const json* value = find(key, false);
  if (value == nullptr) return false;
  if (!value->is_boolean()) complain_type(key, "true or false");
  return value->is_boolean() && value->get<bool>();
}

const json* JsonReader::array(const char* key) {
  const json* value = find(key, true);
  if (value == nullptr || value->is_array()) return value;
  complain_type(key, "a list");
  return nullptr;
}

const json* JsonReader::optional_array(const char* key) {
  if (object_.is_object() && object_.contains(key)) return array(key);
  asked_.push_back(key);
  return nullptr;
}

const json* JsonReader::object(const char* key) {
  const json* value = find(key, true);
  if (value == nullptr || value->is_object()) return value;
  complain_type(key, "an object");
  return nullptr;
}

const json* JsonReader::optional_object(const char* key) {
  if (object_.is_object() && object_.contains(key)) return object(key);
  asked_.push_back(key);
  return nullptr;
}

const json* JsonReader::optional_value(const char* key) {
  return find(key, false);
}

void JsonReader::finish() {
  if (!object_.is_object()) return;
  for (const auto& [key, value] : object_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string meant = nearest_name(key, asked_);
    problems_.add(where_, fmt::format("unknown key '{}'", key),
                  meant.empty() ? fmt::format("{} lists the keys", keys_page_)
                                : fmt::format("did you mean '{}'?", meant));
  }
}

}  // namespace intarsia
