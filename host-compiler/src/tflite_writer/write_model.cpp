#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "tflite_writer/copy_table.h"
#include "tflite_writer/model_draft.h"

namespace intarsia::tflite_writer {

namespace {

namespace format = tflite::format;
using flatbuffers::Offset;
using flatbuffers::uoffset_t;

constexpr size_t kBufferAlignment = 16;
constexpr uint32_t kSchemaVersion = 3;
constexpr int kCustom = 32;
// Fields of the format by their numbers, which our schema of it leaves out.
constexpr uint16_t kTensorBuffer = 2, kOperatorCodeIndex = 0, kOperatorInputs = 1,
                   kOperatorOutputs = 2, kOperatorIntermediates = 8, kMapTensor = 1,
                   kSignatureInputs = 0, kSignatureOutputs = 1, kSignatureSubgraph = 4,
                   kModelVersion = 0, kModelCodes = 1, kModelSubgraphs = 2, kModelDescription = 3,
                   kModelBuffers = 4, kModelMetadata = 6, kModelSignatures = 7;
// What does not fit the offsets of a FlatBuffer is not begun.
constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - (uint64_t{1} << 20);

int8_t format_type(DataType type) {
  switch (type) {
    case DataType::Float32:
      return 0;
    case DataType::Int32:
      return 2;
    case DataType::UInt8:
      return 3;
    case DataType::Int64:
      return 4;
    case DataType::Bool:
      return 6;
    case DataType::Int16:
      return 7;
    case DataType::Int8:
      return 9;
    case DataType::UInt32:
      return 15;
    case DataType::UInt16:
      return 16;
    case DataType::Int4:
      return 17;
  }
  INTARSIA_CHECK(false, "every type has a number in the format");
}

class Writer {
 public:
  Writer(const Original* original, const ModelDraft& draft)
      : file_(original == nullptr ? nullptr : &original->file()),
        bytes_(original == nullptr ? std::span<const uint8_t>() : original->file_bytes()),
        draft_(draft),
        copier_(bytes_, builder_) {
    builder_.ForceDefaults(true);
    buffers_.push_back(format::CreateBuffer(builder_));  // the one without data
  }

  Result<std::vector<uint8_t>> run() {
    if (const uint64_t bytes = data_bytes(); bytes > kMostBytes)
      return Diagnostics(where(), fmt::format("its constants of {} bytes are too many for a "
                                              ".tflite file",
                                              bytes));
    for (size_t i = 0; i < draft_.tensors.size(); ++i)
      if (draft_.tensors[i].original >= 0)
        number_of_[draft_.tensors[i].original] = static_cast<int32_t>(i);
    std::vector<Offset<format::Subgraph>> subgraphs = {first_subgraph()};
    for (uoffset_t i = 1; keeps_rest() && i < file_->model().subgraphs()->size(); ++i)
      subgraphs.push_back(copy_subgraph(*file_->model().subgraphs()->Get(i)));
    const uoffset_t metadata = write_metadata();
    const uoffset_t signatures = copy_signatures();
    const uoffset_t description = builder_.CreateString("Intarsia").o;
    const uoffset_t subgraph_list = builder_.CreateVector(subgraphs).o;
    const uoffset_t code_list = builder_.CreateVector(codes_).o;
    const uoffset_t buffer_list = builder_.CreateVector(buffers_).o;
    const auto add = [&](uint16_t field, uoffset_t offset) {
      if (offset != 0)
        builder_.AddOffset(static_cast<flatbuffers::voffset_t>(4 + 2 * field),
                           Offset<void>(offset));
    };
    const uoffset_t start = builder_.StartTable();
    builder_.AddElement(4 + 2 * kModelVersion, kSchemaVersion);
    add(kModelCodes, code_list);
    add(kModelSubgraphs, subgraph_list);
    add(kModelDescription, description);
    add(kModelBuffers, buffer_list);
    add(kModelMetadata, metadata);
    add(kModelSignatures, signatures);
    builder_.Finish(Offset<format::Model>(builder_.EndTable(start)), format::ModelIdentifier());
    if (!copier_.problem().empty()) problem_ = copier_.problem();
    if (!problem_.empty())
      return Diagnostics(where(), problem_, "an operator like this cannot stay on the CPU");
    return std::vector<uint8_t>(builder_.GetBufferPointer(),
                                builder_.GetBufferPointer() + builder_.GetSize());
  }

 private:
  std::string where() const { return file_ == nullptr ? draft_.name : file_->name(); }
  bool keeps_rest() const { return file_ != nullptr && !draft_.is_part; }
  const format::Subgraph& original() const { return *file_->model().subgraphs()->Get(0); }

  uint64_t data_bytes() const {
    uint64_t sum = bytes_.size();
    for (const TensorDraft& tensor : draft_.tensors) sum += tensor.data.size();
    return sum;
  }

