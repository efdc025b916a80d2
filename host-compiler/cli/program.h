// A model file through the pipeline, its package on disk, and its report.
#pragma once

#include <string>

#include "context.h"
#include "intarsia/package.h"
#include "intarsia/report.h"

namespace intarsia::cli {

// The options' file through the stages up to `last`.
Result<CompiledModel> compile_file(const Context& context, const Selection& selection,
                                   const CommonOptions& options, Stage last);

// The stages behind those that the model has reached, up to `last`.
Result<CompiledModel> compile_on(const Context& context, const Selection& selection,
                                 CompiledModel model, Stage last);

// Notes on standard error about devices of the target that run nothing of the partitioned model: that is no error, but
// nobody should learn it from a profile. A CPU that drives a device is not idle.
void report_idle_devices(const Context& context, const Selection& selection,
                         const CompiledModel& model);

// Compiles the module and writes its package into `folder`.
Result<CompiledModel> compile_into(const Context& context, const Selection& selection,
                                   const graph::Module& module, const std::string& folder);

// What is to be built: a folder that `compile` wrote, or a model, which is compiled into `folder`.
Result<BuildSetting> setting_of(Context& context, const CommonOptions& options,
                                const std::string& folder);

// One report of a single program, or one of every segment.
struct ProgramReport {
  std::string model;
  std::vector<TensorInfo> inputs, outputs;
  size_t eliminated_steps = 0;
  size_t cpus = 1;  // whose parts run at the same time
  std::string text, json;
  std::vector<Report> parts;  // one, or one of every segment
  std::vector<DeviceCycles> device_cycles;
  std::vector<OperatorRow> operators;
  std::optional<Measurements> measured;
  std::string not_measured;  // why `measured` is absent
};
// `measured` is of the program when it is a single one for a board.
ProgramReport report_of(const Selection& selection, const CompiledModel& model,
                        const Result<Measurements>& measured);

}  // namespace intarsia::cli
