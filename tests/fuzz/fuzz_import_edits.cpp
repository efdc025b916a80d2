// Well-formed files of wrong meaning: random bytes would hardly get past the check of the file's
// structure, so here they choose a valid model and edit its numbers.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "aborting_checks.h"
#include "intarsia/import.h"
#include "tflite_builder.h"

namespace {

using namespace intarsia;
using namespace intarsia::test;

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }

  template <typename T>
  T take() {
    T value{};
    const size_t size = std::min(sizeof value, static_cast<size_t>(end_ - at_));
    std::memcpy(&value, at_, size);
    at_ += size;
    return value;
  }
  // Mostly small, now and then anything.
  int32_t number() {
    const auto small = take<int8_t>();
    return small == -100 ? take<int32_t>() : small;
  }
  template <typename T>
  T& pick(std::vector<T>& items) {
    if (items.empty()) items.emplace_back();
    return items[take<uint8_t>() % items.size()];
  }

 private:
  const uint8_t *at_, *end_;
};

OptionsMaker some_options(Bytes& in) {
  const int a = in.number(), b = in.number(), c = in.number(), d = in.number();
  const auto padding = static_cast<format::Padding>(in.take<uint8_t>() % 3);
  const auto activation = static_cast<format::Activation>(in.take<uint8_t>() % 7);
  switch (in.take<uint8_t>() % 8) {
    case 0:
      return options_of(&format::CreateConv2dOptions, padding, a, b, activation, c, d, int8_t{0});
    case 1:
      return options_of(&format::CreateDepthwiseConv2dOptions, padding, a, b, 0, activation, c, d);
    case 2:
      return options_of(&format::CreatePool2dOptions, padding, a, b, c, d, activation);
    case 3:
      return options_of(&format::CreateFullyConnectedOptions, activation, int8_t{0}, a > 0, false,
                        int8_t{0});
    case 4:
      return options_of(&format::CreateSoftmaxOptions, static_cast<float>(a));
    case 5:
      return options_of(&format::CreateReducerOptions, a > 0);
    case 6:
      return options_of(&format::CreateWhileOptions, a, b);
    default:
      return {};
  }
}

void edit_tensor(TensorSpec& tensor, Bytes& in) {
  switch (in.take<uint8_t>() % 10) {
    case 0:
      in.pick(tensor.shape) = in.number();
      break;
    case 1:
      tensor.shape.push_back(in.number());
      break;
    case 2:
      if (!tensor.shape.empty()) tensor.shape.pop_back();
      break;
    case 3:
      tensor.type = in.take<int8_t>();
      break;
    case 4:
      in.pick(tensor.scale) = in.take<float>();
      break;
    case 5:
      in.pick(tensor.zero_point) = in.number();
      break;
    case 6:
      tensor.scale.assign(in.take<uint8_t>(), 0.5f);
      tensor.zero_point.assign(tensor.scale.size(), 0);
      tensor.axis = in.number();
      break;
    case 7:  // data of the right size, so that the shape's own rules are reached
      tensor.data.assign(in.take<uint16_t>() % 2048, in.take<uint8_t>());
      break;
    case 8:
      tensor.variable = !tensor.variable;
      break;
    default:
      in.pick(tensor.data) = in.take<uint8_t>();
  }
}

void edit_operator(OperatorSpec& op, Bytes& in) {
  switch (in.take<uint8_t>() % 5) {
    case 0:
      in.pick(op.inputs) = in.number();
      break;
    case 1:
      in.pick(op.outputs) = in.number();
      break;
    case 2:
      op.code = in.number();
      break;
    case 3:
      op.inputs.push_back(in.number());
      break;
    default:
      op.options = some_options(in);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes in(data, size);
  ModelSpec (*const models[])() = {conv2d_model,
                                   depthwise_conv2d_model,
                                   fully_connected_model,
                                   average_pool2d_model,
                                   add_model,
                                   softmax_model,
                                   reshape_model,
                                   pad_model,
                                   mean_model,
                                   quantize_model,
                                   chain_model};
  ModelSpec model = models[in.take<uint8_t>() % std::size(models)]();
  for (int edits = 0; edits < 32 && !in.empty(); ++edits) {
    switch (in.take<uint8_t>() % 4) {
      case 0:
        in.pick(in.take<uint8_t>() % 2 ? model.inputs : model.outputs) = in.number();
        break;
      case 1:
        edit_operator(in.pick(model.operators), in);
        break;
      default:
        edit_tensor(in.pick(model.tensors), in);
    }
  }
  const std::vector<uint8_t> bytes = build(model);
  const auto module = import_model(bytes, {"fuzz.tflite"});
  if (!module.ok()) return 0;
  const auto again = graph::parse(graph::print(*module));
  if (!again.ok() || !(*again == *module)) std::abort();
  return 0;
}
