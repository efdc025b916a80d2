// The extension module intarsia._core.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "intarsia/builtin_targets.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {

requests::Environment make_environment(const std::string& resource_root) {
  requests::Environment environment;
  environment.resource_root = resource_root;
  add_builtin_targets(environment.registry);
  return environment;
}

namespace {

// The classes of exceptions are Python's, so that they can be read and documented there.
void raise(const char* name, const nb::object& argument) {
  const nb::object type = nb::module_::import_("intarsia._errors").attr(name);
  const nb::object error = type(argument);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ProblemsFound& found) {
    nb::list problems;
    for (const Diagnostic& item : found.problems.items())
      problems.append(nb::make_tuple(item.where, item.what, item.hint));
    raise("Error", problems);
  } catch (const LibraryFault& fault) {
    raise("InternalError", nb::str(fault.message.c_str()));
  }
}

}  // namespace
}  // namespace intarsia::python

NB_MODULE(_core, module) {
  using namespace intarsia::python;
  module.doc() = "What of Intarsia is compiled; private to the package.";
  module.attr("version") = INTARSIA_VERSION;
  nb::register_exception_translator(translate);
  take_over_faults();
  module.def(
      "break_invariant",
      [](const std::string& assumed) {
        watched_call(nb::none(), [&](Watcher&) -> intarsia::Result<int> {
          INTARSIA_CHECK(assumed.empty(), assumed);
          return 0;
        });
      },
      nb::arg("assumed"), "A fault of the library, for tests.");
  bind_options(module);
  bind_compiled(module);
  bind_explain(module);
  bind_lists(module);
  bind_offload(module);
  bind_placement(module);
  bind_reference(module);
  bind_simulator(module);
}
