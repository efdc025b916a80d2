// Sections and symbols of a firmware: enough of ELF32 for figures and marker addresses. Every
// offset comes from the file and is checked before use.
#include <fmt/format.h>

#include <algorithm>

#include "board/board_firmware.h"
#include "support/files.h"

namespace intarsia::board {
namespace {

constexpr uint32_t kHeaderBytes = 52;
constexpr uint32_t kSectionBytes = 40;
constexpr uint32_t kSymbolBytes = 16;
constexpr uint32_t kTypeSymbolTable = 2;
constexpr uint32_t kTypeNoBits = 8;
constexpr uint32_t kFlagAllocated = 2;
constexpr uint32_t kProgramHeaderBytes = 32;
constexpr uint32_t kLoaded = 1;        // type of a program header
constexpr uint32_t kTypeFunction = 2;  // of a symbol

// Reads numbers; remembers when one lay outside.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  bool good() const { return good_; }

  uint32_t number(uint64_t offset, int size) {
    if (offset > bytes_.size() || bytes_.size() - offset < static_cast<size_t>(size)) {
      good_ = false;
      return 0;
    }
    uint32_t value = 0;
    for (int i = size - 1; i >= 0; --i) {
      value = value << 8 | static_cast<uint8_t>(bytes_[offset + static_cast<uint64_t>(i)]);
    }
    return value;
  }
  uint32_t u16(uint64_t offset) { return number(offset, 2); }
  uint32_t u32(uint64_t offset) { return number(offset, 4); }

  std::string text(uint64_t offset) {
    const size_t end = bytes_.find('\0', offset);
    if (offset >= bytes_.size() || end == std::string_view::npos) {
      good_ = false;
      return {};
    }
    return std::string(bytes_.substr(offset, end - offset));
  }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

struct SectionHeader {
  uint32_t name, type, flags, address, offset, size, link;
};

SectionHeader read_section(Bytes& bytes, uint64_t at) {
  return {bytes.u32(at),      bytes.u32(at + 4),  bytes.u32(at + 8), bytes.u32(at + 12),
          bytes.u32(at + 16), bytes.u32(at + 20), bytes.u32(at + 24)};
}

void read_symbols(Bytes& bytes, const SectionHeader& table, uint32_t names, ElfImage& image) {
  for (uint32_t i = 0; i < table.size / kSymbolBytes && bytes.good(); ++i) {
    const uint64_t at = uint64_t{table.offset} + uint64_t{i} * kSymbolBytes;
    const uint32_t section = bytes.u16(at + 14);
    std::string name = bytes.text(uint64_t{names} + bytes.u32(at));
    if (section == 0 || name.empty()) continue;
    const uint32_t value = bytes.u32(at + 4), type = bytes.number(at + 12, 1) & 15;
    // Bit 0 of a function's value is the state of the core.
    if (type == kTypeFunction) image.functions.push_back({name, value & ~1u, bytes.u32(at + 8)});
    image.homes.emplace(name, section);
    image.symbols.emplace(std::move(name), value);
  }
}

// What the file holds of memory. The physical address is where it is loaded: .data lies in flash at first.
bool read_segments(Bytes& bytes, std::string_view contents, ElfImage& image) {
  const uint64_t table = bytes.u32(28);
  const uint32_t count = bytes.u16(44);
  for (uint32_t i = 0; i < count && bytes.good(); ++i) {
    const uint64_t at = table + uint64_t{i} * kProgramHeaderBytes;
    const uint64_t offset = bytes.u32(at + 4), size = bytes.u32(at + 16);
    const uint32_t address = bytes.u32(at + 12);
    if (!bytes.good() || bytes.u32(at) != kLoaded || size == 0) continue;
    if (offset + size > contents.size() || address + size > uint64_t{1} << 32) return false;
    const std::string_view part = contents.substr(offset, size);
    image.segments.push_back({address, std::vector<uint8_t>(part.begin(), part.end())});
  }
  return bytes.good();
}

}  // namespace

Result<ElfImage> parse_elf(std::string_view contents, const std::string& where) {
  // Magic, 32-bit, little-endian.
  if (contents.size() < kHeaderBytes || !contents.starts_with("\x7f"
                                                              "ELF\x01\x01")) {
    return Diagnostics(where, "is not a 32-bit little-endian ELF file");
  }
  Bytes bytes(contents);
  const uint64_t table = bytes.u32(32);
  const uint32_t count = bytes.u16(48);
  const uint32_t name_index = bytes.u16(50);
  const auto damaged = [&where] { return Diagnostics(where, "is a damaged ELF file"); };
  if (table + uint64_t{count} * kSectionBytes > contents.size()) return damaged();
  std::vector<SectionHeader> headers;
  for (uint32_t i = 0; i < count && bytes.good(); ++i) {
    headers.push_back(read_section(bytes, table + uint64_t{i} * kSectionBytes));
  }
  if (!bytes.good() || name_index >= headers.size()) return damaged();
  const uint64_t names = headers[name_index].offset;
  ElfImage image;
  for (uint32_t i = 0; i < headers.size(); ++i) {
    const SectionHeader& header = headers[i];
    if ((header.flags & kFlagAllocated) != 0 && header.size > 0) {
      image.sections.push_back({bytes.text(names + header.name), header.address, header.size, i,
                                header.type != kTypeNoBits});
    }
    if (header.type == kTypeSymbolTable) {
      if (header.link >= headers.size()) return damaged();
      read_symbols(bytes, header, headers[header.link].offset, image);
    }
  }
  if (!bytes.good() || !read_segments(bytes, contents, image)) return damaged();
  return image;
}

Result<ElfImage> read_elf(const std::string& path) {
  INTARSIA_TRY(const std::string bytes, read_text_file(path));
  return parse_elf(bytes, path);
}

std::vector<MemoryUse> memory_use(const Board& board, const ElfImage& image) {
  std::vector<MemoryUse> uses;
  for (const Memory& memory : board.memories) {
    const auto holds = [&memory](uint64_t address) {
      return address >= memory.base && address < memory.end();
    };
    MemoryUse use{memory.name, 0, memory.size};
    for (const ElfSection& section : image.sections) {
      if (holds(section.address)) use.used += section.size;
      // Initialised data lies in two memories: where it lives and where it is copied from.
      const auto load = image.symbols.find("__intarsia_data_load");
      if (section.name == ".data" && load != image.symbols.end() && holds(load->second)) {
        use.used += section.size;
      }
    }
    uses.push_back(use);
  }
  return uses;
}

}  // namespace intarsia::board
