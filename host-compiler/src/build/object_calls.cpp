#include "build/object_calls.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace intarsia::build {
namespace {

// Of the ELF specification.
constexpr uint64_t kSymbols = 2, kRelocationsWithAddend = 4, kRelocations = 9;  // sh_type
constexpr uint64_t kHoldsCode = 4;                                              // sh_flags
constexpr unsigned kFunction = 2;                                               // type of a symbol
constexpr unsigned kLocal = 0;                                                  // binding

struct Section {
  uint64_t name, type, flags, offset, size, link, info;
};
struct Symbol {
  std::string name;
  unsigned type, binding;
  uint64_t section;  // 0: defined elsewhere
};

// A file whose numbers are read with the low byte first; what lies beyond its end reads as nothing and is remembered.
class ElfObject {
 public:
  explicit ElfObject(const std::string& bytes) : bytes_(bytes) {}

  bool read() {
    if (!bytes_.starts_with("\x7f"
                            "ELF") ||
        bytes_.size() < 64)
      return false;
    wide_ = bytes_[4] == 2;
    const uint64_t table = word(wide_ ? 40 : 32), entry = number(wide_ ? 58 : 46, 2),
                   count = number(wide_ ? 60 : 48, 2);
    names_ = number(wide_ ? 62 : 50, 2);
    if (entry != (wide_ ? 64 : 40) || table > bytes_.size() ||
        count * entry > bytes_.size() - table || names_ >= count)
      return false;
    for (uint64_t i = 0; i < count; ++i) sections_.push_back(section_at(table + i * entry));
    for (const Section& section : sections_)
      if (section.type == kSymbols && section.link < count) read_symbols(section);
    return !beyond_;
  }

  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  std::string name_of(const Section& section) {
    return text_at(sections_[names_].offset + section.name);
  }
  // The symbols that a section's relocations refer to.
  std::set<uint64_t> referred(const Section& relocations) {
    const bool addend = relocations.type == kRelocationsWithAddend;
    const uint64_t entry = (wide_ ? 16 : 8) + (addend ? (wide_ ? 8 : 4) : 0);
    std::set<uint64_t> found;
    for (uint64_t at = 0; at + entry <= relocations.size && !beyond_; at += entry) {
      const uint64_t info = word(relocations.offset + at + (wide_ ? 8 : 4));
      found.insert(wide_ ? info >> 32 : info >> 8);
    }
    return found;
  }
  // The largest of a section of stack sizes: an address and a number in sevens of bits, as often as there are functions.
  uint64_t largest_stack(const Section& sizes) {
    uint64_t largest = 0, at = sizes.offset;
    const uint64_t end = sizes.offset + sizes.size;
    while (at + (wide_ ? 8 : 4) < end && !beyond_) {
      at += wide_ ? 8 : 4;
      uint64_t bytes = 0;
      for (unsigned shift = 0; shift < 63 && at < end; shift += 7) {
        const uint64_t digit = number(at++, 1);
        bytes |= (digit & 127) << shift;
        if (digit < 128) break;
      }
      largest = std::max(largest, bytes);
    }
    return largest;
  }
  bool is_whole() const { return !beyond_; }

 private:
  uint64_t number(uint64_t at, uint64_t bytes) {
    if (at > bytes_.size() || bytes > bytes_.size() - at) {
      beyond_ = true;
      return 0;
    }
    uint64_t value = 0;
    for (uint64_t i = 0; i < bytes; ++i)
      value |= uint64_t{static_cast<uint8_t>(bytes_[at + i])} << (8 * i);
    return value;
  }
  uint64_t word(uint64_t at) { return number(at, wide_ ? 8 : 4); }
  std::string text_at(uint64_t at) {
    std::string text;
    while (const uint64_t letter = number(at++, 1)) text += static_cast<char>(letter);
    return text;
  }
  Section section_at(uint64_t at) {
    const uint64_t step = wide_ ? 8 : 4;
    return {number(at, 4),
            number(at + 4, 4),
            word(at + 8),
            word(at + 8 + 2 * step),
            word(at + 8 + 3 * step),
            number(at + 8 + 4 * step, 4),
            number(at + 12 + 4 * step, 4)};
  }
  void read_symbols(const Section& table) {
    const uint64_t entry = wide_ ? 24 : 16;
    for (uint64_t at = 0; at + entry <= table.size && !beyond_; at += entry) {
      const uint64_t symbol = table.offset + at;
      const uint64_t info = number(symbol + (wide_ ? 4 : 12), 1);
      symbols_.push_back({text_at(sections_[table.link].offset + number(symbol, 4)),
                          static_cast<unsigned>(info & 15), static_cast<unsigned>(info >> 4),
                          number(symbol + (wide_ ? 6 : 14), 2)});
    }
  }

  const std::string& bytes_;
  bool wide_ = false, beyond_ = false;
  uint64_t names_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace

Result<std::string> calls_of_object(const std::string& bytes, const std::string& name) {
  ElfObject object(bytes);
  if (!object.read())
    return Diagnostics(name, "is no object file that is understood here",
                       "compile the model again");
  // By section: what the function in it is called in a call graph. Others do not see one that is local.
  std::map<uint64_t, std::string> functions;
  for (const Symbol& symbol : object.symbols())
    if (symbol.type == kFunction && symbol.section != 0)
      functions.try_emplace(symbol.section, symbol.binding == kLocal
                                                ? fmt::format("{}:{}", name, symbol.name)
                                                : symbol.name);
  std::map<uint64_t, uint64_t> stacks;
  std::string edges;
  for (const Section& section : object.sections()) {
    if (object.name_of(section) == ".stack_sizes")
      stacks[section.link] = std::max(stacks[section.link], object.largest_stack(section));
    const bool relocates = section.type == kRelocations || section.type == kRelocationsWithAddend;
    const auto caller = functions.find(section.info);
    if (!relocates || caller == functions.end() || section.info >= object.sections().size() ||
        (object.sections()[section.info].flags & kHoldsCode) == 0)
      continue;
    for (const uint64_t index : object.referred(section)) {
      if (index >= object.symbols().size()) continue;
      const Symbol& symbol = object.symbols()[index];
      const auto inside = functions.find(symbol.section);
      const bool outside = symbol.section == 0 && !symbol.name.empty();
      if (inside == caller || (inside == functions.end() && !outside)) continue;
      edges += fmt::format("edge: {{ sourcename: \"{}\" targetname: \"{}\" }}\n", caller->second,
                           outside ? symbol.name : inside->second);
    }
  }
  if (!object.is_whole() || stacks.empty())
    return Diagnostics(name, "does not say how much stack its functions take",
                       "compile the model again");
  std::string nodes;
  for (const auto& [section, function] : functions)
    if (const auto stack = stacks.find(section); stack != stacks.end())
      nodes += fmt::format("node: {{ title: \"{0}\" label: \"{0}\\n{1}\\n{2} bytes (static)\" }}\n",
                           function, name, stack->second);
  return nodes + edges;
}

}  // namespace intarsia::build
