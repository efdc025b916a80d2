// A model in the files of other runtimes: a .tflite file with command streams, and bare networks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "bindings.h"
#include "byte_source.h"
#include "requests/bare_networks.h"
#include "requests/offload_model.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {
namespace {

struct Offloaded {
  requests::OffloadedFile file;
  std::string name;
  std::vector<std::string> notes;
};

Offloaded offload(const std::string& resource_root, const nb::object& bytes,
                  const requests::ModelOptions& options, const nb::object& progress) {
  ByteSource source(bytes, options.model);
  return watched_call(progress, [&](Watcher& watcher) -> Result<Offloaded> {
    INTARSIA_TRY(const std::span<const uint8_t> model, source.read());
    requests::Environment environment = make_environment(resource_root);
    std::vector<std::string> notes;
    INTARSIA_TRY(
        requests::OffloadedFile file,
        requests::offload_model(
            environment, options, model, [&](const std::string& note) { notes.push_back(note); },
            [&](const Progress& progress) { watcher.tell(progress.text()); }));
    return Offloaded{
        std::move(file),
        options.name.empty() ? std::filesystem::path(options.model).stem().string() : options.name,
        std::move(notes)};
  });
}

nb::dict bare_networks(const std::string& resource_root, const nb::object& bytes,
                       const requests::ModelOptions& options, const std::string& format,
                       const nb::object& progress) {
  ByteSource source(bytes, options.model);
  const requests::BareNetworks made =
      watched_call(progress, [&](Watcher& watcher) -> Result<requests::BareNetworks> {
        INTARSIA_TRY(const std::span<const uint8_t> model, source.read());
        requests::Environment environment = make_environment(resource_root);
        return requests::bare_networks(
            environment, options, format, model, {},
            [&](const Progress& progress) { watcher.tell(progress.text()); });
      });
  nb::dict files;
  for (const requests::BareNetwork& network : made.networks)
    files[network.file.c_str()] = nb::bytes(network.bytes.data(), network.bytes.size());
  files["networks.json"] = nb::bytes(made.json.data(), made.json.size());
  return files;
}

}  // namespace

void bind_offload(nb::module_& module) {
  nb::class_<Offloaded>(module, "Offloaded", "A .tflite file with command streams.")
      .def_prop_ro(
          "data",
          [](const Offloaded& it) { return nb::bytes(it.file.bytes.data(), it.file.bytes.size()); })
      .def_prop_ro("target",
                   [](const Offloaded& it) { return to_string(it.file.selection.target); })
      .def_prop_ro("on_cpu",
                   [](const Offloaded& it) {
                     std::vector<std::tuple<std::string, std::string>> rows;
                     for (const requests::KeptOperator& op : it.file.on_cpu)
                       rows.emplace_back(op.label, op.reason);
                     return rows;
                   })
      .def_prop_ro("npu_operators", [](const Offloaded& it) { return it.file.npu_operators; })
      .def_prop_ro("arena_bytes", [](const Offloaded& it) { return it.file.arena_bytes; })
      .def_prop_ro("fast_bytes", [](const Offloaded& it) { return it.file.fast_bytes; })
      .def_prop_ro("summary",
                   [](const Offloaded& it) { return requests::offload_summary(it.file, it.name); })
      .def_prop_ro("figures_csv",
                   [](const Offloaded& it) { return requests::offload_csv(it.file, it.name); })
      .def_prop_ro("layers_csv",
                   [](const Offloaded& it) { return requests::offload_layers_csv(it.file); })
      .def_ro("notes", &Offloaded::notes);
  module.def("offload", offload, nb::arg("resource_root"), nb::arg("bytes").none(),
             nb::arg("options"), nb::arg("progress").none());
  module.def("bare_networks", bare_networks, nb::arg("resource_root"), nb::arg("bytes").none(),
             nb::arg("options"), nb::arg("format"), nb::arg("progress").none(),
             nb::sig("def bare_networks(resource_root: str, bytes: object | None, options: "
                     "ModelOptions, format: str, "
                     "progress: object | None) -> dict[str, bytes]"));
}

}  // namespace intarsia::python
