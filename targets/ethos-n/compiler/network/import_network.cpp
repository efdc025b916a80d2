#include "network/import_network.h"

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"
#include "network/network_file.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kBufferAlignment = 64;  // of every buffer in the arena

// One operator and its tensors. The arena has all that is not constant, one behind the other.
class NetworkModule {
 public:
  NetworkModule(std::span<const uint8_t> bytes, const std::string& name) {
    module_.name = name;
    module_.entry = function_.name = "main";
    module_.constants.push_back({"network", std::vector<uint8_t>(bytes.begin(), bytes.end())});
    function_.tensors.push_back({.name = "network",
                                 .type = DataType::UInt8,
                                 .shape = {static_cast<int64_t>(bytes.size())},
                                 .constant = ConstantId{0}});
    node_.kind = graph::OpKind::Compiled;
    node_.name = "network";
    node_.inputs = {graph::TensorId{0}, graph::TensorId{}};
    attributes_.device = "ethos-n";
  }

  void add_input(const FileBuffer& buffer) {
    const std::string name = fmt::format("input{}", function_.inputs.size());
    function_.inputs.push_back(add(buffer, name, attributes_.input_offsets));
    node_.inputs.push_back(function_.inputs.back());
  }
  void add_output(const FileBuffer& buffer) {
    const std::string name = fmt::format("output{}", function_.outputs.size());
    function_.outputs.push_back(add(buffer, name, attributes_.output_offsets));
    node_.outputs.push_back(function_.outputs.back());
  }
  graph::Module finish(int64_t intermediate_bytes) && {
    attributes_.arena_bytes += aligned(intermediate_bytes);
    node_.attributes = std::move(attributes_);
    function_.nodes.push_back(std::move(node_));
    module_.functions.push_back(std::move(function_));
    return std::move(module_);
  }

 private:
  static int64_t aligned(int64_t bytes) { return round_up(bytes, kBufferAlignment); }
  graph::TensorId add(const FileBuffer& buffer, std::string name, std::vector<int64_t>& offsets) {
    const graph::TensorId id{static_cast<int32_t>(function_.tensors.size())};
    function_.tensors.push_back(
        {.name = std::move(name), .type = DataType::UInt8, .shape = {buffer.bytes}});
    offsets.push_back(attributes_.arena_bytes);
    attributes_.arena_bytes += aligned(buffer.bytes);
    return id;
  }

  graph::Module module_;
  graph::Function function_;
  graph::Node node_;
  graph::CompiledAttrs attributes_;
};

}  // namespace

Result<graph::Module> import_network(std::span<const uint8_t> bytes, const std::string& file,
                                     const std::string& module_name) {
  const Result<NetworkFile> network = read_network(bytes);
  if (!network.ok()) {
    Diagnostics problems;
    for (const Diagnostic& item : network.error().items())
      problems.add(file, "is a compiled Ethos-N network that cannot be read: " + item.what,
                   item.hint);
    return problems;
  }
  if (network->outputs.empty())
    return Diagnostics(file, "is a compiled Ethos-N network without outputs");
  NetworkModule module(bytes, module_name);
  for (const FileBuffer& buffer : network->inputs) module.add_input(buffer);
  for (const FileBuffer& buffer : network->outputs) module.add_output(buffer);
  return std::move(module).finish(network->intermediate_bytes());
}

}  // namespace intarsia::targets::ethos_n
