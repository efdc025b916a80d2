// The operators of TFLite and of TFLite Micro that are Fourier transforms of floats.
#include <fmt/ranges.h>

#include "import/tflite/custom_options.h"
#include "import/tflite/subgraph_reader.h"
#include "import/tflite/transform_writer.h"

namespace intarsia::tflite {

using graph::OpKind;

// TFLite Micro's SignalRfft and SignalIrfft of floats; those of int16 are kernels of their own.
bool SubgraphReader::compose_transform(const OperatorInfo& op, OperatorReader& in) {
  const bool inverse = op.custom_code == "SignalIrfft";
  if ((!inverse && op.custom_code != "SignalRfft") || in.input(0).type != DataType::Float32)
    return false;
  const Shape given = in.input(0).shape, made = in.output().shape;
  const int64_t length = CustomOptions(in).integer("fft_length");
  if (!in.clean() || !can_be_transformed(in, length)) return true;
  if (!inverse && !given.empty() && given.back() > length) {
    in.problem(fmt::format("transforms {} samples by {} points", given.back(), length));
    return true;
  }
  const int64_t pairs = length + 2, taken = inverse ? pairs : length;
  Shape expected = given;
  if (!expected.empty()) expected.back() = inverse ? length : pairs;
  if (given.empty() || made != expected || (inverse && given.back() != pairs) ||
      in.output().type != DataType::Float32) {
    in.problem(fmt::format("makes {}[{}] of [{}] by a transform of {} points",
                           to_string(in.output().type), fmt::join(made, ","), fmt::join(given, ","),
                           length));
    return true;
  }
  TransformWriter writer = writer_for<TransformWriter>(op);
  const int64_t count = element_count(given) / given.back();
  int32_t x = writer.reshape(current(op.inputs[0]), {count, given.back()});
  x = writer.fitted(x, {count, given.back()}, 1, taken);
  if (inverse) x = writer.mirrored(x, count, length);
  x = writer.transform(x, count,
                       inverse ? Spectrum{length, length, false, true, true}
                               : Spectrum{length, length / 2 + 1, true, false, false});
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{made}, {x});
  return true;
}

// RFFT2D: rows of reals, then columns of complex numbers.
void SubgraphReader::compose_rfft2d(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor input = in.input(0);
  const auto lengths = in.integers(1, "its lengths");
  if (!lengths) return;
  if (input.type != DataType::Float32 || input.shape.size() < 2 || lengths->size() != 2 ||
      !is_power_of_two((*lengths)[0]) || !is_power_of_two((*lengths)[1]))
    return in.problem(fmt::format("transforms {}[{}] by [{}] points", to_string(input.type),
                                  fmt::join(input.shape, ","), fmt::join(*lengths, ",")),
                      "floats and powers of two are possible");
  const int64_t height = (*lengths)[0], width = (*lengths)[1], kept = width / 2 + 1;
  if (!can_be_transformed(in, width) || (height > 1 && !can_be_transformed(in, height))) return;
  const size_t rank = input.shape.size();
  Shape shape = input.shape, made(input.shape.begin(), input.shape.end() - 2);
  made.insert(made.end(), {height, kept, 2});
  in.decide_shape(made);
  if (!in.clean()) return;
  TransformWriter writer = writer_for<TransformWriter>(op);
  int32_t x = writer.fitted(current(op.inputs[0]), shape, rank - 1, width);
  shape[rank - 1] = width;
  x = writer.fitted(x, shape, rank - 2, height);
  const int64_t images = element_count(made) / (height * kept * 2);
  x = writer.transform(writer.reshape(x, {images * height, width}), images * height,
                       {width, kept, true, false, false});
  if (height > 1) {
    const Shape rows{images, height, kept, 2}, columns{images, kept, height, 2};
    x = writer.transpose(writer.reshape(x, rows), {0, 2, 1, 3}, rows);
    x = writer.transform(writer.reshape(x, {images * kept, height * 2}), images * kept,
                         {height, height, false, false, false});
    x = writer.transpose(writer.reshape(x, columns), {0, 2, 1, 3}, columns);
  }
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{made}, {x});
}

// COMPLEX_ABS, REAL and IMAG.
void SubgraphReader::compose_complex(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor input = in.input(0);
  if (!in.is_complex(0) || in.output().type != DataType::Float32)
    return in.problem(
        fmt::format("makes {} of {}", to_string(in.output().type),
                    in.is_complex(0) ? "complex numbers" : "what are no complex numbers"));
  const auto last = static_cast<int64_t>(input.shape.size()) - 1;
  Shape shape = input.shape;
  shape.pop_back();
  in.decide_shape(shape);
  const int32_t x = current(op.inputs[0]);
  if (op.code == kCOMPLEX_ABS) {
    const int32_t squares = put(op, OpKind::Square, graph::NoAttrs{}, {x}, reals(input.shape));
    const int32_t sums =
        put(op, OpKind::Sum, graph::ReduceAttrs{{last}, false}, {squares}, reals(shape));
    return put_last(op, OpKind::Sqrt, graph::NoAttrs{}, {sums});
  }
  graph::SliceAttrs part{
      Shape(input.shape.size(), 0), input.shape, Shape(input.shape.size(), 1), {last}};
  part.begin.back() = op.code == kIMAG ? 1 : 0;
  part.size.back() = 1;
  put_last(op, OpKind::Slice, part, {x});
}

}  // namespace intarsia::tflite
