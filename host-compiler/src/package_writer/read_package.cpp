#include <algorithm>

#include <fmt/format.h>

#include "intarsia/contract/package.h"
#include "package_format/package_generated.h"
#include "package_writer/header.h"
#include "package_writer/package_writer.h"

namespace intarsia {
namespace {

std::vector<uint8_t> bytes_of(const flatbuffers::Vector<uint8_t>* vector) {
  return vector == nullptr ? std::vector<uint8_t>()
                           : std::vector<uint8_t>(vector->begin(), vector->end());
}

bool is_aligned(const flatbuffers::Vector<uint8_t>* vector, const uint8_t* payload) {
  return vector == nullptr || vector->size() == 0 || (vector->data() - payload) % 16 == 0;
}

std::vector<PoolRange> ranges_of(const flatbuffers::Vector<const contract::Range*>* vector) {
  std::vector<PoolRange> ranges;
  if (vector != nullptr)
    for (const contract::Range* range : *vector)
      ranges.push_back({range->pool(), range->offset(), range->bytes()});
  return ranges;
}

// Nothing when it is not one value for each region, as the runtime asks.
std::optional<StreamMemory> memory_of(const contract::Function& function) {
  StreamMemory memory;
  const size_t regions = function.regions() == nullptr ? 0 : function.regions()->size();
  if (function.region_bytes() != nullptr)
    memory.region_bytes.assign(function.region_bytes()->begin(), function.region_bytes()->end());
  memory.region_memories = bytes_of(function.region_memories());
  for (const size_t count : {memory.region_bytes.size(), memory.region_memories.size()})
    if (count != 0 && count != regions) return {};
  memory.accessed = ranges_of(function.accessed());
  memory.results = ranges_of(function.results());
  return memory;
}

std::optional<CommandStream> stream_of(const contract::Function& function, const uint8_t* payload) {
  if (!is_aligned(function.commands(), payload) || !is_aligned(function.constants(), payload))
    return {};
  CommandStream stream;
  stream.func = function.name()->str();
  stream.device = function.device()->str();
  stream.target = function.target()->str();
  stream.commands = bytes_of(function.commands());
  stream.constants = bytes_of(function.constants());
  if (function.regions() != nullptr) {
    if (function.regions()->size() > INTARSIA_PACKAGE_MAX_REGIONS) return {};
    const auto* offsets = function.region_offsets();
    if (offsets != nullptr && offsets->size() == 0) offsets = nullptr;
    if (offsets != nullptr && offsets->size() != function.regions()->size()) return {};
    for (const contract::Region* region : *function.regions()) {
      if (region->kind() > contract::RegionKind::MAX) return {};
      const uint32_t offset =
          offsets == nullptr ? 0 : offsets->Get(static_cast<uint32_t>(stream.regions.size()));
      stream.regions.push_back(
          region->kind() == contract::RegionKind::Constants
              ? StreamRegion{StreamRegion::Kind::Constants, 0}
              : StreamRegion{StreamRegion::Kind::Pool, region->pool(), offset});
    }
  }
  if (function.operators() != nullptr)
    for (const flatbuffers::String* name : *function.operators())
      stream.operators.push_back(name->str());
  return stream;
}

template <typename T>
std::vector<T> list_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? std::vector<T>() : std::vector<T>(vector->begin(), vector->end());
}

std::vector<std::string> strings_of(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* vector) {
  std::vector<std::string> strings;
  if (vector != nullptr)
    for (const flatbuffers::String* string : *vector) strings.push_back(string->str());
  return strings;
}

std::vector<PackageProgram::Tensor> tensors_of(
    const flatbuffers::Vector<flatbuffers::Offset<contract::Tensor>>* vector) {
  std::vector<PackageProgram::Tensor> tensors;
  if (vector == nullptr) return tensors;
  for (const contract::Tensor* tensor : *vector)
    tensors.push_back({tensor->name()->str(),
                       tensor->type() == nullptr ? "" : tensor->type()->str(), tensor->memory(),
                       tensor->offset(), tensor->bytes(), list_of(tensor->shape()),
                       list_of(tensor->scale()), list_of(tensor->zero_point())});
  return tensors;
}

std::optional<PackageProgram> program_of(const contract::Program& from, const uint8_t* payload) {
  if (from.kernel_ids()->size() != 2 * from.kernel_names()->size()) return {};
  if (!is_aligned(from.constants(), payload)) return {};
  PackageProgram program;
  for (uint32_t i = 0; i < from.kernel_names()->size(); ++i)
    program.kernels.push_back(
        {from.kernel_ids()->Get(2 * i) | uint64_t{from.kernel_ids()->Get(2 * i + 1)} << 32,
         from.kernel_names()->Get(i)->str()});
  program.code = list_of(from.code());
  program.reset = list_of(from.reset());
  program.constants = bytes_of(from.constants());
  program.memories = strings_of(from.memories());
  program.devices = strings_of(from.devices());
  program.inputs = tensors_of(from.inputs());
  program.outputs = tensors_of(from.outputs());
  program.target = from.target() == nullptr ? "" : from.target()->str();
  program.interface_id = from.interface_id();
  program.runtime_version = from.runtime_version();
  return program;
}

}  // namespace

