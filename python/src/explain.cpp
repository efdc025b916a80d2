#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "byte_source.h"
#include "requests/compile_model.h"
#include "requests/explanation_json.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {
namespace {

// JSON and notes.
std::pair<std::string, std::vector<std::string>> explain(const std::string& resource_root,
                                                         const nb::object& bytes,
                                                         const requests::ModelOptions& options,
                                                         bool refused_only) {
  ByteSource source(bytes, options.model);
  using Answer = std::pair<std::string, std::vector<std::string>>;
  return watched_call(nb::none(), [&](Watcher&) -> Result<Answer> {
    requests::Environment environment = make_environment(resource_root);
    INTARSIA_TRY(requests::Selection selection, requests::select(environment, options));
    selection.options.partition.estimates = true;
    INTARSIA_TRY(const std::span<const uint8_t> model, source.read());
    Answer answer;
    INTARSIA_TRY(
        const CompiledModel compiled,
        requests::compile_bytes(environment, selection, options, model,
                                requests::has_ram_budget(options) ? Stage::Plan : Stage::Partition,
                                [&](const std::string& note) { answer.second.push_back(note); }));
    answer.first = requests::explanation_json(
        compiled.partitioned.explanation, compiled.reduced,
        requests::has_ram_budget(options) ? compiled.programs : std::vector<CompiledProgram>{},
        requests::notes_of(compiled.partitioned.module, environment.registry, selection.target),
        refused_only);
    return answer;
  });
}

}  // namespace

void bind_explain(nb::module_& module) {
  module.def("explain", explain, nb::arg("resource_root"), nb::arg("bytes").none(),
             nb::arg("options"), nb::arg("refused_only"));
}

}  // namespace intarsia::python