  uint32_t buffer_of(std::span<const uint8_t> bytes) {
    if (bytes.empty()) return 0;
    const size_t key =
        std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    for (auto [at, end] = known_.equal_range(key); at != end; ++at)
      if (std::ranges::equal(at->second.bytes, bytes)) return at->second.number;
    builder_.ForceVectorAlignment(bytes.size(), 1, kBufferAlignment);
    const auto data = builder_.CreateVector(bytes.data(), bytes.size());
    const auto number = static_cast<uint32_t>(buffers_.size());
    buffers_.push_back(format::CreateBuffer(builder_, data));
    known_.emplace(key, Known{bytes, number});
    return number;
  }

  uint32_t copied_buffer(uint32_t number) {
    const auto bytes = number < file_->buffer_count() ? file_->buffer(number) : std::nullopt;
    if (!bytes) problem_ = fmt::format("buffer {} does not lie within the file", number);
    return bytes ? buffer_of(*bytes) : 0;
  }

  // An operator without data keeps what it had: a tensor that an initialiser fills in has none either.
  uoffset_t copy_tensor(const format::Tensor& tensor) {
    const FieldValue buffer = {kTensorBuffer, copied_buffer(tensor.buffer())};
    return copier_.copy(&tensor, kTensorShape, std::span(&buffer, 1));
  }

  uoffset_t make_tensor(const TensorDraft& tensor) {
    const uint32_t buffer = buffer_of(tensor.data);
    std::vector<int32_t> shape;
    for (const int64_t extent : tensor.shape) shape.push_back(static_cast<int32_t>(extent));
    Offset<format::Quantization> quantization = 0;
    if (tensor.quantization.present()) {
      const auto scale = builder_.CreateVector(tensor.quantization.scale);
      const auto zero = builder_.CreateVector(tensor.quantization.zero_point);
      quantization = format::CreateQuantization(
          builder_, scale, zero, format::QuantizationDetails::NONE, 0, tensor.quantization.axis);
    }
    const auto extents = builder_.CreateVector(shape);
    const auto name = builder_.CreateString(tensor.name);
    return format::CreateTensor(builder_, extents, format_type(tensor.type), buffer, name,
                                quantization, tensor.is_variable)
        .o;
  }

  uint32_t copied_code(uint32_t index) {
    const auto [known, fresh] = copied_codes_.try_emplace(index, codes_.size());
    if (fresh) {
      const auto* codes = file_->model().operator_codes();
      if (codes == nullptr || index >= codes->size()) {
        problem_ = fmt::format("an operator is of type {}, which the file does not list", index);
        return 0;
      }
      codes_.emplace_back(copier_.copy(codes->Get(index), kOperatorCodeShape));
    }
    return static_cast<uint32_t>(known->second);
  }

  uint32_t custom_code(const std::string& name) {
    const auto [known, fresh] = custom_codes_.try_emplace(name, codes_.size());
    if (fresh) {
      const auto text = builder_.CreateString(name);
      codes_.push_back(format::CreateOperatorCode(builder_, kCustom, text, 1, kCustom));
    }
    return static_cast<uint32_t>(known->second);
  }

  uoffset_t operands(std::span<const int32_t> ids) {
    return builder_.CreateVector(ids.data(), ids.size()).o;
  }

  // Tensors that an operator works in beside its operands.
  void add_intermediates(const format::Operator& op, std::vector<FieldValue>& fields) {
    const size_t vector = copier_.referred(&op, kOperatorIntermediates);
    if (vector == 0) return;
    std::vector<int32_t> mapped;
    for (const int32_t id : copier_.numbers_at(vector)) {
      const auto found = number_of_.find(id);
      mapped.push_back(found == number_of_.end() ? -1 : found->second);
    }
    fields.push_back({kOperatorIntermediates, operands(mapped), true});
  }

  uoffset_t copy_operator(const format::Operator& op, const OperatorDraft* moved) {
    std::vector<FieldValue> fields = {{kOperatorCodeIndex, copied_code(op.opcode_index())}};
    if (moved != nullptr) {
      fields.push_back({kOperatorInputs, operands(moved->inputs), true});
      fields.push_back({kOperatorOutputs, operands(moved->outputs), true});
      add_intermediates(op, fields);
    }
    return copier_.copy(&op, kOperatorShape, fields);
  }

  uoffset_t make_operator(const OperatorDraft& op) {
    const uint32_t code = custom_code(op.custom_code);
    const auto inputs = builder_.CreateVector(op.inputs);
    const auto outputs = builder_.CreateVector(op.outputs);
    const auto options = builder_.CreateVector(op.custom_options);
    return format::CreateOperator(builder_, code, inputs, outputs, format::Options::NONE, 0,
                                  options)
        .o;
  }

