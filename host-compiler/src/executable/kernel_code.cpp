#include "executable/kernel_code.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "emission/c_constant.h"
#include "executable/free_numbers.h"
#include "intarsia/contract/version.h"
#include "intarsia/plugin/c_function.h"
#include "intarsia/plugin/tir_walk.h"
#include "support/sha256.h"

namespace intarsia::executable {
namespace {

// Stands for the id in the text that the id is of; as long as one, so that lines break alike.
constexpr std::string_view kNoId = "0000000000000000";
constexpr std::string_view kSymbolPrefix = "intarsia_kernel_";

struct PlaceOperands {
  std::string_view kernel;
  size_t first, count;
};
constexpr PlaceOperands kPlaceOperands[] = {
#define PLACES(kernel, first, count) {kernel, first, count},
#include "executable/place_operands.def"
#undef PLACES
};

// By buffer: its numbers are places in other buffers.
std::vector<bool> buffers_of_places(const tir::Func& func) {
  std::vector<bool> places(func.buffers.size());
  tir::for_each_statement(func.body, [&](const tir::Stmt& stmt) {
    const auto* intrinsic = std::get_if<tir::Intrinsic>(&stmt->node);
    if (intrinsic == nullptr) return;
    for (const PlaceOperands& operands : kPlaceOperands) {
      if (operands.kernel != intrinsic->name) continue;
      size_t index = 0;
      for (const auto& operand : intrinsic->operands)
        if (const auto* run = std::get_if<tir::BufferRun>(&operand); run != nullptr) {
          if (index >= operands.first && index < operands.first + operands.count)
            places[run->buffer.at()] = true;
          ++index;
        }
    }
  });
  return places;
}

tir::Buffer read_only(std::string name, DataType type, Shape extents, int32_t alignment) {
  tir::Buffer buffer;
  buffer.name = std::move(name);
  buffer.type = type;
  buffer.extents = std::move(extents);
  buffer.scope = tir::Scope::Parameter;
  buffer.alignment = alignment;
  return buffer;
}

// The function with its buffers in another order: parameters, what was a constant, numbers, the rest.
class Rewriting {
 public:
  Rewriting(const tir::Module& module, const tir::Func& func, const ConstantStructs& structs)
      : module_(module), from_(func), new_ids_(func.buffers.size()) {
    func_.parameters = func.parameters;
    func_.in_place = func.in_place;
    func_.overlaps = func.overlaps;
    func_.vars = func.vars;
    func_.name = kNoId;
    const std::vector<bool> places = buffers_of_places(func);
    for (size_t i = 0; i < func.parameters.size(); ++i) take(i, func.buffers[i]);
    for (size_t i = 0; i < func.buffers.size(); ++i) {
      const tir::Buffer& buffer = func.buffers[i];
      if (buffer.scope != tir::Scope::Constant || places[i]) continue;
      bound_.constants.push_back(buffer.constant);
      take(i, read_only(buffer.name, buffer.type, buffer.extents, buffer.alignment));
    }
    const tir::BufferId numbers = add(read_only("numbers", DataType::Int32, {1}, 4));
    const tir::BufferId reals = add(read_only("reals", DataType::Float32, {1}, 4));
    for (size_t i = 0; i < func.buffers.size(); ++i)
      if (!new_ids_[i].valid()) take(i, embedded(func.buffers[i]));
    FreedNumbers freed =
        free_numbers(tir::rename_buffers(func.body, new_ids_), structs, numbers, reals);
    func_.body = std::move(freed.body);
    bound_.numbers = std::move(freed.numbers);
    bound_.reals = std::move(freed.reals);
    // Where there are reals, numbers are there too, one at least.
    func_.buffers[numbers.at()].extents = {std::max<int64_t>(1, std::ssize(bound_.numbers))};
    func_.buffers[reals.at()].extents = {std::max<int64_t>(1, std::ssize(bound_.reals))};
    drop_unused(reals, bound_.reals.empty());
    drop_unused(numbers, bound_.numbers.empty());
    if (bound_.numbers.empty() && !bound_.reals.empty()) bound_.numbers = {0};
  }

