// The line on a terminal's standard error that shows what is going on: what, how far, and for how long. It appears when a
// command takes longer than a moment, and is gone before anything else is printed. In a pipe there is none.
#pragma once

#include <string>

#include "intarsia/plugin/progress.h"

namespace intarsia::cli {

// Whom the stages tell; empty where standard error is no terminal.
ProgressListener progress_listener();

// What is going on from here on, of a length that nobody knows.
void show_progress(const std::string& what);

// Called before anything is printed. The line comes back with the next news.
void clear_progress();

// The line's text within so many columns: "planning memory [=====>    ] 420 of 1000  3 s"; a bar where the total is known.
std::string progress_text(const Progress& progress, double seconds, size_t columns);

}  // namespace intarsia::cli
