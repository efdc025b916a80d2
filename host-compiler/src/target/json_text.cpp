#include "json_text.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "quoted_text.h"
#include "scanner.h"

namespace intarsia {

namespace {

constexpr size_t kMaxDepth = 16;

// Builds the value as nlohmann's own handler would, and stops at the first problem.
class Builder {
 public:
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (!open_.back().keys.insert(name).second) {
      problem_ = fmt::format("{} is given twice", in_quotes(name));
      return false;
    }
    open_.back().key = name;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) {
    offset_ = position == 0 ? 0 : position - 1;
    // Only the parser's own finding, without its prefix and what it read last.
    const std::string message = error.what();
    const size_t colon = message.find(": ");
    const size_t dash = message.find(" - ", colon == message.npos ? 0 : colon);
    std::string finding = message.substr(dash != message.npos    ? dash + 3
                                         : colon != message.npos ? colon + 2
                                                                 : 0);
    finding = finding.substr(0, finding.find("; last read"));
    problem_ = "malformed JSON: " + finding;
    return false;
  }

  Json& root() { return root_; }
  const std::string& problem() const { return problem_; }
  std::optional<size_t> offset() const { return offset_; }

 private:
  struct Level {
    Json value;
    std::string key;
    std::set<std::string> keys;
  };

  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else {
      // Keys are unique already; operator[] would search for each.
      open_.back().value.get_ref<Json::object_t&>().emplace_back(open_.back().key,
                                                                 std::move(value));
    }
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kMaxDepth) {
      problem_ = "the JSON is nested too deeply";
      return false;
    }
    open_.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }

  Json root_;
  std::vector<Level> open_;
  std::string problem_;
  std::optional<size_t> offset_;
};

}  // namespace

std::optional<Json> read_json_text(std::string_view json, std::string_view text, size_t offset,
                                   const std::string& where, Diagnostics& diagnostics) {
  Builder builder;
  if (Json::sax_parse(json, &builder)) return std::move(builder.root());
  diagnostics.add(builder.offset() ? place(where, text, offset + *builder.offset()) : where,
                  builder.problem().empty() ? "malformed JSON" : builder.problem());
  return std::nullopt;
}

}  // namespace intarsia
