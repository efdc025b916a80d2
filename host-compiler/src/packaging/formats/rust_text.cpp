#include "packaging/formats/rust_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "packaging/build_glue.h"
#include "support/model_name.h"
#include "support/shown_text.h"

namespace intarsia::packaging {
namespace {

bool converts(const TensorInfo& tensor) {
  return tensor.quantization.scale.size() == 1 &&
         (tensor.type == DataType::Int8 || tensor.type == DataType::UInt8 ||
          tensor.type == DataType::Int16);
}

// "0.5", "1.0", "1e-05".
std::string float_literal(float value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string string_literal(std::string_view name) {
  std::string literal = "\"";
  for (const char c : shown_text(name)) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "\"";
}

// Between the two ` of a comment, which is a line.
std::string in_comment(std::string_view name) {
  std::string text = shown_text(name);
  std::replace(text.begin(), text.end(), '`', '\'');
  return text;
}

// What a program may need to know of a tensor, in a module of its own.
std::string tensor_module(const TensorInfo& tensor, const std::string& name) {
  const std::string type = rust_type(tensor.type);
  std::string text = fmt::format(
      "\n/// Facts of `{}`.\npub mod {} {{\n    pub const NAME: &str = {};\n"
      "    pub const SHAPE: [usize; {}] = [{}];\n    pub const ELEMENTS: usize = {};\n",
      name, name, string_literal(tensor.name), tensor.shape.size(), fmt::join(tensor.shape, ", "),
      element_count(tensor.shape));
  if (converts(tensor)) {
    const int64_t zero =
        tensor.quantization.zero_point.empty() ? 0 : tensor.quantization.zero_point[0];
    text += fmt::format(
        "    pub const SCALE: f32 = {1};\n    pub const ZERO_POINT: i32 = {2};\n"
        "    /// The nearest step, halves away from zero, within the range of the type.\n"
        "    pub fn quantize(real: f32) -> {0} {{\n"
        "        let steps = real / SCALE;\n"
        "        // A sum with a half is rounded itself: what is just below a half became 1.\n"
        "        let whole = steps as i32;\n"
        "        let rest = steps - whole as f32;\n"
        "        let rounded = whole.saturating_add((rest >= 0.5) as i32 - (rest <= -0.5) as "
        "i32);\n"
        "        rounded.saturating_add(ZERO_POINT).clamp({0}::MIN as i32, {0}::MAX as i32) as "
        "{0}\n"
        "    }}\n"
        "    pub fn dequantize(value: {0}) -> f32 {{\n"
        "        SCALE * (value as i32 - ZERO_POINT) as f32\n    }}\n",
        type, float_literal(tensor.quantization.scale[0]), zero);
  }
  return text + "}\n";
}

std::string accessor(const PackageManifest& manifest, const TensorInfo& tensor, bool is_input,
                     size_t index) {
  const std::string name = fmt::format("{}{}", is_input ? "input" : "output", index);
  return fmt::format(
      "\n    /// `{5}`, {6} of shape [{7}].\n"
      "    pub fn {0}({1}self) -> {2}[{3}] {{\n"
      "        // The C functions give that many elements, aligned, for a model that is "
      "initialised.\n"
      "        unsafe {{ slice::from_raw_parts{4}({8}_{9}(&self.memory.instance, {10}) as {11} "
      "{3}, "
      "{0}::ELEMENTS) }}\n    }}\n",
      name, is_input ? "&mut " : "&", is_input ? "&mut " : "&", rust_type(tensor.type),
      is_input ? "_mut" : "", in_comment(tensor.name), to_string(tensor.type),
      fmt::join(tensor.shape, ","), manifest.model, is_input ? "input" : "output", index,
      is_input ? "*mut" : "*const");
}

std::string byte_array(const std::string& name, const std::string& type, int64_t elements,
                       const graph::TensorValue& bytes, int64_t element_bytes) {
  std::string text = fmt::format("pub static {}: [{}; {}] = [", name, type, elements);
  std::string line;
  for (int64_t i = 0; i < elements; ++i) {
    std::string hex;
    for (int64_t b = element_bytes - 1; b >= 0; --b)
      hex += fmt::format("{:02x}", bytes[static_cast<size_t>(i * element_bytes + b)]);
    const std::string value = type == "f32" ? fmt::format("f32_of(0x{})", hex)
                              : type.front() == 'i'
                                  ? fmt::format("0x{}u{} as {}", hex, element_bytes * 8, type)
                                  : "0x" + hex;
    if (line.empty() || line.size() + value.size() > 96) {
      text += line + "\n";
      line = "   ";
    }
    line += " " + value + ",";
  }
  return text + line + "\n];\n";
}

constexpr const char* kBuildScript = R"(// Compiles the model's C files. Generated file.
use std::env;
use std::path::{{Path, PathBuf}};
use std::process::Command;

const SOURCES: &[&str] = &[
{sources}];
const FLAGS: &[&str] = &[
{flags}];

// As the crates that call C compilers do: <NAME>_<target>, then <NAME>, then what the options above are for.
fn tool(name: &str, default: &str) -> String {{
    let target = env::var("TARGET").unwrap();
    for variable in [format!("{{}}_{{}}", name, target), format!("{{}}_{{}}", name, target.replace('-', "_")), name.to_string()] {{
        println!("cargo:rerun-if-env-changed={{}}", variable);
        match env::var(&variable) {{
            Ok(value) if !value.trim().is_empty() => return value,
            _ => {{}}
        }}
    }}
    default.to_string()
}}

// A program may be given with one that starts it or with options: "ccache gcc", "gcc --sysroot=/there".
fn run(program: &str, arguments: &[String]) {{
    let words: Vec<&str> =
        if Path::new(program).exists() {{ vec![program] }} else {{ program.split_whitespace().collect() }};
    match Command::new(words[0]).args(&words[1..]).args(arguments).status() {{
        Ok(status) if status.success() => {{}}
        Ok(status) => panic!("{{}} ended with {{}}", program, status),
        Err(error) => panic!("{{}} cannot be started: {{}}", program, error),
    }}
}}

fn main() {{
    let folder = PathBuf::from(env::var("OUT_DIR").unwrap());
    let (compiler, archiver) = (tool("CC", "{compiler}"), tool("AR", "{archiver}"));
    let more = tool("CFLAGS", "");
    let archive = folder.join("lib{library}.a").display().to_string();
    let _ = std::fs::remove_file(&archive);
    let mut archived = vec!["crs".to_string(), archive];
    for (index, source) in SOURCES.iter().enumerate() {{
        let object = folder.join(format!("{{}}.o", index)).display().to_string();
        let mut arguments: Vec<String> = FLAGS.iter().map(|flag| flag.to_string()).collect();
        let own = ["-std=c11", "-O2", "-ffunction-sections", "-fdata-sections", "-Ic"];
        for word in own.into_iter().chain(more.split_whitespace()).chain(["-c", source, "-o", &object]) {{
            arguments.push(word.to_string());
        }}
        run(&compiler, &arguments);
        archived.push(object);
    }}
    run(&archiver, &archived);
    println!("cargo:rerun-if-changed=c");
    println!("cargo:rustc-link-search=native={{}}", folder.display());
    println!("cargo:rustc-link-lib=static={library}");
}}
)";

// Crates have the model's name, which need not be in Rust's style.
constexpr const char* kNamedAfterModel = "#![allow(non_snake_case)]\n";

}  // namespace

std::string rust_crate(const PackageManifest& manifest) {
  return "intarsia_" + lower_case(manifest.model);
}

std::string rust_type(DataType type) {
  if (type == DataType::Bool) return "u8";
  return bits(type) < 8 ? "" : std::string(to_string(type));
}

std::string rust_build_script(const PackageManifest& manifest, const std::string& compiler,
                              const std::string& archiver,
                              const std::vector<std::string>& options) {
  std::string sources, flags;
  for (const std::string& source : library_sources(manifest))
    sources += fmt::format("    \"{}\",\n", source);
  for (const std::string& flag : options) flags += fmt::format("    \"{}\",\n", flag);
  return fmt::format(kBuildScript, fmt::arg("sources", sources), fmt::arg("flags", flags),
                     fmt::arg("compiler", compiler), fmt::arg("archiver", archiver),
                     fmt::arg("library", rust_crate(manifest)));
}

std::string rust_library(const PackageManifest& manifest) {
  const std::string& model = manifest.model;
  std::string text = fmt::format(
      "//! The neural network {}, compiled for target `{}`. Generated file.\n//!\n"
      "//! All memory is the caller's: a [`Memory`], which lives as long as the [`Model`] that "
      "works "
      "in it. Fill the inputs, run, read the outputs;\n//! an input's values may be overwritten by "
      "the run.\n#![no_std]\n{}\nuse core::ffi::c_void;\nuse core::{{ptr, slice}};\n\n"
      "/// A code of the model's functions other than 0; `intarsia explain-error CODE` explains "
      "it.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct Status(pub i32);\n\n"
      "fn checked(status: i32) -> Result<(), Status> {{\n    if status == 0 {{ Ok(()) }} else {{ "
      "Err(Status(status)) }}\n}}\n\n",
      model, manifest.target, kNamedAfterModel);
  std::string fields, initial, blocks, no_blocks, pointers;
  for (size_t i = 0; i < manifest.memories.size(); ++i) {
    const MemoryBlock& block = manifest.memories[i];
    fields += fmt::format("    memory{}: *mut c_void, // {}\n", i, block.name);
    initial += fmt::format("memory{}: ptr::null_mut(), ", i);
    blocks += fmt::format("    memory{}: Block<{}>, // {}\n", i, block.bytes, block.name);
    no_blocks += fmt::format(", memory{}: Block([0; {}])", i, block.bytes);
    pointers += fmt::format("memory{0}: memory.memory{0}.0.as_mut_ptr() as *mut c_void, ", i);
  }
  if (manifest.memories.empty()) {
    fields = "    none: *mut c_void,\n";
    initial = pointers = "none: ptr::null_mut(), ";
  }
  text += fmt::format(
      "// As {0}.h has them.\n#[repr(C)]\nstruct Resources {{\n{1}}}\n\n#[repr(C)]\nstruct "
      "Instance {{\n"
      "    resources: Resources,\n    ready: i32,\n}}\n\n"
      "extern \"C\" {{\n"
      "    fn {0}_init(model: *mut Instance, resources: *const Resources) -> i32;\n"
      "    fn {0}_run(model: *mut Instance) -> i32;\n{2}"
      "    fn {0}_input(model: *const Instance, index: i32) -> *mut c_void;\n"
      "    fn {0}_output(model: *const Instance, index: i32) -> *const c_void;\n}}\n\n",
      model, fields,
      manifest.has_state ? fmt::format("    fn {}_reset(model: *mut Instance) -> i32;\n", model)
                         : "");
  text += fmt::format(
      "{5}/// What one model works in, {0} bytes. In firmware a `static`.\npub struct Memory {{\n  "
      "  "
      "instance: Instance,\n{1}}}\n\n"
      "// Its pointers lead to itself and are written by Model::new().\nunsafe impl Send for "
      "Memory "
      "{{}}\n\n"
      "impl Memory {{\n    pub const fn new() -> Self {{\n        Memory {{ instance: Instance {{ "
      "resources: Resources {{ {2}}}, ready: 0 }}{3} }}\n    }}\n}}\n\n"
      "impl Default for Memory {{\n    fn default() -> Self {{\n        Self::new()\n    }}\n}}\n\n"
      "pub struct Model<'a> {{\n    memory: &'a mut Memory,\n}}\n\n"
      "impl<'a> Model<'a> {{\n"
      "    pub fn new(memory: &'a mut Memory) -> Result<Self, Status> {{\n"
      "        let resources = Resources {{ {4}}};\n"
      "        checked(unsafe {{ {6}_init(&mut memory.instance, &resources) }})?;\n"
      "        Ok(Model {{ memory }})\n    }}\n\n"
      "    pub fn run(&mut self) -> Result<(), Status> {{\n"
      "        checked(unsafe {{ {6}_run(&mut self.memory.instance) }})\n    }}\n",
      [&] {
        int64_t bytes = 0;
        for (const MemoryBlock& block : manifest.memories) bytes += block.bytes;
        return bytes;
      }(),
      blocks, initial, no_blocks, pointers,
      manifest.memories.empty() ? ""
                                : fmt::format("#[repr(C, align({}))]\nstruct Block<const BYTES: "
                                              "usize>([u8; BYTES]);\n\n",
                                              manifest.alignment),
      model);
  if (manifest.has_state)
    text += fmt::format(
        "\n    /// Forgets what earlier runs have left.\n    pub fn reset(&mut self) -> Result<(), "
        "Status> {{\n        checked(unsafe {{ {}_reset(&mut self.memory.instance) }})\n    }}\n",
        model);
  for (size_t i = 0; i < manifest.inputs.size(); ++i)
    text += accessor(manifest, manifest.inputs[i], true, i);
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    text += accessor(manifest, manifest.outputs[i], false, i);
  text += "}\n";
  for (size_t i = 0; i < manifest.inputs.size(); ++i)
    text += tensor_module(manifest.inputs[i], fmt::format("input{}", i));
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    text += tensor_module(manifest.outputs[i], fmt::format("output{}", i));
  return text;
}

std::string rust_test_data(const PackageManifest& manifest, const SampleData& data) {
  std::string text =
      "// An input for the sample, and the outputs that the reference gives for it. Generated "
      "file.\n";
  if (!data.left_out.empty()) return text + "// There are none: " + data.left_out + ".\n";
  std::string arrays;
  const auto add = [&](const char* what, const std::vector<TensorInfo>& tensors,
                       const std::vector<graph::TensorValue>& values) {
    for (size_t i = 0; i < values.size(); ++i)
      arrays += byte_array(fmt::format("{}{}", what, i), rust_type(tensors[i].type),
                           element_count(tensors[i].shape), values[i], bits(tensors[i].type) / 8);
  };
  add("INPUT", manifest.inputs, data.inputs);
  add("OUTPUT", manifest.outputs, data.outputs);
  if (arrays.find("f32_of") != std::string::npos)
    text += "const fn f32_of(bits: u32) -> f32 {\n    unsafe { core::mem::transmute(bits) }\n}\n";
  return text + arrays;
}

std::string rust_sample(const PackageManifest& manifest, const FormatFacts& facts) {
  constexpr int64_t kMostPrinted = 16;
  const bool on_core = facts.core.has_value();
  const bool has_data = facts.sample.left_out.empty();
  std::string text = fmt::format(
      "// {}: a sample that prints what the model computes. Generated file.\n{}{}\nuse "
      "{}::{{Memory, "
      "Model}};\n{}{}\n",
      manifest.model, on_core ? "#![no_std]\n#![no_main]\n" : "", kNamedAfterModel,
      rust_crate(manifest), on_core ? facts.core->rust_uses : "",
      has_data ? "\nmod test_data;\n" : "");
  text +=
      "// The program's only user of it is sample().\nstatic mut MEMORY: Memory = "
      "Memory::new();\n\n"
      "fn sample() -> bool {\n"
      "    let memory = unsafe { &mut *core::ptr::addr_of_mut!(MEMORY) };\n"
      "    let mut model = match Model::new(memory) {\n"
      "        Ok(model) => model,\n"
      "        Err(status) => {\n            println!(\"init: {:?}\", status);\n            return "
      "false;\n        }\n    };\n";
  for (size_t i = 0; has_data && i < manifest.inputs.size(); ++i)
    text += fmt::format("    model.input{0}().copy_from_slice(&test_data::INPUT{0});\n", i);
  text +=
      "    if let Err(status) = model.run() {\n        println!(\"run: {:?}\", status);\n        "
      "return false;\n    }\n";
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const TensorInfo& output = manifest.outputs[i];
    const std::string value =
        converts(output) ? fmt::format("{}::output{}::dequantize(*value)", rust_crate(manifest), i)
                         : "*value";
    text += fmt::format(
        "    for (at, value) in model.output{0}().iter().take({1}).enumerate() {{\n"
        "        println!(\"output {0} [{{}}]: {{:.3}}\", at, {2});\n    }}\n",
        i, kMostPrinted, value);
  }
  if (!has_data)
    return text + fmt::format("    println!(\"{}: ran\");\n    true\n}}\n\n", manifest.model) +
           (on_core ? facts.core->rust_entry
                    : "fn main() {\n    std::process::exit(if sample() { 0 } else { 1 });\n}\n");
  text += "    let (mut equal, mut values) = (0, 0);\n";
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const bool is_float = manifest.outputs[i].type == DataType::Float32;
    text += fmt::format(
        "    for (value, expected) in model.output{0}().iter().zip(test_data::OUTPUT{0}.iter()) "
        "{{\n"
        "        values += 1;\n        equal += (value{1} == expected{1}) as i32;\n    }}\n",
        i, is_float ? ".to_bits()" : "");
  }
  text += fmt::format("    println!(\"{}: {{}} of {{}} exact\", equal, values);\n    {}\n}}\n\n",
                      manifest.model, facts.sample.is_exact() ? "equal == values" : "true");
  return text + (on_core
                     ? facts.core->rust_entry
                     : "fn main() {\n    std::process::exit(if sample() { 0 } else { 1 });\n}\n");
}

}  // namespace intarsia::packaging
