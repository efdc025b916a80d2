// Reads modules, functions and statements of the text form.
#include <fmt/format.h>

#include "support/text_reader.h"
#include "tir/parse_expr.h"
#include "tir/text_words.h"

namespace intarsia::tir {

namespace {

constexpr int kMaxDepth = 1000;  // of blocks and lets; parsing uses the stack

template <typename Node>
Stmt make(Node node, std::string comment = {}) {
  return std::make_shared<const StmtNode>(StmtNode{std::move(node), std::move(comment)});
}

class FuncParser {
 public:
  FuncParser(TextReader& in, const Module& module)
      : in_(in), module_(module), expressions_(in, func_) {}

  Func func() {
    in_.expect("@");
    func_.name = in_.word("a function's name");
    in_.list("(", ")", [&] { parameter(); });
    while (in_.ok() && !in_.is("{")) attribute();
    in_.expect("{");
    while (in_.ok() && declaration()) {
    }
    for (const auto& [index, token] : aliases_) func_.buffers[index].alias = named_buffer(token);
    if (in_.is("vars")) variables();
    func_.body = block();
    in_.expect("}");
    return std::move(func_);
  }

 private:
  // ---- declarations ----

  Shape extents() {
    Shape shape;
    if (in_.is("["))
      in_.list("[", "]", [&] { shape.push_back(in_.integer("an extent", 1, INT32_MAX)); });
    return shape;
  }

  Buffer declared(Scope scope) {
    Buffer buffer;
    in_.expect("%");
    buffer.name = in_.word("a buffer's name");
    in_.expect(":");
    buffer.type = parse_type(in_);
    buffer.extents = extents();
    buffer.scope = scope;
    buffer.alignment = natural_alignment(buffer.type);
    return buffer;
  }

  // Aliases may name buffers that are declared below, so they are looked up at the end.
  void place_hints(Buffer& buffer) {
    if (in_.accept("alias")) {
      in_.expect("=");
      in_.expect("%");
      aliases_.emplace_back(func_.buffers.size(), in_.peek());
      in_.word("a buffer's name");
    }
    if (in_.accept("at")) {
      in_.expect("=");
      buffer.alias_offset = in_.integer("an offset in bytes", 0, INT64_MAX);
    }
    if (in_.accept("memory")) {
      in_.expect("=");
      buffer.memory = in_.string("a memory's name");
    }
    if (in_.accept("initial")) {
      in_.expect("=");
      buffer.initial = in_.integer("the elements at first", INT64_MIN, INT64_MAX);
    }
    if (in_.accept("initial_values")) buffer.initial_values = constant();
    if (in_.accept("align")) {
      in_.expect("=");
      buffer.alignment = static_cast<int32_t>(in_.integer("an alignment", 1, 1 << 20));
    }
  }

  BufferId named_buffer(const Token& token) {
    for (size_t i = 0; i < func_.buffers.size(); ++i)
      if (func_.buffers[i].name == token.text) return {static_cast<int32_t>(i)};
    if (in_.ok()) in_.fail_at(token, fmt::format("no buffer is called '{}'", token.text));
    return {};
  }

  Access access() {
    for (size_t i = 0; i < 3; ++i)
      if (in_.accept(kAccessText[i])) return static_cast<Access>(i);
    in_.fail("expected read, write or readwrite");
    return Access::Read;
  }

  void parameter() {
    Buffer buffer = declared(Scope::Parameter);
    func_.parameters.push_back({access()});
    place_hints(buffer);
    func_.buffers.push_back(std::move(buffer));
  }

