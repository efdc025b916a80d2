#include "network/network_function.h"

#include <fmt/format.h>

#include "intarsia/plugin/stream_places.h"
#include "intarsia/plugin/tir_build.h"
#include "network/network_file.h"
#include "network/payload.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr std::string_view kDevice = "ethos-n", kIntrinsic = "ethos_n.network";
constexpr int32_t kAlignment = 16;
constexpr size_t kNetworkOperand = 0, kFirstInput = 2;  // of graph nodes

using Refusal = std::optional<std::string>;

const std::vector<uint8_t>& bytes_of(const graph::Module& module, const graph::Function& function,
                                     const graph::Node& node) {
  return module.constant(function.tensor(node.inputs.at(kNetworkOperand)).constant).bytes;
}

Refusal refuses(const PatternMatch& match, const Variant& variant) {
  const graph::Node& node = match.node();
  const auto& attributes = node.attrs<graph::CompiledAttrs>();
  if (attributes.device != kDevice) return fmt::format("it was compiled for {}", attributes.device);
  const Result<NetworkFile> network = read_network(bytes_of(match.module, match.function, node));
  if (!network.ok()) return network.error().items().front().what;
  const Result<StreamFile> stream = read_stream(*network);
  if (!stream.ok()) return stream.error().items().front().what;
  if (network->inputs.size() != node.inputs.size() - kFirstInput ||
      network->outputs.size() != node.outputs.size())
    return fmt::format("it has {} inputs and {} outputs, the operator {} and {}",
                       network->inputs.size(), network->outputs.size(),
                       node.inputs.size() - kFirstInput, node.outputs.size());
  if (network->buffers() > most_buffers())
    return fmt::format("it has buffers with numbers up to {}, and the driver takes {}",
                       network->buffers() - 1, most_buffers());
  const int64_t number = variant_number(*stream);
  // Transfers alone name no kernel, and nothing else in a stream says for which variant it was made.
  if (number < 0 || number == variant.number) return std::nullopt;
  for (const Variant& other : variants())
    if (other.number == number)
      return fmt::format("it was compiled for {}, the device is {}", other.tag, variant.tag);
  return fmt::format("it was compiled for an unknown variant, the device is {}", variant.tag);
}

CommandStream make_stream(const Target& device, const tir::Module& module, const Plan& plan,
                          const tir::Func& func) {
  CommandStream stream;
  stream.func = func.name;
  stream.device = device.name;
  stream.operators = {func.node};
  StreamPlaces places(module, plan, func, kAlignment);
  std::vector<BufferPlace> arguments;
  for (size_t parameter = 0; parameter < func.parameters.size(); ++parameter) {
    const StreamPlace place = places.of(tir::BufferId{static_cast<int32_t>(parameter)});
    arguments.push_back({static_cast<uint32_t>(place.region), static_cast<uint32_t>(place.offset)});
  }
  stream.regions = places.regions();
  for (const tir::Buffer& buffer : func.buffers)
    if (buffer.scope == tir::Scope::Constant)
      stream.commands = make_payload(variant_of(device).number, arguments,
                                     module.constant(buffer.constant).bytes);
  return stream;
}

}  // namespace

tir::LoweredFunction to_tir(const graph::Function& function, NetworkFunction network) {
  tir::LoweredFunction result;
  tir::FuncBuilder builder(function.name);
  std::vector<std::variant<tir::BufferRun, tir::Expr>> operands;
  const auto touch = [&](tir::BufferId id, tir::Access access) {
    const tir::Buffer& buffer = builder.func().buffer(id);
    operands.push_back(
        tir::BufferRun{id, std::vector<tir::Expr>(buffer.extents.size(), tir::int_imm(0)),
                       element_count(buffer.extents), access});
  };
  const auto add = [&](const std::vector<graph::TensorId>& tensors, const char* name,
                       tir::Access access) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const graph::Tensor& tensor = function.tensor(tensors[i]);
      touch(builder.parameter(fmt::format("{}{}", name, i), tensor.type, tensor.shape, access,
                              kAlignment),
            access);
    }
  };
  add(function.inputs, "input", tir::Access::Read);
  add(function.outputs, "output", tir::Access::Write);
  if (network.intermediate_bytes > 0)
    touch(builder.local("intermediates", DataType::Int8, {network.intermediate_bytes}, kAlignment),
          tir::Access::ReadWrite);
  const auto bytes = static_cast<int64_t>(network.network.size());
  result.module.constants.push_back({fmt::format("{}_network", function.name),
                                     DataType::UInt8,
                                     {bytes},
                                     std::move(network.network),
                                     tir::ConstantUse::Stream});
  touch(builder.constant("network", DataType::UInt8, {bytes}, ConstantId{0}), tir::Access::Read);
  tir::Func func = builder.finish(tir::seq(
      {tir::with_comment("", tir::intrinsic(std::string(kIntrinsic), std::move(operands)))}));
  func.stepwise = true;
  func.node = function.nodes.at(0).name;
  func.origin = std::move(network.origin);
  result.entry = func.name;
  result.module.funcs.push_back(std::move(func));
  return result;
}

Pattern compiled_network_pattern(const Target& device) {
  const Variant& variant = variant_of(device);
  return {"compiled network", {graph::OpKind::Compiled}, [&variant](const PatternMatch& match) {
            return refuses(match, variant);
          }};
}

bool is_compiled_network(const graph::Function& function) {
  return function.nodes.size() == 1 && function.nodes[0].kind == graph::OpKind::Compiled;
}

Result<tir::LoweredFunction> lower_compiled_network(const graph::Module& module,
                                                    const graph::Function& function) {
  const graph::Node& node = function.nodes.at(0);
  const std::vector<uint8_t>& bytes = bytes_of(module, function, node);
  INTARSIA_TRY(const NetworkFile network, read_network(bytes));
  return to_tir(function, {bytes, network.intermediate_bytes(),
                           fmt::format("{}: a network of another compiler", node.name)});
}

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs)
    if (func.target == device.name && func.name != module.entry)
      artifacts.streams.push_back(make_stream(device, module, plan, func));
  return artifacts;
}

}  // namespace intarsia::targets::ethos_n
