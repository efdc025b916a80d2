// The C interface of intarsia/executor/executor.h.
#include "intarsia/executor/executor.h"

#include "intarsia/contract/version.h"
#include "program.h"

namespace intarsia::rt {
namespace {

bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// A package that is being opened, and what is told of it when it is refused.
class Opening {
 public:
  Opening(intarsia_executor& executor, const intarsia_executor_image& image,
          intarsia_refusal& refusal)
      : executor_(executor), image_(image), refusal_(refusal) {}

  intarsia_status run(const void* bytes, uint32_t size) {
    intarsia_package package;
    const intarsia_status opened = intarsia_package_open(&package, bytes, size);
    if (opened == INTARSIA_ERROR_PACKAGE_VERSION) {
      refusal_.needed = FlatReader(static_cast<const uint8_t*>(bytes)).u32(kVersionAt);
      refusal_.provided = INTARSIA_PACKAGE_VERSION;
    }
    if (opened != INTARSIA_OK) return opened;
    const uint8_t* payload = package.bytes + kHeaderBytes;
    if (!has_program(payload)) return INTARSIA_ERROR_PACKAGE_PROGRAM;
    const uint32_t payload_bytes = FlatReader(package.bytes).u32(kPayloadBytesAt);
    if (!program_is_sound(payload, payload_bytes)) return INTARSIA_ERROR_PACKAGE_FORMAT;

    const Program program(package.bytes);
    intarsia_status status = check_versions(program);
    if (status == INTARSIA_OK) status = find_kernels(program);
    if (status == INTARSIA_OK) status = find_memories(program);
    if (status == INTARSIA_OK) status = find_devices(program, package);
    if (status != INTARSIA_OK) return status;
    if (!code_is_sound(program, image_, package.function_count, memory_bytes_,
                       executor_.memory_count))
      return INTARSIA_ERROR_PACKAGE_FORMAT;
    const FlatVector code = program.vector(kProgramCode);
    executor_.package = package;
    executor_.image = &image_;
    executor_.code = code.first;
    executor_.code_words = code.count;
    executor_.constants = program.vector(kProgramConstants).first;
    return INTARSIA_OK;
  }

 private:
  intarsia_status check_versions(const Program& program) {
    if (program.word(kProgramRuntimeVersion) != INTARSIA_RUNTIME_VERSION) {
      refusal_.needed = program.word(kProgramRuntimeVersion);
      refusal_.provided = INTARSIA_RUNTIME_VERSION;
      return INTARSIA_ERROR_RUNTIME_VERSION;
    }
    if (image_.interface_id != 0 && image_.interface_id != program.word(kProgramInterfaceId)) {
      refusal_.needed = program.word(kProgramInterfaceId);
      refusal_.provided = image_.interface_id;
      return INTARSIA_ERROR_PACKAGE_INTERFACE;
    }
    return INTARSIA_OK;
  }

  intarsia_status find_kernels(const Program& program) {
    const FlatVector ids = program.vector(kProgramKernelIds);
    for (uint32_t i = 0; 2 * i < ids.count; ++i) {
      const uint32_t id = ids.first + 8 * i;
      if (find_kernel(image_, program.reader.u32(id), program.reader.u32(id + 4)) != nullptr)
        continue;
      refusal_.name = program.name(kProgramKernelNames, i);
      return INTARSIA_ERROR_PACKAGE_KERNEL;
    }
    return INTARSIA_OK;
  }

  intarsia_status find_memories(const Program& program) {
    const FlatVector names = program.vector(kProgramMemories);
    const FlatVector pools = program.reader.vector(program.reader.follow(0), kPackagePoolBytes);
    const uint32_t asked = package_word(program.reader, kPackageAlignment);
    if (asked > INTARSIA_PROGRAM_MAX_ALIGNMENT) return INTARSIA_ERROR_PACKAGE_MEMORY;
    const uint32_t alignment =
        asked > kBlobAlignment ? INTARSIA_PROGRAM_MAX_ALIGNMENT : kBlobAlignment;
    if (pools.count > names.count) return INTARSIA_ERROR_PACKAGE_FORMAT;
    executor_.memory_count = names.count;
    for (uint32_t i = 0; i < names.count; ++i) {
      const uint32_t needed = i < pools.count ? program.reader.u32(pools.first + 4 * i) : 0;
      executor_.memories[i] = nullptr;
      memory_bytes_[i] = needed;
      if (needed == 0) continue;
      const char* name = program.name(kProgramMemories, i);
      const intarsia_executor_memory* memory = find_memory(name);
      if (memory != nullptr && memory->base != nullptr && memory->bytes >= needed) {
        if ((reinterpret_cast<uintptr_t>(memory->base) & (alignment - 1)) != 0)
          return INTARSIA_ERROR_MISALIGNED;
        executor_.memories[i] = memory->base;
        continue;
      }
      refusal_ = {name, needed, memory == nullptr ? 0 : memory->bytes};
      return INTARSIA_ERROR_PACKAGE_MEMORY;
    }
    return INTARSIA_OK;
  }