  void attribute() {
    const Token token = in_.peek();
    const std::string name = in_.word("an attribute or {");
    in_.expect("=");
    if (name == "target") {
      func_.target = in_.string("a target's name");
    } else if (name == "origin") {
      func_.origin = in_.string("a description");
    } else if (name == "node") {
      func_.node = in_.string("an operator's name");
    } else if (name == "macs") {
      func_.macs = in_.integer("a count");
    } else if (name == "in_place") {
      in_.list("[", "]", [&] {
        const auto input = static_cast<int32_t>(in_.integer("a parameter's number", 0, INT32_MAX));
        in_.expect("->");
        const auto output = static_cast<int32_t>(in_.integer("a parameter's number", 0, INT32_MAX));
        func_.in_place.push_back({input, output});
      });
    } else if (name == "overlaps") {
      in_.list("[", "]", [&] {
        const auto input = static_cast<int32_t>(in_.integer("a parameter's number", 0, INT32_MAX));
        in_.expect("->");
        const auto output = static_cast<int32_t>(in_.integer("a parameter's number", 0, INT32_MAX));
        in_.expect("at");
        func_.overlaps.push_back({input, output, in_.integer("a distance in bytes", 0, INT64_MAX)});
      });
    } else if (name == "stepwise") {
      func_.stepwise = in_.integer("0 or 1", 0, 1) != 0;
    } else if (name == "tiled") {
      func_.tiled = in_.integer("0 or 1", 0, 1) != 0;
    } else if (in_.ok()) {
      in_.fail_at(token, fmt::format("'{}' is no attribute of a function", name),
                  "target, origin, node, macs, in_place, overlaps, stepwise or tiled");
    }
  }

  bool declaration() {
    Scope scope = Scope::Local;
    if (in_.accept("constant")) {
      scope = Scope::Constant;
    } else if (in_.accept("register")) {
      scope = Scope::Register;
    } else if (!in_.accept("local")) {
      return false;
    }
    Buffer buffer = declared(scope);
    if (scope == Scope::Constant) buffer.constant = constant();
    place_hints(buffer);
    func_.buffers.push_back(std::move(buffer));
    return true;
  }

  ConstantId constant() {
    in_.expect("=");
    in_.expect("@");
    const Token token = in_.peek();
    const std::string name = in_.word("a constant's name");
    for (size_t i = 0; i < module_.constants.size(); ++i)
      if (module_.constants[i].name == name) return {static_cast<int32_t>(i)};
    if (in_.ok()) in_.fail_at(token, fmt::format("no constant is called '{}'", name));
    return {};
  }

  void variables() {
    in_.expect("vars");
    declares_vars_ = true;
    do {
      Var var;
      var.name = in_.word("a variable's name");
      in_.expect(":");
      var.type = parse_type(in_);
      func_.vars.push_back(std::move(var));
    } while (in_.accept(","));
  }

  // ---- statements ----

  // Up to the closing brace: one statement is itself, any other number is a sequence.
  Stmt block() {
    std::vector<Stmt> statements = list();
    return statements.size() == 1 ? statements.front() : make(Seq{std::move(statements)});
  }

  std::vector<Stmt> list() {
    std::vector<Stmt> statements;
    if (++depth_ > kMaxDepth) in_.fail("blocks are nested too deeply");
    while (in_.ok() && !in_.at_end() && !in_.is("}")) statements.push_back(statement());
    --depth_;
    return statements;
  }

  Stmt braces() {
    in_.expect("{");
    Stmt body = block();
    in_.expect("}");
    return body;
  }

  Stmt statement() {
    const Token token = in_.peek();
    const std::string comment(token.comment);
    if (in_.accept("for")) return loop(comment);
    if (in_.accept("let")) return let(comment);
    if (in_.accept("if")) return branch(comment);
    if (in_.accept("store")) return store(comment);
    if (in_.accept("call")) return call(comment);
    if (in_.accept("intrinsic")) return intrinsic(comment);
    if (in_.accept("seq")) {
      in_.expect("{");
      std::vector<Stmt> statements = list();
      in_.expect("}");
      return make(Seq{std::move(statements)}, comment);
    }
    in_.fail(fmt::format("'{}' begins no statement", token.text),
             "for, let, if, store, call, intrinsic or seq");
    return make(Seq{});
  }

  VarId define(const std::string& name, DataType type, const Token& token) {
    for (size_t i = 0; i < func_.vars.size(); ++i)
      if (func_.vars[i].name == name) {
        if (!declares_vars_) in_.fail_at(token, fmt::format("'{}' is defined already", name));
        return {static_cast<int32_t>(i)};
      }
    if (declares_vars_ && in_.ok())
      in_.fail_at(token, fmt::format("'{}' is missing after vars", name));
    func_.vars.push_back({name, type});
    return {static_cast<int32_t>(func_.vars.size()) - 1};
  }

