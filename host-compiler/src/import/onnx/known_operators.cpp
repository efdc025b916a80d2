#include "import/onnx/known_operators.h"

#include <algorithm>
#include <array>

#include "import/onnx/readers.h"
#include "intarsia/plugin/check.h"

namespace intarsia::onnx {

namespace {

void read_written_out(Reader&) {
  INTARSIA_CHECK(false, "abbreviations are written out when they are listed");
}

constexpr auto kOperators = std::to_array<KnownOperator>({
#define ONNX_OPERATOR(domain, type, reader, least, most) \
  {domain, #type, read_##reader, least, most, graph::OpKind::Call},
#define ONNX_ELEMENTS(type, reader, kind, least, most) \
  {"", #type, read_##reader, least, most, graph::OpKind::kind},
#include "import/onnx/known_operators.def"
#undef ONNX_OPERATOR
#undef ONNX_ELEMENTS
});

// Beside those that are an element-wise kind of the IR.
constexpr auto kOnElements = std::to_array<std::string_view>(
    {"Cast", "Identity", "Dropout", "QuantizeLinear", "DequantizeLinear", "Where", "Relu", "Clip",
     "LeakyRelu", "Gelu"});

}  // namespace

const KnownOperator* find_operator(std::string_view domain, std::string_view type) {
  const auto found = std::ranges::find_if(kOperators, [&](const KnownOperator& known) {
    return known.domain == domain && known.type == type;
  });
  return found == kOperators.end() ? nullptr : &*found;
}

bool works_on_elements(std::string_view domain, std::string_view type) {
  return find_operator(domain, type)->kind != graph::OpKind::Call ||
         std::ranges::find(kOnElements, type) != kOnElements.end();
}

}  // namespace intarsia::onnx
