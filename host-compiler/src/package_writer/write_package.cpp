#include <algorithm>
#include <cstdint>
#include <limits>

#include "intarsia/contract/package.h"
#include "package_format/package_generated.h"
#include "package_writer/header.h"
#include "package_writer/package_writer.h"

namespace intarsia {
namespace {

using flatbuffers::Offset;

constexpr size_t kBlobAlignment = 16;

Offset<flatbuffers::Vector<uint8_t>> blob(flatbuffers::FlatBufferBuilder& builder,
                                          const std::vector<uint8_t>& bytes) {
  builder.ForceVectorAlignment(bytes.size(), 1, kBlobAlignment);
  return builder.CreateVector(bytes);
}

// Constants that several streams have, as all programs of one compiled file do, are in the package once.
class Constants {
 public:
  Offset<flatbuffers::Vector<uint8_t>> of(flatbuffers::FlatBufferBuilder& builder,
                                          const std::vector<uint8_t>& bytes) {
    if (bytes.empty()) return 0;
    const auto known = std::ranges::find_if(
        written_, [&](const Written& written) { return *written.bytes == bytes; });
    if (known != written_.end()) return known->place;
    written_.push_back({&bytes, blob(builder, bytes)});
    return written_.back().place;
  }

 private:
  struct Written {
    const std::vector<uint8_t>* bytes;
    Offset<flatbuffers::Vector<uint8_t>> place;
  };
  std::vector<Written> written_;
};

contract::Region region(const StreamRegion& region) {
  const bool constants = region.kind == StreamRegion::Kind::Constants;
  INTARSIA_CHECK(
      constants || (region.pool >= 0 && region.pool <= std::numeric_limits<uint16_t>::max()),
      "a pool's index fits sixteen bits");
  return constants
             ? contract::Region(contract::RegionKind::Constants, 0)
             : contract::Region(contract::RegionKind::Pool, static_cast<uint16_t>(region.pool));
}

// Absent when every region begins where its pool does.
Offset<flatbuffers::Vector<uint32_t>> region_offsets(flatbuffers::FlatBufferBuilder& builder,
                                                     const std::vector<StreamRegion>& regions) {
  std::vector<uint32_t> offsets;
  bool needed = false;
  for (const StreamRegion& region : regions) {
    const bool constants = region.kind == StreamRegion::Kind::Constants;
    INTARSIA_CHECK(region.offset >= 0 && region.offset <= (constants ? 0 : UINT32_MAX),
                   "a region's base is in its pool");
    needed |= region.offset != 0;
    offsets.push_back(static_cast<uint32_t>(region.offset));
  }
  return needed ? builder.CreateVector(offsets) : Offset<flatbuffers::Vector<uint32_t>>(0);
}

// Absent when there are none; `both` says that the other list is there, and that an empty one means something.
Offset<flatbuffers::Vector<const contract::Range*>> ranges(flatbuffers::FlatBufferBuilder& builder,
                                                           const std::vector<PoolRange>& list,
                                                           bool both) {
  if (list.empty() && !both) return 0;
  std::vector<contract::Range> ranges;
  for (const PoolRange& range : list) {
    INTARSIA_CHECK(range.pool <= std::numeric_limits<uint16_t>::max(),
                   "a pool's index fits sixteen bits");
    ranges.emplace_back(range.offset, range.bytes, static_cast<uint16_t>(range.pool));
  }
  return builder.CreateVectorOfStructs(ranges);
}

template <typename Element>
Offset<flatbuffers::Vector<Element>> of_each_region(flatbuffers::FlatBufferBuilder& builder,
                                                    const CommandStream& stream,
                                                    const std::vector<Element>& values) {
  INTARSIA_CHECK(values.empty() || values.size() == stream.regions.size(),
                 "every region has a value");
  return values.empty() ? Offset<flatbuffers::Vector<Element>>(0) : builder.CreateVector(values);
}

Offset<contract::Function> function(flatbuffers::FlatBufferBuilder& builder,
                                    const CommandStream& stream, const StreamMemory& memory,
                                    Constants& all_constants) {
  INTARSIA_CHECK(stream.regions.size() <= INTARSIA_PACKAGE_MAX_REGIONS,
                 "a stream has no more regions than the runtime binds");
  std::vector<contract::Region> regions;
  for (const StreamRegion& from : stream.regions) regions.push_back(region(from));
  // Children first, each in a statement of its own: the order of evaluation of arguments is not
  // fixed, and with it the bytes would not be.
  const auto name = builder.CreateString(stream.func);
  const auto device = builder.CreateString(stream.device);
  const auto target = builder.CreateString(stream.target);
  const auto commands = blob(builder, stream.commands);
  const auto constants = all_constants.of(builder, stream.constants);
  const auto region_list = builder.CreateVectorOfStructs(regions);
  const auto operators = builder.CreateVectorOfStrings(stream.operators);
  const auto offsets = region_offsets(builder, stream.regions);
  const auto region_bytes = of_each_region(builder, stream, memory.region_bytes);
  const auto region_memories = of_each_region(builder, stream, memory.region_memories);
  const bool knows_ranges = !memory.accessed.empty() || !memory.results.empty();
  const auto accessed = ranges(builder, memory.accessed, knows_ranges);
  const auto results = ranges(builder, memory.results, knows_ranges);
  return contract::CreateFunction(builder, name, device, target, commands, constants, region_list,
                                  operators, offsets, region_bytes, region_memories, accessed,
                                  results);
}

Offset<flatbuffers::Vector<Offset<contract::Tensor>>> tensors(
    flatbuffers::FlatBufferBuilder& builder, const std::vector<PackageProgram::Tensor>& from) {
  std::vector<Offset<contract::Tensor>> list;
  for (const PackageProgram::Tensor& tensor : from) {
    const auto name = builder.CreateString(tensor.name);
    const auto type = builder.CreateString(tensor.type);
    const auto shape = builder.CreateVector(tensor.shape);
    const auto scale = builder.CreateVector(tensor.scale);
    const auto zero_point = builder.CreateVector(tensor.zero_point);
    list.push_back(contract::CreateTensor(builder, name, tensor.memory, tensor.offset, tensor.bytes,
                                          type, shape, scale, zero_point));
  }
  return builder.CreateVector(list);
}

Offset<contract::Program> program(flatbuffers::FlatBufferBuilder& builder,
                                  const PackageProgram& from) {
  std::vector<uint32_t> ids;
  std::vector<std::string> names;
  for (const PackageProgram::Kernel& kernel : from.kernels) {
    ids.push_back(static_cast<uint32_t>(kernel.id));
    ids.push_back(static_cast<uint32_t>(kernel.id >> 32));
    names.push_back(kernel.name);
  }
  const auto id_list = builder.CreateVector(ids);
  const auto name_list = builder.CreateVectorOfStrings(names);
  const auto code = builder.CreateVector(from.code);
  const auto reset = builder.CreateVector(from.reset);
  const auto constants = blob(builder, from.constants);
  const auto memories = builder.CreateVectorOfStrings(from.memories);
  const auto devices = builder.CreateVectorOfStrings(from.devices);
  const auto inputs = tensors(builder, from.inputs);
  const auto outputs = tensors(builder, from.outputs);
  const auto target = builder.CreateString(from.target);
  return contract::CreateProgram(builder, id_list, name_list, code, reset, constants, memories,
                                 devices, inputs, outputs, target, from.interface_id,
                                 from.runtime_version);
}

// About what the package takes: of a buffer that grows, all that has been written is written again each time.
size_t expected_bytes(std::span<const CommandStream> streams) {
  constexpr size_t kLeast = 1024, kMost = size_t{1} << 30;
  size_t bytes = kLeast, constants = 0;
  for (const CommandStream& stream : streams) {
    bytes += stream.commands.size() + stream.marks.size();
    constants = std::max(constants, stream.constants.size());
  }
  return std::min(bytes + constants, kMost);
}

}  // namespace

std::vector<uint8_t> write_package(const std::string& model, std::span<const CommandStream> streams,
                                   const PackageContract& bound, const PackageProgram* executed) {
  flatbuffers::FlatBufferBuilder builder(expected_bytes(streams));
  std::vector<Offset<contract::Function>> functions;
  Constants constants;
  INTARSIA_CHECK(bound.memory.empty() || bound.memory.size() == streams.size(),
                 "what is said of memory is said of every stream");
  for (size_t i = 0; i < streams.size(); ++i)
    functions.push_back(function(
        builder, streams[i], bound.memory.empty() ? StreamMemory{} : bound.memory[i], constants));
  const auto name = builder.CreateString(model);
  const auto list = builder.CreateVector(functions);
  const auto pool_bytes = bound.pool_bytes.empty() ? 0 : builder.CreateVector(bound.pool_bytes);
  const auto program_table =
      executed == nullptr ? Offset<contract::Program>(0) : program(builder, *executed);
  contract::FinishPackageBuffer(
      builder, contract::CreatePackage(builder, name, list, bound.model_id, pool_bytes,
                                       bound.alignment, program_table));

  const std::span<const uint8_t> payload(builder.GetBufferPointer(), builder.GetSize());
  std::vector<uint8_t> bytes;
  bytes.reserve(package_writer::kHeaderBytes + payload.size());
  bytes.resize(package_writer::kHeaderBytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  std::copy(package_writer::kMagic.begin(), package_writer::kMagic.end(), bytes.begin());
  package_writer::put_word(bytes, package_writer::kVersionAt, INTARSIA_PACKAGE_VERSION);
  package_writer::put_word(bytes, package_writer::kPayloadBytesAt,
                           static_cast<uint32_t>(payload.size()));
  package_writer::put_word(bytes, package_writer::kChecksumAt, package_writer::crc32(payload));
  return bytes;
}

}  // namespace intarsia
