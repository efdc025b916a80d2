// Blocks of an operation: whether they are such as the device makes, and what the next operation may begin before they are done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/targets/ethos_u85/operation.h"

namespace intarsia::simulators::ethos_u85 {

// What is wrong with the sizes of the operation's blocks. Where `configuration` is null its memories are not looked at.
std::optional<std::string> wrong_block(const Operation& operation,
                                       const Configuration* configuration);

// Up to `most`, the largest BLOCKDEP with which no job of `next` reads what the last blocks of `before` may still write: job n may
// begin with BLOCKDEP - n of them incomplete. A block is one job, but where it sums over more channels of the IFM than every job
// takes: how many jobs it then is follows from no register, and only the first is looked at.
int32_t largest_blockdep(const Operation& before, const Operation& next, int32_t most);

// Whether a block of the chain writes what a later block of it still reads. All its operations have the blocks of the first.
bool overwrites_input(const std::vector<Operation>& chain);

// Whether the operation takes what the one before hands on without memory: they run as one, with the first one's blocks.
inline bool goes_on(const Operation& operation) {
  return operation.ifm.place == Place::Chained ||
         (operation.has_ifm2 && operation.ifm2.place == Place::Chained);
}

}  // namespace intarsia::simulators::ethos_u85
