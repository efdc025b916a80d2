// Binary files that the assembler takes in: the sources (.S) that stand for arrays of C. A compiler reads megabytes of
// numbers slowly, and takes gigabytes of memory for them; the assembler copies bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intarsia/plugin/artifacts.h"

namespace intarsia::emission {

// One array, as a piece of the file.
struct IncbinObject {
  std::string symbol;
  int64_t offset = 0, bytes = 0;
  int32_t alignment = 1;
  std::string section = {};  // that is asked for; empty: `macro` chooses
  std::string memory = {};   // of the board, that the plan chose; empty: the one of `macro`
};

struct IncbinFile {
  std::string about;  // the first line's comment: "kws: weights and tables"
  std::string file;   // whose bytes they are, in the folder of the includes
  std::string
      sha256;  // of the file: it is in the text, so that whoever caches or builds by the text sees another file
  const char* macro = "intarsia_weights";  // of intarsia/contract/incbin.h
  std::vector<IncbinObject> objects;
};

std::string incbin_text(const IncbinFile& file);

}  // namespace intarsia::emission
