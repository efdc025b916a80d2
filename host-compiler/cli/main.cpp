// The composition root: nothing else links every target.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "command_line.h"
#include "messages.h"
#include "support/files.h"
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

static int internal_error(const std::exception& error) {
  intarsia::cli::clear_progress();
  std::fprintf(stderr, "intarsia: internal error: %s; please report this\n", error.what());
  return intarsia::cli::kInternalError;
}

// A table or a dump that was sent to a file is not all there.
static int not_printed(std::error_code why) {
  return intarsia::cli::fail(intarsia::file_failure("standard output", "cannot be written", why));
}

int main(int argc, char** argv) {
  keep_memory();
  intarsia::interrupt::take_over();
  try {
    intarsia::cli::Context context;
    const int code = intarsia::cli::CommandLine(context).run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    return not_printed({errno != 0 ? errno : EIO, std::generic_category()});
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) return internal_error(error);
    return not_printed(error.code());
  } catch (const std::bad_alloc&) {
    return intarsia::cli::fail(
        intarsia::Diagnostics("intarsia", "this machine has not enough memory for what was asked",
                              "look for tensors of millions of elements with 'intarsia dump "
                              "--stage import', or take a larger machine"));
  } catch (const std::exception& error) {  // of the standard library's
    return internal_error(error);
  }
}
