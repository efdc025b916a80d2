// Inputs and outputs of a model as the C interface describes them.
#pragma once

#include <vector>

#include "intarsia/compiled_model.h"

namespace intarsia {

// Of tensors of the function, in the order of `ids`.
std::vector<TensorInfo> tensor_infos(const graph::Function& function,
                                     const std::vector<graph::TensorId>& ids);

}  // namespace intarsia
