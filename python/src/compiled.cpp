// A compiled model: its files, its report, its plan, and its package in any format.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings.h"
#include "byte_source.h"
#include "compiled.h"
#include "packaging/formats/format.h"
#include "requests/package_folder.h"
#include "requests/sweep_row.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {
namespace {

std::unique_ptr<Compiled> compile_model(const std::string& resource_root, const nb::object& bytes,
                                        const requests::ModelOptions& options, bool measures,
                                        const nb::object& progress) {
  ByteSource source(bytes, options.model);
  requests::MeasuredRequest request;
  request.options = options;
  request.measures = measures;
  return watched_call(progress, [&](Watcher& watcher) -> Result<std::unique_ptr<Compiled>> {
    INTARSIA_TRY(request.bytes, source.read());
    std::vector<std::string> notes;
    request.on_note = [&](const std::string& note) { notes.push_back(note); };
    request.on_progress = [&](const Progress& progress) { watcher.tell(progress.text()); };
    requests::Environment environment = make_environment(resource_root);
    INTARSIA_TRY(requests::MeasuredProgram made,
                 requests::compile_and_measure(environment, request));
    requests::note_idle_options(environment, made.selection.target, options, request.on_note);
    return std::make_unique<Compiled>(std::move(environment), std::move(made), std::move(notes));
  });
}

nb::dict files_of(const Compiled& compiled) {
  std::vector<std::pair<std::string, std::string>> files = watched_call(
      nb::none(), [&](Watcher&) -> Result<std::vector<std::pair<std::string, std::string>>> {
        std::vector<std::pair<std::string, std::string>> all;
        INTARSIA_TRY(const std::vector<SourceFile> files, requests::plain_files(compiled.made));
        for (const SourceFile& file : files) all.emplace_back(file.path, file.whole_text());
        return all;
      });
  nb::dict result;
  for (const auto& [path, text] : files) result[path.c_str()] = nb::bytes(text.data(), text.size());
  return result;
}

std::vector<std::string> write(const Compiled& compiled, const std::string& folder,
                               const std::string& format, const std::string& runtime_folder,
                               bool single_file) {
  return watched_call(nb::none(), [&](Watcher&) -> Result<std::vector<std::string>> {
    std::vector<std::string> notes;
    INTARSIA_TRY_VOID(requests::write_package(
        compiled.environment, {folder, runtime_folder, single_file, format}, compiled.made,
        [&](const std::string& note) { notes.push_back(note); }));
    return notes;
  });
}

nb::list format_list() {
  nb::list list;
  for (const packaging::Format& format : packaging::formats())
    list.append(nb::make_tuple(format.name, format.summary));
  return list;
}

// By the names of SweepRow's attributes.
nb::dict sweep_figures(const Compiled& compiled) {
  const requests::SweepFigures figures = requests::sweep_figures(compiled.made.report);
  nb::dict result;
  for (const requests::Figure figure : requests::all_figures()) {
    const std::string name(to_string(figure));
    const std::optional<double> value = figures.value(figure);
    if (!value)
      result[name.c_str()] = nb::none();
    else if (figure == requests::Figure::Microseconds)
      result[name.c_str()] = *value;
    else
      result[name.c_str()] = static_cast<int64_t>(*value);
  }
  return result;
}

using Values = std::vector<std::optional<double>>;

std::vector<bool> unbeaten(const std::vector<std::string>& models,
                           const std::vector<Values>& values) {
  if (models.size() != values.size()) throw nb::value_error("as many models as points are needed");
  std::vector<requests::SweepPoint> points;
  for (size_t i = 0; i < values.size(); ++i) points.push_back({models[i], values[i]});
  return requests::unbeaten(points);
}

}  // namespace

void bind_compiled(nb::module_& module) {
  nb::class_<Compiled>(module, "Compiled", "A compiled and measured model.")
      .def_prop_ro("name", [](const Compiled& it) { return it.made.model.package.manifest.model; })
      .def_prop_ro("target",
                   [](const Compiled& it) { return it.made.model.package.manifest.target; })
      .def_prop_ro("board", [](const Compiled& it) { return it.made.selection.board.name; })
      .def_prop_ro("report_json", [](const Compiled& it) { return it.made.report.json; })
      .def_prop_ro("report_text", [](const Compiled& it) { return it.made.report.text; })
      .def_ro("notes", &Compiled::notes)
      .def_prop_ro("sweep_figures", sweep_figures,
                   nb::sig("def sweep_figures(self) -> dict[str, int | float | None]"))
      .def("files", files_of, nb::sig("def files(self) -> dict[str, bytes]"))
      .def("write", write, nb::arg("folder"), nb::arg("format"), nb::arg("runtime_folder"),
           nb::arg("single_file"));
  module.def("compile", compile_model, nb::arg("resource_root"), nb::arg("bytes").none(),
             nb::arg("options"), nb::arg("measures"), nb::arg("progress").none());
  module.def(
      "report_page",
      [](const std::string& report, const std::string& baseline, const std::string& trace) {
        return watched_call(nb::none(), [&](Watcher&) {
          ReportPageExtras extras;
          extras.baseline = baseline;
          extras.baseline_name = "baseline";
          extras.trace = trace;
          extras.trace_name = "trace";
          return report_page(report, "report", extras);
        });
      },
      nb::arg("report"), nb::arg("baseline"), nb::arg("trace"));
  module.def("unbeaten", unbeaten, nb::arg("models"), nb::arg("points"),
             "Which points no other one of the same model beats.");
  module.def("formats", format_list, nb::sig("def formats() -> list[tuple[str, str]]"));
}

}  // namespace intarsia::python
