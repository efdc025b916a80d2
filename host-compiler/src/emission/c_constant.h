// Constants of the tensor IR as C11 arrays.
#pragma once

#include <string>

#include "intarsia/plugin/artifacts.h"
#include "intarsia/plugin/tir.h"
#include "intarsia/result.h"

namespace intarsia::emission {

enum class CLinkage : uint8_t { External, Static };

struct CConstantOptions {
  CLinkage linkage = CLinkage::External;
  int32_t alignment = 1;       // bytes; _Alignas when it is more than the element's own
  std::string attribute = {};  // written behind the declarator: INTARSIA_WEIGHTS
};

// Refuses bytes that are no whole elements.
Result<void> check_c_constant(const tir::Constant& constant);

// const int8_t kws_conv_1_weights[2560] = { ... };
// Packed i4 elements are emitted as the bytes they are. The constant has been checked.
void write_c_constant(const tir::Constant& constant, const std::string& symbol_prefix,
                      const CConstantOptions& options, const TextSink& sink);

// Both, as one text: for small constants.
Result<std::string> emit_c_constant(const tir::Constant& constant, const std::string& symbol_prefix,
                                    const CConstantOptions& options = {});

// extern const int8_t kws_conv_1_weights[2560];
std::string emit_c_constant_declaration(const tir::Constant& constant,
                                        const std::string& symbol_prefix);

}  // namespace intarsia::emission
