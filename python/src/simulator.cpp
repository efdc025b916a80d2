// Compiled models executed in this process, and their comparison with the reference.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "arrays.h"
#include "bindings.h"
#include "byte_source.h"
#include "compiled.h"
#include "intarsia/builtin_targets.h"
#include "intarsia/engine.h"
#include "intarsia/graph/tensor_values.h"
#include "requests/verify_in_process.h"
#include "watched_call.h"

namespace nb = nanobind;

namespace intarsia::python {
namespace {

using Bytes = std::vector<uint8_t>;

// What the process can execute; made once, and never changed.
const EngineRegistry& engines() {
  static const EngineRegistry& all = *[] {
    auto* made = new EngineRegistry;
    add_builtin_engine(*made);
    return made;
  }();
  return all;
}

std::vector<TensorFacts> facts(const std::vector<TensorInfo>& tensors) {
  std::vector<TensorFacts> all;
  for (const TensorInfo& tensor : tensors) all.push_back(facts_of(tensor));
  return all;
}

class Simulator {
 public:
  // `model` outlives it.
  static Result<std::unique_ptr<Simulator>> make(const CompiledModel& model, bool trace) {
    std::unique_ptr<Simulator> made(new Simulator(model));
    EngineOptions options{.trace = trace, .profile = true, .on_result = {}};
    options.on_result = [self = made.get()](int32_t, const std::string& name,
                                            std::span<const uint8_t> bytes) {
      if (self->shown_ != nullptr)
        self->shown_->emplace_back(name, Bytes(bytes.begin(), bytes.end()));
    };
    INTARSIA_TRY(Engine engine, Engine::make(model, engines(), std::move(options)));
    made->engine_.emplace(std::move(engine));
    return made;
  }
  Simulator(const Simulator&) = delete;

  std::vector<TensorFacts> inputs() const { return facts(engine_->inputs()); }
  std::vector<TensorFacts> outputs() const { return facts(engine_->outputs()); }

  nb::list run(const std::vector<Operand>& operands) {
    return arrays_of(infer(operands, nullptr), 0);
  }

  // The outputs; and, where one CPU runs the model, the results of operators with what their tensors are, by the operator's
  // name in the order in which they are made.
  nb::tuple run_all(const std::vector<Operand>& operands) {
    std::vector<std::pair<std::string, Bytes>> shown;
    const nb::list outputs = arrays_of(infer(operands, &shown), 0);
    nb::dict results;
    std::map<std::string, size_t> seen;
    for (auto& [name, bytes] : shown) {
      const size_t output = seen[name]++;
      const graph::Tensor* tensor = result_of(name, output);
      if (tensor == nullptr || tensor->bytes() != static_cast<int64_t>(bytes.size())) continue;
      const std::string key = output == 0 ? name : fmt::format("{}:{}", name, output);
      results[key.c_str()] = nb::make_tuple(
          facts_of(*tensor), to_array(tensor->type, tensor->shape, std::move(bytes)));
    }
    return nb::make_tuple(outputs, results);
  }

  // Samples that have nothing to do with each other, by `threads` threads, 0: by all cores.
  nb::list batch(const std::vector<Operand>& operands, size_t samples, unsigned threads,
                 const nb::object& progress) {
    const std::vector<Bytes> inputs = bytes_of_all(operands, samples);
    SampleSet set{.samples = samples, .inputs = {}, .threads = threads, .on_progress = {}};
    set.inputs.assign(inputs.begin(), inputs.end());
    return arrays_of(watched_call(progress,
                                  [&](Watcher& watcher) {
                                    set.on_progress = [&](size_t done) {
                                      return watcher.tell(done, samples);
                                    };
                                    return run_samples(model_, engines(), set);
                                  }),
                     samples);
  }

  void reset() {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    engine_->reset();
  }

  std::string trace_json() {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return engine_->trace_json();
  }

  std::string profile_json() {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return engine_->profile_json();
  }

 private:
  explicit Simulator(const CompiledModel& model) : model_(model) {}

  const graph::Tensor* result_of(const std::string& node_name, size_t output) const {
    for (const graph::Function& function : model_.program().module.functions)
      for (const graph::Node& node : function.nodes)
        if (node.name == node_name && output < node.outputs.size())
          return &function.tensor(node.outputs[output]);
    return nullptr;
  }

  std::vector<Bytes> bytes_of_all(const std::vector<Operand>& operands, size_t samples) const {
    INTARSIA_CHECK(operands.size() == engine_->inputs().size(), "inputs were checked");
    std::vector<Bytes> all;
    for (size_t i = 0; i < operands.size(); ++i) {
      const TensorInfo& tensor = engine_->inputs()[i];
      all.push_back(bytes_of(tensor.type, tensor.shape, operands[i], samples));
    }
    return all;
  }

  nb::list arrays_of(std::vector<Bytes> values, size_t samples) const {
    nb::list arrays;
    for (size_t i = 0; i < values.size(); ++i) {
      const TensorInfo& tensor = engine_->outputs()[i];
      arrays.append(to_array(tensor.type, tensor.shape, std::move(values[i]), samples));
    }
    return arrays;
  }

