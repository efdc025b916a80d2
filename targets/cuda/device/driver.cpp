#include "intarsia/targets/cuda/driver.h"

#if defined(__linux__) && __has_include(<dlfcn.h>)

#include <stdio.h>
#include <stdlib.h>

#include "intarsia/targets/cuda/libraries.h"

namespace intarsia::targets::cuda {
namespace {

#define CONSTANT(name, value) constexpr uint32_t k##name = value;
#include "intarsia/targets/cuda/stream.def"
#undef CONSTANT

static_assert(kMaxRegions == INTARSIA_CUDA_MAX_MEMORIES);

// One for the process, as the library is.
DriverFunctions driver;

intarsia_status failed(const char *what, int code) {
  const char *text = nullptr;
  if (driver.error_text(code, &text) != 0 || text == nullptr) text = "unknown";
  (void)fprintf(stderr, "intarsia: cuda: %s failed with error %d of the driver: %s\n", what, code,
                text);
  return INTARSIA_ERROR_DEVICE_FAULT;
}

// What the header says, checked against the bytes there are.
struct Stream {
  const uint8_t *bytes = nullptr;
  uint32_t words = 0, regions = 0, copies = 0, launches = 0;
  const char *program = nullptr;

  uint32_t word(uint32_t index) const {
    const uint8_t *at = bytes + 4 * static_cast<size_t>(index);
    return at[0] | static_cast<uint32_t>(at[1]) << 8 | static_cast<uint32_t>(at[2]) << 16 |
           static_cast<uint32_t>(at[3]) << 24;
  }
  bool open(const intarsia_stream &stream, uint32_t base_count) {
    bytes = stream.commands;
    words = stream.command_bytes / 4;
    if (words < kHeaderWords || word(kMagicWord) != kMagic || word(kVersionWord) != kVersion)
      return false;
    regions = word(kRegionCountWord);
    copies = kHeaderWords + regions;
    if (regions > kMaxRegions || regions > base_count || words < copies) return false;
    const uint32_t most = (words - copies) / kCopyWords, in = word(kCopyInCountWord);
    if (in > most || word(kCopyOutCountWord) > most - in) return false;
    launches = copies + kCopyWords * (in + word(kCopyOutCountWord));
    const uint32_t begin = word(kProgramWord), length = word(kProgramBytesWord);
    if (length == 0 || begin > stream.command_bytes || length > stream.command_bytes - begin)
      return false;
    program = reinterpret_cast<const char *>(bytes) + begin;
    const uint32_t threads = word(kThreadsWord), constants = word(kConstantsWord);
    if (program[length - 1] != '\0' || threads == 0 || threads > 1024) return false;
    return constants == kNoRegion ||
           (constants < regions && region_bytes(constants) <= stream.constant_bytes);
  }
  uint32_t region_bytes(uint32_t region) const { return word(kHeaderWords + region); }
  bool is_within(uint32_t region, uint32_t offset, uint32_t length) const {
    return region < regions && offset <= region_bytes(region) &&
           length <= region_bytes(region) - offset;
  }
};

class Run {
 public:
  Run(intarsia_cuda &cuda, const intarsia_stream &from, void *const *bases)
      : cuda_(cuda), from_(from), bases_(bases) {}

  intarsia_status run(uint32_t base_count) {
    if (!stream_.open(from_, base_count)) return INTARSIA_ERROR_DEVICE_MISMATCH;
    // The context belongs to a thread, and this may be another one than the last time.
    const int code = driver.context_set(cuda_.context);
    if (code != 0) return failed("cuCtxSetCurrent", code);
    intarsia_status status = find_program();
    if (status == INTARSIA_OK) status = find_memory();
    const uint32_t in = stream_.word(kCopyInCountWord), out = stream_.word(kCopyOutCountWord);
    if (status == INTARSIA_OK) status = copy(stream_.copies, in, true);
    uint32_t at = stream_.launches;
    const uint32_t count = stream_.word(kLaunchCountWord);
    for (uint32_t i = 0; i < count && status == INTARSIA_OK; ++i) status = launch(at);
    if (status == INTARSIA_OK) status = copy(stream_.copies + kCopyWords * in, out, false);
    if (status != INTARSIA_OK) return status;
    const int ended = driver.synchronize();
    return ended == 0 ? INTARSIA_OK : failed("a kernel", ended);
  }

