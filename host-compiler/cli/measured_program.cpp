#include "measured_program.h"

#include "support/files.h"

namespace intarsia::cli {

Result<MeasuredProgram> compile_and_measure(Context& context, const CommonOptions& options,
                                            bool counts_cycles) {
  show_progress("reading " + options.model);
  INTARSIA_TRY(const std::vector<uint8_t> file, read_file(options.model));
  INTARSIA_TRY(MeasuredProgram made,
               requests::compile_and_measure(context, {.options = options,
                                                       .bytes = file,
                                                       .counts_cycles = counts_cycles,
                                                       .on_note = print_note,
                                                       .on_progress = progress_listener()}));
  requests::note_idle_options(context, made.selection.target, options, print_note);
  return made;
}

}  // namespace intarsia::cli
