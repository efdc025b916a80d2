#include "support/c_program.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace intarsia::testing {

namespace {

std::string shell_path(const std::filesystem::path& path) {
  return fmt::format("'{}'", path.string());
}

}  // namespace

std::vector<std::string> c_compilers() {
  std::vector<std::string> found;
  for (const char* name : {"gcc", "clang"})
    if (std::system((std::string(name) + " --version > /dev/null 2>&1").c_str()) == 0)
      found.push_back(name);
  return found;
}

CProgram::CProgram(const std::string& compiler, const std::string& text, const std::string& flags) {
  std::string folder = (std::filesystem::temp_directory_path() / "intarsia-test-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    errors_ = "cannot make a temporary folder";
    return;
  }
  const std::filesystem::path root(folder);
  std::ofstream(root / "program.c") << text;
  const std::string command =
      compiler + " -std=c11 -Wall -Wextra -Wconversion -Wsign-conversion -Werror -O1 " + flags +
      " -shared -fPIC -o " + shell_path(root / "program.so") + " " +
      shell_path(root / "program.c") + " -lm 2> " + shell_path(root / "errors.txt");
  if (std::system(command.c_str()) == 0) {
    library_ = dlopen((root / "program.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) errors_ = dlerror();
  } else {
    std::ostringstream said;
    said << std::ifstream(root / "errors.txt").rdbuf();
    errors_ = said.str();
  }
  std::filesystem::remove_all(root);
}

CProgram::~CProgram() {
  if (library_ != nullptr) dlclose(library_);
}

void* CProgram::address(const std::string& symbol) const {
  return library_ != nullptr ? dlsym(library_, symbol.c_str()) : nullptr;
}

}  // namespace intarsia::testing
