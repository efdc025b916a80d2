// Answers whether the Arm Compute Library computes layers: a program for the processor that it will run on, which the compiler
// starts, in an emulator where it is on another machine. From standard input: a layer's words and a bit for each operand that
// it has (contract/layers.def). To standard output: a line, empty or why not.
#include <cstdio>
#include <string>

#include "intarsia/targets/arm_acl/layer_functions.h"

namespace {

using namespace intarsia;

std::string answer(const rt::Layer &layer) {
  try {
    std::string text = targets::arm_acl::LayerFunctions().configure(layer, nullptr);
    for (char &c : text)
      if (c == '\n') c = ' ';
    return text;
  } catch (const std::exception &error) {
    return error.what();
  }
}

}  // namespace

int main() {
  int32_t words[rt::kLayerFieldWords + 1];
  while (std::fread(words, sizeof words, 1, stdin) == 1) {
    rt::Layer layer;
    int next = 0, number = 0;
#define LAYER_FIELD(name) layer.name = words[next++];
#include "intarsia/contract/layers.def"
#define LAYER_OPERAND(name) \
  if ((words[next] >> number++ & 1) != 0) layer.name.region = 0;
#include "intarsia/contract/layers.def"
    std::printf("%s\n", answer(layer).c_str());
    std::fflush(stdout);
  }
  return 0;
}