  const intarsia_executor_memory* find_memory(const char* name) const {
    for (uint32_t i = 0; i < image_.memory_count; ++i)
      if (same_text(image_.memories[i].name, name)) return &image_.memories[i];
    return nullptr;
  }

  // The regions of streams begin within the memories that are there.
  intarsia_status find_devices(const Program& program, const intarsia_package& package) {
    const FlatVector names = program.vector(kProgramDevices);
    uint32_t taken = 0;  // bits of devices of the image: two of the program's may be alike
    for (uint32_t i = 0; i < names.count; ++i) {
      executor_.devices[i] = nullptr;
      const char* name = program.name(kProgramDevices, i);
      for (uint32_t k = 0; k < image_.device_count && k < 32; ++k) {
        const intarsia_executor_device& device = image_.devices[k];
        if ((taken & 1u << k) != 0 || device.device == nullptr || !same_text(device.target, name))
          continue;
        executor_.devices[i] = device.device;
        taken |= 1u << k;
        break;
      }
      if (executor_.devices[i] != nullptr) continue;
      refusal_.name = name;
      return image_.device_count == 0 ? INTARSIA_ERROR_DEVICE_ABSENT
                                      : INTARSIA_ERROR_DEVICE_MISMATCH;
    }
    const intarsia_package_contract contract = {package_word(program.reader, kPackageModelId),
                                                executor_.memory_count, memory_bytes_,
                                                INTARSIA_PROGRAM_MAX_ALIGNMENT};
    return intarsia_package_check(&package, &contract);
  }

  intarsia_executor& executor_;
  const intarsia_executor_image& image_;
  intarsia_refusal& refusal_;
  uint32_t memory_bytes_[INTARSIA_PROGRAM_MAX_MEMORIES] = {};
};

// A program that has been checked, while a list of its instructions is carried out.
class Run {
 public:
  explicit Run(intarsia_executor& executor)
      : executor_(executor), program_(executor.package.bytes) {}

  intarsia_status list(uint32_t first, uint32_t words) {
    uint32_t at = 0;
    while (at < words) {
      const uint32_t head = program_.reader.u32(first + 4 * at), count = head >> 8;
      const uint32_t operands = first + 4 * (at + 1);
      const uint32_t next = at + 1 + count;
      at = next;
      switch (head & 0xFF) {
        case INTARSIA_PROGRAM_CALL:
          call(operands, count);
          break;
        case INTARSIA_PROGRAM_STREAM: {
          const intarsia_status status =
              intarsia_package_run(&executor_.package, word(operands, 0), executor_.memories,
                                   executor_.memory_count, executor_.devices[word(operands, 1)]);
          if (status != INTARSIA_OK) return status;
          break;
        }
        case INTARSIA_PROGRAM_IF:
          open_[depth_++] = {0, 0};
          if (!flag(operands, 0)) at = after(first, next, words, true);
          break;
        case INTARSIA_PROGRAM_ELSE:  // the end of the branch that was taken
          at = after(first, next, words, false);
          break;
        case INTARSIA_PROGRAM_LOOP:
          open_[depth_++] = {next, word(operands, 0)};
          if (!goes_on(first)) at = after(first, next, words, false);
          break;
        case INTARSIA_PROGRAM_END:
          if (open_[depth_ - 1].body != 0) --open_[depth_ - 1].left;
          if (open_[depth_ - 1].body != 0 && goes_on(first))
            at = open_[depth_ - 1].body;
          else
            --depth_;
          break;
        case INTARSIA_PROGRAM_COPY:
          __builtin_memcpy(address(operands, 0),
                           program_.reader.at(executor_.constants + word(operands, 3)),
                           word(operands, 2));
          break;
        case INTARSIA_PROGRAM_FILL:
          fill(operands);
          break;
        default:
          break;
      }
    }
    return INTARSIA_OK;
  }

 private:
  struct Open {
    uint32_t body;  // of a loop: its first instruction; 0: of an IF
    uint32_t left;  // iterations
  };

  uint32_t word(uint32_t first, uint32_t at) const { return program_.reader.u32(first + 4 * at); }

  uint8_t* address(uint32_t first, uint32_t at) const {
    const uint32_t segment = word(first, at), offset = word(first, at + 1);
    // Kernels only read constants; they take one kind of pointer for all operands.
    if (segment == INTARSIA_PROGRAM_CONSTANTS)
      return const_cast<uint8_t*>(program_.reader.at(executor_.constants + offset));
    return static_cast<uint8_t*>(executor_.memories[segment]) + offset;
  }

  bool flag(uint32_t first, uint32_t at) const { return *address(first, at) != 0; }

  bool goes_on(uint32_t first) const {
    const Open& loop = open_[depth_ - 1];
    const uint32_t operands = first + 4 * (loop.body - 3);
    return loop.left != 0 &&
           (word(operands, 1) == INTARSIA_PROGRAM_NO_SEGMENT || flag(operands, 1));
  }

