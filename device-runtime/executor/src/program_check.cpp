// What makes a run need no checks: all that a program names is there, and no operand of a kernel leaves its memory.
#include "intarsia/core/flat_check.h"
#include "program.h"

namespace intarsia::rt {
namespace {

constexpr uint32_t kMostIterations = 1u << 20;

class ProgramCheck : private FlatCheck {
 public:
  using FlatCheck::FlatCheck;

  bool run() const {
    uint32_t program = 0;
    FlatVector ids, names, words, bytes;
    const uint32_t root = reader().follow(0);
    return table(root, kPackageProgram + 1) &&
           follow(reader().field(root, kPackageProgram), &program) &&
           table(program, kProgramRuntimeVersion + 1) &&
           vector(program, kProgramKernelIds, 2, 4, Presence::Required, &ids) &&
           strings(program, kProgramKernelNames, &names) && ids.count / 2 == names.count &&
           ids.count % 2 == 0 && vector(program, kProgramCode, 2, 4, Presence::Required, &words) &&
           vector(program, kProgramReset, 2, 4, Presence::Optional, &words) &&
           vector(program, kProgramConstants, 0, kBlobAlignment, Presence::Optional, &bytes) &&
           strings(program, kProgramMemories, &names) &&
           names.count <= INTARSIA_PROGRAM_MAX_MEMORIES &&
           strings(program, kProgramDevices, &names) &&
           names.count <= INTARSIA_PROGRAM_MAX_DEVICES && tensors(program, kProgramInputs) &&
           tensors(program, kProgramOutputs);
  }

 private:
  bool strings(uint32_t program, uint32_t slot, FlatVector* list) const {
    if (!vector(program, slot, 2, 4, Presence::Optional, list)) return false;
    for (uint32_t i = 0; i < list->count; ++i)
      if (!string_at(list->first + 4 * i)) return false;
    return true;
  }

  bool tensors(uint32_t program, uint32_t slot) const {
    FlatVector list;
    if (!vector(program, slot, 2, 4, Presence::Optional, &list)) return false;
    for (uint32_t i = 0; i < list.count; ++i) {
      uint32_t tensor = 0;
      if (!follow(list.first + 4 * i, &tensor) || !table(tensor, kTensorZeroPoint + 1) ||
          !string(tensor, kTensorName))
        return false;
    }
    return true;
  }
};

// A list of instructions, as far as it has been read.
class CodeCheck {
 public:
  CodeCheck(const Program& program, const intarsia_executor_image& image, uint32_t function_count,
            const uint32_t* memory_bytes, uint32_t memory_count)
      : program_(program),
        image_(image),
        function_count_(function_count),
        memory_bytes_(memory_bytes),
        memory_count_(memory_count),
        ids_(program.vector(kProgramKernelIds)),
        constant_bytes_(program.vector(kProgramConstants).count),
        device_count_(program.vector(kProgramDevices).count) {}

  bool list(const FlatVector& words) {
    uint32_t at = 0;
    depth_ = 0;
    while (at < words.count) {
      const uint32_t head = word(words, at), count = head >> 8;
      ++at;
      if (count > words.count - at) return false;
      if (!instruction(head & 0xFF, words.first + 4 * at, count)) return false;
      at += count;
    }
    return depth_ == 0;
  }

  bool tensors(uint32_t slot) const {
    const FlatVector list = program_.vector(slot);
    for (uint32_t i = 0; i < list.count; ++i) {
      const uint32_t tensor = program_.tensor(slot, i);
      if (!lies(program_.tensor_word(tensor, kTensorMemory),
                program_.tensor_word(tensor, kTensorOffset),
                program_.tensor_word(tensor, kTensorBytes), 0, true))
        return false;
    }
    return true;
  }

 private:
  uint32_t word(const FlatVector& words, uint32_t at) const {
    return program_.reader.u32(words.first + 4 * at);
  }
  uint32_t operand(uint32_t first, uint32_t at) const {
    return program_.reader.u32(first + 4 * at);
  }

  bool lies(uint32_t segment, uint32_t offset, uint32_t bytes, uint32_t alignment_log2,
            bool is_written) const {
    uint32_t size = constant_bytes_;
    if (segment != INTARSIA_PROGRAM_CONSTANTS) {
      if (segment >= memory_count_) return false;
      size = memory_bytes_[segment];
    } else if (is_written) {
      return false;
    }
    return offset <= size && bytes <= size - offset && (offset & ((1u << alignment_log2) - 1)) == 0;
  }

