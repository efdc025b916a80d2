// TFLM_DECODE: constants that TFLite Micro's tools have made smaller. They are known, so the model holds them as they were.
// Operands are pairs: the encoded bytes, and what says how.
#include "import/tflite/decode_constant.h"
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

void SubgraphReader::compose_decode(const OperatorInfo& op, OperatorReader& in) {
  if (op.inputs.size() != 2 * op.outputs.size())
    return in.problem(fmt::format("has {} inputs for {} outputs, and takes two for each",
                                  op.inputs.size(), op.outputs.size()));
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const int32_t id = op.outputs[i];
    const graph::Tensor made = in.output(i);
    const std::span<const uint8_t> encoded = bytes(current(op.inputs[2 * i]));
    const std::span<const uint8_t> header = bytes(current(op.inputs[2 * i + 1]));
    if (encoded.empty() || header.empty())
      return in.problem("decodes what is known only when the model runs");
    std::vector<uint8_t> values;
    if (const std::string wrong = decode_constant(encoded, header, made, values); !wrong.empty())
      return in.problem(fmt::format("{}, for its output {}", wrong, i),
                        "tables of values (LUT), Huffman codes and pruning are possible");
    if (!is_result(id)) {
      tensors_.set_data(id, std::move(values));
      continue;
    }
    graph::Tensor constant = made;
    constant.name = unique_name(op.name + "_value");
    put_last(op, graph::OpKind::Reshape, graph::ReshapeAttrs{made.shape},
             {make({std::move(constant), std::move(values)})}, i);
  }
}

}  // namespace intarsia::tflite
