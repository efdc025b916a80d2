#include "packaging/c_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace intarsia::packaging {
namespace {

// Of C's letters and digits, whatever the locale: every character of the whole runtime is looked at.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool begins_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

using Characters = std::array<bool, 256>;
constexpr Characters characters(const auto& has) {
  Characters result = {};
  for (size_t i = 0; i < result.size(); ++i) result[i] = has(static_cast<char>(i));
  return result;
}
bool is_one_of(const Characters& characters, char c) {
  return characters[static_cast<unsigned char>(c)];
}
constexpr Characters kOfIdentifiers =
    characters([](char c) { return begins_identifier(c) || is_digit(c); });
// Where a text is cut; all others stay beside each other.
constexpr Characters kCuts = characters(
    [](char c) { return std::string_view("#\"';{}").find(c) != std::string_view::npos; });

bool continues_identifier(char c) {
  return is_one_of(kOfIdentifiers, c);
}

// Comments become a space and literals lose what is in them; lines that end in a backslash are joined.
std::string without_comments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t plain = i;
    while (i < text.size() && text[i] != '/' && text[i] != '\\') ++i;
    out.append(text, plain, i - plain);
    if (i == text.size()) break;
    const std::string_view two = text.substr(i, 2);
    if (two == "\\\n") {
      ++i;
    } else if (two == "//") {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (two == "/*") {
      const size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 1;
      out += ' ';
    } else {
      out += text[i];
    }
  }
  return out;
}

// The identifiers of a piece of text, in which they lie; those in literals are none.
std::vector<std::string_view> identifiers_of(std::string_view text) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"' || text[i] == '\'') {
      const char quote = text[i++];
      while (i < text.size() && text[i] != quote) i += text[i] == '\\' ? 2 : 1;
      ++i;
    } else if (begins_identifier(text[i])) {
      const size_t begin = i;
      while (i < text.size() && continues_identifier(text[i])) ++i;
      names.push_back(text.substr(begin, i - begin));
    } else if (is_digit(text[i])) {
      while (i < text.size() && (continues_identifier(text[i]) || text[i] == '.')) ++i;
    } else {
      ++i;
    }
  }
  return names;
}

// Most are in a text many times.
void add_each(std::vector<std::string_view> names, std::set<std::string>& to) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string_view name : names) to.emplace(name);
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// What is counted while a text is read.
struct Reading {
  int others = 0;  // declarations, macros and messages: what says something
  std::vector<std::pair<std::string, std::string>> aliases;  // macros that stand for one other name
};

void read_directive(std::string_view line, CText& file, Reading& reading) {
  line = trimmed(line.substr(1));
  const size_t word_end = std::min(line.find_first_of(" \t\"<("), line.size());
  const std::string_view word = line.substr(0, word_end);
  const std::string_view rest = trimmed(line.substr(word_end));
  if (word == "include") {
    const size_t end =
        rest.size() > 1 && rest[0] == '"' ? rest.find('"', 1) : std::string_view::npos;
    if (end != std::string_view::npos) file.includes.emplace_back(rest.substr(1, end - 1));
    return;
  }
  if (word == "warning" || word == "error") ++reading.others;
  if (word == "warning") file.warns = true;
  std::vector<std::string_view> names = identifiers_of(rest);
  if (word == "define" && !names.empty()) {
    file.declares.emplace(names.front());
    file.macros.emplace(names.front());
    if (rest.size() > names.front().size()) ++reading.others;
    // #define FUNCTION function
    if (names.size() == 2 && rest.ends_with(names[1]) && rest[names[0].size()] != '(')
      reading.aliases.emplace_back(names[0], names[1]);
    names.erase(names.begin());
  }
  if (word != "undef") add_each(std::move(names), file.uses);
}