 private:
  intarsia_status load(intarsia_cuda_program &slot) {
    slot = {};
    const bool is_source = stream_.word(kFormWord) == kSourceForm;
    char *ptx = is_source ? compile_to_ptx(stream_.program, stream_.word(kArchWord)) : nullptr;
    if (is_source && ptx == nullptr) return INTARSIA_ERROR_DEVICE_FAULT;
    int code = driver.module_load(&slot.module, is_source ? ptx : stream_.program);
    free(ptx);
    if (code != 0) return failed("cuModuleLoadData", code);
    const uint32_t constants = stream_.word(kConstantsWord);
    if (constants != kNoRegion && stream_.region_bytes(constants) != 0) {
      const size_t bytes = stream_.region_bytes(constants);
      code = driver.allocate(&slot.constants, bytes);
      if (code == 0) code = driver.copy_in(slot.constants, from_.constants, bytes);
      if (code != 0) {
        if (slot.constants != 0) (void)driver.release(slot.constants);
        (void)driver.module_unload(slot.module);
        return failed("copying constants", code);
      }
    }
    slot.commands = from_.commands;
    return INTARSIA_OK;
  }

  intarsia_status find_program() {
    for (uint32_t i = 0; i < cuda_.program_count; ++i)
      if (cuda_.programs[i].commands == from_.commands) program_ = &cuda_.programs[i];
    if (program_ != nullptr) return INTARSIA_OK;
    if (cuda_.program_count == INTARSIA_CUDA_MAX_PROGRAMS) return INTARSIA_ERROR_DEVICE_MEMORY;
    program_ = &cuda_.programs[cuda_.program_count];
    const intarsia_status status = load(*program_);
    if (status == INTARSIA_OK) ++cuda_.program_count;
    return status;
  }

  // Regions of activations keep their memory from run to run, and get more when a stream asks for it.
  intarsia_status find_memory() {
    for (uint32_t r = 0; r < stream_.regions; ++r) {
      if (r == stream_.word(kConstantsWord)) {
        addresses_[r] = program_->constants;
        continue;
      }
      intarsia_cuda_memory &memory = cuda_.memories[r];
      const uint32_t bytes = stream_.region_bytes(r);
      if (memory.bytes < bytes) {
        if (memory.bytes != 0) (void)driver.release(memory.address);
        memory = {};
        const int code = driver.allocate(&memory.address, bytes);
        if (code != 0) return failed("cuMemAlloc", code);
        memory.bytes = bytes;
      }
      addresses_[r] = memory.address;
    }
    return INTARSIA_OK;
  }

  intarsia_status copy(uint32_t at, uint32_t count, bool in) {
    for (uint32_t i = 0; i < count; ++i, at += kCopyWords) {
      const uint32_t region = stream_.word(at + kCopyRegionWord);
      const uint32_t offset = stream_.word(at + kCopyOffsetWord);
      const uint32_t bytes = stream_.word(at + kCopyBytesWord);
      if (!stream_.is_within(region, offset, bytes) || region == stream_.word(kConstantsWord))
        return INTARSIA_ERROR_DEVICE_MISMATCH;
      uint8_t *host = static_cast<uint8_t *>(bases_[region]) + offset;
      const uint64_t device = addresses_[region] + offset;
      const int code =
          in ? driver.copy_in(device, host, bytes) : driver.copy_out(host, device, bytes);
      if (code != 0) return failed(in ? "a copy to the GPU" : "a kernel, or the copy back", code);
    }
    return INTARSIA_OK;
  }

  // 0 where there are none, or more than a kernel numbers.
  uint64_t items_at(uint32_t at) const {
    uint64_t items = stream_.word(at + kItemsXWord);
    for (uint32_t next = kItemsYWord; next <= kItemsZWord; ++next) {
      items *= stream_.word(at + next);
      if (items > INT32_MAX) return 0;
    }
    return items;
  }

