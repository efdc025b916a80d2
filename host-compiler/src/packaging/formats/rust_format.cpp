// --format rust: a crate without dependencies for no_std, whose build script calls the C compiler, and a sample of its own.
#include <algorithm>

#include <fmt/format.h>

#include "packaging/formats/layout.h"
#include "packaging/formats/rust_text.h"
#include "support/c_identifier.h"

namespace intarsia::packaging {
namespace {

std::string cargo_toml(const PackageManifest& manifest) {
  return fmt::format(
      "# Generated file.\n[package]\nname = \"{0}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"
      "description = \"The neural network {1}, compiled to C for target {2}\"\n"
      "links = \"{0}\"\nbuild = \"build.rs\"\npublish = false\n",
      rust_crate(manifest), manifest.model, manifest.target);
}

// Of rustc's names for targets; none for this machine and for plain C.
std::string triple(const PackageManifest& manifest, const FormatFacts& facts) {
  if (!facts.core) return "";
  const auto& flags = manifest.core_flags;
  const bool hard = std::find(flags.begin(), flags.end(), "-mfloat-abi=hard") != flags.end();
  return facts.core->rust + (hard ? "-eabihf" : "-eabi");
}

// The C compiler that the board says, and the archiver beside it: arm-none-eabi-gcc, arm-none-eabi-ar.
std::string build_script(const PackageManifest& manifest, const FormatFacts& facts) {
  if (!facts.core) return rust_build_script(manifest, "cc", "ar", {});
  const std::string& compiler = facts.board.compiler;
  const std::string prefix = compiler.substr(0, compiler.rfind('-') + 1);
  return rust_build_script(manifest, compiler, prefix + "ar", manifest.core_flags);
}

std::string cargo_config(const FormatFacts& facts, const std::string& target) {
  std::string text = fmt::format(
      "# Generated file.\n[build]\ntarget = \"{0}\"\n\n[target.{0}]\n"
      "rustflags = [\"-C\", \"link-arg=-Tlink.x\"]\n",
      target);
  if (const auto& emulator = facts.board.emulator) {
    text += fmt::format("runner = [\"{}\", \"-M\", \"{}\"", emulator->program, emulator->machine);
    for (const std::string& argument : emulator->arguments)
      text += fmt::format(", \"{}\"", argument);
    text +=
        ", \"-nographic\", \"-monitor\", \"none\", \"-serial\", \"null\", "
        "\"-semihosting-config\", \"enable=on,target=native\", \"-kernel\"]\n";
  }
  return text;
}

std::string memory_text(const board::Board& board) {
  std::string text = "/* Generated file: the memories of board " + board.name + ". */\nMEMORY {\n";
  const auto line = [&](const char* name, const std::string& role) {
    if (const board::Memory* memory = board.find_memory(role))
      text +=
          fmt::format("  {} : ORIGIN = {:#x}, LENGTH = {:#x}\n", name, memory->base, memory->size);
  };
  line("FLASH", board.roles.code);
  line("RAM", board.roles.data);
  return text + "}\n";
}

void add_sample(const FormatFacts& facts, FormattedPackage& made) {
  const PackageManifest& manifest = made.package.manifest;
  const std::string target = triple(manifest, facts);
  const auto add = [&](const std::string& path, std::string text) {
    made.package.files.push_back({"sample/" + path, std::move(text)});
  };
  add("Cargo.toml",
      fmt::format(
          "# Generated file.\n[package]\nname = \"{0}_sample\"\nversion = \"1.0.0\"\nedition "
          "= \"2021\"\npublish = false\n\n[dependencies]\n{0} = {{ path = \"..\" }}\n{1}"
          "\n[workspace]\n",
          rust_crate(manifest), facts.core ? facts.core->rust_dependencies : ""));
  add("src/main.rs", rust_sample(manifest, facts));
  add("src/test_data.rs", rust_test_data(manifest, facts.sample));
  if (target.empty()) return;
  add(".cargo/config.toml", cargo_config(facts, target));
  add("memory.x", memory_text(facts.board));
  add("build.rs",
      "// Generated file: the linker finds memory.x here.\nfn main() {\n"
      "    println!(\"cargo:rustc-link-search={}\", "
      "std::env::var(\"CARGO_MANIFEST_DIR\").unwrap());\n"
      "    println!(\"cargo:rerun-if-changed=memory.x\");\n}\n");
}

// The build script is what says the options of the core's C compiler, and they come from a board.
Result<void> refuse_cores_without_board(const PackageManifest& manifest, const FormatFacts& facts) {
  if (!facts.core || !facts.board.native()) return {};
  return Diagnostics("--format rust",
                     fmt::format("which options {} takes in C for {} comes from a board, and there "
                                 "is none",
                                 manifest.model, manifest.core),
                     "name one with --board");
}

Result<void> refuse_unknown_types(const PackageManifest& manifest) {
  for (const auto* tensors : {&manifest.inputs, &manifest.outputs})
    for (const TensorInfo& tensor : *tensors)
      if (rust_type(tensor.type).empty())
        return Diagnostics("--format rust",
                           fmt::format("'{}' is of type {}, which Rust has no type for",
                                       tensor.name, to_string(tensor.type)),
                           "take another format");
  return {};
}

}  // namespace

Result<FormattedPackage> rust_format(const PackageContents& plain, const FormatFacts& facts) {
  INTARSIA_TRY_VOID(refuse_multicore(plain.manifest, "rust"));
  INTARSIA_TRY_VOID(refuse_devices(plain.manifest, "rust"));
  INTARSIA_TRY_VOID(refuse_cores_without_board(plain.manifest, facts));
  INTARSIA_TRY_VOID(refuse_unknown_types(plain.manifest));
  FormattedPackage made{laid_out(plain, "c"), {}};
  const PackageManifest& manifest = made.package.manifest;
  made.package.files.push_back({"Cargo.toml", cargo_toml(manifest)});
  made.package.files.push_back({"build.rs", build_script(manifest, facts)});
  made.package.files.push_back({"src/lib.rs", rust_library(manifest)});
  add_sample(facts, made);
  std::string how = "```sh\ncd sample && cargo run\n```";
  if (const std::string target = triple(manifest, facts); !target.empty()) {
    how += fmt::format(
        "\n\nrustc needs `rustup target add {}`, and the C compiler is `{}` unless "
        "`CC_{}` says another.",
        target, facts.board.compiler, target);
  }
  made.package.files.push_back(
      readme(manifest, facts, "A Rust crate without dependencies, for `no_std`", how, made.notes));
  return made;
}

}  // namespace intarsia::packaging