// The place behind the parenthesis that closes the one at `open`, or the end.
size_t behind_parenthesis(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

// Calls of macros outside of braces define or declare the functions that they name:
// INTARSIA_KERNEL(intarsia_conv_s8, WHOLE).
std::string_view without_macro_calls(std::string_view head, CText& file) {
  for (;;) {
    const size_t begin = std::min(head.find_first_not_of(" \t\r\n"), head.size());
    size_t end = begin;
    while (end < head.size() &&
           (std::isupper(static_cast<unsigned char>(head[end])) ||
            std::isdigit(static_cast<unsigned char>(head[end])) || head[end] == '_'))
      ++end;
    if (end == begin || end == head.size() || head[end] != '(') return head;
    const size_t behind = behind_parenthesis(head, end);
    const std::vector<std::string_view> names = identifiers_of(head.substr(end, behind - end));
    for (const std::string_view name : names)
      if (name.starts_with("intarsia_")) file.defines.emplace(name), file.declares.emplace(name);
    // A name without an underscore is a part of names: BLOCKS(whole) makes blocks_whole.
    if (!names.empty() && names.front().find('_') != std::string_view::npos &&
        !names.front().starts_with("intarsia_"))
      file.locals.emplace(names.front());
    head.remove_prefix(behind);
  }
}

void add_enumerators(std::string_view body, CText& file) {
  while (!body.empty()) {
    const size_t end = std::min(body.find(','), body.size());
    const std::vector<std::string_view> names = identifiers_of(body.substr(0, end));
    if (!names.empty()) file.declares.emplace(names.front()), file.locals.emplace(names.front());
    body.remove_prefix(std::min(end + 1, body.size()));
  }
}

// A declaration or definition outside of braces: `head` up to its ';' or '{'.
void read_declaration(std::string_view head, bool has_body, CText& file) {
  head = without_macro_calls(head, file);
  const std::vector<std::string_view> names = identifiers_of(head);
  if (names.empty()) return;
  const bool is_static = head.find("static ") != std::string_view::npos ||
                         head.find("_INLINE") != std::string_view::npos ||
                         head.find("_OUTLINE") != std::string_view::npos;
  const size_t assigned = head.find('=');
  const size_t call = head.substr(0, assigned).find('(');
  if (call != std::string_view::npos) {
    // `type name(`: the last identifier before the first parenthesis that is no attribute's.
    std::string_view before = head.substr(0, call);
    size_t begin = call;
    while (before.ends_with("__attribute__") || before.ends_with("__declspec")) {
      begin = head.find('(', behind_parenthesis(head, begin));
      if (begin == std::string_view::npos) return;
      before = head.substr(0, begin);
    }
    std::vector<std::string_view> earlier = identifiers_of(before);
    if (earlier.empty()) return;
    // Of a pointer to functions, `type (*name)(`.
    if (const std::string_view inside = trimmed(head.substr(begin + 1)); inside.starts_with('*'))
      if (const auto pointers = identifiers_of(inside); !pointers.empty())
        earlier.push_back(pointers.front());
    file.declares.emplace(earlier.back());
    if (has_body && !is_static) file.defines.emplace(earlier.back());
    if (is_static || names.front() == "typedef") file.locals.emplace(earlier.back());
    // Default arguments and macros that stand for declarations may name functions.
    if (earlier.size() == 1) add_each(names, file.uses);
    return;
  }
  const bool is_typedef = names.front() == "typedef";
  if (is_typedef) file.declares.emplace(names.back()), file.locals.emplace(names.back());
  if (has_body && names.size() > 1) {
    const std::string_view kind = names[is_typedef ? 1 : 0];
    if (kind == "struct" || kind == "enum" || kind == "union")
      file.declares.emplace(names.back()), file.tags.emplace(names.back());
  }
  if (is_static && names.size() > 1) {
    const std::vector<std::string_view> object =
        identifiers_of(head.substr(0, head.find_first_of("[=")));
    if (!object.empty()) file.locals.emplace(object.back());
  }
  if (!has_body && assigned != std::string_view::npos) add_each(names, file.uses);
  // Objects that other files see.
  if (!is_static && names.size() > 1) file.declares.emplace(names.back());
}

}  // namespace

