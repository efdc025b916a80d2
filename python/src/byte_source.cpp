#include "byte_source.h"

#include <utility>

#include "support/files.h"

namespace nb = nanobind;

namespace intarsia::python {

ByteSource::ByteSource(const nb::object& bytes, std::string path) : path_(std::move(path)) {
  if (bytes.is_none()) return;
  if (PyObject_GetBuffer(bytes.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  has_view_ = true;
}

ByteSource::~ByteSource() {
  if (has_view_) PyBuffer_Release(&view_);
}

Result<std::span<const uint8_t>> ByteSource::read() {
  if (has_view_)
    return std::span(static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len));
  INTARSIA_TRY(file_, read_file(path_));
  return std::span<const uint8_t>(file_);
}

}  // namespace intarsia::python
