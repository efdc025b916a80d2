#include "lowering/merge.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "intarsia/plugin/check.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::lowering {

std::string Merger::unique(const std::string& hint) {
  return names_.take(hint);
}

size_t Merger::index_of(const std::string& function) const {
  const auto found = functions_.find(function);
  INTARSIA_CHECK(found != functions_.end(), "a call's function is in the merged module");
  return found->second;
}

ConstantId Merger::add_constant(const tir::Constant& constant) {
  const std::string_view bytes(reinterpret_cast<const char*>(constant.bytes.data()),
                               constant.bytes.size());
  const std::pair key{bytes.size(), std::hash<std::string_view>{}(bytes)};
  const auto [first, last] = constants_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    tir::Constant known = module_.constant(it->second);
    known.name = constant.name;
    if (known == constant) return it->second;
  }
  const ConstantId id{static_cast<int32_t>(module_.constants.size())};
  module_.constants.push_back(constant);
  module_.constants.back().name = unique(constant.name);
  constants_.emplace(key, id);
  return id;
}

std::string Merger::add(const tir::Module& part, const std::string& entry, const Owner& owner) {
  std::vector<ConstantId> constants;
  for (const tir::Constant& constant : part.constants) constants.push_back(add_constant(constant));

  std::map<std::string, std::string> renamed;
  for (const tir::Func& func : part.funcs) renamed[func.name] = unique(func.name);

  for (const tir::Func& original : part.funcs) {
    tir::Func func = original;
    func.name = renamed.at(func.name);
    func.target = owner.device;
    func.stepwise |= owner.is_accelerator && tir::is_intrinsics_only(func);
    for (tir::Buffer& buffer : func.buffers)
      for (ConstantId* id : {&buffer.constant, &buffer.initial_values})
        if (id->valid()) *id = constants.at(id->at());
    func.body = tir::rewrite_statements(func.body, [&](const tir::Stmt& stmt) -> tir::Stmt {
      const auto* call = std::get_if<tir::Call>(&stmt->node);
      if (call == nullptr) return stmt;
      return std::make_shared<tir::StmtNode>(tir::StmtNode{
          tir::Call{renamed.at(call->function), call->arguments, call->offsets}, stmt->comment});
    });
    functions_.emplace(func.name, module_.funcs.size());
    module_.funcs.push_back(std::move(func));
  }
  return renamed.at(entry);
}

}  // namespace intarsia::lowering
