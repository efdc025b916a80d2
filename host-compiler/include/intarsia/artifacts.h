// What code generation makes: C text, and command streams for the devices. No files yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace intarsia {

struct SourceFile {
  std::string path;  // relative to the output folder, with '/'
  std::string text;
  bool operator==(const SourceFile&) const = default;
};

// The base address a stream's addresses are relative to. The runtime binds it before the run.
struct StreamRegion {
  enum class Kind : uint8_t { Constants, Pool };
  Kind kind = Kind::Pool;
  int32_t pool = 0;    // Kind::Pool: index into Plan::memory.pools
  int64_t offset = 0;  // Kind::Pool: bytes from the pool's beginning to the base
  bool operator==(const StreamRegion&) const = default;
};

// One function of an accelerator, as its device reads it. The runtime reads all of it in place.
struct CommandStream {
  std::string func;                // the tir::Func it implements
  std::string member;              // member of the composite target that executes it
  std::string target;              // that member's kind and attributes; `emit` fills it in
  std::vector<uint8_t> commands;   // 16-byte aligned in the package
  std::vector<uint8_t> constants;  // weights, scales, tables in the device's format; aligned alike
  std::vector<StreamRegion> regions;  // region i of the stream
  std::vector<std::string>
      operators;  // names of the model's operators inside, for findings and reports
  // Which commands are of which operator: text for the device's simulator, in lines, in a form of the
  // kind's own. It goes beside the package and not into it.
  std::string marks;
  bool operator==(const CommandStream&) const = default;
};

// What one member of the target contributes.
struct Artifacts {
  std::vector<SourceFile> sources;     // complete further files, if any
  std::vector<std::string> functions;  // C definitions of static functions, in TIR order
  std::vector<std::string> includes;   // "intarsia_kernels/softmax.h"
  std::vector<CommandStream> streams;
};

}  // namespace intarsia
