#include "debug_probe/stub_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace intarsia::debug_probe {
namespace {

// "<name a="1" b='2'/>", "</name>", and the text up to the next one.
struct Tag {
  std::string name;
  std::map<std::string, std::string, std::less<>> attributes;
  std::string text;

  std::string attribute(std::string_view key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second;
  }
};

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

void read_attributes(std::string_view inside, Tag& tag) {
  for (size_t at = 0;;) {
    const size_t equals = inside.find('=', at);
    if (equals == std::string_view::npos) return;
    size_t begin = equals, end = equals;
    while (end > at && is_space(inside[end - 1])) --end;
    begin = end;
    while (begin > at && !is_space(inside[begin - 1])) --begin;
    const size_t open = inside.find_first_of("\"'", equals);
    if (open == std::string_view::npos) return;
    const size_t close = inside.find(inside[open], open + 1);
    if (close == std::string_view::npos) return;
    tag.attributes[std::string(inside.substr(begin, end - begin))] =
        inside.substr(open + 1, close - open - 1);
    at = close + 1;
  }
}

// The few elements of these documents need no more of XML: comments and declarations are skipped.
std::vector<Tag> tags_of(std::string_view xml) {
  std::vector<Tag> tags;
  for (size_t at = 0; (at = xml.find('<', at)) != std::string_view::npos;) {
    if (xml.substr(at).starts_with("<!--")) {
      at = xml.find("-->", at);
      if (at == std::string_view::npos) break;
      continue;
    }
    const size_t close = xml.find('>', at);
    if (close == std::string_view::npos) break;
    const std::string_view inside = xml.substr(at + 1, close - at - 1);
    at = close + 1;
    if (inside.empty() || inside[0] == '!' || inside[0] == '?') continue;
    size_t name_end = inside[0] == '/' ? 1 : 0;
    while (name_end < inside.size() && !is_space(inside[name_end]) && inside[name_end] != '/')
      ++name_end;
    Tag tag;
    tag.name = inside.substr(0, name_end);
    read_attributes(inside.substr(name_end), tag);
    const size_t next = std::min(xml.find('<', at), xml.size());
    tag.text = xml.substr(at, next - at);
    tags.push_back(std::move(tag));
  }
  return tags;
}

// "0x800", "2048", with space around it.
std::optional<uint64_t> number_of(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

}  // namespace

Result<std::vector<StubMemory>> parse_memory_map(std::string_view xml, const std::string& where) {
  const auto wrong = [&](const std::string& what) {
    return Diagnostics(where, fmt::format("its memory map cannot be used: {}", what),
                       "this is a fault of the probe's GDB server or of its settings for the chip");
  };
  std::vector<StubMemory> memories;
  for (const Tag& tag : tags_of(xml)) {
    if (tag.name == "memory") {
      const std::optional<uint64_t> start = number_of(tag.attribute("start")),
                                    length = number_of(tag.attribute("length"));
      if (!start || !length || *start > UINT64_MAX - *length)
        return wrong(fmt::format("a memory has start '{}' and length '{}'", tag.attribute("start"),
                                 tag.attribute("length")));
      const std::string type = tag.attribute("type");
      memories.push_back({*start, *length, type == "flash", type == "ram", 0});
    } else if (tag.name == "property" && tag.attribute("name") == "blocksize") {
      const std::optional<uint64_t> size = number_of(tag.text);
      if (memories.empty() || !size)
        return wrong(fmt::format("a block has the size '{}'", tag.text));
      memories.back().block_size = *size;
    }
  }
  for (const StubMemory& memory : memories)
    if (memory.is_flash && (memory.block_size == 0 || memory.base % memory.block_size != 0 ||
                            memory.size % memory.block_size != 0))
      return wrong(fmt::format("the flash at {:#010x}, of {} bytes, has blocks of {}", memory.base,
                               memory.size, memory.block_size));
  return memories;
}

RegisterNumbers parse_registers(std::string_view xml, int& next) {
  RegisterNumbers registers;
  for (const Tag& tag : tags_of(xml)) {
    if (tag.name.ends_with("include")) {
      if (const std::string file = tag.attribute("href"); !file.empty())
        registers.included.push_back(file);
    } else if (tag.name == "reg") {
      if (const std::optional<uint64_t> number = number_of(tag.attribute("regnum"));
          number && *number < 10000)
        next = static_cast<int>(*number);
      std::string name = tag.attribute("name");
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      registers.numbers.emplace(std::move(name), next);
      ++next;
    }
  }
  return registers;
}

}  // namespace intarsia::debug_probe