CText read_c_text(std::string_view original) {
  CText file;
  Reading reading;
  const std::string text = without_comments(original);
  std::string head;  // since the last declaration ended
  int depth = 0;
  bool in_enum = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#' &&
        trimmed(std::string_view(text).substr(0, i).substr(text.rfind('\n', i) + 1)).empty()) {
      const size_t end = std::min(text.find('\n', i), text.size());
      read_directive(std::string_view(text).substr(i, end - i), file, reading);
      i = end;
      continue;
    }
    if (c == '"' || c == '\'') {
      const size_t begin = i++;
      while (i < text.size() && text[i] != c) i += text[i] == '\\' ? 2 : 1;
      head += std::string_view(text).substr(begin, i - begin + 1);
      continue;
    }
    if (depth == 0 && (c == ';' || c == '{')) {
      // extern "C" { and namespace x { hold declarations.
      const std::string_view declaration = trimmed(head);
      const bool holds_declarations =
          c == '{' && (declaration.find("extern \"C\"") != std::string_view::npos ||
                       declaration.find("namespace") != std::string_view::npos);
      if (!holds_declarations) {
        if (!declaration.empty()) ++reading.others;
        read_declaration(head, c == '{', file);
        in_enum = c == '{' && declaration.find("enum") != std::string_view::npos &&
                  declaration.find('(') == std::string_view::npos;
        if (c == '{') ++depth;
      }
      head.clear();
      continue;
    }
    if (c == '{') ++depth;
    if (c == '}') {
      if (depth == 0) continue;  // of extern "C"
      if (--depth == 0) {
        add_each(identifiers_of(head), file.uses);
        if (in_enum) add_enumerators(head, file);
        in_enum = false;
        head.clear();
        continue;
      }
    }
    const size_t begin = i++;
    while (i < text.size() && !is_one_of(kCuts, text[i])) ++i;
    head.append(text, begin, i-- - begin);
  }
  read_declaration(head, false, file);
  for (const auto& [name, meant] : reading.aliases)
    if (file.locals.contains(name)) file.locals.insert(meant);
  file.only_includes = reading.others == 0 && !file.includes.empty();
  return file;
}

namespace {

bool before_tag(std::string_view text) {
  for (const std::string_view word : {"struct ", "union ", "enum "})
    if (text.ends_with(word) &&
        (text.size() == word.size() || !continues_identifier(text[text.size() - word.size() - 1])))
      return true;
  return false;
}

}  // namespace

std::optional<std::string> included_name(std::string_view line) {
  constexpr std::string_view kInclude = "#include \"";
  if (!line.starts_with(kInclude)) return std::nullopt;
  const size_t end = line.find('"', kInclude.size());
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(kInclude.size(), end - kInclude.size()));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string with_names(std::string_view text, const OtherNames& names, const OtherNames& tags) {
  std::string out;
  out.reserve(text.size());
  const auto copy_to = [&](size_t& at, size_t end) {
    end = std::min(end, text.size());
    out.append(text, at, end - at);
    at = end;
  };
  for (size_t i = 0; i < text.size();) {
    const std::string_view two = text.substr(i, 2);
    if (two == "//") {
      copy_to(i, text.find('\n', i));
    } else if (two == "/*") {
      copy_to(i, text.find("*/", i + 2));
      copy_to(i, i + 2);
    } else if (text[i] == '"' || text[i] == '\'') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != text[i]) end += text[end] == '\\' ? 2 : 1;
      copy_to(i, end + 1);
    } else if (begins_identifier(text[i])) {
      size_t end = i;
      while (end < text.size() && continues_identifier(text[end])) ++end;
      const bool is_member = out.ends_with('.') || out.ends_with("->");
      const OtherNames& others = before_tag(out) ? tags : names;
      const auto found = others.find(std::string(text.substr(i, end - i)));
      if (found == others.end() || is_member) {
        copy_to(i, end);
      } else {
        out += found->second;
        i = end;
      }
    } else if (is_digit(text[i])) {
      size_t end = i;
      while (end < text.size() && (continues_identifier(text[end]) || text[end] == '.')) ++end;
      copy_to(i, end);
    } else {
      copy_to(i, i + 1);
    }
  }
  return out;
}

}  // namespace intarsia::packaging
