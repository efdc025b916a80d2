// Files, read whole and written whole. Failures are the user's: the path and the system's reason.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "intarsia/plugin/artifacts.h"
#include "intarsia/result.h"
#include "support/interrupt.h"

namespace intarsia {

// What the system refused, and what to do about it.
Diagnostics file_failure(const std::string& path, const std::string& what, std::error_code why);

Result<std::vector<uint8_t>> read_file(const std::string& path);
Result<std::string> read_text_file(const std::string& path);

// Through a temporary name in the same folder: the file is there whole or not at all. Devices and pipes are written into.
Result<void> write_file(const std::string& path, std::string_view bytes);
Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes);
// The same of what `write` gives to its sink, piece by piece.
Result<void> write_file(const std::string& path, const std::function<void(const TextSink&)>& write);

// All files below `folder` (made when absent). They are written aside first and moved in at the end,
// so that a failure leaves the folder as it was.
Result<void> write_folder(const std::string& folder, const std::vector<SourceFile>& files);

// A fresh folder of our own for intermediate files; removed with everything in it at the end of the
// scope, and when the program is interrupted (support/interrupt.h).
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept = default;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return folder_.path(); }

 private:
  explicit TemporaryFolder(interrupt::RemovedPath folder) : folder_(std::move(folder)) {}
  interrupt::RemovedPath folder_;
};

}  // namespace intarsia