  std::vector<Bytes> infer(const std::vector<Operand>& operands,
                           std::vector<std::pair<std::string, Bytes>>* shown) {
    const std::vector<Bytes> inputs = bytes_of_all(operands, 0);
    return watched_call(nb::none(), [&](Watcher&) -> Result<std::vector<Bytes>> {
      const std::lock_guard lock(mutex_);
      shown_ = shown;
      Result<std::vector<Bytes>> outputs =
          engine_->run(std::vector<std::span<const uint8_t>>(inputs.begin(), inputs.end()));
      shown_ = nullptr;
      return outputs;
    });
  }

  const CompiledModel& model_;
  std::optional<Engine> engine_;
  std::vector<std::pair<std::string, Bytes>>* shown_ = nullptr;
  std::mutex mutex_;  // of the engine's state; taken without Python's lock
};

std::unique_ptr<Simulator> make_simulator(const Compiled& compiled, bool trace) {
  return watched_call(nb::none(),
                      [&](Watcher&) { return Simulator::make(compiled.made.model, trace); });
}

struct Verified {
  std::string model, target;
  size_t samples = 0;
  requests::ProcessCheck check;
};

// `operands`: of each input all samples, in its type; none: `samples` that are made.
Verified verify(const std::string& resource_root, const nb::object& bytes,
                const requests::ModelOptions& options, const std::vector<Operand>& operands,
                size_t samples, bool layers) {
  ByteSource source(bytes, options.model);
  return watched_call(nb::none(), [&](Watcher&) -> Result<Verified> {
    requests::Environment environment = make_environment(resource_root);
    INTARSIA_TRY(const requests::Selection selection, requests::select(environment, options));
    INTARSIA_TRY(const std::span<const uint8_t> model, source.read());
    INTARSIA_TRY(const graph::Module module,
                 requests::import_as_asked(environment, options, model, {}));
    const graph::Function& entry = module.entry_function();
    std::vector<requests::Values> all(samples);
    for (size_t s = 0; s < samples; ++s) {
      if (operands.empty()) all[s] = graph::make_sample(module, static_cast<int>(s));
      for (size_t i = 0; i < operands.size(); ++i) {
        const graph::Tensor& tensor = entry.tensor(entry.inputs[i]);
        const Bytes values = bytes_of(tensor.type, tensor.shape, operands[i], samples);
        const auto size = static_cast<int64_t>(values.size() / samples);
        const auto begin = values.begin() + static_cast<int64_t>(s) * size;
        all[s].emplace_back(begin, begin + size);
      }
    }
    INTARSIA_TRY(
        requests::ProcessCheck check,
        requests::verify_in_process(environment, engines(), selection, module, all, layers));
    return Verified{module.name, to_string(selection.target), samples, std::move(check)};
  });
}

nb::list rows_of(const Verified& verified) {
  nb::list rows;
  for (const requests::OperatorCheck::Row& row : verified.check.rows)
    rows.append(nb::make_tuple(row.node, row.difference, row.allowed, row.largest));
  return rows;
}

}  // namespace

void bind_simulator(nb::module_& module) {
  nb::class_<Simulator>(module, "Simulator", "A compiled model that is executed in this process.")
      .def_prop_ro("inputs", &Simulator::inputs)
      .def_prop_ro("outputs", &Simulator::outputs)
      .def("run", &Simulator::run, nb::arg("operands"),
           nb::sig("def run(self, operands: list[typing.Any]) -> list[typing.Any]"))
      .def("run_all", &Simulator::run_all, nb::arg("operands"),
           nb::sig(
               "def run_all(self, operands: list[typing.Any]) -> tuple[list[typing.Any], dict[str, "
               "tuple[TensorFacts, typing.Any]]]"))
      .def("batch", &Simulator::batch, nb::arg("operands"), nb::arg("samples"), nb::arg("threads"),
           nb::arg("progress").none(),
           nb::sig("def batch(self, operands: list[typing.Any], samples: int, threads: int, "
                   "progress: object) "
                   "-> list[typing.Any]"))
      .def("reset", &Simulator::reset)
      .def("trace_json", &Simulator::trace_json)
      .def("profile_json", &Simulator::profile_json);
  module.def("make_simulator", make_simulator, nb::arg("compiled"), nb::arg("trace"),
             nb::keep_alive<0, 1>());
  nb::class_<Verified>(module, "Verified", "A compiled model against the reference.")
      .def_ro("model", &Verified::model)
      .def_ro("target", &Verified::target)
      .def_ro("samples", &Verified::samples)
      .def_prop_ro("difference", [](const Verified& it) { return it.check.difference; })
      .def_prop_ro("allowed", [](const Verified& it) { return it.check.allowed; })
      .def_prop_ro("largest", [](const Verified& it) { return it.check.largest; })
      .def("rows", rows_of, nb::sig("def rows(self) -> list[tuple[str, str, int, int]]"));
  module.def("verify", verify, nb::arg("resource_root"), nb::arg("bytes").none(),
             nb::arg("options"), nb::arg("operands"), nb::arg("samples"), nb::arg("layers"),
             nb::sig("def verify(resource_root: str, bytes: object, options: ModelOptions, "
                     "operands: list[typing.Any], "
                     "samples: int, layers: bool) -> Verified"));
}

}  // namespace intarsia::python
