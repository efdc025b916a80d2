// A program that answers, a line for each question, whether a library takes a layer. It is for another processor than the
// compiler's, whose library cannot be loaded: an emulator runs it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "intarsia/layers/layer.h"

namespace intarsia::layers {

class AskedProgram {
 public:
  // Started when it is asked first. An empty command is one that is not there.
  explicit AskedProgram(std::vector<std::string> command) : command_(std::move(command)) {}
  ~AskedProgram();
  AskedProgram(const AskedProgram&) = delete;
  AskedProgram& operator=(const AskedProgram&) = delete;

  // The answer, empty where the layer is taken; nothing where there is no program, or it does not answer.
  std::optional<std::string> ask(const Layer& layer);

 private:
  bool start();

  std::vector<std::string> command_;
  int process_ = -1, to_ = -1, from_ = -1;
};

}  // namespace intarsia::layers
