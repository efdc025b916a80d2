#include "support/strict_json.h"

#include <set>
#include <vector>

#include <fmt/format.h>

namespace intarsia {
namespace {

using nlohmann::json;

// Follows the parser through the text, to know where a key stands.
class KeyWatcher {
 public:
  KeyWatcher(const std::string& where, Diagnostics& problems)
      : where_(where), problems_(problems) {}

  void see(json::parse_event_t event, const json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
        begin_value();
        open_.push_back({});
        break;
      case json::parse_event_t::array_start:
        begin_value();
        open_.push_back({.is_list = true});
        break;
      case json::parse_event_t::key: {
        const auto& key = parsed.get_ref<const std::string&>();
        if (!open_.back().keys.insert(key).second)
          problems_.add(path(), fmt::format("the key '{}' is there twice", key),
                        "keep one of them");
        open_.back().key = key;
        break;
      }
      case json::parse_event_t::value:
        begin_value();
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        open_.pop_back();
        break;
    }
  }

 private:
  struct Open {
    bool is_list = false;
    int64_t index = -1;  // of a list: the item being read
    std::string key;     // of an object
    std::set<std::string> keys;
  };

  void begin_value() {
    if (!open_.empty() && open_.back().is_list) ++open_.back().index;
  }

  // Of the innermost object.
  std::string path() const {
    std::string text;
    for (size_t i = 0; i + 1 < open_.size(); ++i)
      text += open_[i].is_list ? fmt::format("[{}]", open_[i].index)
                               : (text.empty() ? "" : ".") + open_[i].key;
    return text.empty() ? where_ : fmt::format("{}: {}", where_, text);
  }

  const std::string& where_;
  Diagnostics& problems_;
  std::vector<Open> open_;
};

// Keys in a text that is JSON: each has a colon behind it, and no other stands outside of strings.
size_t keys_in(std::string_view text) {
  size_t keys = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') ++keys;
    if (text[i] != '"') continue;
    for (++i; i < text.size() && text[i] != '"'; ++i)
      if (text[i] == '\\') ++i;
  }
  return keys;
}

// Those of all objects in it. A stack of our own: texts may be as deep as they are long.
size_t keys_of(const json& parsed) {
  size_t keys = 0;
  std::vector<const json*> left = {&parsed};
  while (!left.empty()) {
    const json& value = *left.back();
    left.pop_back();
    if (value.is_object()) keys += value.size();
    if (value.is_structured())
      for (const json& part : value) left.push_back(&part);
  }
  return keys;
}

}  // namespace

// The one place where the library throws; its message has the line and column.
Result<json> parse_strict_json(std::string_view text, const std::string& where,
                               const std::string& hint) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (!hint.empty() && begin == std::string_view::npos)
    return Diagnostics(where, "is not JSON: it is empty", hint);
  if (!hint.empty() && text[begin] != '{' && text[begin] != '[')
    return Diagnostics(where, "is not JSON", hint);
  Diagnostics problems;
  KeyWatcher watcher(where, problems);
  try {
    // Following the parser takes as long as parsing. Where no key got lost there is none twice.
    if (json quick = json::parse(text); keys_of(quick) == keys_in(text)) return quick;
    json parsed = json::parse(text, [&](int, json::parse_event_t event, json& value) {
      watcher.see(event, value);
      return true;
    });
    if (!problems.empty()) return problems;
    return parsed;
  } catch (const json::exception& error) {
    std::string what = error.what();
    // "[json.exception.parse_error.101] parse error at line 3, column 7: ..."
    if (const size_t bracket = what.find("] "); bracket != std::string::npos)
      what = what.substr(bracket + 2);
    return Diagnostics(where, "is not JSON: " + what);
  }
}

}  // namespace intarsia
