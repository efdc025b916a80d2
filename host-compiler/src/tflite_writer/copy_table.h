// Tables of a .tflite file that go into another one as they are, with fields that our schema of the format does not have: what an operator that
// stays says to whoever runs it.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace intarsia::tflite_writer {

struct TableShape;

// A field that is no plain number. `Union`: its kind is in the field before it. `Refused`: nothing that we know how to copy.
struct FieldShape {
  enum class Kind : uint8_t { Vector, String, Table, Tables, Options, Details, Refused };
  uint16_t id;
  Kind kind;
  uint32_t element_bytes = 1;         // Vector
  const TableShape* table = nullptr;  // Table, Tables
  const char* holds = nullptr;        // Refused: what it is, where that is known
};

struct TableShape {
  const char* name;
  std::span<const FieldShape> fields;  // all others are numbers
};

extern const TableShape kTensorShape, kOperatorShape, kOperatorCodeShape, kSignatureShape,
    kTensorMapShape;

// A field that gets another value than in the file.
struct FieldValue {
  uint16_t id;
  uint32_t value;  // the number, or where its vector or table is in the builder
  bool is_offset = false;
};

// Everything is read with its place checked: of what our schema does not name, nothing was proved when the file was opened.
class TableCopier {
 public:
  TableCopier(std::span<const uint8_t> file, flatbuffers::FlatBufferBuilder& builder)
      : file_(file), builder_(builder) {}

  // `table` points into the file. Where it is in the builder; after a problem, something.
  flatbuffers::uoffset_t copy(const void* table, const TableShape& shape,
                              std::span<const FieldValue> other = {});
  // The place of a vector or table that a field refers to; 0 where the field is absent.
  size_t referred(const void* table, uint16_t field);
  // A number's value; 0 where the field is absent.
  uint32_t number_of(const void* table, uint16_t field);
  // Numbers of a vector that begins there; none where nothing does.
  std::vector<int32_t> numbers_at(size_t vector);
  // Tables of a vector that begins there, as pointers into the file.
  std::vector<const void*> tables_at(size_t vector);

  // The first one; empty: everything could be copied.
  const std::string& problem() const { return problem_; }

 private:
  struct Field {
    uint16_t id = 0;
    size_t at = 0, bytes = 0;
  };
  std::vector<Field> fields_of(size_t table);
  flatbuffers::uoffset_t copy_table(size_t table, const TableShape& shape,
                                    std::span<const FieldValue> other, int depth);
  flatbuffers::uoffset_t copy_vector(size_t vector, uint32_t element_bytes);
  flatbuffers::uoffset_t copy_child(const TableShape& shape, const FieldShape& field, size_t place,
                                    uint8_t type, int depth);
  size_t follow(size_t place);
  uint64_t number(size_t place, size_t bytes);
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }

  std::span<const uint8_t> file_;
  flatbuffers::FlatBufferBuilder& builder_;
  std::string problem_;
};

}  // namespace intarsia::tflite_writer
