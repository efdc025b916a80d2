#include <fmt/format.h>

#include "intarsia/plugin/tir_walk.h"
#include "support/text_reader.h"
#include "tir/text_words.h"

namespace intarsia::tir {

namespace {

class Printer {
 public:
  Printer(const Func& func, const Module* module) : func_(func), module_(module) {}

  std::string print() {
    std::vector<std::string> parameters;
    for (size_t i = 0; i < func_.parameters.size(); ++i)
      parameters.push_back(fmt::format("{} {}{}", declared(func_.buffers[i]),
                                       kAccessText[static_cast<size_t>(func_.parameters[i].access)],
                                       place_hints(func_.buffers[i])));
    line(fmt::format("func @{}({}){} {{", func_.name, fmt::join(parameters, ", "), attributes()));
    ++depth_;
    for (size_t i = func_.parameters.size(); i < func_.buffers.size(); ++i)
      declaration(func_.buffers[i]);
    variables();
    inside(func_.body);
    --depth_;
    line("}");
    return std::move(text_);
  }

 private:
  void line(const std::string& content) { text_.append(2 * depth_, ' ').append(content) += '\n'; }

  static std::string declared(const Buffer& buffer) {
    const std::string extents = buffer.extents.empty()
                                    ? std::string()
                                    : fmt::format("[{}]", fmt::join(buffer.extents, ","));
    return fmt::format("%{}: {}{}", buffer.name, to_string(buffer.type), extents);
  }

  std::string constant(ConstantId id) const {
    const bool known = module_ != nullptr && id.at() < module_->constants.size();
    return known ? fmt::format("@{}", module_->constant(id).name) : fmt::format("{}", id.index);
  }

  std::string place_hints(const Buffer& buffer) const {
    std::string text;
    if (buffer.alias.valid()) text += fmt::format(" alias=%{}", func_.buffer(buffer.alias).name);
    if (buffer.alias_offset != 0) text += fmt::format(" at={}", buffer.alias_offset);
    if (!buffer.memory.empty()) text += fmt::format(" memory={}", text_quoted(buffer.memory));
    if (buffer.initial) text += fmt::format(" initial={}", *buffer.initial);
    if (buffer.initial_values.valid())
      text += fmt::format(" initial_values={}", constant(buffer.initial_values));
    if (buffer.alignment != natural_alignment(buffer.type))
      text += fmt::format(" align={}", buffer.alignment);
    return text;
  }

  std::string attributes() const {
    std::string text;
    if (!func_.target.empty()) text += fmt::format(" target={}", text_quoted(func_.target));
    if (!func_.origin.empty()) text += fmt::format(" origin={}", text_quoted(func_.origin));
    if (!func_.node.empty()) text += fmt::format(" node={}", text_quoted(func_.node));
    if (func_.macs != 0) text += fmt::format(" macs={}", func_.macs);
    std::vector<std::string> pairs;
    for (const InPlace& pair : func_.in_place)
      pairs.push_back(fmt::format("{} -> {}", pair.input, pair.output));
    if (!pairs.empty()) text += fmt::format(" in_place=[{}]", fmt::join(pairs, ", "));
    std::vector<std::string> overlaps;
    for (const Overlap& overlap : func_.overlaps)
      overlaps.push_back(
          fmt::format("{} -> {} at {}", overlap.input, overlap.output, overlap.distance));
    if (!overlaps.empty()) text += fmt::format(" overlaps=[{}]", fmt::join(overlaps, ", "));
    if (func_.stepwise) text += " stepwise=1";
    if (func_.tiled) text += " tiled=1";
    return text;
  }

  void declaration(const Buffer& buffer) {
    std::string text =
        fmt::format("{} {}", kScopeText[static_cast<size_t>(buffer.scope)], declared(buffer));
    if (buffer.scope == Scope::Constant) {
      text += " = " + constant(buffer.constant);
    }
    line(text + place_hints(buffer));
  }

  // Only when the statements do not say it: an order of their own, or variables nobody defines.
  void variables() {
    const std::vector<VarId> order = definition_order(func_);
    bool implied = order.size() == func_.vars.size();
    for (size_t i = 0; i < order.size(); ++i) implied &= order[i].index == static_cast<int>(i);
    if (implied) return;
    std::vector<std::string> names;
    for (const Var& var : func_.vars)
      names.push_back(fmt::format("{}: {}", var.name, to_string(var.type)));
    line(fmt::format("vars {}", fmt::join(names, ", ")));
  }