  bool call(uint32_t first, uint32_t count) const {
    if (count == 0) return false;
    const uint32_t index = operand(first, 0);
    if (index >= ids_.count / 2) return false;
    const uint32_t id = ids_.first + 8 * index;
    const intarsia_kernel* kernel =
        find_kernel(image_, program_.reader.u32(id), program_.reader.u32(id + 4));
    if (kernel == nullptr || kernel->operand_count > INTARSIA_PROGRAM_MAX_OPERANDS ||
        count != 1 + 2 * kernel->operand_count)
      return false;
    for (uint32_t i = 0; i < kernel->operand_count; ++i) {
      const intarsia_kernel_operand& used = kernel->operands[i];
      if (!lies(operand(first, 1 + 2 * i), operand(first, 2 + 2 * i), used.bytes,
                used.alignment_log2, used.is_written != 0))
        return false;
    }
    return true;
  }

  bool fill(uint32_t first) const {
    const uint32_t elements = operand(first, 2), bytes = operand(first, 3);
    const uint32_t shift = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
    return bytes == 1u << shift && elements <= 0x0FFFFFFF &&
           lies(operand(first, 0), operand(first, 1), elements << shift, shift, true);
  }

  bool open(bool is_loop) {
    if (depth_ == INTARSIA_PROGRAM_MAX_DEPTH) return false;
    has_else_[depth_++] = is_loop;  // and a loop never gets one
    return true;
  }

  bool instruction(uint32_t operation, uint32_t first, uint32_t count) {
    switch (operation) {
      case INTARSIA_PROGRAM_CALL:
        return call(first, count);
      case INTARSIA_PROGRAM_STREAM:
        return count == 2 && operand(first, 0) < function_count_ &&
               operand(first, 1) < device_count_;
      case INTARSIA_PROGRAM_IF:
        return count == 2 && lies(operand(first, 0), operand(first, 1), 1, 0, false) && open(false);
      case INTARSIA_PROGRAM_ELSE:
        if (count != 0 || depth_ == 0 || has_else_[depth_ - 1]) return false;
        has_else_[depth_ - 1] = true;
        return true;
      case INTARSIA_PROGRAM_END:
        if (count != 0 || depth_ == 0) return false;
        --depth_;
        return true;
      case INTARSIA_PROGRAM_LOOP:
        return count == 3 && operand(first, 0) <= kMostIterations &&
               (operand(first, 1) == INTARSIA_PROGRAM_NO_SEGMENT ||
                lies(operand(first, 1), operand(first, 2), 1, 0, false)) &&
               open(true);
      case INTARSIA_PROGRAM_COPY:
        return count == 4 &&
               lies(operand(first, 0), operand(first, 1), operand(first, 2), 0, true) &&
               lies(INTARSIA_PROGRAM_CONSTANTS, operand(first, 3), operand(first, 2), 0, false);
      case INTARSIA_PROGRAM_FILL:
        return count == 5 && fill(first);
      default:
        return false;
    }
  }

  const Program& program_;
  const intarsia_executor_image& image_;
  uint32_t function_count_;
  const uint32_t* memory_bytes_;
  uint32_t memory_count_;
  FlatVector ids_;
  uint32_t constant_bytes_, device_count_;
  uint32_t depth_ = 0;
  bool has_else_[INTARSIA_PROGRAM_MAX_DEPTH] = {};
};

}  // namespace

const intarsia_kernel* find_kernel(const intarsia_executor_image& image, uint32_t low,
                                   uint32_t high) {
  uint32_t first = 0, end = image.kernel_count;
  while (first < end) {
    const uint32_t middle = first + ((end - first) >> 1);
    const intarsia_kernel& kernel = image.kernels[middle];
    if (kernel.id_high == high && kernel.id_low == low) return &kernel;
    const bool is_before = kernel.id_high < high || (kernel.id_high == high && kernel.id_low < low);
    if (is_before)
      first = middle + 1;
    else
      end = middle;
  }
  return nullptr;
}

bool has_program(const uint8_t* payload) {
  const FlatReader reader(payload);
  return reader.field(reader.follow(0), kPackageProgram) != 0;
}

bool program_is_sound(const uint8_t* payload, uint32_t size) {
  return ProgramCheck(payload, size).run();
}

bool code_is_sound(const Program& program, const intarsia_executor_image& image,
                   uint32_t function_count, const uint32_t* memory_bytes, uint32_t memory_count) {
  CodeCheck check(program, image, function_count, memory_bytes, memory_count);
  return check.list(program.vector(kProgramCode)) && check.list(program.vector(kProgramReset)) &&
         check.tensors(kProgramInputs) && check.tensors(kProgramOutputs);
}

}  // namespace intarsia::rt
