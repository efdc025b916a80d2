// A device's driver, opened for as long as this lives; `answers` is false where it finds no device.
#pragma once

#include "intarsia/contract/status.h"

namespace intarsia::test {

template <typename Driver, auto Open, auto Close>
struct OpenedDriver {
  OpenedDriver() : answers(Open(&driver, nullptr) == INTARSIA_OK) {}
  ~OpenedDriver() { close(); }
  OpenedDriver(const OpenedDriver&) = delete;
  OpenedDriver& operator=(const OpenedDriver&) = delete;
  void close() {
    if (answers) Close(&driver);
    answers = false;
  }

  Driver driver;
  bool answers;
};

}  // namespace intarsia::test
