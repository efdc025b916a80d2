// The composition root: nothing else links every target.
#include <cstdio>
#include <exception>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "command_line.h"
#include "support/interrupt.h"

// Memory that is given back to the system has to be cleared by it before it comes again, and a compilation asks for the same again
// and again: it keeps all but the largest pieces until it ends.
static void keep_memory() {
#if defined(__GLIBC__)
  constexpr int kLargest = 32 << 20, kNeverTrimmed = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kNeverTrimmed);
#endif
}

int main(int argc, char** argv) {
  keep_memory();
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
