// The composition root: nothing else links every target.
#include <cstdio>
#include <exception>

#include "command_line.h"
#include "support/interrupt.h"

int main(int argc, char** argv) {
  intarsia::interrupt::take_over();
  try {
    intarsia::cli::Context context;
    return intarsia::cli::CommandLine(context).run(argc, argv);
  } catch (const std::exception& error) {  // the standard library's, out of memory say
    intarsia::cli::clear_progress();
    std::fprintf(stderr, "intarsia: internal error: %s; please report this\n", error.what());
    return intarsia::cli::kInternalError;
  }
}
