#include "packaging/stream_package.h"

#include <utility>

#include "emission/package_contract.h"
#include "package_writer/package_writer.h"
#include "packaging/stream_memory.h"

namespace intarsia::packaging {

std::vector<uint8_t> stream_package(const CompiledProgram& program) {
  const EmittedModel& model = program.emitted;
  emission::PackageNeeds needs = emission::package_needs(program.lowered, program.plan, model);
  return write_package(
      model.name, model.streams,
      {needs.model_id, std::move(needs.pool_bytes), needs.alignment, stream_memories(program)});
}

}  // namespace intarsia::packaging
