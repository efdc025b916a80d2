// A model file through the pipeline, and its package on disk.
#pragma once

#include <string>

#include "context.h"
#include "intarsia/package.h"
#include "requests/compile_model.h"
#include "requests/program_report.h"

namespace intarsia::cli {

using requests::compile_on;
using requests::ProgramReport;

// The options' file through the stages up to `last`.
Result<CompiledModel> compile_file(const Context& context, const Selection& selection,
                                   const CommonOptions& options, Stage last);

// Notes on standard error about devices of the target that run nothing of the partitioned model.
void report_idle_devices(const Context& context, const Selection& selection,
                         const CompiledModel& model);

// Compiles the module and writes its package into `folder`.
Result<CompiledModel> compile_into(const Context& context, const Selection& selection,
                                   const graph::Module& module, const std::string& folder);

// Refuses what `options` say of how a model is compiled, where `what` ("is compiled") is given in its place.
// `of_reference`: what they say of how a model is read is of the reference that it is compared with.
enum class Reading { Refused, OfReference };
Result<void> check_nothing_is_compiled(const CommonOptions& options, const std::string& what,
                                       Reading reading);

// What is to be built: a folder that `compile` wrote, or a model, which is compiled into `folder`.
Result<BuildSetting> setting_of(Context& context, const CommonOptions& options,
                                const std::string& folder);

}  // namespace intarsia::cli
