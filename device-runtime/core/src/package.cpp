// The C interface of intarsia/contract/package.h.
#include "intarsia/contract/package.h"

#include "crc32.h"
#include "flat_reader.h"
#include "package_check.h"
#include "package_layout.h"

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

// Whether every region begins within what the package says it uses of its pool.
bool regions_lie_in(const FlatReader& reader, uint32_t table, const FlatVector& pool_bytes) {
  const FlatVector regions = reader.vector(table, kFunctionRegions);
  const FlatVector offsets = reader.vector(table, kFunctionRegionOffsets);
  for (uint32_t i = 0; i < regions.count; ++i) {
    const uint32_t region = regions.first + kRegionBytes * i;
    if (reader.u8(region + kRegionKindAt) == kRegionConstants) continue;
    const uint32_t pool = reader.u16(region + kRegionPoolAt);
    const uint32_t offset = offsets.count == 0 ? 0 : reader.u32(offsets.first + 4 * i);
    if (pool >= pool_bytes.count || offset > reader.u32(pool_bytes.first + 4 * pool)) return false;
  }
  return true;
}

const uint8_t* bytes_of(const FlatReader& reader, const FlatVector& vector) {
  return vector.count == 0 ? nullptr : reader.at(vector.first);
}

intarsia_stream stream_of(const FlatReader& reader, uint32_t table) {
  const FlatVector commands = reader.vector(table, kFunctionCommands);
  const FlatVector constants = reader.vector(table, kFunctionConstants);
  return {bytes_of(reader, commands), commands.count, bytes_of(reader, constants), constants.count};
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
    if (!regions_lie_in(reader, reader.follow(functions.first + 4 * i), pools))
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
  const intarsia_stream stream = stream_of(reader, table);
  void* bases[INTARSIA_PACKAGE_MAX_REGIONS] = {};
  const FlatVector regions = reader.vector(table, kFunctionRegions);
  const FlatVector offsets = reader.vector(table, kFunctionRegionOffsets);
  for (uint32_t i = 0; i < regions.count; ++i) {
    const uint32_t region = regions.first + kRegionBytes * i;
    if (reader.u8(region + kRegionKindAt) == kRegionConstants) {
      // Devices only read this region; the interface has one kind of pointer for all of them.
      bases[i] = const_cast<uint8_t*>(stream.constants);
      continue;
    }
    const uint32_t pool = reader.u16(region + kRegionPoolAt);
    if (pool >= pool_count) return INTARSIA_ERROR_BAD_INDEX;
    if (pools[pool] == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
    const uint32_t offset = offsets.count == 0 ? 0 : reader.u32(offsets.first + 4 * i);
    bases[i] = static_cast<uint8_t*>(pools[pool]) + offset;
  }
  return device->run(device, &stream, bases, regions.count);
}
