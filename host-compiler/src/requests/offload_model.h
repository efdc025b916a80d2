// A model as a .tflite file with an NPU's command streams in it, `compile --format tflite`, and what the NPU does of it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "requests/compile_model.h"

namespace intarsia::requests {

inline constexpr const char* kOffloadFormat = "tflite";
// Of the same file only the row of figures: offload_csv().
inline constexpr const char* kFiguresFormat = "csv";

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
  double cycles = 0, clock_mhz = 0;          // of the NPU, estimated
  DeviceWork work;                           // of all streams, in the order in which they run
  std::map<std::string, std::string> kinds;  // of the operators that it is for, by name: "conv2d"
};

// Refuses options that a file of another program's cannot keep. `format` is said in messages.
Result<void> check_kept_options(const ModelOptions& options, const std::string& format);

// Refuses options that a file of another runtime cannot keep.
Result<OffloadedFile> offload_model(Environment& environment, const ModelOptions& options,
                                    std::span<const uint8_t> bytes, const NoteSink& on_note,
                                    const ProgressListener& on_progress = {});

// Memory, traffic and cycles in lines like those that Vela prints, as a row under the columns that it writes, and operation by operation under
// the columns of its per-layer table.
std::string offload_summary(const OffloadedFile& file, const std::string& name);
std::string offload_csv(const OffloadedFile& file, const std::string& name);
std::string offload_layers_csv(const OffloadedFile& file);

}  // namespace intarsia::requests
