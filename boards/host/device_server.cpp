// The other program's side of intarsia/contract/remote_device.h, for Linux.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "intarsia/contract/remote_device.h"

namespace {

constexpr int kUsage = 2, kFailure = 70;
volatile pid_t emulator = -1;

int complain(const char* what) {
  std::fprintf(stderr, "device server: %s: %s\n", what, std::strerror(errno));
  return kFailure;
}

// A simulated device followed a pointer to where the firmware's shared memory is not.
void report_wild_access(int) {
  constexpr char text[] = "device server: the device accessed memory that is not shared with it\n";
  const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written;
  if (emulator > 0) kill(emulator, SIGKILL);
  _exit(kFailure);
}

// Maps the file where the firmware sees it. Null when that cannot be.
void* map_memory(const char* path, uint64_t base, uint64_t bytes) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  void* wanted = reinterpret_cast<void*>(static_cast<uintptr_t>(base));
  void* mapped =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
  close(file);
  return mapped == MAP_FAILED || mapped != wanted ? nullptr : mapped;
}

// True when there was something to answer.
bool serve(intarsia_remote_device& mail, const intarsia_register_bus& device) {
  const uint32_t request = __atomic_load_n(&mail.request, __ATOMIC_ACQUIRE);
  if (request == mail.answer) return false;
  if (mail.operation == INTARSIA_REMOTE_WRITE)
    device.write(device.context, mail.offset, mail.value);
  else
    mail.value = device.read(device.context, mail.offset);
  __atomic_store_n(&mail.answer, request, __ATOMIC_RELEASE);
  return true;
}

int exit_status(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::fprintf(stderr, "device server: the emulator was ended by signal %d\n", WTERMSIG(status));
  return kFailure;
}

}  // namespace

int intarsia_serve_devices(int argc, char** argv, const intarsia_register_bus* devices, int count) {
  if (argc < 7 || std::strcmp(argv[5], "--") != 0) {
    std::fprintf(stderr, "usage: %s FILE BASE SIZE WINDOW -- EMULATOR ARGUMENTS..\n", argv[0]);
    return kUsage;
  }
  const uint64_t base = std::strtoull(argv[2], nullptr, 0),
                 bytes = std::strtoull(argv[3], nullptr, 0);
  const uint64_t window = std::strtoull(argv[4], nullptr, 0);
  if (map_memory(argv[1], base, bytes) == nullptr)
    return complain("the shared memory cannot be mapped");
  auto* mail = reinterpret_cast<intarsia_remote_device*>(static_cast<uintptr_t>(window));
  for (int i = 0; i < count; ++i) {
    if (devices[i].read == nullptr) continue;
    mail[i] = {};
    mail[i].ready = INTARSIA_REMOTE_READY;
  }
  std::signal(SIGSEGV, report_wild_access);
  std::signal(SIGBUS, report_wild_access);
  emulator = fork();
  if (emulator < 0) return complain("the emulator cannot be started");
  if (emulator == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argv[6], argv + 6);
    std::fprintf(stderr, "device server: %s: %s\n", argv[6], std::strerror(errno));
    _exit(127);
  }

  // Busy for a while after each access, since they come in rows; then resting a little between looks.
  constexpr int kBusyLooks = 2000;
  for (int idle = 0;; ++idle) {
    for (int i = 0; i < count; ++i)
      if (serve(mail[i], devices[i])) idle = 0;
    if (idle < kBusyLooks) continue;
    int status = 0;
    if (waitpid(emulator, &status, WNOHANG) == emulator) return exit_status(status);
    const timespec rest = {0, 50'000};
    nanosleep(&rest, nullptr);
  }
}
