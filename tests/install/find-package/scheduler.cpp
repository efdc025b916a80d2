// What the compiler of an NPU asks the installed kit: places for three buffers, and how long a copy beside the computation
// takes.
#include <cstdio>

#include "intarsia/npu/scratch_placement.h"
#include "intarsia/npu/timeline.h"

int main() {
  std::vector<intarsia::npu::ScratchRequest> requests = {
      {64, 0, 1, 0}, {64, 1, 2, 0}, {64, 2, 3, 0}};
  const auto end = intarsia::npu::place_scratch(requests, 128, 16, 1000);
  intarsia::npu::Timeline timeline({});
  timeline.transfer({60, {}});
  timeline.operation({100, {}, 0, 0}, false);
  std::printf("%d bytes, %.0f cycles\n", end ? static_cast<int>(*end) : -1, timeline.finish());
  return 0;
}
