#include "intarsia/plugin/stream_places.h"

#include <algorithm>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/rounding.h"
#include "plan/lifetimes.h"

namespace intarsia {
namespace {

int64_t bytes_of(int64_t elements, DataType type) {
  return elements * bits(type) / 8;
}

}  // namespace

std::vector<tir::Stmt> statements_of(const tir::Stmt& body) {
  if (const auto* sequence = std::get_if<tir::Seq>(&body->node)) return sequence->statements;
  return {body};
}

std::vector<tir::BufferId> arguments_of(const tir::Module& module, const tir::Func& func) {
  for (tir::Call& call : plan::schedule_calls(module.entry_func()))
    if (call.function == func.name) return std::move(call.arguments);
  INTARSIA_CHECK(false, "a device's function is called by the schedule");
}

int64_t first_byte(const tir::Buffer& buffer, const tir::BufferRun& run) {
  int64_t element = 0;
  for (size_t axis = 0; axis < run.start.size(); ++axis) {
    const auto* index = std::get_if<tir::IntImm>(&run.start[axis]->node);
    INTARSIA_CHECK(index != nullptr, "commands address constant places");
    element = element * buffer.extents[axis] + index->value;
  }
  return bytes_of(element, buffer.type);
}

StreamPlaces::StreamPlaces(const tir::Module& module, const Plan& plan, const tir::Func& func,
                           size_t constant_alignment, std::vector<StreamRegion> regions)
    : module_(module),
      plan_(plan),
      func_(func),
      constant_alignment_(constant_alignment),
      arguments_(arguments_of(module, func)),
      regions_(std::move(regions)),
      extents_(regions_.size()) {}

StreamPlace StreamPlaces::of(tir::BufferId id) {
  const tir::Buffer& buffer = func_.buffer(id);
  if (buffer.scope == tir::Scope::Constant) return of_constant(buffer.constant);
  INTARSIA_CHECK(id.at() < arguments_.size(),
                 "lowering makes parameters of all buffers that need memory");
  const tir::Buffer& argument = module_.entry_func().buffer(arguments_[id.at()]);
  if (argument.scope == tir::Scope::Constant) return of_constant(argument.constant);
  const Placement* placement = plan_.find(arguments_[id.at()]);
  INTARSIA_CHECK(placement != nullptr, "every buffer of the schedule is planned");
  return {region({StreamRegion::Kind::Pool, placement->pool}), placement->offset};
}

StreamPlace StreamPlaces::of(const tir::BufferRun& run) {
  const tir::Buffer& buffer = func_.buffer(run.buffer);
  StreamPlace place = of(run.buffer);
  place.offset += first_byte(buffer, run);
  int64_t& extent = extents_.at(static_cast<size_t>(place.region));
  extent = std::max(extent, place.offset + bytes_of(run.count, buffer.type));
  return place;
}

// What the constants take that the function may ask for: all weights, which would be written again wherever they grow.
size_t StreamPlaces::all_constants() const {
  size_t bytes = 0;
  const auto add = [&](const tir::Buffer& buffer) {
    if (buffer.scope == tir::Scope::Constant)
      bytes += round_up(module_.constant(buffer.constant).bytes.size(), constant_alignment_);
  };
  for (const tir::Buffer& buffer : func_.buffers) add(buffer);
  for (const tir::BufferId id : arguments_) add(module_.entry_func().buffer(id));
  return bytes;
}

StreamPlace StreamPlaces::of_constant(ConstantId id) {
  const auto [known, fresh] =
      constant_offsets_.try_emplace(id.index, static_cast<int64_t>(constants_.size()));
  if (fresh) {
    if (constants_.empty()) constants_.reserve(all_constants());
    const std::vector<uint8_t>& bytes = module_.constant(id).bytes;
    constants_.insert(constants_.end(), bytes.begin(), bytes.end());
    constants_.resize(round_up(constants_.size(), constant_alignment_));
  }
  return {region({StreamRegion::Kind::Constants, 0}), known->second};
}

int32_t StreamPlaces::region(const StreamRegion& wanted) {
  const auto found = std::find(regions_.begin(), regions_.end(), wanted);
  const auto index = static_cast<int32_t>(found - regions_.begin());
  if (found == regions_.end()) {
    regions_.push_back(wanted);
    extents_.push_back(0);
  }
  return index;
}

}  // namespace intarsia
