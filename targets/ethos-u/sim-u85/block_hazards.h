// Blocks of an operation: whether they are such as the device makes, and what the next operation may begin before they are done.
#pragma once

#include <optional>
#include <string>

#include "intarsia/targets/ethos_u85/operation.h"

namespace intarsia::simulators::ethos_u85 {

// What is wrong with the sizes of the operation's blocks. Where `configuration` is null its memories are not looked at.
std::optional<std::string> wrong_block(const Operation& operation,
                                       const Configuration* configuration);

// Up to `most`, the largest BLOCKDEP with which the first job of `next` reads nothing that the last blocks of `before` still write.
// Of later jobs nothing is said: how many input channels a job takes follows from no register.
int32_t largest_blockdep(const Operation& before, const Operation& next, int32_t most);

// Whether the operation takes what the one before hands on without memory: they run as one, with the first one's blocks.
inline bool goes_on(const Operation& operation) {
  return operation.ifm.place == Place::Chained ||
         (operation.has_ifm2 && operation.ifm2.place == Place::Chained);
}

}  // namespace intarsia::simulators::ethos_u85
