// A model compiled, as one program or as the parts of several CPUs, and its package.
#pragma once

#include <string>
#include <variant>

#include "context.h"
#include "intarsia/package.h"
#include "intarsia/report.h"

namespace intarsia::cli {

using CompiledProgram = std::variant<CompiledModel, CompiledParts>;

Result<CompiledProgram> compile_program(const Context& context, const Selection& selection,
                                        const graph::Module& module);
// The same from the options' file.
Result<CompiledProgram> compile_program(const Context& context, const Selection& selection,
                                        const CommonOptions& options);

const Partitioned& partitioned_of(const CompiledProgram& program);

Result<PackageContents> package_of(const Context& context, const Selection& selection,
                                   const CompiledProgram& program);

// Writes the package into `folder`.
Result<PackageManifest> write_package(const Context& context, const Selection& selection,
                                      const CompiledProgram& program, const std::string& folder);

// What is to be built: a folder that `compile` wrote, or a model, which is compiled into `folder`.
Result<BuildSetting> setting_of(Context& context, const CommonOptions& options,
                                const std::string& folder);

// One report of a single program, or one of every stage.
struct ProgramReport {
  std::string text, json;
  std::vector<OperatorRow> operators;
  std::optional<Measurements> measured;
  std::string not_measured;  // why `measured` is absent
};
// `measured` is of the program when it is a single one for a board.
ProgramReport report_of(const Selection& selection, const CompiledProgram& program,
                        const Result<Measurements>& measured);

}  // namespace intarsia::cli
