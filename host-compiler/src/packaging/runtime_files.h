// Which files of the runtime a model needs: the sources of the functions that it calls, those that these call, and
// the headers and tables that all of them include.
#pragma once

#include <string>
#include <vector>

#include "intarsia/plugin/artifacts.h"

namespace intarsia::packaging {

// `runtime` are files of the runtime, by the path that they have in the package, from whose root they are
// included; C++ sources among them belong to what was taken in whole (a driver) and are all needed. `package` holds
// the model's own files. Adds to it what is needed of `runtime`, in its order; a table or header that one file alone includes stands in it; where one of the
// package's files includes a header that only collects others, it includes those that it uses instead.
void add_runtime_files(std::vector<SourceFile> runtime, std::vector<SourceFile>& package);

}  // namespace intarsia::packaging
