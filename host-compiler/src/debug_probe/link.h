// What carries the bytes between us and a debug probe's server: a socket, or a test's own stub.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "intarsia/result.h"

namespace intarsia::debug_probe {

class Link {
 public:
  virtual ~Link() = default;
  // For messages: "the debug probe at localhost:3333".
  virtual std::string name() const = 0;
  // All of it, or a failure that says that the connection is lost.
  virtual Result<void> send(std::string_view bytes) = 0;
  // What has arrived; empty when nothing does for `wait`. A failure: the connection is lost.
  virtual Result<std::string> receive(std::chrono::milliseconds wait) = 0;
};

}  // namespace intarsia::debug_probe
