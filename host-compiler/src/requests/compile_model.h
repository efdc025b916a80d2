// A model file through the stages, as the options say.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "intarsia/compiled_model.h"
#include "requests/select.h"

namespace intarsia::requests {

// Takes what was decided for the user and is no error, a sentence each. May be empty.
using NoteSink = std::function<void(const std::string&)>;

// import_model() of `bytes` with the options' name, and with inputs and outputs as they ask.
Result<graph::Module> import_as_asked(const Environment& environment, const ModelOptions& options,
                                      std::span<const uint8_t> bytes, const NoteSink& on_note,
                                      const ProgressListener& on_progress = {});

// import_as_asked(), and the stages up to `last`.
Result<CompiledModel> compile_bytes(const Environment& environment, const Selection& selection,
                                    const ModelOptions& options, std::span<const uint8_t> bytes,
                                    Stage last, const NoteSink& on_note);

// The stages behind those that the model has reached, up to `last`.
Result<CompiledModel> compile_on(const Environment& environment, const Selection& selection,
                                 CompiledModel model, Stage last);

// A note for each device of the target that runs nothing of the partitioned model: that is no error, but nobody should
// learn it from a profile. A CPU that drives a device is not idle.
void note_idle_devices(const Environment& environment, const Selection& selection,
                       const CompiledModel& model, const NoteSink& on_note);

// A note for an option that says something of devices, where the target has none of these.
void note_idle_options(const Environment& environment, const TargetSpec& target,
                       const ModelOptions& options, const NoteSink& on_note);

}  // namespace intarsia::requests
