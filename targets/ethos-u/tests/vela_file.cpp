#include "vela_file.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "import_format/tflite_generated.h"
#include "recorded_data.h"

namespace intarsia::test::ethos_u {
namespace {

namespace format = tflite::format;

constexpr uint8_t kInt16 = 7, kInt32 = 2, kFloat32 = 0, kInt64 = 4;  // of the public schema

uint64_t bytes_of(const format::Tensor& tensor) {
  uint64_t bytes = 1;
  if (tensor.shape() != nullptr)
    for (const int32_t size : *tensor.shape()) bytes *= static_cast<uint64_t>(size);
  switch (static_cast<uint8_t>(tensor.type())) {
    case kInt16:
      return bytes * 2;
    case kInt32:
    case kFloat32:
      return bytes * 4;
    case kInt64:
      return bytes * 8;
    default:
      return bytes;
  }
}

std::vector<uint8_t> data_of(const format::Model& model, const format::Tensor& tensor) {
  const auto* data = model.buffers()->Get(tensor.buffer())->data();
  if (data == nullptr) return {};
  return {data->data(), data->data() + data->size()};
}

// Metadata "OfflineMemoryAllocation": version, subgraphs, tensors, then an offset for every tensor.
std::vector<int32_t> arena_offsets(const format::Model& model) {
  using flatbuffers::Offset;
  using flatbuffers::Table;
  using flatbuffers::Vector;
  constexpr flatbuffers::voffset_t kMetadata = 4 + 2 * 6, kName = 4, kBuffer = 6;
  const auto* list =
      reinterpret_cast<const Table&>(model).GetPointer<const Vector<Offset<Table>>*>(kMetadata);
  if (list == nullptr) return {};
  for (const Table* entry : *list) {
    const auto* name = entry->GetPointer<const flatbuffers::String*>(kName);
    if (name == nullptr || name->str() != "OfflineMemoryAllocation") continue;
    const auto* data = model.buffers()->Get(entry->GetField<uint32_t>(kBuffer, 0))->data();
    std::vector<int32_t> words(data->size() / 4);
    std::memcpy(words.data(), data->data(), words.size() * 4);
    return {words.begin() + 3, words.end()};
  }
  return {};
}

}  // namespace

VelaFile read_vela_file(const std::filesystem::path& path) {
  VelaFile file;
  file.path = path;
  file.model = path.parent_path().filename().string();
  const std::string stem = path.stem().string();
  file.name = file.model + "/" + stem;
  // Others than the recorded have the names that Vela gives.
  const bool is_named = stem.starts_with("ethos-");
  if (is_named) file.tag = stream_tag(path);
  if (is_named)
    file.memory_mode = stem.substr(file.tag.size() + 1, stem.rfind('-') - file.tag.size() - 1);

  const std::vector<uint8_t> bytes = read_bytes(path);
  const format::Model& model = *format::GetModel(bytes.data());
  const format::Subgraph& graph = *model.subgraphs()->Get(0);
  const std::vector<int32_t> offsets = arena_offsets(model);
  for (const format::Operator* op : *graph.operators()) {
    const auto* code = model.operator_codes()->Get(op->opcode_index());
    if (code->custom_code() == nullptr || code->custom_code()->str() != "ethos-u") {
      file.npu_alone = false;
      continue;
    }
    const auto tensor = [&](int32_t i) -> const format::Tensor& {
      return *graph.tensors()->Get(static_cast<uint32_t>(i));
    };
    const auto place = [&](int32_t i) {
      return VelaTensor{i, static_cast<uint64_t>(offsets.at(static_cast<size_t>(i))),
                        bytes_of(tensor(i))};
    };
    const auto& in = *op->inputs();
    VelaOperator npu;
    npu.payload = data_of(model, tensor(in.Get(0)));
    npu.constants = data_of(model, tensor(in.Get(1)));
    npu.arena_bytes = bytes_of(tensor(in.Get(2)));
    npu.cache_bytes = bytes_of(tensor(in.Get(3)));
    npu.cache_is_arena = file.memory_mode.find("Dedicated") == std::string::npos;
    for (uint32_t i = 4; i < in.size(); ++i) npu.inputs.push_back(place(in.Get(i)));
    for (const int32_t i : *op->outputs()) npu.outputs.push_back(place(i));
    file.operators.push_back(std::move(npu));
  }
  return file;
}

std::vector<VelaFile> read_vela_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<VelaFile> files;
  for (const auto& path : paths) files.push_back(read_vela_file(path));
  return files;
}

std::vector<VelaFile> read_vela_files(const std::set<std::string>& models) {
  std::vector<VelaFile> files;
  for (const std::filesystem::path& path : vela_streams())
    if (models.empty() || models.contains(path.parent_path().filename().string()))
      files.push_back(read_vela_file(path));
  return files;
}

}  // namespace intarsia::test::ethos_u
