// <model>_data.h, and what is beside it where weights are a binary file.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "emission/c_constant.h"
#include "emission/incbin.h"
#include "emission/model_text.h"
#include "intarsia/plugin/c_writer.h"
#include "support/c_identifier.h"
#include "support/sha256.h"

namespace intarsia::emission {
namespace {

constexpr int32_t kWordAlignment = 4;  // of constants: kernels read weights by words

// A constant that C reads. The bytes are shared with the module.
struct Table {
  tir::Constant constant;
  std::string section;  // that is asked for
  std::string memory;   // that the plan chose instead of the one for all; else empty
  CConstantOptions options;
};

bool is_read_by_schedule(const ModelContext& context, ConstantId constant) {
  const std::vector<tir::Buffer>& buffers = context.module.entry_func().buffers;
  return std::any_of(buffers.begin(), buffers.end(), [&](const tir::Buffer& buffer) {
    return (buffer.scope == tir::Scope::Constant && buffer.constant == constant) ||
           buffer.initial_values == constant;
  });
}

Table table_of(const ModelContext& context, ConstantId id) {
  const tir::Constant& constant = context.module.constant(id);
  Table table{constant,
              asked_section(context, constant.name, "weights"),
              "",
              {CLinkage::Static, kWordAlignment, "INTARSIA_WEIGHTS"}};
  const MemoryPool* memory = context.plan.memory_named_by(id);
  if (memory != nullptr && table.section.empty()) {
    table.memory = memory->name;
    table.options.attribute = fmt::format("INTARSIA_WEIGHTS_IN_MEMORY({})", memory->name);
  }
  table.options.attribute =
      section_attribute(context, constant.name, "weights", table.options.attribute);
  return table;
}

Result<std::vector<Table>> tables_of(const ModelContext& context) {
  std::vector<Table> tables;
  for (size_t i = 0; i < context.module.constants.size(); ++i) {
    const tir::Constant& constant = context.module.constants[i];
    const ConstantId id{static_cast<int32_t>(i)};
    if (constant.use == tir::ConstantUse::Stream || is_in_object_file(context, id)) continue;
    INTARSIA_TRY_VOID(check_c_constant(constant));
    tables.push_back(table_of(context, id));
  }
  return tables;
}

// INFINITY and NAN are of math.h.
bool has_infinity_or_nan(const tir::Constant& constant) {
  if (constant.type != DataType::Float32) return false;
  for (size_t at = 0; at + sizeof(float) <= constant.bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, &constant.bytes[at], sizeof value);
    if (!std::isfinite(value)) return true;
  }
  return false;
}

void header_head(const ModelContext& context, const std::string& what, CWriter& out) {
  const std::string guard = upper_case(context.name()) + "_DATA_H";
  out.comment(
      {fmt::format("{0}: {1}. Generated file, included by {0}.c alone.", context.name(), what)});
  out.directive("#ifndef " + guard);
  out.directive("#define " + guard);
  out.blank();
}

SourceFile arrays_header(const ModelContext& context, std::vector<Table> tables) {
  CWriter out;
  header_head(context, "weights and tables", out);
  if (std::any_of(tables.begin(), tables.end(),
                  [](const Table& table) { return has_infinity_or_nan(table.constant); }))
    out.directive("#include <math.h>");
  out.directive("#include <stdint.h>");
  out.blank();
  out.directive("#include \"intarsia/contract/placement.h\"");
  out.blank();
  const auto write_tables = [tables = std::move(tables),
                             prefix = context.name() + "_"](const TextSink& sink) {
    for (const Table& table : tables) {
      sink("\n");
      write_c_constant(table.constant, prefix, table.options, sink);
    }
    sink("\n#endif\n");
  };
  return SourceFile{context.name() + "_data.h", out.text(), write_tables};
}

// The arrays' declarations; the assembler defines them.
SourceFile declarations_header(const ModelContext& context, const std::vector<Table>& tables) {
  CWriter out;
  header_head(context,
              fmt::format("weights and tables, which are in {}_weights.bin", context.name()), out);
  out.directive("#include <stdbool.h>");
  out.directive("#include <stdint.h>");
  out.blank();
  for (const Table& table : tables)
    out.line(emit_c_constant_declaration(table.constant, context.name() + "_"));
  out.blank();
  out.directive("#endif");
  return {context.name() + "_data.h", out.text()};
}

std::vector<SourceFile> binary_files(const ModelContext& context, std::vector<Table> tables) {
  IncbinFile file{.about = context.name() + ": weights and tables",
                  .file = context.name() + "_weights.bin"};
  size_t bytes = 0;
  for (const Table& table : tables) bytes += table.constant.bytes.size();
  std::vector<uint8_t> whole;
  whole.reserve(bytes);  // once: growing would hold them up to three times
  for (const Table& table : tables) {
    const tir::Constant& constant = table.constant;
    file.objects.push_back({.symbol = context.name() + "_" + constant.name,
                            .offset = static_cast<int64_t>(whole.size()),
                            .bytes = static_cast<int64_t>(constant.bytes.size()),
                            .alignment = std::max(kWordAlignment, bits(constant.type) / 8),
                            .section = table.section,
                            .memory = table.memory});
    whole.insert(whole.end(), constant.bytes.begin(), constant.bytes.end());
  }
  file.sha256 = sha256(whole);
  const auto write_bytes = [tables = std::move(tables)](const TextSink& sink) {
    for (const Table& table : tables)
      sink({reinterpret_cast<const char*>(table.constant.bytes.data()),
            table.constant.bytes.size()});
  };
  return {{context.name() + "_weights.S", incbin_text(file)}, {file.file, "", write_bytes}};
}

}  // namespace

bool is_in_object_file(const ModelContext& context, ConstantId constant) {
  const auto is_there = [&](const std::string& file) {
    const std::vector<SourceFile>& sources = context.model.sources;
    return std::any_of(sources.begin(), sources.end(),
                       [&](const SourceFile& each) { return each.path.ends_with(file); });
  };
  return is_there(context.name() + ".o") ||
         (is_there(".o") && !is_read_by_schedule(context, constant));
}

Result<DataFiles> data_files(const ModelContext& context) {
  INTARSIA_TRY(std::vector<Table> tables, tables_of(context));
  size_t bytes = 0;
  for (const Table& table : tables) bytes += table.constant.bytes.size();
  SourceFile arrays = arrays_header(context, tables);
  if (!takes_weights_file(context.options.weights_file, bytes)) return DataFiles{{arrays}, {}};
  DataFiles data{{declarations_header(context, tables)}, {std::move(arrays)}};
  for (SourceFile& file : binary_files(context, std::move(tables)))
    data.files.push_back(std::move(file));
  return data;
}

}  // namespace intarsia::emission
