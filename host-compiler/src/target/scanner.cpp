#include "scanner.h"

#include <fmt/format.h>

#include "quoted_text.h"

namespace intarsia {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Scanner {
 public:
  Scanner(const TargetCatalogue& catalogue, std::string_view text, const std::string& where,
          Diagnostics& diagnostics)
      : catalogue_(catalogue), text_(text), where_(where), diagnostics_(diagnostics) {}

  std::optional<std::vector<ScannedDevice>> devices();

 private:
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool at_separator() const { return peek() == '+' || peek() == ';'; }
  void skip_space() {
    while (!at_end() && is_space(peek())) ++position_;
  }
  std::string word() {
    const size_t start = position_;
    while (!at_end() && is_name_character(peek())) ++position_;
    return std::string(text_.substr(start, position_ - start));
  }
  // The rest of the word at hand, for messages.
  std::string_view found() const {
    size_t end = position_;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return text_.substr(position_, end - position_);
  }
  bool complain(size_t offset, std::string what, std::string hint = {}) {
    diagnostics_.add(place(where_, text_, offset), std::move(what), std::move(hint));
    return false;
  }

  bool device(ScannedDevice& device);
  bool head(ScannedDevice& device);
  bool attribute(ScannedDevice& device);
  bool value(ScannedValue& value);
  bool quoted_part(std::string& text);
  void json_extent(ScannedDevice& device);

  const TargetCatalogue& catalogue_;
  std::string_view text_;
  const std::string& where_;
  Diagnostics& diagnostics_;
  size_t position_ = 0;
};

std::optional<std::vector<ScannedDevice>> Scanner::devices() {
  std::vector<ScannedDevice> devices;
  skip_space();
  if (at_end()) {
    diagnostics_.add(where_, "the target is empty", "name a target kind or tag");
    return std::nullopt;
  }
  while (true) {
    if (!device(devices.emplace_back())) return std::nullopt;
    if (at_end()) return devices;
    const size_t separator_offset = position_;
    const char separator = text_[position_++];
    skip_space();
    if (!at_end()) continue;
    if (separator == ';') return devices;
    // It may be part of a name as people say it, which tags spell in letters.
    const std::string in_letters = devices.back().spelled + "plus";
    complain(separator_offset, "nothing follows '+'",
             catalogue_.tag(in_letters) != nullptr ? fmt::format("did you mean '{}'?", in_letters)
                                                   : "name the device to add");
    return std::nullopt;
  }
}

bool Scanner::device(ScannedDevice& device) {
  device.offset = position_;
  if (!head(device)) return false;
  size_t end = position_;
  for (skip_space(); !at_end() && !at_separator(); skip_space()) {
    if (!device.json.empty()) {
      return complain(position_,
                      fmt::format("unexpected {} after the JSON object", in_quotes(found())));
    }
    if (peek() != '-') {
      std::string hint = "attributes are written -name=value";
      if (!device.attributes.empty() && !device.attributes.back().value) {
        hint = fmt::format("write '-{}={}'", device.attributes.back().name, found().substr(0, 40));
      }
      if (peek() == ',') hint = "devices stand beside each other with '+' between";
      if (peek() == ':') hint = "a name stands first: 'name: kind -attribute=value'";
      return complain(position_, fmt::format("unexpected {}", in_quotes(found())), hint);
    }
    if (!attribute(device)) return false;
    end = position_;
  }
  device.spelled = text_.substr(device.offset, end - device.offset);
  return true;
}

bool Scanner::head(ScannedDevice& device) {
  for (bool named = false;; named = true) {
    device.head_offset = position_;
    if (peek() == '{') {
      json_extent(device);
      return true;
    }
    const std::string first = peek() == '-' ? std::string() : word();
    if (first.empty()) {
      if (at_end()) return complain(position_, fmt::format("no target follows '{}:'", device.name));
      if (at_separator()) {
        return complain(position_, fmt::format("a target is missing before '{}'", peek()));
      }
      return complain(position_,
                      fmt::format("expected a target kind or tag, found {}", in_quotes(found())));
    }
    const size_t after_word = position_;
    skip_space();
    if (peek() != ':' || named) {
      position_ = after_word;
      device.head = first;
      return true;
    }
    if (!is_name(first)) {
      return complain(device.head_offset, fmt::format("{} cannot name a device", in_quotes(first)),
                      "a name begins with a letter and has letters, digits, '_', '.' and '-'");
    }
    device.name = first;
    ++position_;
    skip_space();
  }
}

bool Scanner::attribute(ScannedDevice& device) {
  ScannedAttribute& attribute = device.attributes.emplace_back();
  attribute.offset = position_;
  ++position_;
  if (peek() == '-') ++position_;
  attribute.name = word();
  if (attribute.name.empty()) {
    return complain(attribute.offset, "an attribute has no name",
                    "attributes are written -name=value");
  }
  if (peek() != '=') return true;
  ++position_;
  return value(attribute.value.emplace());
}

bool Scanner::value(ScannedValue& value) {
  value.elements.emplace_back();
  // A '+' that begins a value or an element belongs to it: -mattr=+dsp,+mve.
  const auto ends = [&] {
    return at_separator() && !(peek() == '+' && value.elements.back().text.empty());
  };
  while (!at_end() && !is_space(peek()) && !ends()) {
    const char c = peek();
    if (c == '"' || c == '\'') {
      std::string part;
      if (!quoted_part(part)) return false;
      value.quoted = value.elements.back().quoted = true;
      value.text += part;
      value.elements.back().text += part;
      continue;
    }
    ++position_;
    value.text += c;
    if (c == ',') {
      value.elements.emplace_back();
    } else {
      value.elements.back().text += c;
    }
  }
  return true;
}

bool Scanner::quoted_part(std::string& text) {
  const size_t start = position_;
  const char quote = text_[position_++];
  while (!at_end() && peek() != quote) {
    if (peek() == '\\') {
      ++position_;
      if (peek() != '\\' && peek() != '"' && peek() != '\'') {
        return complain(position_ - 1, "unknown escape in a quoted value",
                        R"(there are \\, \" and \')");
      }
    }
    text += text_[position_++];
  }
  if (at_end()) return complain(start, fmt::format("the quote {} is not closed", quote));
  ++position_;
  return true;
}

// Up to the matching brace, or to the end when there is none: the JSON reader says what is wrong.
void Scanner::json_extent(ScannedDevice& device) {
  const size_t start = position_;
  size_t depth = 0;
  bool in_string = false;
  for (; !at_end(); ++position_) {
    const char c = peek();
    if (in_string) {
      if (c == '\\') ++position_;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      ++position_;
      break;
    }
  }
  if (position_ > text_.size()) position_ = text_.size();
  device.json = text_.substr(start, position_ - start);
}

}  // namespace

std::optional<std::vector<ScannedDevice>> scan_devices(const TargetCatalogue& catalogue,
                                                       std::string_view text,
                                                       const std::string& where,
                                                       Diagnostics& diagnostics) {
  return Scanner(catalogue, text, where, diagnostics).devices();
}

std::string place(const std::string& where, std::string_view text, size_t offset) {
  return offset == 0 ? where : fmt::format("{}, {}", where, position_in(text, offset));
}

}  // namespace intarsia
