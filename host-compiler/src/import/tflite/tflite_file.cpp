#include "import/tflite/tflite_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace intarsia::tflite {

// FlatBuffers are little-endian, and spans over their vectors read them as the host does.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr size_t kIdentifierEnd = 8;  // root offset, then the identifier
constexpr uint32_t kSchemaVersion = 3;
constexpr uint64_t kLargestFile = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

// A model nests a handful of tables; one table per tensor, buffer and operator, and its options.
constexpr unsigned kDeepestNesting = 16;
constexpr unsigned kMostTables = 1'000'000;

}  // namespace

bool has_tflite_identifier(std::span<const uint8_t> bytes) {
  return bytes.size() >= kIdentifierEnd &&
         std::memcmp(bytes.data() + 4, format::ModelIdentifier(), 4) == 0;
}

Result<ModelFile> ModelFile::open(std::span<const uint8_t> bytes, const std::string& name,
                                  std::span<const ProgramOperator> programs) {
  if (!has_tflite_identifier(bytes)) {
    return Diagnostics(name, "is not a .tflite file (no \"TFL3\" at byte 4)");
  }
  if (bytes.size() > kLargestFile) {
    return Diagnostics(
        name, fmt::format("has {} bytes; a model of 2 GiB or more cannot be read", bytes.size()));
  }
  ModelFile file;
  file.name_ = name;
  file.bytes_ = bytes;
  file.programs_ = programs;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
    file.aligned_.resize((bytes.size() + 7) / 8);
    std::memcpy(file.aligned_.data(), bytes.data(), bytes.size());
    file.bytes_ = {reinterpret_cast<const uint8_t*>(file.aligned_.data()), bytes.size()};
  }
  flatbuffers::Verifier verifier(file.bytes_.data(), file.bytes_.size(), kDeepestNesting,
                                 kMostTables);
  if (!format::VerifyModelBuffer(verifier)) {
    return Diagnostics(name,
                       "is damaged: an offset inside the file does not lead to what it should",
                       "the file may be truncated; copy or convert it again");
  }
  if (file.model().version() != kSchemaVersion) {
    return Diagnostics(name,
                       fmt::format("has schema version {}, only version {} can be read",
                                   file.model().version(), kSchemaVersion),
                       "convert the model with TensorFlow 2");
  }
  return file;
}

const ProgramOperator* ModelFile::program_operator(std::string_view custom_code) const {
  const auto found = std::ranges::find(programs_, custom_code, &ProgramOperator::custom_code);
  return found == programs_.end() ? nullptr : &*found;
}

std::optional<std::span<const uint8_t>> ModelFile::buffer(uint32_t index) const {
  const format::Buffer& buffer = *model().buffers()->Get(index);
  if (buffer.offset() <= 1) return values(buffer.data());
  if (buffer.offset() > bytes_.size() || buffer.size() > bytes_.size() - buffer.offset()) {
    return std::nullopt;
  }
  return bytes_.subspan(buffer.offset(), buffer.size());
}

}  // namespace intarsia::tflite
