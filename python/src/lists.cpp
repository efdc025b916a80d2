#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "requests/board_list.h"
#include "target/target_json.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {

void bind_lists(nb::module_& module) {
  module.def(
      "targets",
      [](const std::string& resource_root, const std::optional<std::string>& name,
         const std::string& tags_file) {
        return watched_call(nb::none(), [&](Watcher&) -> Result<std::string> {
          requests::Environment environment = make_environment(resource_root);
          INTARSIA_TRY_VOID(environment.load_tags(tags_file));
          return targets_json(environment.registry.catalogue(), name);
        });
      },
      nb::arg("resource_root"), nb::arg("name").none(), nb::arg("tags_file"));
  module.def(
      "boards",
      [](const std::string& resource_root, const std::string& name) {
        return watched_call(nb::none(), [&](Watcher&) -> Result<std::string> {
          const requests::Environment environment = make_environment(resource_root);
          INTARSIA_TRY(const std::vector<board::Board> boards,
                       requests::boards_named(environment, name));
          return requests::boards_json(boards);
        });
      },
      nb::arg("resource_root"), nb::arg("name"));
}

}  // namespace intarsia::python
