#include "lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "encode/generate.h"
#include "legalise/legalise.h"
#include "network/network_function.h"
#include "network/payload.h"

namespace intarsia::targets::ethos_n {

std::vector<Pattern> operator_patterns(const Target& device) {
  const Variant& variant = variant_of(device);
  const bool rewrites = device.get_bool("rewrites");
  std::vector<Pattern> patterns;
  for (const graph::OpKind kind : {
#define OP(name, text, attrs, least, most, outputs) graph::OpKind::name,
#include "intarsia/graph/op_kinds.def"
#undef OP
       }) {
    if (kind == graph::OpKind::Call || kind == graph::OpKind::Compiled) continue;
    patterns.push_back(
        {std::string(graph::to_string(kind)), {kind, {}}, [&variant](const PatternMatch& match) {
           return refuses_operator(variant, match.module, match.function, match.node());
         }});
    patterns.push_back({fmt::format("{} in other operators", graph::to_string(kind)),
                        {kind, {}},
                        [&variant, rewrites](const PatternMatch& match) {
                          return refuses_rewritten(variant, match.module, match.function,
                                                   match.node(), rewrites);
                        },
                        "in operators that the stack has"});
  }
  return patterns;
}

namespace {

Result<GeneratedNetwork> network_of(const Variant& variant, const graph::Module& module,
                                    const graph::Function& function) {
  Legaliser legaliser(variant, module, function, function.inputs, function.outputs);
  for (const graph::Node& node : function.nodes)
    if (const Reason reason = legaliser.add(node))
      return Diagnostics(fmt::format("operator '{}'", node.name), *reason,
                         "leave it to the host (--pin)");
  return generate(variant, legaliser.finish());
}

}  // namespace

std::vector<std::string> streaming_notes(const Target& device, const graph::Module& module,
                                         const graph::Function& function) {
  std::vector<std::string> notes;
  const Result<GeneratedNetwork> network = network_of(variant_of(device), module, function);
  if (!network.ok()) return notes;
  for (const CascadeDescription& part : network->cascades)
    notes.push_back(
        fmt::format("together in {} stripes of rows, {} bytes between DRAM and SRAM: {}",
                    part.stripes, part.bytes, fmt::join(part.operators, ", ")));
  notes.push_back(fmt::format("{} bytes between DRAM and SRAM in all", network->traffic.bytes));
  return notes;
}

Result<tir::LoweredFunction> lower(const Target& device, const graph::Module& module,
                                   const graph::Function& function) {
  const Variant& variant = variant_of(device);
  INTARSIA_TRY(GeneratedNetwork network, network_of(variant, module, function));
  if (network.buffers > most_buffers())
    return Diagnostics(
        fmt::format("function '{}'", function.name),
        fmt::format("it has {} inputs and {} outputs, and the driver takes {} buffers in one "
                    "network, with one for the commands, one for weights and one for other maps",
                    function.inputs.size(), function.outputs.size(), most_buffers()),
        "leave some of its operators to the host (--pin)");
  return to_tir(function, {std::move(network.bytes), network.intermediate_bytes,
                           fmt::format("{}: {} operators on {}", function.name,
                                       function.nodes.size(), variant.tag)});
}

}  // namespace intarsia::targets::ethos_n
