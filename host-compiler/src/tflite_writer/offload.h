// A .tflite file as a .tflite file in which an NPU runs what it can: operators that hold a command stream, and as they were those that stay on
// the CPU. Arm's driver and the interpreters around it take it like one of Arm's compiler.
#pragma once

#include "tflite_writer/program.h"

namespace intarsia::tflite_writer {

struct CpuOperator {
  std::string label;   // "operator 3 'conv_7' (CONV_2D v3)"
  std::string reason;  // why the NPU does not take it
};

struct OffloadedModel {
  std::vector<uint8_t> file;
  std::vector<CpuOperator> on_cpu;
  int64_t npu_operators = 0;  // of the model's own
  int64_t macs = 0;           // of these
  int64_t weight_bytes = 0;   // of their constants in the model
  Program program;
};

// The device of the target whose streams a .tflite file can hold. Refuses a target without one, and with several.
Result<const Target*> npu_of(const TargetRegistry& registry, const TargetSpec& target);

Result<OffloadedModel> offload(std::span<const uint8_t> bytes, const std::string& name,
                               const TargetRegistry& registry, const TargetSpec& target,
                               const CompileOptions& options);

// A model of another format, of which nothing can stay on the CPU: there are no operators of TensorFlow Lite that could be kept. Refuses where something has to.
Result<OffloadedModel> offload_whole(const graph::Module& module, const TargetRegistry& registry,
                                     const TargetSpec& target, const CompileOptions& options);

}  // namespace intarsia::tflite_writer
