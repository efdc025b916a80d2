#include "import/tflite/convert_compiled.h"

#include <cstring>

#include <fmt/format.h>

namespace intarsia::tflite {
namespace {

constexpr std::string_view kAddresses = "OfflineMemoryAllocation";

size_t tensors_of_all_subgraphs(const format::Model& model) {
  size_t count = 0;
  for (flatbuffers::uoffset_t i = 0; i < model.subgraphs()->size(); ++i)
    if (const auto* tensors = model.subgraphs()->Get(i)->tensors()) count += tensors->size();
  return count;
}

}  // namespace

std::optional<std::vector<int32_t>> arena_addresses(const ModelFile& file, size_t tensor_count,
                                                    std::string& problem) {
  constexpr size_t kHeader = 3;
  // Of the first subgraph's tensors alone, or of all subgraphs', the first one's first.
  const size_t all_tensors = tensors_of_all_subgraphs(file.model());
  const auto* metadata = file.model().metadata();
  for (size_t i = 0; metadata != nullptr && i < metadata->size(); ++i) {
    const format::Metadata& entry = *metadata->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (text(entry.name()) != kAddresses) continue;
    const auto bytes =
        entry.buffer() < file.buffer_count() ? file.buffer(entry.buffer()) : std::nullopt;
    if (!bytes || bytes->size() < 4 * (kHeader + tensor_count)) {
      problem = fmt::format("the metadata {} does not have an address for each of {} tensors",
                            kAddresses, tensor_count);
      return std::nullopt;
    }
    std::vector<int32_t> words(kHeader + tensor_count);
    std::memcpy(words.data(), bytes->data(), 4 * words.size());
    if (words[0] != 0 || (words[2] != static_cast<int32_t>(tensor_count) &&
                          words[2] != static_cast<int32_t>(all_tensors))) {
      problem =
          fmt::format("the metadata {} is of version {} for {} tensors; version 0 for {} is needed",
                      kAddresses, words[0], words[2], tensor_count);
      return std::nullopt;
    }
    return std::vector<int32_t>(words.begin() + kHeader, words.end());
  }
  problem =
      fmt::format("the file lacks the metadata {}, which says where its tensors are", kAddresses);
  return std::nullopt;
}

std::optional<CompiledOperator> convert_compiled(const ModelFile& file, const OperatorInfo& op,
                                                 TensorTable& tensors, Diagnostics& problems) {
  INTARSIA_CHECK(op.program != nullptr, "the operator holds a program");
  const ProgramOperator& format = *op.program;
  const std::string where = fmt::format("{}: {}", file.name(), op.label());
  const std::string reads = "read by " + op.label(), writes = "written by " + op.label();
  bool good = true;
  const auto fail = [&](const std::string& what, const std::string& hint = {}) {
    problems.add(where, what, hint);
    good = false;
  };
  const auto tensor = [&](int32_t id, const std::string& use) {
    const graph::Tensor* found = id < 0 ? nullptr : tensors.get(id, use);
    if (id < 0) fail("lacks an operand");
    good &= found != nullptr;
    return found;
  };
  if (op.inputs.size() < format.first_input) {
    fail(fmt::format("has {} inputs; payload, constants and two arenas come first",
                     op.inputs.size()));
    return std::nullopt;
  }
  std::string problem;
  const auto addresses = arena_addresses(file, tensors.count(), problem);
  if (!addresses) {
    fail(problem, format.hint);
    return std::nullopt;
  }

  CompiledOperator result;
  graph::CompiledAttrs& attributes = result.attributes;
  attributes.device = format.device;
  tensor(op.inputs[format.payload], reads);
  if (good && !tensors.has_data(op.inputs[format.payload]))
    fail("has a payload that is not constant");
  // A program without weights has an empty tensor here.
  const int32_t constants = op.inputs[format.constants];
  const bool has_constants = constants >= 0 && tensors.has_data(constants);
  if (has_constants) tensor(constants, reads);
  const auto room = [&](size_t operand) -> int64_t {
    const int32_t id = op.inputs[operand];
    if (id < 0) fail("lacks an operand");
    const std::optional<int64_t> bytes = id < 0 ? std::nullopt : tensors.room(id, reads);
    good &= bytes.has_value();
    return bytes.value_or(0);
  };
  attributes.arena_bytes = room(format.arena);
  attributes.fast_arena_bytes = room(format.fast_arena);

  constexpr int64_t kNoAddress = -1;  // of the metadata
  // The arena begins where the metadata puts it; tensors are found in it.
  const auto address = [&](int32_t id) { return int64_t{(*addresses)[static_cast<size_t>(id)]}; };
  const int64_t base = good ? address(op.inputs[format.arena]) : 0;
  const auto place = [&](int32_t id, const std::string& use, std::vector<int64_t>& offsets) {
    const graph::Tensor* found = tensor(id, use);
    if (found == nullptr) return;
    if (tensors.has_data(id))
      return fail(fmt::format("has the constant {} among its tensors", tensors.label(id)));
    const int64_t offset = address(id) - base;
    if (address(id) < 0 || offset < 0 || offset > attributes.arena_bytes - found->bytes())
      return fail(fmt::format("has {} at {}, outside of its arena of {} bytes", tensors.label(id),
                              address(id), attributes.arena_bytes));
    offsets.push_back(offset);
  };
  result.inputs = {op.inputs[format.payload], has_constants ? constants : -1};
  for (size_t i = format.first_input; i < op.inputs.size(); ++i) {
    // What no command reads has no address: the shape that a transposed convolution once took.
    const auto id = static_cast<size_t>(op.inputs[i]);
    if (id < addresses->size() && (*addresses)[id] == kNoAddress) continue;
    place(op.inputs[i], reads, attributes.input_offsets);
    result.inputs.push_back(op.inputs[i]);
  }
  for (const int32_t id : op.outputs) place(id, writes, attributes.output_offsets);
  if (!good) return std::nullopt;
  return result;
}

}  // namespace intarsia::tflite