  // Launches of one context run one after another.
  intarsia_status launch(uint32_t &at) {
    if (stream_.words - at < kLaunchWords) return INTARSIA_ERROR_DEVICE_MISMATCH;
    const uint32_t count = stream_.word(at + kArgumentCountWord);
    const uint64_t items = items_at(at);
    const uint32_t threads = stream_.word(kThreadsWord);
    char name[16];
    (void)snprintf(name, sizeof name, "k%u", static_cast<unsigned>(stream_.word(at + kKernelWord)));
    at += kLaunchWords;
    if (count > kMaxArguments || count > (stream_.words - at) / 2 || items == 0)
      return INTARSIA_ERROR_DEVICE_MISMATCH;
    uint64_t arguments[kMaxArguments];
    void *pointers[kMaxArguments];
    for (uint32_t a = 0; a < count; ++a, at += 2) {
      const uint32_t region = stream_.word(at), offset = stream_.word(at + 1);
      if (!stream_.is_within(region, offset, 0)) return INTARSIA_ERROR_DEVICE_MISMATCH;
      arguments[a] = addresses_[region] + offset;
      pointers[a] = &arguments[a];
    }
    void *function = nullptr;
    int code = driver.module_function(&function, program_->module, name);
    if (code != 0) return failed("cuModuleGetFunction", code);
    const auto blocks = static_cast<unsigned>((items + threads - 1) / threads);
    code = driver.launch(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, pointers, nullptr);
    return code == 0 ? INTARSIA_OK : failed("cuLaunchKernel", code);
  }

  intarsia_cuda &cuda_;
  const intarsia_stream &from_;
  void *const *bases_;
  Stream stream_;
  intarsia_cuda_program *program_ = nullptr;
  uint64_t addresses_[kMaxRegions] = {};
};

intarsia_status run(intarsia_device *device, const intarsia_stream *stream, void *const *bases,
                    uint32_t base_count) {
  // `device` is the first member of the driver's state.
  auto &cuda = *reinterpret_cast<intarsia_cuda *>(device);
  return Run(cuda, *stream, bases).run(base_count);
}

intarsia_status absent(const char *what, int code) {
  (void)failed(what, code);
  (void)fprintf(stderr, "intarsia: cuda: no GPU answers the CUDA driver of this machine\n");
  return INTARSIA_ERROR_DEVICE_ABSENT;
}

}  // namespace
}  // namespace intarsia::targets::cuda

using namespace intarsia::targets::cuda;

intarsia_status intarsia_cuda_open(intarsia_cuda *cuda, void *) {
  if (cuda == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *cuda = {};
  cuda->device.run = run;
  if (!open_driver(driver)) return INTARSIA_ERROR_DEVICE_ABSENT;
  int code = driver.init(0);
  if (code != 0) return absent("cuInit", code);
  int count = 0;
  code = driver.device_count(&count);
  if (code != 0 || count == 0) return absent("cuDeviceGetCount", code);
  int ordinal = 0;
  code = driver.device_get(&ordinal, 0);
  if (code != 0) return absent("cuDeviceGet", code);
  code = driver.context_retain(&cuda->context, ordinal);
  if (code != 0) return absent("cuDevicePrimaryCtxRetain", code);
  cuda->ordinal = ordinal;
  return INTARSIA_OK;
}

void intarsia_cuda_close(intarsia_cuda *cuda) {
  (void)driver.context_set(cuda->context);
  for (uint32_t i = 0; i < cuda->program_count; ++i) {
    if (cuda->programs[i].constants != 0) (void)driver.release(cuda->programs[i].constants);
    (void)driver.module_unload(cuda->programs[i].module);
  }
  for (const intarsia_cuda_memory &memory : cuda->memories)
    if (memory.bytes != 0) (void)driver.release(memory.address);
  (void)driver.context_release(cuda->ordinal);
  *cuda = {};
}

#else  // Compiled for a system without shared libraries, as a microcontroller: there is no device.

intarsia_status intarsia_cuda_open(struct intarsia_cuda *cuda, void *) {
  if (cuda == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *cuda = {};
  return INTARSIA_ERROR_DEVICE_ABSENT;
}

void intarsia_cuda_close(struct intarsia_cuda *) {}

#endif
