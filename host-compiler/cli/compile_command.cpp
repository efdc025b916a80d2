#include <filesystem>

#include <fmt/format.h>

#include "commands.h"
#include "support/files.h"

namespace intarsia::cli {

int run_compile(Context& context, const CompileCommand& command) {
  Result<Selection> selection = select(context, command.common);
  if (!selection.ok()) return fail(selection.error());
  Result<CompiledModel> model = compile_model(context, *selection, command.common.model);
  if (!model.ok()) return fail(model.error());

  Report report = make_report(*model, to_string(selection->target), selection->board.name);
  Result<PackageContents> package =
      make_package({*model, context.registry, selection->target, selection->board.name,
                    selection->core.name, context.resource_root, selection->board.native(),
                    selection->board.takes_simulated_devices()});
  if (!package.ok()) return fail(package.error());

  // Measured in a folder of our own, so that the user's appears whole or not at all.
  Result<TemporaryFolder> work = TemporaryFolder::make();
  if (!work.ok()) return fail(work.error());
  if (Result<void> written = write_folder(work->path(), package->files); !written.ok())
    return fail(written.error());
  Result<Measurements> measured = measure(
      build_setting(context, command.common, *selection, work->path(), package->manifest));
  if (measured.ok())
    report.measured = *measured;
  else
    report.not_measured = measured.error().items().front().to_string();

  std::vector<SourceFile> files = std::move(package->files);
  files.push_back({"report.txt", report_text(report)});
  files.push_back({"report.json", report_json(report)});
  if (Result<void> written = write_folder(command.output_folder, files); !written.ok())
    return fail(written.error());
  fmt::print("{}", command.common.json ? report_json(report) : report_text(report));
  return kDone;
}

}  // namespace intarsia::cli
