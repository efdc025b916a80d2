// CUDA C to PTX while a model is compiled, by clang: no toolkit of CUDA is needed for it.
#pragma once

#include <string>

#include "intarsia/result.h"

namespace intarsia::targets::cuda {

// `arch`: "sm_75". Refused where clang is not there, does not know the GPU, or was built without PTX.
Result<std::string> ptx_of(const std::string& source, const std::string& arch);

}  // namespace intarsia::targets::cuda
