// A compiled and measured model, as Python holds it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "requests/measured_program.h"

namespace intarsia::python {

struct Compiled {
  Compiled(requests::Environment has, requests::MeasuredProgram program,
           std::vector<std::string> noted)
      : environment(std::move(has)), made(std::move(program)), notes(std::move(noted)) {}
  Compiled(const Compiled&) = delete;

  requests::Environment environment;
  requests::MeasuredProgram made;
  std::vector<std::string> notes;
};

}  // namespace intarsia::python
