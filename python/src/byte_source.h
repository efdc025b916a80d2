// The bytes of a model: an object of Python that has some, or a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "intarsia/result.h"

namespace intarsia::python {

// Made and destroyed with Python's lock; read without it. The object's bytes are not copied, and the object cannot be
// resized while this lives.
class ByteSource {
 public:
  // None: the file at `path` is read when it is asked for.
  ByteSource(const nanobind::object& bytes, std::string path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  Result<std::span<const uint8_t>> read();

 private:
  std::string path_;
  Py_buffer view_ = {};
  bool has_view_ = false;
  std::vector<uint8_t> file_;
};

}  // namespace intarsia::python
