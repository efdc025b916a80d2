#include "messages.h"

#include <cstdio>

#include <fmt/format.h>

#include "progress_line.h"
#include "support/interrupt.h"
#include "support/shown_text.h"
#include "terminal.h"

namespace intarsia::cli {

int fail(const Diagnostics& problems) {
  // That files of ours are gone is no news to who has interrupted us.
  interrupt::wait_if_interrupted();
  print_errors(problems);
  return kUserError;
}

// People see at once which lines are errors; scripts get the lines as they always were.
void print_errors(const Diagnostics& problems) {
  clear_progress();
  const Terminal& terminal = error_terminal();
  for (const Diagnostic& problem : problems.items()) {
    if (terminal.is_terminal) fmt::print(stderr, "{} ", tinted(terminal, Tint::Error, "error:"));
    // Names of a model may be in it, and what another program has said.
    const std::string line = shown_lines(problem.to_string());
    const std::string where = shown_lines(problem.where);
    fmt::print(stderr, "{}{}\n", tinted(terminal, Tint::Heading, where), line.substr(where.size()));
  }
}

void print_note(std::string_view text) {
  clear_progress();
  fmt::print(stderr, "{} {}\n", tinted(error_terminal(), Tint::Note, "note:"), shown_lines(text));
}

}  // namespace intarsia::cli
