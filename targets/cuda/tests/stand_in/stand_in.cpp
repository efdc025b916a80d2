// A stand-in for libcuda and NVRTC, one shared library: what is given as CUDA C is compiled for this machine, by its C++
// compiler, and run. The GPU's memory is apart from the host's, holds garbage at first, and ends at pages that nobody may
// touch. Every argument is checked against what the CUDA documentation asks for: handles, the current context, allocations.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "stand_in.h"

namespace {

// Of the driver, as documented.
enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500
};
// Of the compiler.
enum : int { kCompileInvalidInput = 3, kCompileInvalidProgram = 4, kCompileFailed = 6 };

constexpr size_t kPage = 4096, kAlignment = 256;
constexpr uint8_t kGarbage = 0xC7;
constexpr const char* kMark = "// PTX of the stand-in: ";

struct Module;
struct Function {
  Module* module = nullptr;
  void (*run)(void** parameters, unsigned blocks, unsigned threads) = nullptr;
  int parameters = 0;
};
struct Module {
  void* library = nullptr;
  std::map<std::string, Function> functions;
};
struct Allocation {
  uint8_t* pages = nullptr;
  size_t mapped = 0, bytes = 0;
};
struct Program {
  std::string source, log, library;
};

struct State {
  bool initialised = false;
  int contexts = 0;  // retained and not released
  bool is_current = false;
  std::set<std::unique_ptr<Module>> modules;
  std::set<std::unique_ptr<Program>> programs;
  std::map<uint64_t, Allocation> allocations;
  intarsia_stand_in_counts counts = {};
};

State& state() {
  static State all;
  return all;
}
char context_handle;  // its address is the context

int refuse(int code, const char* what) {
  std::fprintf(stderr, "stand-in: %s\n", what);
  ++state().counts.refused;
  return code;
}

int ready() {
  if (!state().initialised) return refuse(kNotInitialized, "cuInit was not called");
  if (state().contexts == 0 || !state().is_current)
    return refuse(kInvalidContext, "there is no current context");
  return kSuccess;
}

// Whether all the bytes are of one allocation.
bool is_allocated(uint64_t address, size_t bytes) {
  auto at = state().allocations.upper_bound(address);
  if (at == state().allocations.begin()) return false;
  --at;
  return address + bytes <= at->first + at->second.bytes;
}

template <typename Thing>
Thing* find(const std::set<std::unique_ptr<Thing>>& things, const void* handle) {
  for (const auto& thing : things)
    if (thing.get() == handle) return thing.get();
  return nullptr;
}

