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

}  // namespace

// The one place where the library throws; its message has the line and column.
Result<json> parse_strict_json(std::string_view text, const std::string& where) {
  Diagnostics problems;
  KeyWatcher watcher(where, problems);
  try {
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
