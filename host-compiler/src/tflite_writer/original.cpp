#include "tflite_writer/original.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tflite_writer/copy_table.h"

namespace intarsia::tflite_writer {

namespace {

constexpr uint16_t kIntermediates = 8;

// Bits of an element by the format's number of its type; 0: of no fixed size, or a handle.
constexpr std::array<int, 19> kElementBits = {32, 16,  32, 8, 64, 0,  8,  16, 64, 8,
                                              64, 128, 64, 0, 0,  32, 16, 4,  16};

}  // namespace

Result<Original> Original::open(std::span<const uint8_t> bytes, const std::string& name,
                                std::span<const ProgramOperator> programs) {
  Original result;
  result.copy_.resize((bytes.size() + 7) / 8);
  result.size_ = bytes.size();
  std::ranges::copy(bytes, reinterpret_cast<uint8_t*>(result.copy_.data()));
  INTARSIA_TRY(tflite::ModelFile file,
               tflite::ModelFile::open(result.file_bytes(), name, programs));
  if (file.model().subgraphs() == nullptr || file.model().subgraphs()->size() == 0)
    return Diagnostics(name, "holds no subgraph, so no model");
  result.file_ = std::make_unique<tflite::ModelFile>(std::move(file));
  result.problems_ = std::make_unique<Diagnostics>();
  result.tensors_ =
      std::make_unique<tflite::TensorTable>(*result.file_, result.subgraph(), *result.problems_);
  Diagnostics problems;
  auto operators =
      tflite::list_operators(*result.file_, result.subgraph(), 0, *result.tensors_, problems);
  if (!operators) return problems;
  result.operators_ = std::move(*operators);
  for (const auto side : {result.inputs(), result.outputs()})
    for (const int32_t id : side)
      if (!result.tensors_->in_range(id))
        return Diagnostics(name, fmt::format("has tensor {} among its inputs and outputs, of {}",
                                             id, result.tensor_count()));
  const auto count = static_cast<size_t>(result.tensor_count());
  result.producers_.assign(count, -1);
  result.readers_.resize(count);
  for (const tflite::OperatorInfo& op : result.operators_) {
    for (const int32_t id : op.inputs)
      if (id >= 0) result.readers_[static_cast<size_t>(id)].push_back(op.index);
    for (const int32_t id : op.outputs) {
      if (id < 0) continue;
      int32_t& producer = result.producers_[static_cast<size_t>(id)];
      if (producer >= 0)
        return Diagnostics(name, fmt::format("{} is written by {} and by {}", result.label(id),
                                             result.op(producer).label(), op.label()));
      producer = op.index;
    }
  }
  return result;
}

std::span<const int32_t> Original::inputs() const {
  return tflite::values(subgraph().inputs());
}

std::span<const int32_t> Original::outputs() const {
  return tflite::values(subgraph().outputs());
}

std::string Original::name(int32_t tensor) const {
  const auto& raw = *subgraph().tensors()->Get(static_cast<flatbuffers::uoffset_t>(tensor));
  return std::string(tflite::text(raw.name()));
}

bool Original::is_output(int32_t tensor) const {
  return std::ranges::find(outputs(), tensor) != outputs().end();
}

bool Original::is_value(int32_t tensor) const {
  return !is_constant(tensor) && !is_variable(tensor) && !tensors_->is_resource(tensor);
}

std::optional<int64_t> Original::bytes(int32_t tensor) const {
  const auto& raw = *subgraph().tensors()->Get(static_cast<flatbuffers::uoffset_t>(tensor));
  const auto type = static_cast<size_t>(raw.type());
  const int width = raw.type() >= 0 && type < kElementBits.size() ? kElementBits[type] : 0;
  if (width == 0) return std::nullopt;
  int64_t count = 1;
  for (const int32_t extent : tflite::values(raw.shape())) {
    if (extent <= 0 || count > std::numeric_limits<int32_t>::max() / extent) return std::nullopt;
    count *= extent;
  }
  return (count * width + 7) / 8;
}

std::vector<int32_t> Original::tensors_of(int32_t index) const {
  std::vector<int32_t> all;
  const auto add = [&](std::span<const int32_t> ids) {
    for (const int32_t id : ids)
      if (id >= 0 && id < tensor_count()) all.push_back(id);
  };
  add(op(index).inputs);
  add(op(index).outputs);
  flatbuffers::FlatBufferBuilder unused;
  TableCopier reader(file_bytes(), unused);
  add(reader.numbers_at(reader.referred(op(index).raw, kIntermediates)));
  return all;
}

}  // namespace intarsia::tflite_writer
