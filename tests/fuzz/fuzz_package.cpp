// Packages: whatever the bytes, opening answers; what opens can be used without leaving its bytes,
// and flatbuffers' verifier accepts it too, but for a program. The first byte chooses how the rest is taken: as it is,
// as a payload that gets a matching header, or as edits of a valid package that gets a new
// checksum.
#include <cstdlib>

#include "aborting_checks.h"
#include "intarsia/contract/package.h"
#include "intarsia/core/flat_reader.h"
#include "intarsia/core/package_layout.h"
#include "package_writer/header.h"
#include "package_writer/package_writer.h"
#include "rt_core/sample_package.h"

using namespace intarsia;

namespace {

void seal(std::vector<uint8_t>& bytes) {
  const std::span<uint8_t> payload = std::span(bytes).subspan(package_writer::kHeaderBytes);
  package_writer::put_word(bytes, package_writer::kPayloadBytesAt,
                           static_cast<uint32_t>(payload.size()));
  package_writer::put_word(bytes, package_writer::kChecksumAt, package_writer::crc32(payload));
}

const std::vector<uint8_t>& valid_package() {
  static const std::vector<uint8_t> bytes =
      write_package("model", test::sample_streams(), {1, {64, 64, 64}, 16});
  return bytes;
}

std::vector<uint8_t> with_header(std::span<const uint8_t> payload) {
  std::vector<uint8_t> bytes(valid_package().begin(),
                             valid_package().begin() + package_writer::kHeaderBytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  seal(bytes);
  return bytes;
}

// Three bytes an edit: where, and what is added there.
std::vector<uint8_t> edited(std::span<const uint8_t> edits) {
  std::vector<uint8_t> bytes = valid_package();
  const size_t payload = bytes.size() - package_writer::kHeaderBytes;
  for (; edits.size() >= 3; edits = edits.subspan(3)) {
    const size_t at = (edits[0] | static_cast<size_t>(edits[1]) << 8) % payload;
    bytes[package_writer::kHeaderBytes + at] += edits[2];
  }
  seal(bytes);
  return bytes;
}

// The executor checks a program; who runs the functions alone does not look at it.
bool has_program(const uint8_t* package) {
  const rt::FlatReader payload(package + rt::kHeaderBytes);
  return payload.field(payload.follow(0), rt::kPackageProgram) != 0;
}

struct CheckingDevice {
  intarsia_device device = {run};
  const test::AlignedBytes* package;
  const uint8_t* block =
      nullptr;  // 64 bytes that regions begin in, or at their end; null: anywhere

  bool holds(const uint8_t* bytes, uint32_t count) const {
    return bytes == nullptr
               ? count == 0
               : bytes >= package->data() && bytes + count <= package->data() + package->size() &&
                     reinterpret_cast<uintptr_t>(bytes) % 16 == 0;
  }
  static intarsia_status run(intarsia_device* device, const intarsia_stream* stream,
                             void* const* bases, uint32_t count) {
    const auto* self = reinterpret_cast<CheckingDevice*>(device);
    if (count > INTARSIA_PACKAGE_MAX_REGIONS ||
        !self->holds(stream->commands, stream->command_bytes) ||
        !self->holds(stream->constants, stream->constant_bytes))
      std::abort();
    for (uint32_t i = 0; i < count; ++i) {
      const auto* base = static_cast<const uint8_t*>(bases[i]);
      if (self->block != nullptr && base != stream->constants &&
          (base < self->block || base > self->block + 64))
        std::abort();
    }
    return INTARSIA_OK;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  const std::vector<uint8_t> bytes = data[0] % 4 == 0
                                         ? std::vector<uint8_t>(rest.begin(), rest.end())
                                     : data[0] % 4 == 1 ? with_header(rest)
                                                        : edited(rest);
  const test::AlignedBytes memory(bytes);
  intarsia_package package;
  if (intarsia_package_open(&package, memory.data(), memory.size()) != INTARSIA_OK) return 0;
  if (!has_program(memory.data()) && !read_package(bytes, "fuzz").ok()) std::abort();

  const uint32_t blocks[] = {64, 64, 64};
  const intarsia_package_contract contract = {1, 3, blocks, 16};
  // What passes the check binds no region outside of the blocks.
  const bool bound = intarsia_package_check(&package, &contract) == INTARSIA_OK;
  CheckingDevice device{.package = &memory};
  uint8_t pool[64] = {};
  void* const pools[] = {pool, pool, pool};
  if (bound) device.block = pool;
  for (uint32_t i = 0; i < package.function_count; ++i)
    (void)intarsia_package_run(&package, i, pools, 3, &device.device);
  return 0;
}
