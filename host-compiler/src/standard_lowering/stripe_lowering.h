// A chain of operators run by stripes, as a striped function and the leaves it calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "intarsia/plugin/kernel_functions.h"
#include "standard_lowering/row_chain.h"

namespace intarsia::standard_lowering {

struct StripedFunctions {
  std::vector<tir::Func> leaves;
  tir::Func striped;  // parameters: the chain's inputs, then its output
};

struct StripeNames {
  std::string wish;                                       // of the striped function
  std::function<std::string(const std::string&)> unique;  // of functions
};

// Whether rows begin and end at words wherever the stripes cut, as kernels and moves expect.
bool cuts_at_words(const graph::Function& function, const RowChain& chain,
                   const striping::Stripes& stripes);

// Bytes of all line buffers, and bytes that moves copy in one run.
int64_t line_bytes(const graph::Function& function, const RowChain& chain,
                   const striping::Stripes& stripes);
int64_t moved_bytes(const graph::Function& function, const RowChain& chain,
                    const striping::Stripes& stripes);

// See striping::overlap_distance; in bytes.
int64_t overlap_bytes(const graph::Function& function, const RowChain& chain,
                      const striping::Stripes& stripes, int input);

StripedFunctions lower_stripes(const graph::Module& module, const graph::Function& function,
                               const RowChain& chain, const striping::Stripes& stripes,
                               const ChooseLeaf& leaf_for, ConstantPool& pool,
                               const StripeNames& names);

}  // namespace intarsia::standard_lowering
