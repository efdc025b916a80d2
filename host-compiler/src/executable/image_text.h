// The kernels of a firmware as C, and the table in which the executor finds them.
#pragma once

#include <string>
#include <vector>

#include "executable/executable_model.h"

namespace intarsia::executable {

// What a firmware has that runs packages.
struct Image {
  std::vector<KernelCode> kernels;  // in rising order of their ids, each once
  std::vector<std::string> includes;
  std::vector<MemoryBlock> memories;
  std::vector<std::string> devices;  // kind and attributes, in the order of the boards' glue
  uint32_t interface_id = 0;         // of the packages that are taken; 0: all
  size_t tensors = 0;                // inputs, or outputs, that a package has at most
  MemoryBlock package_buffer;        // for packages from files; of no bytes: there is none
  uint64_t kept_at = 0,
           kept_bytes = 0;  // where a package lies beside the program; of no bytes: nowhere
};

// The kernels of all models, and memory for each of them, one at a time.
Image image_for(const std::vector<ExecutableModel>& models);

// Defines what intarsia/executor/image.h declares, with memory blocks of its own.
std::string image_text(const Image& image);

}  // namespace intarsia::executable