  Offset<format::Subgraph> first_subgraph() {
    std::vector<Offset<format::Tensor>> tensors;
    for (const TensorDraft& tensor : draft_.tensors)
      tensors.emplace_back(tensor.original < 0 ? make_tensor(tensor)
                                               : copy_tensor(*original().tensors()->Get(
                                                     static_cast<uoffset_t>(tensor.original))));
    std::vector<Offset<format::Operator>> operators;
    for (const OperatorDraft& op : draft_.operators)
      operators.emplace_back(
          op.original < 0
              ? make_operator(op)
              : copy_operator(*original().operators()->Get(static_cast<uoffset_t>(op.original)),
                              &op));
    const auto tensor_list = builder_.CreateVector(tensors);
    const auto inputs = builder_.CreateVector(draft_.inputs);
    const auto outputs = builder_.CreateVector(draft_.outputs);
    const auto operator_list = builder_.CreateVector(operators);
    const auto name = builder_.CreateString(
        file_ == nullptr ? draft_.name : std::string(tflite::text(original().name())));
    return format::CreateSubgraph(builder_, tensor_list, inputs, outputs, operator_list, name);
  }

  // One that branches, loops and initialisers run.
  Offset<format::Subgraph> copy_subgraph(const format::Subgraph& from) {
    std::vector<Offset<format::Tensor>> tensors;
    for (uoffset_t i = 0; from.tensors() != nullptr && i < from.tensors()->size(); ++i)
      tensors.emplace_back(copy_tensor(*from.tensors()->Get(i)));
    std::vector<Offset<format::Operator>> operators;
    for (uoffset_t i = 0; from.operators() != nullptr && i < from.operators()->size(); ++i)
      operators.emplace_back(copy_operator(*from.operators()->Get(i), nullptr));
    const auto tensor_list = builder_.CreateVector(tensors);
    const Offset<flatbuffers::Vector<int32_t>> inputs = operands(tflite::values(from.inputs()));
    const Offset<flatbuffers::Vector<int32_t>> outputs = operands(tflite::values(from.outputs()));
    const auto operator_list = builder_.CreateVector(operators);
    const auto name = builder_.CreateString(std::string(tflite::text(from.name())));
    return format::CreateSubgraph(builder_, tensor_list, inputs, outputs, operator_list, name);
  }

  uoffset_t write_metadata() {
    std::vector<Offset<format::Metadata>> entries;
    const auto add = [&](std::string_view name, uint32_t buffer) {
      const auto text = builder_.CreateString(std::string(name));
      entries.push_back(format::CreateMetadata(builder_, text, buffer));
    };
    const auto* kept = keeps_rest() ? file_->model().metadata() : nullptr;
    for (uoffset_t i = 0; kept != nullptr && i < kept->size(); ++i) {
      const std::string_view name = tflite::text(kept->Get(i)->name());
      if (std::ranges::find(draft_.metadata, name, &MetadataDraft::name) == draft_.metadata.end())
        add(name, copied_buffer(kept->Get(i)->buffer()));
    }
    for (const MetadataDraft& entry : draft_.metadata) add(entry.name, buffer_of(entry.bytes));
    return entries.empty() ? 0 : builder_.CreateVector(entries).o;
  }

  // The tensors of one side of a signature, which have other numbers now.
  uoffset_t copy_tensor_maps(const void* signature, uint16_t side, bool is_of_model) {
    std::vector<Offset<void>> maps;
    for (const void* map : copier_.tables_at(copier_.referred(signature, side))) {
      const auto id = static_cast<int32_t>(copier_.number_of(map, kMapTensor));
      const auto found = number_of_.find(id);
      if (is_of_model && found == number_of_.end()) continue;
      const FieldValue number = {kMapTensor,
                                 static_cast<uint32_t>(is_of_model ? found->second : id)};
      maps.emplace_back(copier_.copy(map, kTensorMapShape, std::span(&number, 1)));
    }
    return builder_.CreateVector(maps).o;
  }

  uoffset_t copy_signatures() {
    if (!keeps_rest()) return 0;
    const size_t list = copier_.referred(&file_->model(), kModelSignatures);
    std::vector<Offset<void>> copies;
    for (const void* signature : copier_.tables_at(list)) {
      const bool is_of_model = copier_.number_of(signature, kSignatureSubgraph) == 0;
      const FieldValue sides[] = {
          {kSignatureInputs, copy_tensor_maps(signature, kSignatureInputs, is_of_model), true},
          {kSignatureOutputs, copy_tensor_maps(signature, kSignatureOutputs, is_of_model), true}};
      copies.emplace_back(copier_.copy(signature, kSignatureShape, sides));
    }
    return copies.empty() ? 0 : builder_.CreateVector(copies).o;
  }

  struct Known {
    std::span<const uint8_t> bytes;
    uint32_t number;
  };

  const tflite::ModelFile* file_;
  std::span<const uint8_t> bytes_;
  const ModelDraft& draft_;
  flatbuffers::FlatBufferBuilder builder_;
  TableCopier copier_;
  std::map<int32_t, int32_t> number_of_;  // of the file's tensors, in the draft
  std::vector<Offset<format::Buffer>> buffers_;
  std::multimap<size_t, Known> known_;  // by their hash
  std::vector<Offset<format::OperatorCode>> codes_;
  std::map<uint32_t, size_t> copied_codes_;
  std::map<std::string, size_t> custom_codes_;
  std::string problem_;
};

}  // namespace

Result<std::vector<uint8_t>> write_model(const Original* original, const ModelDraft& draft) {
  return Writer(original, draft).run();
}

}  // namespace intarsia::tflite_writer
