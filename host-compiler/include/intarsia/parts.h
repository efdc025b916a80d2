// Parts: a model for several CPUs. The target's CPUs each get a part of their own, firmware that is built
// and flashed by itself; what passes between them goes through a mailbox in memory that they share.
//
//   regions   c_0(cpu a)  npu_0(cpu a's)  c_1(cpu b)  c_2(cpu a)      a stage: regions in a row of one CPU
//   stages    [        stage 0         ]  [ stage 1]  [ stage 2]      each is a model that is compiled by itself
//   parts     a: stages 0 and 2           b: stage 1                  each with a step function
//
// While b works on an inference, a may already work on the next one: every channel holds two messages.
#pragma once

#include <string>
#include <vector>

#include "intarsia/compile.h"

namespace intarsia {

inline constexpr int kApplication =
    -1;  // Channel::from: gives the inputs; Channel::to: takes the outputs

// A tensor on its way from one stage to another.
struct Channel {
  std::string name;                            // a C identifier, unique in the pipeline
  int from = kApplication, to = kApplication;  // stages
  size_t output = 0;                           // of `from`, or which of the model's inputs
  size_t input = 0;                            // of `to`, or which of the model's outputs
  int64_t bytes = 0;
  // Not empty: a variable on its way back to a stage that reads what the inference before has left. The channel
  // begins with this message.
  std::vector<uint8_t> first_message;
};

struct Stage {
  std::string member;  // the CPU that runs it
  graph::Module module;
};

struct Pipeline {
  std::string name;  // the model's
  std::vector<Stage> stages;
  std::vector<Channel> channels;
  std::vector<std::string>
      members;  // CPUs with stages, in the target's order; the first starts the others
};

// Whether the regions are of several CPUs; devices belong to theirs (owners.h).
bool has_parts(const graph::Module& partitioned, const TargetRegistry& registry,
               const TargetSpec& target);

// `partitioned`, which has parts, as stages.
Pipeline split_into_stages(const graph::Module& partitioned, const TargetRegistry& registry,
                           const TargetSpec& target);

struct CompiledStage {
  std::string member;
  CompiledModel model;
};

// What a whole pipeline becomes. `front` is what compile_front_end made of the model.
struct CompiledParts {
  FrontEnd front;
  Pipeline pipeline;
  std::vector<CompiledStage> stages;  // as pipeline.stages
};
Result<CompiledParts> compile_parts(FrontEnd front, const TargetRegistry& registry,
                                    const TargetSpec& target, const CompileOptions& options);

// Members that execute streams, part by part: the descriptor asks the board for them by their index here.
std::vector<std::string> devices_of(const CompiledParts& parts);

// Bytes of shared memory that the channels take, counters included.
int64_t mailbox_bytes(const Pipeline& pipeline);

// The C around the stages. Every part has the same <model>_mailbox.{h,c}; <model>_<member>.{h,c} are its own;
// <model>_descriptor.c puts all parts into one program, behind the boards' generic main.
std::vector<SourceFile> mailbox_sources(const CompiledParts& parts);
std::vector<SourceFile> part_sources(const CompiledParts& parts, const std::string& member);
SourceFile parts_descriptor(const CompiledParts& parts);

}  // namespace intarsia
