// A measured package as a folder, in the form that is asked for.
#pragma once

#include <string>
#include <vector>

#include "requests/measured_program.h"

namespace intarsia::requests {

struct FolderRequest {
  std::string folder;
  std::string
      runtime_folder;  // of the runtime as a package of its own; empty: it is in the model's
  bool single_file = false;
  std::string format = "plain";            // of packaging/formats/format.h
  std::vector<std::string> other_formats;  // which the caller has besides: for a message alone
};

// Whether there is such a format, and the form that is asked for can be had in it: before time is spent on compiling.
Result<void> check_folder_request(const FolderRequest& request);

// What a folder of format "plain" holds: the package with report.txt, report.json and report.html.
Result<std::vector<SourceFile>> plain_files(const MeasuredProgram& made);

// With report.txt, report.json and report.html. Folders are replaced whole or not at all.
Result<void> write_package(const Environment& environment, const FolderRequest& request,
                           const MeasuredProgram& made, const NoteSink& on_note);

}  // namespace intarsia::requests