  Stmt loop(const std::string& comment) {
    const Token token = in_.peek();
    const std::string name = in_.word("a variable's name");
    in_.expect("in");
    const Expr lo = expressions_.expr();
    in_.expect("..");
    const Expr hi = expressions_.expr();
    const VarId var = define(name, DataType::Int32, token);
    return make(For{var, lo, hi, braces()}, comment);
  }

  Stmt let(const std::string& comment) {
    const Token token = in_.peek();
    const std::string name = in_.word("a variable's name");
    in_.expect("=");
    const Expr value = expressions_.expr();
    const VarId var = define(name, value->type, token);
    return make(Let{var, value, in_.is("{") ? braces() : block()}, comment);
  }

  Stmt branch(const std::string& comment) {
    const Expr condition = expressions_.expr();
    const Stmt yes = braces();
    const Stmt no = in_.accept("else") ? braces() : nullptr;
    return make(If{condition, yes, no}, comment);
  }

  Stmt store(const std::string& comment) {
    const BufferId id = expressions_.buffer();
    std::vector<Expr> indices = expressions_.indices();
    in_.expect("=");
    return make(Store{id, std::move(indices), expressions_.expr()}, comment);
  }

  Stmt call(const std::string& comment) {
    in_.expect("@");
    Call node{in_.word("a function's name"), {}};
    in_.list("(", ")", [&] {
      node.arguments.push_back(expressions_.buffer());
      if (!in_.is("[")) return;
      for (Expr& offset : expressions_.indices()) node.offsets.push_back(std::move(offset));
    });
    if (!node.offsets.empty() && node.offsets.size() != node.arguments.size())
      in_.fail("a call gives an offset for each argument or for none");
    return make(std::move(node), comment);
  }

  Stmt intrinsic(const std::string& comment) {
    Intrinsic node{in_.name("an intrinsic's name"), {}};
    in_.list("(", ")", [&] {
      const bool has_access = in_.is("read") || in_.is("write") || in_.is("readwrite");
      const bool is_run = has_access && in_.is("%", 1) && in_.peek(2).kind == TokenKind::Word;
      if (!is_run) {
        node.operands.emplace_back(expressions_.expr());
        return;
      }
      BufferRun run{};
      run.access = access();
      run.buffer = expressions_.buffer();
      run.start = expressions_.indices();
      in_.expect("count");
      run.count = in_.integer("a number of elements", 1, INT32_MAX);
      node.operands.emplace_back(std::move(run));
    });
    return make(std::move(node), comment);
  }

  TextReader& in_;
  const Module& module_;
  Func func_;
  ExprParser expressions_;
  bool declares_vars_ = false;
  std::vector<std::pair<size_t, Token>> aliases_;  // by name, of the buffer with this number
  int depth_ = 0;
};

Constant parse_constant(TextReader& in) {
  Constant constant;
  in.expect("@");
  constant.name = in.word("a constant's name");
  in.expect(":");
  constant.type = parse_type(in);
  if (in.is("["))
    in.list("[", "]", [&] { constant.extents.push_back(in.integer("an extent", 1, INT32_MAX)); });
  for (size_t i = 0; i < 3; ++i) {
    if (!in.accept(kUseText[i])) continue;
    constant.use = static_cast<ConstantUse>(i);
    in.expect("=");
    constant.bytes = in.hex("the constant's bytes");
    return constant;
  }
  in.fail("expected weights, table or stream");
  return constant;
}

}  // namespace

Result<Module> parse(std::string_view text, std::string_view file) {
  TextReader in(text, file);
  Module module;
  in.expect("module");
  module.name = in.name("the module's name");
  if (in.accept("entry")) {
    in.expect("=");
    in.expect("@");
    module.entry = in.word("a function's name");
  }
  while (in.ok() && !in.at_end()) {
    if (in.accept("constant")) {
      module.constants.push_back(parse_constant(in));
    } else if (in.accept("func")) {
      module.funcs.push_back(FuncParser(in, module).func());
    } else {
      in.fail(fmt::format("'{}' begins no part of a module", in.peek().text), "constant or func");
    }
  }
  if (!in.ok()) return in.error();
  return module;
}

}  // namespace intarsia::tir
