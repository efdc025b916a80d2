// A firmware that is built once and runs packages: its sources as a package that the build knows how to build.
#pragma once

#include <string>
#include <vector>

#include "executable/image_text.h"
#include "intarsia/board.h"
#include "intarsia/compiled_model.h"

namespace intarsia::executable {

// What the firmware has room for.
struct Room {
  int64_t package_bytes = 0;          // 0: the largest package of the models and a quarter more
  std::vector<MemoryBlock> memories;  // more than the models need
};

// `compiled[i]` is what models[i] was made of, all for one target and the board.
struct FirmwareRequest {
  const std::vector<const CompiledProgram*>& compiled;
  const std::vector<ExecutableModel>& models;
  const board::Board& board;
  const TargetRegistry& registry;
  const PackageOptions& options;
  const Room& room;
  bool same_interface = false;  // packages have the first model's inputs and outputs
};

struct Firmware {
  Image image;
  PackageContents package;
};

Result<Firmware> make_firmware(const FirmwareRequest& request);

// Where a package is put beside a program on the board, and how large one may be. Of no bytes: nowhere.
struct KeptPackage {
  std::string memory;
  uint64_t address = 0, bytes = 0;
};
KeptPackage kept_package(const board::Board& board, bool read_by_devices, int64_t bytes);

}  // namespace intarsia::executable