  // The statements of a block: those of a sequence, or the one that the block is.
  void inside(const Stmt& stmt) {
    const auto* block = std::get_if<Seq>(&stmt->node);
    const bool plain = block != nullptr && stmt->comment.empty() && block->statements.size() != 1;
    if (!plain) return statement(stmt, true);
    for (size_t i = 0; i < block->statements.size(); ++i)
      statement(block->statements[i], i + 1 == block->statements.size());
  }

  void braces(const std::string& head, const Stmt& body) {
    line(head + " {");
    ++depth_;
    inside(body);
    --depth_;
    line("}");
  }

  void statement(const Stmt& stmt, bool is_last) {
    if (!stmt->comment.empty()) line("// " + stmt->comment);
    std::visit([&](const auto& node) { statement(node, is_last); }, stmt->node);
  }

  void statement(const Seq& node, bool) {
    line("seq {");
    ++depth_;
    for (size_t i = 0; i < node.statements.size(); ++i)
      statement(node.statements[i], i + 1 == node.statements.size());
    --depth_;
    line("}");
  }

  void statement(const For& node, bool) {
    const bool tight = std::holds_alternative<IntImm>(node.lo->node);
    braces(fmt::format("for {} in {}{}{}", func_.var(node.var).name, expr(node.lo),
                       tight ? ".." : " .. ", expr(node.hi)),
           node.body);
  }

  void statement(const If& node, bool) {
    line(fmt::format("if {} {{", expr(node.condition)));
    ++depth_;
    inside(node.then_body);
    --depth_;
    if (node.else_body != nullptr) {
      line("} else {");
      ++depth_;
      inside(node.else_body);
      --depth_;
    }
    line("}");
  }

  // The rest of the block is the body, if nothing follows.
  void statement(const Let& node, bool is_last) {
    const std::string head = fmt::format("let {} = {}", func_.var(node.var).name, expr(node.value));
    if (!is_last) return braces(head, node.body);
    line(head);
    inside(node.body);
  }

  void statement(const Store& node, bool) {
    line(fmt::format("store {} = {}", print_access(func_, node.buffer, node.indices),
                     expr(node.value)));
  }

  void statement(const Call& node, bool) {
    std::vector<std::string> names;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      names.push_back("%" + func_.buffer(node.arguments[i]).name);
      if (!node.offsets.empty()) names.back() += fmt::format("[{}]", expr(node.offsets[i]));
    }
    line(fmt::format("call @{}({})", node.function, fmt::join(names, ", ")));
  }

  void statement(const Intrinsic& node, bool) {
    std::vector<std::string> operands;
    for (const auto& operand : node.operands) {
      const auto* run = std::get_if<BufferRun>(&operand);
      operands.push_back(run != nullptr ? tir::print(func_, *run) : expr(std::get<Expr>(operand)));
    }
    line(fmt::format("intrinsic {}({})", text_name(node.name), fmt::join(operands, ", ")));
  }

  std::string expr(const Expr& e) const { return tir::print(func_, e); }

  const Func& func_;
  const Module* module_;
  std::string text_;
  size_t depth_ = 0;
};

std::string print_constant(const Constant& constant) {
  const std::string extents = constant.extents.empty()
                                  ? std::string()
                                  : fmt::format("[{}]", fmt::join(constant.extents, ","));
  return fmt::format("constant @{}: {}{} {} = {}\n", constant.name, to_string(constant.type),
                     extents, kUseText[static_cast<size_t>(constant.use)],
                     text_hex(constant.bytes));
}

}  // namespace

std::string print(const Func& func) {
  return Printer(func, nullptr).print();
}

std::string print(const Module& module) {
  std::string text = fmt::format("module {}", text_name(module.name));
  if (!module.entry.empty()) text += fmt::format(" entry=@{}", module.entry);
  text += '\n';
  if (!module.constants.empty()) text += '\n';
  for (const Constant& constant : module.constants) text += print_constant(constant);
  for (const Func& func : module.funcs) text += '\n' + Printer(func, &module).print();
  return text;
}

}  // namespace intarsia::tir
