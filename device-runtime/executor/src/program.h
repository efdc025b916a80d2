// The program of a package whose payload is sound (core): where its parts are, and the one check of them.
#pragma once

#include "intarsia/core/flat_reader.h"
#include "intarsia/core/package_layout.h"
#include "intarsia/executor/executor.h"

namespace intarsia::rt {

// A package's words, all in bounds.
class Program {
 public:
  explicit Program(const uint8_t* package)
      : reader(package + kHeaderBytes),
        table(reader.follow(reader.field(reader.follow(0), kPackageProgram))) {}

  FlatVector vector(uint32_t slot) const { return reader.vector(table, slot); }
  uint32_t word(uint32_t slot) const {
    const uint32_t place = reader.field(table, slot);
    return place == 0 ? 0 : reader.u32(place);
  }
  // The string at `index` of a list.
  const char* name(uint32_t slot, uint32_t index) const {
    return text_at(vector(slot).first + 4 * index);
  }
  uint32_t tensor(uint32_t slot, uint32_t index) const {
    return reader.follow(vector(slot).first + 4 * index);
  }
  uint32_t tensor_word(uint32_t tensor, uint32_t slot) const {
    const uint32_t place = reader.field(tensor, slot);
    return place == 0 ? 0 : reader.u32(place);
  }
  // The characters of the string that the offset at `place` leads to.
  const char* text_at(uint32_t place) const {
    return reinterpret_cast<const char*>(reader.at(reader.follow(place) + 4));
  }

  FlatReader reader;
  uint32_t table;
};

inline uint32_t package_word(const FlatReader& reader, uint32_t slot) {
  const uint32_t place = reader.field(reader.follow(0), slot);
  return place == 0 ? 0 : reader.u32(place);
}

// The kernel of this id; null where the image has none.
const intarsia_kernel* find_kernel(const intarsia_executor_image& image, uint32_t low,
                                   uint32_t high);

// Whether the package has a program, and all of its tables, vectors and strings are in bounds. `payload` is sound otherwise.
bool has_program(const uint8_t* payload);
bool program_is_sound(const uint8_t* payload, uint32_t size);

// Whether every instruction of the program is whole and stays within memories and constants; all kernels are in the
// image. `memory_bytes`: of each memory of the program.
bool code_is_sound(const Program& program, const intarsia_executor_image& image,
                   uint32_t function_count, const uint32_t* memory_bytes, uint32_t memory_count);

}  // namespace intarsia::rt
