// What code generation makes: C text, and command streams for the devices. No files yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia {

// Takes text piece by piece: into a file, into a string.
using TextSink = std::function<void(std::string_view)>;

// A file of a package.
struct SourceFile {
  std::string path;  // relative to the output folder, with '/'
  std::string text;
  // What comes after `text`, made while the file is written, the same every time: weights are several
  // times as large in C as in memory.
  std::function<void(const TextSink&)> rest = {};

  // All of its text.
  void write_to(const TextSink& sink) const {
    sink(text);
    if (rest) rest(sink);
  }
  // The same as one string.
  std::string whole_text() const {
    std::string whole;
    write_to([&](std::string_view piece) { whole += piece; });
    return whole;
  }
  friend bool operator==(const SourceFile& a, const SourceFile& b) {
    return a.path == b.path && a.whole_text() == b.whole_text();
  }
};

// The base address a stream's addresses are relative to. The runtime binds it before the run.
struct StreamRegion {
  // The stream's own constants, or a memory of the plan.
  enum class Kind : uint8_t { Constants, Pool };
  Kind kind = Kind::Pool;
  int32_t pool = 0;    // Kind::Pool: index into Plan::memory.pools
  int64_t offset = 0;  // Kind::Pool: bytes from the pool's beginning to the base
  bool operator==(const StreamRegion&) const = default;
};

// One function of an accelerator, as its device reads it. The runtime reads all of it in place.
struct CommandStream {
  std::string func;                // the tir::Func it implements
  std::string device;              // device of the composite target that executes it
  std::string target;              // that device's kind and attributes; `emit` fills it in
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

// What one device of the target contributes.
struct Artifacts {
  std::vector<SourceFile> sources;     // complete further files, if any
  std::vector<std::string> functions;  // C definitions of static functions, in TIR order
  std::vector<std::string> includes;   // "intarsia/kernels/softmax.h"
  std::vector<CommandStream> streams;
};

}  // namespace intarsia
