#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "requests/select.h"
#include "support/amounts.h"
#include "support/model_name.h"

namespace nb = nanobind;

namespace intarsia::python {

void bind_options(nb::module_& module) {
  using requests::ModelOptions;
  nb::class_<ModelOptions>(module, "ModelOptions", "The options of `intarsia compile`.")
      .def(nb::init<>())
      .def_rw("model", &ModelOptions::model)
      .def_rw("name", &ModelOptions::name)
      .def_rw("target", &ModelOptions::target)
      .def_rw("board", &ModelOptions::board)
      .def_rw("policy", &ModelOptions::policy)
      .def_rw("pins", &ModelOptions::pins)
      .def_rw("tags_file", &ModelOptions::tags_file)
      .def_rw("sections", &ModelOptions::sections)
      .def_rw("weights_file", &ModelOptions::weights_file)
      .def_rw("optimise", &ModelOptions::optimise)
      .def_rw("driver", &ModelOptions::driver)
      .def_rw("sram_limit", &ModelOptions::sram_limit)
      .def_rw("ram_budget", &ModelOptions::ram_budget)
      .def_rw("ram_budget_is_auto", &ModelOptions::ram_budget_is_auto)
      .def_rw("flash_budget", &ModelOptions::flash_budget)
      .def_rw("io", &ModelOptions::io)
      .def_rw("shapes", &ModelOptions::shapes)
      .def_rw("input_values", &ModelOptions::input_values)
      .def_rw("widen_weights", &ModelOptions::widen_weights)
      .def_rw("signature", &ModelOptions::signature)
      .def_rw("keep_dead_channels", &ModelOptions::keep_dead_channels)
      .def_rw("no_in_place", &ModelOptions::no_in_place)
      .def_rw("timeout", &ModelOptions::timeout);
  module.def("parse_bytes", &parse_bytes, nb::arg("text"));
  module.def("name_problem", &model_name_problem, nb::arg("name"));
  module.def("name_rule", &model_name_rule);
}

}  // namespace intarsia::python