// For each kernel of the source how many arguments it has, and a function that runs it over a grid.
std::string launchers(const std::string& source) {
  static const std::regex kernel(R"re(extern "C" __global__\s+void\s+(k\d+)\(([^)]*)\))re");
  std::string text;
  for (std::sregex_iterator at(source.begin(), source.end(), kernel), end; at != end; ++at) {
    const std::string name = (*at)[1], parameters = (*at)[2];
    int count = 0;
    std::string arguments;
    for (size_t star = parameters.find('*'); star != std::string::npos;
         star = parameters.find('*', star + 1), ++count)
      arguments += (count == 0 ? "" : ", ") + std::string("*static_cast<uint8_t **>(p[") +
                   std::to_string(count) + "])";
    text += "extern \"C\" const int parameters_" + name + " = " + std::to_string(count) +
            ";\nextern \"C\" void run_" + name +
            "(void **p, unsigned blocks, unsigned threads) {\n  run_grid(blocks, threads, [&] { " +
            name + "(" + arguments + "); });\n}\n";
  }
  return text;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

extern "C" {

intarsia_stand_in_counts intarsia_stand_in_count() {
  intarsia_stand_in_counts counts = state().counts;
  counts.allocations = static_cast<int>(state().allocations.size());
  counts.modules = static_cast<int>(state().modules.size());
  counts.programs = static_cast<int>(state().programs.size());
  counts.contexts = state().contexts;
  return counts;
}

int cuInit(unsigned flags) {
  if (flags != 0) return refuse(kInvalidValue, "cuInit has no flags");
  state().initialised = true;
  return kSuccess;
}

int cuDeviceGetCount(int* count) {
  if (!state().initialised) return refuse(kNotInitialized, "cuInit was not called");
  *count = std::getenv("INTARSIA_STAND_IN_WITHOUT_GPU") != nullptr ? 0 : 1;
  return kSuccess;
}

int cuDeviceGet(int* device, int ordinal) {
  if (ordinal != 0) return refuse(kInvalidDevice, "there is one device");
  *device = 0;
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (!state().initialised) return refuse(kNotInitialized, "cuInit was not called");
  if (device != 0) return refuse(kInvalidDevice, "there is one device");
  ++state().contexts;
  *context = &context_handle;
  return kSuccess;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  if (device != 0 || state().contexts == 0)
    return refuse(kInvalidContext, "the context was not retained");
  --state().contexts;
  return kSuccess;
}

int cuCtxSetCurrent(void* context) {
  if (context != &context_handle) return refuse(kInvalidContext, "no context of ours");
  state().is_current = true;
  return kSuccess;
}

int cuCtxSynchronize() {
  return ready();
}

int cuGetErrorString(int error, const char** text) {
  *text = error == kNoDevice ? "no CUDA-capable device is detected" : "an error of the stand-in";
  return kSuccess;
}

int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (const int code = ready()) return code;
  if (bytes == 0) return refuse(kInvalidValue, "an allocation of no bytes");
  Allocation made;
  made.bytes = bytes;
  const size_t used = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t pages = (used + kPage - 1) / kPage * kPage;
  made.mapped = pages + kPage;
  void* memory =
      mmap(nullptr, made.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return kOutOfMemory;
  made.pages = static_cast<uint8_t*>(memory);
  std::memset(made.pages, kGarbage, pages);
  mprotect(made.pages + pages, kPage, PROT_NONE);
  *address = reinterpret_cast<uint64_t>(made.pages + pages - used);
  state().allocations[*address] = made;
  return kSuccess;
}

int cuMemFree_v2(uint64_t address) {
  if (const int code = ready()) return code;
  const auto found = state().allocations.find(address);
  if (found == state().allocations.end())
    return refuse(kInvalidValue, "what is freed was not allocated");
  const Allocation& of = found->second;
  const uint8_t* end = of.pages + of.mapped - kPage;
  for (const uint8_t* at = reinterpret_cast<const uint8_t*>(address) + of.bytes; at < end; ++at)
    if (*at != kGarbage) {
      refuse(kInvalidValue, "bytes behind an allocation were written");
      break;
    }
  munmap(of.pages, of.mapped);
  state().allocations.erase(found);
  return kSuccess;
}

int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  if (const int code = ready()) return code;
  if (!is_allocated(to, bytes)) return refuse(kInvalidValue, "a copy leaves its allocation");
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  state().counts.bytes_in += static_cast<long long>(bytes);
  return kSuccess;
}

int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  if (const int code = ready()) return code;
  if (!is_allocated(from, bytes)) return refuse(kInvalidValue, "a copy leaves its allocation");
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  state().counts.bytes_out += static_cast<long long>(bytes);
  return kSuccess;
}

int cuModuleLoadData(void** module, const void* image) {
  if (const int code = ready()) return code;
  const std::string text = static_cast<const char*>(image);
  if (text.rfind(kMark, 0) != 0)
    return refuse(kInvalidImage, "the image is not what the stand-in's compiler made");
  auto loaded = std::make_unique<Module>();
  const std::string path = text.substr(std::strlen(kMark));
  loaded->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  unlink(path.c_str());  // it stays open
  rmdir(path.substr(0, path.rfind('/')).c_str());
  if (loaded->library == nullptr) return refuse(kInvalidImage, dlerror());
  *module = loaded.get();
  state().modules.insert(std::move(loaded));
  return kSuccess;
}

int cuModuleUnload(void* module) {
  if (const int code = ready()) return code;
  for (auto at = state().modules.begin(); at != state().modules.end(); ++at)
    if (at->get() == module) {
      dlclose((*at)->library);
      state().modules.erase(at);
      return kSuccess;
    }
  return refuse(kInvalidHandle, "what is unloaded is no module");
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (const int code = ready()) return code;
  Module* of = find(state().modules, module);
  if (of == nullptr) return refuse(kInvalidHandle, "a function of what is no module");
  Function& made = of->functions[name];
  void* run = dlsym(of->library, (std::string("run_") + name).c_str());
  void* count = dlsym(of->library, (std::string("parameters_") + name).c_str());
  if (run == nullptr || count == nullptr) return refuse(kNotFound, name);
  made.module = of;
  std::memcpy(&made.run, &run, sizeof run);
  made.parameters = *static_cast<const int*>(count);
  *function = &made;
  return kSuccess;
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void* stream, void** parameters, void** extra) {
  if (const int code = ready()) return code;
  const Function* known = nullptr;
  for (const auto& module : state().modules)
    for (const auto& [name, each] : module->functions)
      if (&each == function) known = &each;
  if (known == nullptr) return refuse(kInvalidHandle, "a launch of what is no function");
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x > 1024 ||
      block_x % 32 != 0 || block_y != 1 || block_z != 1)
    return refuse(kInvalidValue, "a grid that no GPU has");
  if (shared_bytes != 0 || stream != nullptr || extra != nullptr)
    return refuse(kInvalidValue, "kernels take neither shared memory nor streams");
  for (int i = 0; i < known->parameters; ++i)
    if (!is_allocated(*static_cast<uint64_t*>(parameters[i]), 1))
      return refuse(kInvalidValue, "an argument is no memory of the GPU");
  known->run(parameters, grid_x, block_x);
  ++state().counts.launches;
  return kSuccess;
}