Result<StreamPackage> read_package(std::span<const uint8_t> bytes, const std::string& where) {
  if (bytes.size() < package_writer::kHeaderBytes ||
      !std::equal(package_writer::kMagic.begin(), package_writer::kMagic.end(), bytes.begin()))
    return Diagnostics(where, "these bytes are not an Intarsia package");
  if (const uint32_t version = package_writer::get_word(bytes, package_writer::kVersionAt);
      version != INTARSIA_PACKAGE_VERSION)
    return Diagnostics(where,
                       fmt::format("the package has format version {}, this program reads {}",
                                   version, INTARSIA_PACKAGE_VERSION),
                       "compile the model again");
  const uint32_t size = package_writer::get_word(bytes, package_writer::kPayloadBytesAt);
  if (size > bytes.size() - package_writer::kHeaderBytes)
    return Diagnostics(
        where, fmt::format("the package is cut short: {} of {} bytes are here", bytes.size(),
                           uint64_t{size} + package_writer::kHeaderBytes));
  // In memory of its own, which is aligned as the format asks.
  const std::vector<uint8_t> payload(bytes.begin() + package_writer::kHeaderBytes,
                                     bytes.begin() + package_writer::kHeaderBytes + size);
  if (package_writer::crc32(payload) !=
      package_writer::get_word(bytes, package_writer::kChecksumAt))
    return Diagnostics(where, "the package's checksum does not match its contents",
                       "copy or compile it again");
  flatbuffers::Verifier verifier(payload.data(), payload.size());
  if (!contract::VerifyPackageBuffer(verifier))
    return Diagnostics(where, "the package is damaged", "compile the model again");

  const contract::Package& root = *contract::GetPackage(payload.data());
  StreamPackage contents{root.model()->str(), {}, {root.model_id(), {}, root.alignment(), {}}};
  if (root.pool_bytes() != nullptr)
    contents.contract.pool_bytes.assign(root.pool_bytes()->begin(), root.pool_bytes()->end());
  for (const contract::Function* function : *root.functions()) {
    std::optional<CommandStream> stream = stream_of(*function, payload.data());
    std::optional<StreamMemory> memory = memory_of(*function);
    if (!stream || !memory)
      return Diagnostics(where, "the package is damaged", "compile the model again");
    contents.streams.push_back(std::move(*stream));
    contents.contract.memory.push_back(std::move(*memory));
  }
  if (root.program() != nullptr) {
    contents.program = program_of(*root.program(), payload.data());
    if (!contents.program)
      return Diagnostics(where, "the package is damaged", "compile the model again");
  }
  return contents;
}

}  // namespace intarsia
