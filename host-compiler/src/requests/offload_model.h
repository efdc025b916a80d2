// A model as a .tflite file with an NPU's command streams in it: `compile --format tflite`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "requests/compile_model.h"

namespace intarsia::requests {

inline constexpr const char* kOffloadFormat = "tflite";

// One of the file's operators that stay on the CPU.
struct KeptOperator {
  std::string label, reason;
};

struct OffloadedFile {
  Selection selection;
  std::vector<uint8_t> bytes;
  std::vector<KeptOperator> on_cpu;
  int64_t npu_operators = 0;
  int64_t macs = 0;  // of these
  int64_t weight_bytes = 0,
          encoded_bytes = 0;  // of constants: in the model, and as the NPU reads them
  int64_t stream_bytes = 0;   // of command streams
  int64_t streams = 0;
  int64_t arena_bytes = 0, fast_bytes = 0;
  double cycles = 0, clock_mhz = 0;  // of the NPU, estimated
};

// Refuses options that a file of another runtime cannot keep.
Result<OffloadedFile> offload_model(Environment& environment, const ModelOptions& options,
                                    std::span<const uint8_t> bytes, const NoteSink& on_note,
                                    const ProgressListener& on_progress = {});

// Memory and cycles in lines like those that Vela prints, and as a row under the columns that it writes. What Intarsia does not estimate is left out
// there, and empty here.
std::string offload_summary(const OffloadedFile& file, const std::string& name);
std::string offload_csv(const OffloadedFile& file, const std::string& name);

}  // namespace intarsia::requests
