// What the emitted files of a pipeline call each other's things.
#pragma once

#include <string>

#include "multicore/multicore.h"

namespace intarsia::multicore {

std::string part_name(const CompiledModel& model, const std::string& cpu);  // <model>_<cpu>
std::string stage_name(const CompiledModel& model, size_t stage);           // <model>_stage<i>

// Working memory that a part is given, for stages that use it one after the other.
struct PoolBlock {
  std::string name;  // in the part's resources
  std::string pool;  // the plan's pool it is of
  int64_t bytes = 0;
  std::vector<size_t> stages;
};
std::vector<PoolBlock> blocks_of(const CompiledModel& model, const std::string& cpu);

// Devices that a part's stages are given, in the order in which the stages first name them.
std::vector<std::string> devices_of(const CompiledModel& model, const std::string& cpu);
std::string device_name(const std::string& device);  // in the part's resources

// Statements where `mailbox` is a pointer to the mailbox.
std::string send(const Channel& channel, const std::string& from);
std::string receive(const Channel& channel, const std::string& to);

}  // namespace intarsia::multicore