  // Behind the ELSE, where it is asked for, or the END of what is open, which is then closed.
  uint32_t after(uint32_t first, uint32_t at, uint32_t words, bool stops_at_else) {
    uint32_t inner = 0;
    while (at < words) {
      const uint32_t head = program_.reader.u32(first + 4 * at), operation = head & 0xFF;
      at += 1 + (head >> 8);
      if (operation == INTARSIA_PROGRAM_IF || operation == INTARSIA_PROGRAM_LOOP) ++inner;
      if (inner == 0 && operation == INTARSIA_PROGRAM_ELSE && stops_at_else) return at;
      if (operation == INTARSIA_PROGRAM_END && inner-- == 0) break;
    }
    --depth_;
    return at;
  }

  void call(uint32_t first, uint32_t count) const {
    void* operands[INTARSIA_PROGRAM_MAX_OPERANDS];
    const FlatVector ids = program_.vector(kProgramKernelIds);
    const uint32_t id = ids.first + 8 * word(first, 0);
    const intarsia_kernel* kernel =
        find_kernel(*executor_.image, program_.reader.u32(id), program_.reader.u32(id + 4));
    for (uint32_t i = 0; 1 + 2 * i < count; ++i) operands[i] = address(first, 1 + 2 * i);
    kernel->call(operands);
  }

  void fill(uint32_t first) const {
    uint8_t* to = address(first, 0);
    const uint32_t bytes = word(first, 3), element = word(first, 4);
    for (uint32_t i = word(first, 2); i != 0; --i, to += bytes)
      __builtin_memcpy(to, &element, bytes);
  }

  intarsia_executor& executor_;
  Program program_;
  uint32_t depth_ = 0;
  Open open_[INTARSIA_PROGRAM_MAX_DEPTH] = {};
};

bool is_open(const intarsia_executor* executor) {
  return executor != nullptr && executor->package.bytes != nullptr;
}

uint32_t tensor_count(const intarsia_executor* executor, uint32_t slot) {
  return is_open(executor) ? Program(executor->package.bytes).vector(slot).count : 0;
}

intarsia_status tensor_of(const intarsia_executor* executor, uint32_t slot, uint32_t index,
                          intarsia_executor_tensor* tensor) {
  if (executor == nullptr || tensor == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!is_open(executor)) return INTARSIA_ERROR_NOT_INITIALISED;
  const Program program(executor->package.bytes);
  if (index >= program.vector(slot).count) return INTARSIA_ERROR_BAD_INDEX;
  const uint32_t table = program.tensor(slot, index);
  *tensor = {program.text_at(program.reader.field(table, kTensorName)),
             static_cast<uint8_t*>(executor->memories[program.tensor_word(table, kTensorMemory)]) +
                 program.tensor_word(table, kTensorOffset),
             program.tensor_word(table, kTensorBytes)};
  return INTARSIA_OK;
}

}  // namespace
}  // namespace intarsia::rt

using namespace intarsia::rt;

intarsia_status intarsia_executor_open(intarsia_executor* executor, const void* package,
                                       uint32_t size, const intarsia_executor_image* image,
                                       intarsia_refusal* refusal) {
  intarsia_refusal unused;
  if (refusal == nullptr) refusal = &unused;
  *refusal = {nullptr, 0, 0};
  if (executor == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  executor->package = {nullptr, 0, 0};
  if (image == nullptr || package == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  const intarsia_status status = Opening(*executor, *image, *refusal).run(package, size);
  if (status != INTARSIA_OK) executor->package = {nullptr, 0, 0};
  return status == INTARSIA_OK ? intarsia_executor_reset(executor) : status;
}

intarsia_status intarsia_executor_reset(intarsia_executor* executor) {
  if (executor == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!is_open(executor)) return INTARSIA_ERROR_NOT_INITIALISED;
  const FlatVector words = Program(executor->package.bytes).vector(kProgramReset);
  return Run(*executor).list(words.first, words.count);
}

intarsia_status intarsia_executor_run(intarsia_executor* executor) {
  if (executor == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  if (!is_open(executor)) return INTARSIA_ERROR_NOT_INITIALISED;
  return Run(*executor).list(executor->code, executor->code_words);
}

uint32_t intarsia_executor_input_count(const intarsia_executor* executor) {
  return tensor_count(executor, kProgramInputs);
}

uint32_t intarsia_executor_output_count(const intarsia_executor* executor) {
  return tensor_count(executor, kProgramOutputs);
}

intarsia_status intarsia_executor_input(const intarsia_executor* executor, uint32_t index,
                                        intarsia_executor_tensor* tensor) {
  return tensor_of(executor, kProgramInputs, index, tensor);
}

intarsia_status intarsia_executor_output(const intarsia_executor* executor, uint32_t index,
                                         intarsia_executor_tensor* tensor) {
  return tensor_of(executor, kProgramOutputs, index, tensor);
}
