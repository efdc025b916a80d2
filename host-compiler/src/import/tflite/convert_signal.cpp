// TFLite Micro's own operators, by the names that files call them: the audio front end, what
// streams remember, detections; and those of others.
#include <fmt/format.h>

#include "import/tflite/custom_options.h"
#include "import/tflite/operator_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

Converted convert_signal_window(OperatorReader& in) {
  return {graph::SignalShiftAttrs{CustomOptions(in).integer("shift")}};
}

Converted convert_signal_pcan(OperatorReader& in) {
  return {graph::SignalShiftAttrs{CustomOptions(in).integer("snr_shift")}};
}

Converted convert_signal_transform(OperatorReader& in) {
  if (in.input(0).type != DataType::Int16)
    in.problem(fmt::format("transforms {}; i16 and f32 are possible", to_string(in.input(0).type)),
               "give the operator's int32 form int16 samples");
  return {graph::SignalFftAttrs{CustomOptions(in).integer("fft_length")}};
}

Converted convert_signal_energy(OperatorReader& in) {
  CustomOptions options(in);
  return {graph::SignalEnergyAttrs{options.integer("start_index"), options.integer("end_index")}};
}

Converted convert_filter_bank(OperatorReader& in) {
  const int64_t channels = CustomOptions(in).integer("num_channels");
  if (in.clean() && in.output().shape != Shape{channels})
    in.problem(fmt::format("makes {} channels, which its output does not have", channels));
  return {graph::NoAttrs{}};
}

Converted convert_filter_bank_log(OperatorReader& in) {
  CustomOptions options(in);
  return {graph::SignalLogAttrs{options.integer("input_correction_bits"),
                                options.integer("output_scale")}};
}

Converted convert_detection(OperatorReader& in) {
  CustomOptions options(in);
  graph::DetectBoxesAttrs a;
  a.classes = options.integer("num_classes");
  a.most = options.integer("max_detections");
  a.by_class = options.integer("use_regular_nms", 0) != 0;
  a.most_of_class = a.by_class ? options.integer("detections_per_class", 100) : 1;
  a.least_score = options.real("nms_score_threshold");
  a.most_overlap = options.real("nms_iou_threshold");
  a.y_scale = options.real("y_scale"), a.x_scale = options.real("x_scale");
  a.h_scale = options.real("h_scale"), a.w_scale = options.real("w_scale");
  const int64_t classes = options.integer("max_classes_per_detection");
  if (in.clean() && !a.by_class && classes != 1)
    in.problem(fmt::format("gives {} classes for each box", classes),
               "convert the model with max_classes_per_detection 1 or use_regular_nms");
  return {a};
}

using enum Code;

constexpr auto kBytes = Operands::AnyBytes;

}  // namespace

const std::vector<CustomOperator>& custom_operators() {
  static const std::vector<CustomOperator> table = {
      {"SignalWindow",
       {kCUSTOM, OpKind::SignalWindow, 2, 2, {"window"}, convert_signal_window, kBytes}},
      {"SignalFftAutoScale",
       {kCUSTOM, OpKind::SignalAutoScale, 1, 1, {"fft_auto_scale"}, nullptr, kBytes, 2}},
      {"SignalRfft",
       {kCUSTOM, OpKind::SignalRfft, 1, 1, {"rfft"}, convert_signal_transform, kBytes}},
      {"SignalIrfft",
       {kCUSTOM, OpKind::SignalIrfft, 1, 1, {"irfft"}, convert_signal_transform, kBytes}},
      {"SignalEnergy",
       {kCUSTOM, OpKind::SignalEnergy, 1, 1, {"energy"}, convert_signal_energy, kBytes}},
      {"SignalFilterBank",
       {kCUSTOM, OpKind::SignalFilterBank, 6, 6, {"filter_bank"}, convert_filter_bank, kBytes}},
      {"SignalFilterBankSquareRoot",
       {kCUSTOM, OpKind::SignalSquareRoot, 2, 2, {"square_root"}, nullptr, kBytes}},
      {"SignalFilterBankSpectralSubtraction",
       {kCUSTOM, OpKind::SignalSpectralSubtraction, 1, 1, {"spectral"}, nullptr, kBytes, 2}},
      {"SignalPCAN", {kCUSTOM, OpKind::SignalPcan, 3, 3, {"pcan"}, convert_signal_pcan, kBytes}},
      {"SignalFilterBankLog",
       {kCUSTOM, OpKind::SignalLog, 1, 1, {"log"}, convert_filter_bank_log, kBytes}},
      {"SignalDelay", {kCUSTOM, OpKind::Concat, 1, 1, {"delay"}, nullptr, kBytes}},
      {"SignalFramer", {kCUSTOM, OpKind::Concat, 1, 1, {"framer"}, nullptr, kBytes, 2}},
      {"SignalStacker", {kCUSTOM, OpKind::Concat, 1, 1, {"stacker"}, nullptr, kBytes, 2}},
      {"SignalOverlapAdd", {kCUSTOM, OpKind::Add, 1, 1, {"overlap_add"}, nullptr, kBytes}},
      {"Convolution2DTransposeBias",
       {kCUSTOM,
        OpKind::TransposeConv2d,
        3,
        3,
        {"conv2d_transpose", "transpose_conv"},
        convert_biased_transpose_conv2d}},
      {"CIRCULAR_BUFFER", {kCUSTOM, OpKind::Concat, 1, 1, {"circular_buffer"}}},
      {"AudioSpectrogram", {kCUSTOM, OpKind::Sum, 1, 1, {"spectrogram"}, nullptr, kBytes}},
      {"Mfcc", {kCUSTOM, OpKind::FullyConnected, 2, 2, {"mfcc"}, nullptr, kBytes}},
      {"Landmarks2TransformMatrix", {kCUSTOM, OpKind::Reshape, 1, 1, {"landmarks"}}},
      {"TransformTensorBilinear", {kCUSTOM, OpKind::Gather, 2, 2, {"transform_tensor"}}},
      {"TransformLandmarks", {kCUSTOM, OpKind::Concat, 2, 2, {"transform_landmarks"}}},
      // Makes constants, any number of them as a split does.
      {"TFLM_DECODE", {kCUSTOM, OpKind::Split, 2, 1000, {"decode"}, nullptr, kBytes}},
      {"TFLite_Detection_PostProcess",
       {kCUSTOM, OpKind::DetectBoxes, 3, 3, {"detection"}, convert_detection, kBytes, 4}},
  };
  return table;
}

}  // namespace intarsia::tflite