  Result<BoundKernel> finish(const ConstantStructs& structs) {
    for (size_t i = 0; i < func_.parameters.size(); ++i) {
      const tir::Buffer& buffer = func_.buffers[i];
      const bool reads = func_.parameters[i].access == tir::Access::Read;
      bound_.code.operands.push_back(
          {fmt::format("{}{} *", reads ? "const " : "", c_name(buffer.type)), buffer.bytes(),
           !reads, buffer.alignment});
    }
    INTARSIA_TRY(const std::string text, c_text(structs));
    std::string identity = fmt::format("runtime {}\n{}", INTARSIA_RUNTIME_VERSION, text);
    for (const KernelOperand& operand : bound_.code.operands)
      identity += fmt::format("{}{} {} {}\n", operand.type, operand.bytes, operand.is_written,
                              operand.alignment);
    const std::string digest =
        sha256({reinterpret_cast<const uint8_t*>(identity.data()), identity.size()})
            .substr(0, kNoId.size());
    std::from_chars(digest.data(), digest.data() + digest.size(), bound_.code.id, 16);
    bound_.code.text = text;
    for (size_t at = 0; (at = bound_.code.text.find(kNoId, at)) != std::string::npos;)
      bound_.code.text.replace(at, kNoId.size(), digest);
    const size_t colon = from_.origin.find(": ");
    bound_.code.name = colon == std::string::npos ? from_.name : from_.origin.substr(colon + 2);
    return std::move(bound_);
  }

 private:
  tir::BufferId add(tir::Buffer buffer) {
    func_.buffers.push_back(std::move(buffer));
    const bool is_parameter = func_.buffers.back().scope == tir::Scope::Parameter;
    if (is_parameter && func_.parameters.size() < func_.buffers.size())
      func_.parameters.push_back({tir::Access::Read});
    return tir::BufferId{static_cast<int32_t>(func_.buffers.size() - 1)};
  }
  void take(size_t from, tir::Buffer buffer) { new_ids_[from] = add(std::move(buffer)); }

  // A constant of the function itself, where it is one.
  tir::Buffer embedded(tir::Buffer buffer) {
    if (buffer.scope != tir::Scope::Constant) return buffer;
    tir::Constant constant = module_.constant(buffer.constant);
    constant.name = fmt::format("{}_places{}", kNoId, embedded_.constants.size());
    embedded_.constants.push_back(std::move(constant));
    buffer.constant = ConstantId{static_cast<int32_t>(embedded_.constants.size() - 1)};
    return buffer;
  }

  // The last parameter, which nothing reads.
  void drop_unused(tir::BufferId id, bool unused) {
    if (!unused || id.at() + 1 != func_.parameters.size()) return;
    std::vector<tir::BufferId> ids(func_.buffers.size());
    for (size_t i = id.at() + 1; i < ids.size(); ++i) ids[i].index = static_cast<int32_t>(i) - 1;
    func_.buffers.erase(func_.buffers.begin() + static_cast<std::ptrdiff_t>(id.at()));
    func_.parameters.pop_back();
    func_.body = tir::rename_buffers(func_.body, ids);
  }

  Result<std::string> c_text(const ConstantStructs& structs) const {
    emission::CFunctionOptions options;
    options.symbol_prefix = kSymbolPrefix;
    options.structs = structs;
    std::string text;
    for (const tir::Constant& constant : embedded_.constants) {
      INTARSIA_TRY(const std::string array,
                   emission::emit_c_constant(constant, std::string(kSymbolPrefix),
                                             {.linkage = emission::CLinkage::Static}));
      text += array + "\n";
    }
    INTARSIA_TRY(const std::string function, emit_c_function(embedded_, func_, options));
    return text + function;
  }

  const tir::Module& module_;
  const tir::Func& from_;
  std::vector<tir::BufferId> new_ids_;
  tir::Module embedded_;  // constants that stay with the function
  tir::Func func_;
  BoundKernel bound_;
};

}  // namespace

std::string kernel_symbol(uint64_t id) {
  return fmt::format("{}{:016x}", kSymbolPrefix, id);
}

Result<BoundKernel> bound_kernel(const tir::Module& module, const tir::Func& func,
                                 const ConstantStructs& structs) {
  if (func.tiled)
    return Diagnostics(func.node.empty() ? func.name : func.node,
                       "runs by row tiles, which no package brings",
                       "compile without --ram-budget");
  const bool has_locals = std::ranges::any_of(
      func.buffers, [](const tir::Buffer& buffer) { return buffer.scope == tir::Scope::Local; });
  INTARSIA_CHECK(!has_locals, "scratch is a parameter of every function that a schedule calls");
  return Rewriting(module, func, structs).finish(structs);
}

}  // namespace intarsia::executable