int nvrtcCreateProgram(void** program, const char* source, const char* name, int header_count,
                       const char* const*, const char* const*) {
  if (source == nullptr || name == nullptr || header_count != 0)
    return refuse(kCompileInvalidInput, "a program is a source without headers");
  auto made = std::make_unique<Program>();
  made->source = source;
  *program = made.get();
  state().programs.insert(std::move(made));
  return kSuccess;
}

int nvrtcCompileProgram(void* program, int option_count, const char* const* options) {
  Program* of = find(state().programs, program);
  if (of == nullptr) return refuse(kCompileInvalidProgram, "what is compiled is no program");
  bool names_arch = false, is_unfused = false;
  for (int i = 0; i < option_count; ++i) {
    names_arch |= std::regex_match(options[i], std::regex("--gpu-architecture=compute_[0-9]{2,3}"));
    is_unfused |= options[i] == std::string("--fmad=false");
  }
  if (!names_arch || !is_unfused || option_count != 2)
    return refuse(kCompileInvalidInput, "the options are not those of our kernels");
  char folder[] = "/tmp/intarsia-stand-in-XXXXXX";
  if (mkdtemp(folder) == nullptr) return kCompileFailed;
  const std::string base = folder, source = base + "/kernels.cpp", log = base + "/log";
  of->library = base + "/kernels.so";
  std::ofstream(source) << "#include \"" INTARSIA_HOST_KERNELS "\"\n"
                        << of->source << launchers(of->source);
  const std::string command =
      std::string(INTARSIA_CXX) +
      " -std=c++17 -O1 -fwrapv -shared -fPIC -Wall -Werror -Wno-unused-function -o " + of->library +
      " " + source + " > " + log + " 2>&1";
  const int ended = std::system(command.c_str());
  of->log = read_file(log);
  unlink(source.c_str());
  unlink(log.c_str());
  if (ended == 0) return kSuccess;
  rmdir(folder);
  return refuse(kCompileFailed, "the source does not compile");
}

int nvrtcGetProgramLogSize(void* program, size_t* bytes) {
  const Program* of = find(state().programs, program);
  if (of == nullptr) return refuse(kCompileInvalidProgram, "a log of what is no program");
  *bytes = of->log.size() + 1;
  return kSuccess;
}

int nvrtcGetProgramLog(void* program, char* log) {
  const Program* of = find(state().programs, program);
  if (of == nullptr) return refuse(kCompileInvalidProgram, "a log of what is no program");
  std::memcpy(log, of->log.c_str(), of->log.size() + 1);
  return kSuccess;
}

int nvrtcGetPTXSize(void* program, size_t* bytes) {
  const Program* of = find(state().programs, program);
  if (of == nullptr) return refuse(kCompileInvalidProgram, "PTX of what is no program");
  *bytes = std::strlen(kMark) + of->library.size() + 1;
  return kSuccess;
}

int nvrtcGetPTX(void* program, char* ptx) {
  const Program* of = find(state().programs, program);
  if (of == nullptr) return refuse(kCompileInvalidProgram, "PTX of what is no program");
  std::strcpy(ptx, (kMark + of->library).c_str());
  return kSuccess;
}

int nvrtcDestroyProgram(void** program) {
  for (auto at = state().programs.begin(); at != state().programs.end(); ++at)
    if (at->get() == *program) {
      state().programs.erase(at);
      *program = nullptr;
      return kSuccess;
    }
  return refuse(kCompileInvalidProgram, "what is destroyed is no program");
}

}  // extern "C"
