// The C interface of intarsia/contract/package.h.
#include "intarsia/contract/package.h"
#include "intarsia/contract/cache.h"

#include "crc32.h"
#include "intarsia/core/flat_reader.h"
#include "intarsia/core/package_layout.h"
#include "package_check.h"

namespace intarsia::rt {
namespace {

// The payload's function list, of a package that is open.
FlatVector functions_of(const FlatReader& reader) {
  return reader.vector(reader.follow(0), kPackageFunctions);
}

intarsia_status check(const uint8_t* bytes, uint32_t size) {
  if (reinterpret_cast<uintptr_t>(bytes) % kBlobAlignment != 0)
    return INTARSIA_ERROR_PACKAGE_MISALIGNED;
  if (size < kHeaderBytes) return INTARSIA_ERROR_PACKAGE_TRUNCATED;
  const FlatReader header(bytes);
  if (header.u32(kMagicAt) != kMagic) return INTARSIA_ERROR_PACKAGE_FORMAT;
  if (header.u32(kVersionAt) != INTARSIA_PACKAGE_VERSION) return INTARSIA_ERROR_PACKAGE_VERSION;
  const uint32_t payload_bytes = header.u32(kPayloadBytesAt);
  if (payload_bytes > size - kHeaderBytes) return INTARSIA_ERROR_PACKAGE_TRUNCATED;
  const uint8_t* payload = bytes + kHeaderBytes;
  if (crc32(payload, payload_bytes) != header.u32(kChecksumAt))
    return INTARSIA_ERROR_PACKAGE_CHECKSUM;
  return payload_is_sound(payload, payload_bytes) ? INTARSIA_OK : INTARSIA_ERROR_PACKAGE_FORMAT;
}

// Place of the function's table.
intarsia_status find_function(const intarsia_package* package, uint32_t function, uint32_t* table) {
  if (package == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (package->bytes == nullptr) return INTARSIA_ERROR_NOT_INITIALISED;
  if (function >= package->function_count) return INTARSIA_ERROR_BAD_INDEX;
  const FlatReader reader(package->bytes + kHeaderBytes);
  *table = reader.follow(functions_of(reader).first + 4 * function);
  return INTARSIA_OK;
}

// A field of the package itself; 0 when absent.
uint32_t word_of(const FlatReader& reader, uint32_t slot) {
  const uint32_t place = reader.field(reader.follow(0), slot);
  return place == 0 ? 0 : reader.u32(place);
}

// Element of a vector of words; 0 when the vector is absent.
uint32_t word_at(const FlatReader& reader, const FlatVector& vector, uint32_t index) {
  return index < vector.count ? reader.u32(vector.first + 4 * index) : 0;
}

// What is known of the bytes behind bases.
struct Memories {
  FlatVector pool_bytes;                          // of the package
  FlatVector regions, offsets, needed, memories;  // of a function

  Memories(const FlatReader& reader, uint32_t table)
      : pool_bytes(reader.vector(reader.follow(0), kPackagePoolBytes)),
        regions(reader.vector(table, kFunctionRegions)),
        offsets(reader.vector(table, kFunctionRegionOffsets)),
        needed(reader.vector(table, kFunctionRegionBytes)),
        memories(reader.vector(table, kFunctionRegionMemories)) {}

  bool is_constants(const FlatReader& reader, uint32_t i) const {
    return reader.u8(regions.first + kRegionBytes * i + kRegionKindAt) == kRegionConstants;
  }
  uint32_t pool_of(const FlatReader& reader, uint32_t i) const {
    return reader.u16(regions.first + kRegionBytes * i + kRegionPoolAt);
  }
  // Bytes of the pool's block behind the base.
  uint32_t bytes_of(const FlatReader& reader, uint32_t i) const {
    const uint32_t bytes = word_at(reader, pool_bytes, pool_of(reader, i));
    const uint32_t offset = word_at(reader, offsets, i);
    return offset <= bytes ? bytes - offset : 0;
  }
};

bool ranges_lie_in(const FlatReader& reader, const FlatVector& ranges,
                   const FlatVector& pool_bytes) {
  for (uint32_t i = 0; i < ranges.count; ++i) {
    const uint32_t range = ranges.first + kRangeBytes * i;
    const uint32_t bytes = word_at(reader, pool_bytes, reader.u16(range + kRangePoolAt));
    const uint32_t offset = reader.u32(range + kRangeOffsetAt);
    if (offset > bytes || reader.u32(range + kRangeBytesAt) > bytes - offset) return false;
  }
  return true;
}

// Whether a function keeps to what the package says it uses of each pool.
bool lies_in_pools(const FlatReader& reader, uint32_t table) {
  const Memories memories(reader, table);
  const uint32_t constants = reader.vector(table, kFunctionConstants).count;
  for (uint32_t i = 0; i < memories.regions.count; ++i) {
    const uint32_t needed = word_at(reader, memories.needed, i);
    if (memories.is_constants(reader, i)) {
      if (needed > constants) return false;
      continue;
    }
    const uint32_t pool = memories.pool_of(reader, i);
    if (pool >= memories.pool_bytes.count ||
        word_at(reader, memories.offsets, i) > word_at(reader, memories.pool_bytes, pool) ||
        needed > memories.bytes_of(reader, i))
      return false;
  }
  return ranges_lie_in(reader, reader.vector(table, kFunctionAccessed), memories.pool_bytes) &&
         ranges_lie_in(reader, reader.vector(table, kFunctionResults), memories.pool_bytes);
}

const uint8_t* bytes_of(const FlatReader& reader, const FlatVector& vector) {
  return vector.count == 0 ? nullptr : reader.at(vector.first);
}

intarsia_stream stream_of(const FlatReader& reader, uint32_t table) {
  const FlatVector commands = reader.vector(table, kFunctionCommands);
  const FlatVector constants = reader.vector(table, kFunctionConstants);
  return {bytes_of(reader, commands), commands.count, bytes_of(reader, constants), constants.count,
          nullptr};
}

// Calls `hook` for what the function has in `slot`. A package that says nothing of it uses the whole of its regions' pools.
// Apart from its callers, whose stack is below the device's.
template <auto hook>
[[gnu::noinline]] void for_each_range(const FlatReader& reader, uint32_t table, uint32_t slot,
                                      void* const* pools, uint32_t pool_count) {
  if (reader.field(table, kFunctionAccessed) == 0 && reader.field(table, kFunctionResults) == 0) {
    const Memories memories(reader, table);
    for (uint32_t i = 0; i < memories.regions.count; ++i)
      if (!memories.is_constants(reader, i))
        hook(static_cast<uint8_t*>(pools[memories.pool_of(reader, i)]) +
                 word_at(reader, memories.offsets, i),
             memories.bytes_of(reader, i));
    return;
  }
  const FlatVector ranges = reader.vector(table, slot);
  for (uint32_t i = 0; i < ranges.count; ++i) {
    const uint32_t range = ranges.first + kRangeBytes * i;
    const uint32_t pool = reader.u16(range + kRangePoolAt);
    if (pool < pool_count && pools[pool] != nullptr)
      hook(static_cast<uint8_t*>(pools[pool]) + reader.u32(range + kRangeOffsetAt),
           reader.u32(range + kRangeBytesAt));
  }
}

}  // namespace
}  // namespace intarsia::rt

using namespace intarsia::rt;

intarsia_status intarsia_package_open(intarsia_package* package, const void* bytes, uint32_t size) {
  if (package == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *package = {nullptr, 0, 0};
  if (bytes == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  const auto* first = static_cast<const uint8_t*>(bytes);
  const intarsia_status status = check(first, size);
  if (status != INTARSIA_OK) return status;
  *package = {first, size, functions_of(FlatReader(first + kHeaderBytes)).count};
  // The program may have written it there itself.
  intarsia_cache_clean(bytes, size);
  return INTARSIA_OK;
}

intarsia_status intarsia_package_check(const intarsia_package* package,
                                       const intarsia_package_contract* contract) {
  if (package == nullptr || contract == nullptr ||
      (contract->pool_bytes == nullptr && contract->pool_count != 0))
    return INTARSIA_ERROR_NULL_ARGUMENT;
  if (package->bytes == nullptr) return INTARSIA_ERROR_NOT_INITIALISED;
  const FlatReader reader(package->bytes + kHeaderBytes);
  if (word_of(reader, kPackageModelId) != contract->model_id) return INTARSIA_ERROR_PACKAGE_MODEL;
  if (word_of(reader, kPackageAlignment) > contract->alignment)
    return INTARSIA_ERROR_PACKAGE_MEMORY;
  const FlatVector pools = reader.vector(reader.follow(0), kPackagePoolBytes);
  for (uint32_t i = 0; i < pools.count; ++i) {
    const uint32_t given = i < contract->pool_count ? contract->pool_bytes[i] : 0;
    if (reader.u32(pools.first + 4 * i) > given) return INTARSIA_ERROR_PACKAGE_MEMORY;
  }
  const FlatVector functions = functions_of(reader);
  for (uint32_t i = 0; i < functions.count; ++i)
    if (!lies_in_pools(reader, reader.follow(functions.first + 4 * i)))
      return INTARSIA_ERROR_PACKAGE_FORMAT;
  return INTARSIA_OK;
}

intarsia_status intarsia_package_stream(const intarsia_package* package, uint32_t function,
                                        intarsia_stream* stream) {
  if (stream == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  uint32_t table = 0;
  const intarsia_status status = find_function(package, function, &table);
  if (status != INTARSIA_OK) return status;
  *stream = stream_of(FlatReader(package->bytes + kHeaderBytes), table);
  return INTARSIA_OK;
}

intarsia_status intarsia_package_run(const intarsia_package* package, uint32_t function,
                                     void* const* pools, uint32_t pool_count,
                                     intarsia_device* device) {
  uint32_t table = 0;
  const intarsia_status status = find_function(package, function, &table);
  if (status != INTARSIA_OK) return status;
  if (device == nullptr || device->run == nullptr || (pools == nullptr && pool_count != 0))
    return INTARSIA_ERROR_NULL_ARGUMENT;

  const FlatReader reader(package->bytes + kHeaderBytes);
  intarsia_stream stream = stream_of(reader, table);
  const Memories memories(reader, table);
  void* bases[INTARSIA_PACKAGE_MAX_REGIONS] = {};
  intarsia_region regions[INTARSIA_PACKAGE_MAX_REGIONS] = {};
  for (uint32_t i = 0; i < memories.regions.count; ++i) {
    regions[i].needed = word_at(reader, memories.needed, i);
    if (i < memories.memories.count) regions[i].memory = reader.u8(memories.memories.first + i);
    if (memories.is_constants(reader, i)) {
      // Devices only read this region; the interface has one kind of pointer for all of them.
      bases[i] = const_cast<uint8_t*>(stream.constants);
      regions[i].bytes = stream.constant_bytes;
      continue;
    }
    const uint32_t pool = memories.pool_of(reader, i);
    if (pool >= pool_count) return INTARSIA_ERROR_BAD_INDEX;
    if (pools[pool] == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
    bases[i] = static_cast<uint8_t*>(pools[pool]) + word_at(reader, memories.offsets, i);
    regions[i].bytes = memories.bytes_of(reader, i);
  }
  if (memories.needed.count != 0) stream.regions = regions;
  for_each_range<intarsia_cache_clean>(reader, table, kFunctionAccessed, pools, pool_count);
  const intarsia_status ended = device->run(device, &stream, bases, memories.regions.count);
  for_each_range<intarsia_cache_invalidate>(reader, table, kFunctionResults, pools, pool_count);
  return ended;
}
