#include "debug_probe/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace intarsia::debug_probe {
namespace {

// Bytes for one memory: a segment, or what of it lies there.
struct Piece {
  uint64_t address;
  std::span<const uint8_t> bytes;
  bool is_flash;
};

const StubMemory* flash_at(const std::vector<StubMemory>& memories, uint64_t address) {
  for (const StubMemory& memory : memories)
    if (memory.is_flash && memory.holds(address)) return &memory;
  return nullptr;
}

// Where the kind of memory may change behind `address`.
uint64_t next_edge(const std::vector<StubMemory>& memories, uint64_t address, uint64_t end) {
  for (const StubMemory& memory : memories)
    for (const uint64_t edge : {memory.base, memory.base + memory.size})
      if (edge > address) end = std::min(end, edge);
  return end;
}

std::vector<Piece> pieces_of(const std::vector<StubMemory>& memories,
                             const std::vector<board::ElfSegment>& segments) {
  std::vector<Piece> pieces;
  for (const board::ElfSegment& segment : segments) {
    const uint64_t end = segment.address + segment.bytes.size();
    for (uint64_t at = segment.address; at < end;) {
      const uint64_t edge = next_edge(memories, at, end);
      pieces.push_back({at, std::span(segment.bytes).subspan(at - segment.address, edge - at),
                        flash_at(memories, at) != nullptr});
      at = edge;
    }
  }
  // Some servers take flash in ascending order only.
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.address < b.address; });
  return pieces;
}

// The address of the first difference within a part of it.
Result<std::optional<uint64_t>> difference(Client& client, const Piece& piece) {
  constexpr uint64_t kPart = 4096;
  for (uint64_t at = 0; at < piece.bytes.size(); at += kPart) {
    const auto wanted = piece.bytes.subspan(at, std::min<uint64_t>(kPart, piece.bytes.size() - at));
    INTARSIA_TRY(const std::vector<uint8_t> held, client.read(piece.address + at, wanted.size()));
    const auto [mine, theirs] = std::mismatch(wanted.begin(), wanted.end(), held.begin());
    if (mine != wanted.end())
      return std::optional<uint64_t>(piece.address + at +
                                     static_cast<uint64_t>(mine - wanted.begin()));
  }
  return std::optional<uint64_t>();
}

Result<bool> flash_holds(Client& client, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    if (!piece.is_flash) continue;
    INTARSIA_TRY(const std::optional<uint64_t> differs, difference(client, piece));
    if (differs) return false;
  }
  return true;
}

Result<void> check(Client& client, const Piece& piece) {
  INTARSIA_TRY(const std::optional<uint64_t> differs, difference(client, piece));
  if (!differs) return {};
  return Diagnostics(
      client.name(),
      fmt::format("what was written at {:#010x} does not read back: it is no {} there", *differs,
                  piece.is_flash ? "flash that can be written" : "RAM"),
      piece.is_flash ? "it may be protected against writing"
                     : "give every memory of board.json the 'base' that the chip has; flash is "
                       "written where the "
                       "probe's GDB server says that it is flash (its settings name the chip)");
}

}  // namespace

std::vector<ErasedRange> ranges_to_erase(const std::vector<StubMemory>& memories,
                                         const std::vector<board::ElfSegment>& segments) {
  std::map<uint64_t, uint64_t> blocks;  // base and size
  for (const Piece& piece : pieces_of(memories, segments)) {
    const StubMemory* flash = flash_at(memories, piece.address);
    if (flash == nullptr) continue;
    const uint64_t size = flash->block_size;
    const uint64_t end = piece.address + piece.bytes.size();
    for (uint64_t at = piece.address - (piece.address - flash->base) % size; at < end; at += size)
      blocks[at] = size;
  }
  std::vector<ErasedRange> ranges;
  for (const auto& [base, size] : blocks) {
    // A row ends where another flash begins: each is erased for itself.
    const bool goes_on = !ranges.empty() && ranges.back().base + ranges.back().size == base &&
                         flash_at(memories, ranges.back().base) == flash_at(memories, base);
    if (goes_on)
      ranges.back().size += size;
    else
      ranges.push_back({base, size});
  }
  return ranges;
}

Result<void> load(Client& client, const std::vector<board::ElfSegment>& segments) {
  const std::vector<Piece> pieces = pieces_of(client.memories(), segments);
  INTARSIA_TRY(const bool is_there, flash_holds(client, pieces));
  if (!is_there) {
    for (const ErasedRange& range : ranges_to_erase(client.memories(), segments))
      INTARSIA_TRY_VOID(client.erase_flash(range.base, range.size));
    for (const Piece& piece : pieces)
      if (piece.is_flash) INTARSIA_TRY_VOID(client.write_flash(piece.address, piece.bytes));
    INTARSIA_TRY_VOID(client.finish_flash());
  }
  for (const Piece& piece : pieces)
    if (!piece.is_flash) INTARSIA_TRY_VOID(client.write(piece.address, piece.bytes));
  for (const Piece& piece : pieces)
    if (!piece.is_flash || !is_there) INTARSIA_TRY_VOID(check(client, piece));
  return {};
}

}  // namespace intarsia::debug_probe
