#include "packaging/formats/zip.h"

#include <array>
#include <cstdint>
#include <memory>

namespace intarsia::packaging {
namespace {

constexpr uint32_t kLocalHeader = 0x04034B50, kCentralHeader = 0x02014B50, kEnd = 0x06054B50;
constexpr uint16_t kZipVersion = 20, kNamesAreUtf8 = 1 << 11, kStored = 0;
// 1 January 1980, midnight: the first that the format knows.
constexpr uint16_t kTime = 0, kDate = 1 << 5 | 1;

std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0xEDB88320u : value >> 1;
    table[i] = value;
  }
  return table;
}

struct Entry {
  std::string path;
  uint32_t crc = 0, size = 0, offset = 0;
};

// CRC-32 of ISO 3309, and the size.
Entry measure(const SourceFile& file) {
  static const std::array<uint32_t, 256> table = crc_table();
  Entry entry{file.path};
  uint32_t crc = ~0u;
  file.write_to([&](std::string_view piece) {
    for (const char c : piece) crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xFF] ^ crc >> 8;
    entry.size += static_cast<uint32_t>(piece.size());
  });
  entry.crc = ~crc;
  return entry;
}

class Bytes {
 public:
  Bytes& u16(uint32_t value) {
    text_ += {static_cast<char>(value & 0xFF), static_cast<char>(value >> 8 & 0xFF)};
    return *this;
  }
  Bytes& u32(uint32_t value) { return u16(value & 0xFFFF).u16(value >> 16); }
  Bytes& name(const std::string& text) {
    text_ += text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// What a local header and one of the directory have in common: from the version needed to the length of the extra field.
void add_facts(Bytes& bytes, const Entry& entry) {
  bytes.u16(kZipVersion).u16(kNamesAreUtf8).u16(kStored).u16(kTime).u16(kDate);
  bytes.u32(entry.crc).u32(entry.size).u32(entry.size);
  bytes.u16(static_cast<uint32_t>(entry.path.size())).u16(0);
}

void write_zip(const std::vector<SourceFile>& files, const TextSink& sink) {
  std::vector<Entry> entries;
  uint32_t at = 0;
  const auto put = [&](const Bytes& bytes) {
    sink(bytes.text());
    at += static_cast<uint32_t>(bytes.text().size());
  };
  for (const SourceFile& file : files) {
    Entry& entry = entries.emplace_back(measure(file));
    entry.offset = at;
    Bytes header;
    header.u32(kLocalHeader);
    add_facts(header, entry);
    put(header.name(entry.path));
    file.write_to(sink);
    at += entry.size;
  }
  const uint32_t directory = at;
  for (const Entry& entry : entries) {
    Bytes header;
    header.u32(kCentralHeader).u16(kZipVersion);
    add_facts(header, entry);
    // No comment, first disk, no attributes.
    header.u16(0).u16(0).u16(0).u32(0).u32(entry.offset);
    put(header.name(entry.path));
  }
  const auto count = static_cast<uint32_t>(entries.size());
  Bytes end;
  end.u32(kEnd).u16(0).u16(0).u16(count).u16(count).u32(at - directory).u32(directory).u16(0);
  sink(end.text());
}

}  // namespace

SourceFile zip(const std::string& path, std::vector<SourceFile> files) {
  const auto kept = std::make_shared<const std::vector<SourceFile>>(std::move(files));
  return {path, "", [kept](const TextSink& sink) { write_zip(*kept, sink); }};
}

}  // namespace intarsia::packaging
