// The reference evaluator. Arrays are in the model's own element types; Python's side checks and converts them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "arrays.h"
#include "bindings.h"
#include "byte_source.h"
#include "intarsia/graph.h"
#include "requests/compile_model.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {
namespace {

using graph::TensorValue;

Array array_of(const graph::Tensor& tensor, TensorValue value) {
  return to_array(tensor.type, tensor.shape, std::move(value));
}

// A result that a run makes: of a node, which output.
using ResultPlace = std::pair<const graph::Node*, size_t>;

class Reference {
 public:
  Reference(graph::Module module, std::vector<std::string> notes)
      : module_(std::move(module)), evaluator_(module_), notes_(std::move(notes)) {
    name_results();
  }
  Reference(const Reference&) = delete;

  const std::string& name() const { return module_.name; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::vector<TensorFacts> inputs() const { return facts(entry().inputs); }
  std::vector<TensorFacts> outputs() const { return facts(entry().outputs); }

  // Every tensor that a run makes, by name, in the order of the nodes.
  nb::dict results() const {
    nb::dict all;
    for (const auto& [place, result] : results_)
      all[result.name.c_str()] = nb::make_tuple(facts_of(*result.tensor), place.first->name,
                                                std::string(graph::to_string(place.first->kind)));
    return all;
  }

  nb::list run(const std::vector<Operand>& operands) {
    std::vector<TensorValue> outputs = evaluate(operands, nullptr);
    nb::list arrays;
    for (size_t i = 0; i < outputs.size(); ++i)
      arrays.append(array_of(entry().tensor(entry().outputs[i]), std::move(outputs[i])));
    return arrays;
  }

  // Of a loop's body, the results of its last round.
  nb::dict run_all(const std::vector<Operand>& operands) {
    Seen seen{this, {}};
    evaluate(operands, &seen);
    nb::dict arrays;
    for (const auto& [place, result] : results_) {
      const auto found = seen.values.find(place);
      if (found != seen.values.end())
        arrays[result.name.c_str()] = array_of(*result.tensor, std::move(found->second));
    }
    return arrays;
  }

  void reset() {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    std::destroy_at(&evaluator_);
    std::construct_at(&evaluator_, module_);
  }

 private:
  struct NamedResult {
    std::string name;
    const graph::Tensor* tensor = nullptr;
  };
  struct Seen {
    const Reference* self;
    std::map<ResultPlace, TensorValue> values;
  };

  const graph::Function& entry() const { return module_.entry_function(); }

  std::vector<TensorFacts> facts(const std::vector<graph::TensorId>& ids) const {
    std::vector<TensorFacts> all;
    for (const graph::TensorId id : ids) all.push_back(facts_of(entry().tensor(id)));
    return all;
  }

  // A tensor's name where it has one of its own, else that of its node, with a number where that is not enough.
  void name_results() {
    std::set<std::string> names;
    for (const graph::Function& function : module_.functions)
      for (const graph::Node& node : function.nodes)
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          const graph::Tensor& tensor = function.tensor(node.outputs[i]);
          std::string name = tensor.name;
          if (name.empty() || names.contains(name))
            name = i == 0 ? node.name : fmt::format("{}:{}", node.name, i);
          for (int n = 2; names.contains(name); ++n) name = fmt::format("{}#{}", node.name, n);
          names.insert(name);
          results_.push_back({{&node, i}, {name, &tensor}});
        }
  }

  std::vector<TensorValue> evaluate(const std::vector<Operand>& operands, Seen* seen) {
    INTARSIA_CHECK(operands.size() == entry().inputs.size(), "inputs were checked");
    std::vector<TensorValue> values;
    for (size_t i = 0; i < operands.size(); ++i) {
      const graph::Tensor& tensor = entry().tensor(entry().inputs[i]);
      values.push_back(bytes_of(tensor.type, tensor.shape, operands[i]));
    }
    return watched_call(nb::none(), [&](Watcher&) -> Result<std::vector<TensorValue>> {
      const std::lock_guard lock(mutex_);
      return evaluator_.run(values, seen != nullptr ? keep : nullptr, seen);
    });
  }

  static void keep(void* context, const graph::Node& node, size_t output,
                   const TensorValue& value) {
    static_cast<Seen*>(context)->values[{&node, output}] = value;
  }

  graph::Module module_;
  graph::Evaluator evaluator_;
  std::vector<std::string> notes_;
  std::vector<std::pair<ResultPlace, NamedResult>> results_;
  std::mutex mutex_;  // of the evaluator's state; taken without Python's lock
};

std::unique_ptr<Reference> make_reference(const std::string& resource_root, const nb::object& bytes,
                                          const requests::ModelOptions& options) {
  ByteSource source(bytes, options.model);
  return watched_call(nb::none(), [&](Watcher&) -> Result<std::unique_ptr<Reference>> {
    const requests::Environment environment = make_environment(resource_root);
    INTARSIA_TRY(const std::span<const uint8_t> model, source.read());
    std::vector<std::string> notes;
    INTARSIA_TRY(graph::Module module, requests::import_as_asked(environment, options, model,
                                                                 [&](const std::string& note) {
                                                                   notes.push_back(note);
                                                                 }));
    return std::make_unique<Reference>(std::move(module), std::move(notes));
  });
}

}  // namespace

void bind_reference(nb::module_& module) {
  nb::class_<TensorFacts>(module, "TensorFacts", "An input, output or result of a model.")
      .def_ro("name", &TensorFacts::name)
      .def_ro("dtype", &TensorFacts::dtype)
      .def_ro("type", &TensorFacts::type)
      .def_ro("shape", &TensorFacts::shape)
      .def_ro("scale", &TensorFacts::scale)
      .def_ro("zero_point", &TensorFacts::zero_point)
      .def_ro("axis", &TensorFacts::axis);
  nb::class_<Reference>(module, "Reference", "A model in the reference evaluator, with its state.")
      .def_prop_ro("name", &Reference::name)
      .def_prop_ro("notes", &Reference::notes)
      .def_prop_ro("inputs", &Reference::inputs)
      .def_prop_ro("outputs", &Reference::outputs)
      .def("results", &Reference::results,
           nb::sig("def results(self) -> dict[str, tuple[TensorFacts, str, str]]"))
      .def("run", &Reference::run, nb::arg("operands"),
           nb::sig("def run(self, operands: list[typing.Any]) -> list[typing.Any]"))
      .def("run_all", &Reference::run_all, nb::arg("operands"),
           nb::sig("def run_all(self, operands: list[typing.Any]) -> dict[str, typing.Any]"))
      .def("reset", &Reference::reset);
  module.def("make_reference", make_reference, nb::arg("resource_root"), nb::arg("bytes").none(),
             nb::arg("options"));
}

}  // namespace intarsia::python
