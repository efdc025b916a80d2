#include "intarsia/layers/layer.h"

#include <bit>

#include <fmt/format.h>

namespace intarsia::layers {

std::string_view to_string(Kind kind) {
  switch (kind) {
#define LAYER_KIND(name) \
  case Kind::name:       \
    return #name;
#include "intarsia/contract/layers.def"
  }
  return "unknown";
}

std::string_view to_string(Function function) {
  switch (function) {
#define LAYER_FUNCTION(name) \
  case Function::of_##name:  \
    return #name;
#include "intarsia/contract/layers.def"
  }
  return "unknown";
}

std::vector<int32_t> words_of(const Layer& layer) {
  return {
#define LAYER_FIELD(name) layer.name,
#include "intarsia/contract/layers.def"
  };
}

namespace {

std::string function_text(int32_t function, int32_t alpha_word, int32_t beta_word) {
  const auto which = static_cast<Function>(function);
  const auto alpha = std::bit_cast<float>(alpha_word), beta = std::bit_cast<float>(beta_word);
  if (which == Function::of_none) return "";
  if (which == Function::of_clip) return fmt::format(", clip {} {}", alpha, beta);
  if (which == Function::of_linear) return fmt::format(", {} x + {}", alpha, beta);
  if (which == Function::of_elu || (which == Function::of_relu && alpha != 0))
    return fmt::format(", {} {}", to_string(which), alpha);
  return fmt::format(", {}", to_string(which));
}

// " of steps 0.1:5", as the text of the graph has quantisations.
std::string steps_text(const Layer& layer, int32_t scale_word, int32_t zero_point) {
  if (!layer.is_int8()) return "";
  return fmt::format(" of steps {}:{}", std::bit_cast<float>(scale_word), zero_point);
}

}  // namespace

std::string describe(const Layer& layer) {
  std::string text = fmt::format(
      "{}{} {}x{}x{}x{}{} -> {}x{}x{}x{}{}", layer.is_int8() ? "int8 " : "",
      to_string(layer.what()), layer.batch, layer.in_h, layer.in_w, layer.in_c,
      steps_text(layer, layer.source_scale, layer.source_zero_point), layer.batch, layer.out_h,
      layer.out_w, layer.out_c, steps_text(layer, layer.result_scale, layer.result_zero_point));
  const bool windowed =
      layer.is_pool() || layer.what() == Kind::convolution || layer.what() == Kind::depthwise;
  if (windowed) text += fmt::format(", kernel {}x{}", layer.kernel_h, layer.kernel_w);
  if (windowed && (layer.stride_h != 1 || layer.stride_w != 1))
    text += fmt::format(", strides {} {}", layer.stride_h, layer.stride_w);
  if (windowed && (layer.dilation_h != 1 || layer.dilation_w != 1))
    text += fmt::format(", dilations {} {}", layer.dilation_h, layer.dilation_w);
  if (layer.pad_top != 0 || layer.pad_left != 0 || layer.pad_bottom != 0 || layer.pad_right != 0)
    text += fmt::format(", pads {} {} {} {}", layer.pad_top, layer.pad_left, layer.pad_bottom,
                        layer.pad_right);
  if (layer.what() == Kind::convolution && layer.groups != 1)
    text += fmt::format(", {} groups", layer.groups);
  text += function_text(layer.function, layer.alpha, layer.beta);
  if (layer.has(Operand::addend) && layer.is_weighted() && layer.is_int8())
    text += "," + steps_text(layer, layer.middle_scale, layer.middle_zero_point);
  if (layer.has(Operand::addend))
    text += fmt::format(", with {}x{}x{}x{}{}", layer.b_batch, layer.b_h, layer.b_w, layer.b_c,
                        steps_text(layer, layer.addend_scale, layer.addend_zero_point));
  return text + function_text(layer.second_function, layer.second_alpha, layer.second_beta);
}

}  // namespace intarsia::layers
