// A chain of operators run by row tiles, as a tiled function and the kernels it calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "intarsia/plugin/kernel_functions.h"
#include "standard_lowering/row_chain.h"

namespace intarsia::standard_lowering {

struct TiledFunctions {
  std::vector<tir::Func> kernels;
  tir::Func tiled;  // parameters: the chain's inputs, then its output
};

struct RowTileNames {
  std::string hint;                                       // of the tiled function
  std::function<std::string(const std::string&)> unique;  // of functions
};

// Whether rows begin and end at words wherever the tiles cut, as kernels and moves expect.
bool cuts_at_words(const graph::Function& function, const RowChain& chain,
                   const row_tiling::RowTiles& tiles);

// Bytes of all line buffers, and bytes that moves copy in one run.
int64_t line_bytes(const graph::Function& function, const RowChain& chain,
                   const row_tiling::RowTiles& tiles);
int64_t moved_bytes(const graph::Function& function, const RowChain& chain,
                    const row_tiling::RowTiles& tiles);

// See row_tiling::overlap_distance; in bytes.
int64_t overlap_bytes(const graph::Function& function, const RowChain& chain,
                      const row_tiling::RowTiles& tiles, int input);

TiledFunctions lower_tiles(const graph::Module& module, const graph::Function& function,
                           const RowChain& chain, const row_tiling::RowTiles& tiles,
                           const ChooseKernel& kernel_for, ConstantPool& pool,
                           const RowTileNames& names);

}  // namespace intarsia::standard_lowering
