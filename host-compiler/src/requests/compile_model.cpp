#include "requests/compile_model.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "intarsia/import.h"
#include "passes/quantised_edges.h"
#include "support/watched.h"
#include "target_kind/owners.h"

namespace intarsia::requests {

namespace {

using ShapesByName = std::map<std::string, Shape>;

// Extents with an x between; nothing for another text.
std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    shape.push_back(extent);
    if (end == text.data() + text.size()) return shape;
    if (*end != 'x' || end + 1 == text.data() + text.size()) return std::nullopt;
    at = end + 1;
  }
  return std::nullopt;
}

Result<ShapesByName> shapes_of(const ModelOptions& options) {
  ShapesByName shapes;
  for (const std::string& text : options.shapes) {
    const size_t equals = text.rfind('=');
    const auto shape = equals == std::string::npos || equals == 0
                           ? std::nullopt
                           : parse_shape(std::string_view(text).substr(equals + 1));
    if (!shape)
      return Diagnostics("--shape", fmt::format("'{}' is not NAME=EXTENTS", text),
                         "for example image=1x96x96x3");
    if (!shapes.try_emplace(text.substr(0, equals), *shape).second)
      return Diagnostics("--shape", fmt::format("gives '{}' a shape twice", text.substr(0, equals)),
                         "keep one of the two");
  }
  return shapes;
}

using ValuesByName = std::map<std::string, std::vector<double>>;

// Numbers with a comma between; nothing for another text.
std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    const auto [behind, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc()) return std::nullopt;
    if (behind == end) return numbers;
    if (*behind != ',') return std::nullopt;
    at = behind + 1;
  }
  return std::nullopt;
}

Result<ValuesByName> values_of(const ModelOptions& options) {
  ValuesByName values;
  for (const std::string& text : options.input_values) {
    const size_t equals = text.rfind('=');
    const auto numbers = equals == std::string::npos || equals == 0
                             ? std::nullopt
                             : parse_numbers(std::string_view(text).substr(equals + 1));
    if (!numbers)
      return Diagnostics("--input-value", fmt::format("'{}' is not NAME=VALUE", text),
                         "for example sr=16000, or gains=1,0.5,2 for an input of three elements");
    const std::string name = text.substr(0, equals);
    if (!values.try_emplace(name, *numbers).second)
      return Diagnostics("--input-value", fmt::format("gives '{}' a value twice", name),
                         "keep one of the two");
  }
  return values;
}

// Whether inputs and outputs are of the same types in both.
bool has_edges_of(const graph::Module& one, const graph::Module& other) {
  const auto types = [](const graph::Module& module) {
    const graph::Function& entry = module.entry_function();
    std::vector<DataType> found;
    for (const auto* edge : {&entry.inputs, &entry.outputs})
      for (const graph::TensorId id : *edge) found.push_back(entry.tensor(id).type);
    return found;
  };
  return types(one) == types(other);
}

}  // namespace

Result<graph::Module> import_as_asked(const Environment& environment, const ModelOptions& options,
                                      std::span<const uint8_t> bytes, const NoteSink& on_note,
                                      const ProgressListener& on_progress) {
  INTARSIA_TRY_VOID(watched::begins("import"));
  INTARSIA_TRY(const ShapesByName shapes, shapes_of(options));
  INTARSIA_TRY(const ValuesByName values, values_of(options));
  Diagnostics notes;
  Result<graph::Module> module = import_model(
      bytes, {options.model, &notes, options.name, environment.registry.foreign_formats(),
              on_progress, options.widen_weights, shapes, values, options.signature});
  if (module.ok() && options.io == "int8") {
    passes::QuantisedEdges edges = passes::quantised_edges(*module);
    notes.append(edges.kept);
    if (edges.kept.empty() && has_edges_of(edges.module, *module))
      notes.add("--io int8", "changes nothing: inputs and outputs are of signed bytes as they are");
    module = std::move(edges.module);
  }
  if (on_note)
    for (const Diagnostic& note : notes.items()) on_note(note.to_string());
  return module;
}

Result<CompiledModel> compile_bytes(const Environment& environment, const Selection& selection,
                                    const ModelOptions& options, std::span<const uint8_t> bytes,
                                    Stage last, const NoteSink& on_note) {
  INTARSIA_TRY(graph::Module module, import_as_asked(environment, options, bytes, on_note,
                                                     selection.options.on_progress));
  return compile_on(environment, selection, imported_model(std::move(module), bytes), last);
}

Result<CompiledModel> compile_on(const Environment& environment, const Selection& selection,
                                 CompiledModel model, Stage last) {
  CompileOptions options = selection.options;
  options.package = options_for(selection.board, selection.core, environment.resource_root).package;
  return run_pipeline(std::move(model), environment.registry, selection.target, options, last);
}

// Why the device takes no operator, where that is the same for all of several; empty: it differs.
static std::string common_reason(const Explanation& explanation, const std::string& device) {
  std::set<std::string> reasons;
  for (const auto& row : explanation.operators)
    for (const auto& offer : row.offers)
      if (offer.device == device) reasons.insert(offer.can ? "" : offer.reason.value_or(""));
  return explanation.operators.size() > 1 && reasons.size() == 1 ? *reasons.begin() : "";
}

void note_idle_devices(const Environment& environment, const Selection& selection,
                       const CompiledModel& model, const NoteSink& on_note) {
  if (!on_note) return;
  const TargetSpec& target = selection.target;
  const std::vector<size_t> owners = owners_of(target, environment.registry);
  std::set<size_t> busy;
  for (const auto& row : model.partitioned.explanation.operators)
    for (size_t m = 0; m < owners.size(); ++m)
      if (target.devices()[m].name == row.device) busy.insert({m, owners[m]});
  for (size_t m = 1; m < owners.size(); ++m) {
    if (busy.contains(m)) continue;
    const std::string& device = target.devices()[m].name;
    const std::string reason = common_reason(model.partitioned.explanation, device);
    on_note(fmt::format(
        "{} runs nothing of {}{}", device, model.partitioned.module.name,
        reason.empty() ? "; 'intarsia explain' says why, operator by operator" : ": " + reason));
  }
}

void note_idle_options(const Environment& environment, const TargetSpec& target,
                       const ModelOptions& options, const NoteSink& on_note) {
  const auto is_limited = [&](const Target& device) {
    return environment.registry.catalogue().kind(device.kind)->attribute("sram-limit") != nullptr;
  };
  if (on_note && options.sram_limit && std::ranges::none_of(target.devices(), is_limited))
    on_note(
        "--sram-limit: limits nothing: the target has no accelerator with fast memory of its own; "
        "--ram-budget is the limit of a CPU's memory");
}

}  // namespace intarsia::requests
