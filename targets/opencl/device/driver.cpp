#include "intarsia/targets/opencl/driver.h"

#if __has_include(<CL/cl.h>)

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

namespace intarsia::targets::opencl {
namespace {

#define CONSTANT(name, value) constexpr uint32_t k##name = value;
#include "intarsia/targets/opencl/stream.def"
#undef CONSTANT

uint32_t word(const uint8_t *bytes, uint32_t index) {
  const uint8_t *at = bytes + 4 * static_cast<size_t>(index);
  return at[0] | static_cast<uint32_t>(at[1]) << 8 | static_cast<uint32_t>(at[2]) << 16 |
         static_cast<uint32_t>(at[3]) << 24;
}

intarsia_status failed(const char *what, cl_int code) {
  (void)fprintf(stderr, "intarsia: opencl: %s failed with OpenCL error %d\n", what,
                static_cast<int>(code));
  return INTARSIA_ERROR_DEVICE_FAULT;
}

// What the header says, checked against the bytes there are.
struct Stream {
  const uint8_t *bytes = nullptr;
  uint32_t words = 0, regions = 0, launches = 0;
  const char *source = nullptr;
  size_t source_length = 0;

  bool open(const intarsia_stream &stream, uint32_t base_count) {
    bytes = stream.commands;
    words = stream.command_bytes / 4;
    if (words < kHeaderWords || word(bytes, kMagicWord) != kMagic ||
        word(bytes, kVersionWord) != kVersion)
      return false;
    regions = word(bytes, kRegionCountWord);
    launches = word(bytes, kLaunchCountWord);
    const uint32_t begin = word(bytes, kSourceWord), length = word(bytes, kSourceBytesWord);
    if (regions > kMaxRegions || regions > base_count || words < kHeaderWords + regions)
      return false;
    if (length == 0 || begin > stream.command_bytes || length > stream.command_bytes - begin)
      return false;
    source = reinterpret_cast<const char *>(bytes) + begin;
    source_length = length - 1;
    return true;
  }
  uint32_t region_bytes(uint32_t region) const { return word(bytes, kHeaderWords + region); }
};

class Run {
 public:
  Run(intarsia_opencl &opencl, const intarsia_stream &stream, void *const *bases)
      : opencl_(opencl),
        from_(stream),
        bases_(bases),
        context_(static_cast<cl_context>(opencl.context)),
        queue_(static_cast<cl_command_queue>(opencl.queue)) {}
  ~Run() {
    for (uint32_t r = 0; r < stream_.regions; ++r)
      if (memory_[r] != nullptr && memory_[r] != program_->constants)
        (void)clReleaseMemObject(memory_[r]);
  }

  intarsia_status run(uint32_t base_count) {
    if (!stream_.open(from_, base_count)) return INTARSIA_ERROR_DEVICE_MISMATCH;
    intarsia_status status = find_program();
    if (status == INTARSIA_OK) status = share_memory();
    uint32_t at = kHeaderWords + stream_.regions;
    for (uint32_t i = 0; i < stream_.launches && status == INTARSIA_OK; ++i) status = launch(at);
    return status == INTARSIA_OK ? give_back() : status;
  }

 private:
  intarsia_status build(intarsia_opencl_program &slot) {
    cl_int code = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithSource(context_, 1, &stream_.source, &stream_.source_length, &code);
    if (code != CL_SUCCESS) return failed("clCreateProgramWithSource", code);
    cl_device_id device = static_cast<cl_device_id>(opencl_.cl_device);
    code = clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    if (code != CL_SUCCESS) {
      char log[2048] = "";
      (void)clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log,
                                  nullptr);
      (void)fprintf(stderr, "intarsia: opencl: the device's compiler says:\n%s\n", log);
      (void)clReleaseProgram(program);
      return failed("clBuildProgram", code);
    }
    slot = {from_.commands, program, nullptr};
    return INTARSIA_OK;
  }

  intarsia_status find_program() {
    for (uint32_t i = 0; i < opencl_.program_count; ++i)
      if (opencl_.programs[i].commands == from_.commands) program_ = &opencl_.programs[i];
    if (program_ != nullptr) return INTARSIA_OK;
    if (opencl_.program_count == INTARSIA_OPENCL_MAX_PROGRAMS) return INTARSIA_ERROR_DEVICE_MEMORY;
    program_ = &opencl_.programs[opencl_.program_count];
    const intarsia_status status = build(*program_);
    if (status == INTARSIA_OK) ++opencl_.program_count;
    return status;
  }

  // The host's memory as memory objects: a device that shares it copies nothing.
  intarsia_status share_memory() {
    for (uint32_t r = 0; r < stream_.regions; ++r) {
      const bool constants = bases_[r] == from_.constants;
      if (constants && program_->constants != nullptr) {
        memory_[r] = static_cast<cl_mem>(program_->constants);
        continue;
      }
      if (constants && stream_.region_bytes(r) > from_.constant_bytes)
        return INTARSIA_ERROR_DEVICE_MISMATCH;
      cl_int code = CL_SUCCESS;
      const cl_mem_flags access = constants ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
      memory_[r] = clCreateBuffer(context_, access | CL_MEM_USE_HOST_PTR, stream_.region_bytes(r),
                                  bases_[r], &code);
      if (code != CL_SUCCESS) return failed("clCreateBuffer", code);
      if (constants) program_->constants = memory_[r];
    }
    return INTARSIA_OK;
  }

