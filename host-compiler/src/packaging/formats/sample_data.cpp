#include "packaging/formats/sample_data.h"

#include <fmt/format.h>

#include "intarsia/graph/tensor_values.h"

namespace intarsia::packaging {

Result<SampleData> make_sample_data(const graph::Module& module) {
  const graph::Function& entry = module.entry_function();
  int64_t bytes = 0;
  for (const auto* tensors : {&entry.inputs, &entry.outputs})
    for (const graph::TensorId id : *tensors) bytes += entry.tensor(id).bytes();
  SampleData data;
  if (bytes > kMostSampleBytes) {
    data.left_out = fmt::format(
        "inputs and outputs have {} bytes, and test data of more than {} are not written", bytes,
        kMostSampleBytes);
    return data;
  }
  data.inputs = graph::make_sample(module, graph::kFirstRandomSample);
  graph::Evaluator reference(module);
  INTARSIA_TRY(data.outputs, reference.run(data.inputs));
  return data;
}

}  // namespace intarsia::packaging
