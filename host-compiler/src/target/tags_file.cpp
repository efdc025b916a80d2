#include <fmt/format.h>

#include "file_text.h"
#include "intarsia/target.h"
#include "json_text.h"
#include "quoted_text.h"

namespace intarsia {

namespace {

// A target inside the file: a string as it is, an object as JSON text.
bool read_target(const Json& json, const std::string& where, std::string& text,
                 Diagnostics& diagnostics) {
  if (json.is_string()) {
    text = json.get<std::string>();
  } else if (json.is_object()) {
    text = json.dump();
  } else {
    diagnostics.add(
        where, fmt::format("a target is a string or an object, not a JSON {}", json.type_name()));
    return false;
  }
  return true;
}

bool read_tag(const Json& json, const std::string& where, TagSpec& tag, Diagnostics& diagnostics) {
  // {"target": ...} describes the tag; anything else is the target itself.
  if (!json.is_object() || !json.contains("target")) {
    return read_target(json, where, tag.expansion, diagnostics);
  }
  bool good = true;
  for (const auto& [key, value] : json.items()) {
    if (key == "target") {
      good = read_target(value, where, tag.expansion, diagnostics) && good;
    } else if (key == "host") {
      good = read_target(value, where, tag.host, diagnostics) && good;
    } else if (key == "summary" && value.is_string()) {
      tag.summary = value.get<std::string>();
      if (find_unreadable(tag.summary, false)) {
        diagnostics.add(where, "the summary has control characters");
        good = false;
      }
    } else {
      diagnostics.add(where, fmt::format("unexpected {}", in_quotes(key)),
                      "a tag has 'target', and may have 'host' and a text 'summary'");
      good = false;
    }
  }
  return good;
}

}  // namespace

Result<void> TargetCatalogue::load_tags_file(const std::string& path) {
  INTARSIA_TRY(const std::string text, read_small_file(path, "tags"));
  return load_tags(text, path);
}

Result<void> TargetCatalogue::load_tags(std::string_view json_text, const std::string& where) {
  Diagnostics diagnostics;
  const std::optional<Json> json = read_json_text(json_text, json_text, 0, where, diagnostics);
  if (!json) return diagnostics;
  if (!json->is_object()) {
    return Diagnostics(where, "a tags file is an object of tags",
                       R"(write {"my-board":"c -mcpu=..."})");
  }
  const size_t had = tags_.size();
  for (const auto& [name, value] : json->items()) {
    TagSpec tag;
    tag.name = name;
    tag.origin = where;
    if (!read_tag(value, fmt::format("{}, tag {}", where, in_quotes(name)), tag, diagnostics))
      continue;
    if (const Result<void> added = add_tag(std::move(tag)); !added) {
      for (const Diagnostic& item : added.error().items()) {
        diagnostics.add(fmt::format("{}, {}", where, item.where), item.what, item.hint);
      }
    }
  }
  const bool well_formed = diagnostics.empty();
  for (size_t i = had; well_formed && i < tags_.size(); ++i) {
    if (const Result<void> checked = check_tag(tags_[i]); !checked)
      diagnostics.append(checked.error());
  }
  if (!diagnostics.empty()) tags_.resize(had);
  return Result<void>::from(diagnostics);
}

}  // namespace intarsia