  intarsia_status launch(uint32_t &at) {
    if (stream_.words - at < kLaunchWords) return INTARSIA_ERROR_DEVICE_MISMATCH;
    const uint8_t *bytes = stream_.bytes;
    char name[16];
    (void)snprintf(name, sizeof name, "k%u", static_cast<unsigned>(word(bytes, at + kKernelWord)));
    const size_t global[3] = {word(bytes, at + kGlobalXWord), word(bytes, at + kGlobalYWord),
                              word(bytes, at + kGlobalZWord)};
    const uint32_t arguments = word(bytes, at + kArgumentCountWord);
    at += kLaunchWords;
    if (arguments > (stream_.words - at) / 2) return INTARSIA_ERROR_DEVICE_MISMATCH;
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(static_cast<cl_program>(program_->program), name, &code);
    if (code != CL_SUCCESS) return failed("clCreateKernel", code);
    for (uint32_t a = 0; a < arguments && code == CL_SUCCESS; ++a, at += 2) {
      const uint32_t region = word(bytes, at);
      const cl_ulong offset = word(bytes, at + 1);
      if (region >= stream_.regions || offset > stream_.region_bytes(region)) {
        (void)clReleaseKernel(kernel);
        return INTARSIA_ERROR_DEVICE_MISMATCH;
      }
      code = clSetKernelArg(kernel, 2 * a, sizeof(cl_mem), &memory_[region]);
      if (code == CL_SUCCESS) code = clSetKernelArg(kernel, 2 * a + 1, sizeof offset, &offset);
    }
    if (code == CL_SUCCESS)
      code =
          clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global, nullptr, 0, nullptr, nullptr);
    (void)clReleaseKernel(kernel);
    return code == CL_SUCCESS ? INTARSIA_OK : failed("a kernel's launch", code);
  }

  // Mapping is what makes the results readable in the host's memory.
  intarsia_status give_back() {
    for (uint32_t r = 0; r < stream_.regions; ++r) {
      if (memory_[r] == program_->constants) continue;
      cl_int code = CL_SUCCESS;
      void *mapped = clEnqueueMapBuffer(queue_, memory_[r], CL_TRUE, CL_MAP_READ, 0,
                                        stream_.region_bytes(r), 0, nullptr, nullptr, &code);
      if (code != CL_SUCCESS) return failed("clEnqueueMapBuffer", code);
      code = clEnqueueUnmapMemObject(queue_, memory_[r], mapped, 0, nullptr, nullptr);
      if (code != CL_SUCCESS) return failed("clEnqueueUnmapMemObject", code);
    }
    const cl_int code = clFinish(queue_);
    return code == CL_SUCCESS ? INTARSIA_OK : failed("clFinish", code);
  }

  intarsia_opencl &opencl_;
  const intarsia_stream &from_;
  void *const *bases_;
  cl_context context_;
  cl_command_queue queue_;
  Stream stream_;
  intarsia_opencl_program *program_ = nullptr;
  cl_mem memory_[kMaxRegions] = {};
};

intarsia_status run(intarsia_device *device, const intarsia_stream *stream, void *const *bases,
                    uint32_t base_count) {
  // `device` is the first member of the driver's state.
  auto &opencl = *reinterpret_cast<intarsia_opencl *>(device);
  return Run(opencl, *stream, bases).run(base_count);
}

intarsia_status absent(const char *what, cl_int code) {
  (void)fprintf(
      stderr,
      "intarsia: opencl: %s (OpenCL error %d); install a driver for a device of this machine, "
      "for its processors pocl-opencl-icd\n",
      what, static_cast<int>(code));
  return INTARSIA_ERROR_DEVICE_ABSENT;
}

cl_device_id first_device(cl_int &code) {
  constexpr cl_uint kMaxPlatforms = 16;
  cl_platform_id platforms[kMaxPlatforms];
  cl_uint count = 0;
  code = clGetPlatformIDs(kMaxPlatforms, platforms, &count);
  for (cl_uint i = 0; code == CL_SUCCESS && i < count && i < kMaxPlatforms; ++i) {
    cl_device_id device = nullptr;
    cl_uint devices = 0;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, &devices) == CL_SUCCESS &&
        devices > 0)
      return device;
  }
  return nullptr;
}

}  // namespace
}  // namespace intarsia::targets::opencl

using namespace intarsia::targets::opencl;

intarsia_status intarsia_opencl_open(intarsia_opencl *opencl, void *) {
  if (opencl == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *opencl = {};
  opencl->device.run = run;
  cl_int code = CL_SUCCESS;
  cl_device_id device = first_device(code);
  if (device == nullptr) return absent("no platform has a device", code);
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return absent("the device gives no context", code);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  if (code != CL_SUCCESS) {
    (void)clReleaseContext(context);
    return absent("the device gives no queue", code);
  }
  opencl->cl_device = device;
  opencl->context = context;
  opencl->queue = queue;
  return INTARSIA_OK;
}

void intarsia_opencl_close(intarsia_opencl *opencl) {
  for (uint32_t i = 0; i < opencl->program_count; ++i) {
    if (opencl->programs[i].constants != nullptr)
      (void)clReleaseMemObject(static_cast<cl_mem>(opencl->programs[i].constants));
    (void)clReleaseProgram(static_cast<cl_program>(opencl->programs[i].program));
  }
  (void)clReleaseCommandQueue(static_cast<cl_command_queue>(opencl->queue));
  (void)clReleaseContext(static_cast<cl_context>(opencl->context));
  *opencl = {};
}

#else  // Compiled without the headers of OpenCL, as for a microcontroller: there is no device.

intarsia_status intarsia_opencl_open(struct intarsia_opencl *opencl, void *) {
  if (opencl == nullptr) return INTARSIA_ERROR_NULL_ARGUMENT;
  *opencl = {};
  return INTARSIA_ERROR_DEVICE_ABSENT;
}

void intarsia_opencl_close(struct intarsia_opencl *) {}

#endif
