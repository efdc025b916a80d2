// What other compilers write for a device and a model file brings along: programs inside of operators, and files of their
// own. Target kinds say which of them are theirs; the importer knows none by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "intarsia/graph.h"
#include "intarsia/result.h"

namespace intarsia {

// A custom operator of a .tflite file that holds a program. Its tensors lie in an arena, at the addresses that the
// file's metadata OfflineMemoryAllocation gives them.
struct ProgramOperator {
  std::string custom_code;  // by which the file names the operator
  std::string device;       // for graph::CompiledAttrs
  // Which operand is what. A program without constants has no data in theirs. Inputs are all operands behind these.
  size_t payload = 0, constants = 1, arena = 2, fast_arena = 3, first_input = 4;
  std::vector<std::string> layer_names =
      {};                 // lower-case beginnings that its tensors' names have: "npu"
  std::string hint = {};  // what to do about a file that lacks something
  // Of operators that we write: what interpreters look for in their options.
  std::vector<uint8_t> custom_options = {};
};

// A file that is no model of a format of networks.
struct ProgramFile {
  std::function<bool(std::span<const uint8_t> bytes)> is_one;
  // `name` is the module's, a C identifier; `file` is for messages.
  std::function<Result<graph::Module>(std::span<const uint8_t> bytes, const std::string& file,
                                      const std::string& name)>
      read;
  // The end of its name, and what `compile --format` calls it.
  std::string extension = {};
  // Such a file of a command stream that the kind has made. Empty: files are read only.
  std::function<Result<std::vector<uint8_t>>(std::span<const uint8_t> commands)> write = {};
};

struct ForeignFormats {
  std::vector<ProgramOperator> operators;
  std::vector<ProgramFile> files;
};

}  // namespace intarsia
