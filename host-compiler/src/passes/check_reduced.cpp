#include <fmt/format.h>

#include "intarsia/graph/tensor_values.h"
#include "passes/dead_channel_elimination.h"

namespace intarsia {

Result<void> check_reduced(const graph::Module& before, const graph::Module& after, int samples) {
  const graph::Function &left = before.entry_function(), &right = after.entry_function();
  if (left.inputs.size() != right.inputs.size() || left.outputs.size() != right.outputs.size())
    return Diagnostics(before.name,
                       "dead-channel elimination changed the number of inputs or outputs");
  graph::Evaluator full(before), reduced(after);
  for (int index = 0; index < samples; ++index) {
    const std::vector<graph::TensorValue> inputs = graph::make_sample(before, index);
    INTARSIA_TRY(const std::vector<graph::TensorValue> expected, full.run(inputs));
    INTARSIA_TRY(const std::vector<graph::TensorValue> actual, reduced.run(inputs));
    for (size_t o = 0; o < expected.size(); ++o) {
      const graph::Tensor& tensor = left.tensor(left.outputs[o]);
      if (const auto difference = graph::first_difference(tensor, expected[o], actual[o]))
        return Diagnostics(
            before.name,
            fmt::format("dead-channel elimination changed output {} '{}' on sample {}, {}", o,
                        tensor.name, index, difference->text(tensor.shape)),
            "this is a fault of the compiler, please report it with the model; "
            "--keep-dead-channels avoids "
            "it");
    }
  }
  return {};
}

}  // namespace intarsia
