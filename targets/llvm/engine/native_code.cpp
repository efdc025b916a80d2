// Models for this machine in the engine's process: the object file that a package holds, loaded.
#include <algorithm>

#include "intarsia/builtin_targets.h"
#include "intarsia/targets/llvm/load_component.h"
#include "intarsia/targets/llvm/native_names.h"

namespace intarsia::targets::llvm {
namespace {

class LoadedObject final : public NativeCode {
 public:
  LoadedObject(const Component& component, intarsia_llvm_code* code, std::string model)
      : component_(component), code_(code), model_(std::move(model)) {}
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  ~LoadedObject() override { component_.unload(code_); }

  Function function(const std::string& name) const override {
    return reinterpret_cast<Function>(component_.find(code_, native_name(model_, name).c_str()));
  }

 private:
  Component component_;
  intarsia_llvm_code* code_;
  std::string model_;
};

using Loaded = Result<std::unique_ptr<NativeCode>>;

void take_problem(void* context, const char* bytes, size_t size) {
  static_cast<std::string*>(context)->append(bytes, size);
}

Loaded load(const CompiledProgram& program) {
  const EmittedModel& model = program.emitted;
  const auto object =
      std::find_if(model.sources.begin(), model.sources.end(), [&](const SourceFile& file) {
        return file.path == model.name + kModelFile || file.path == model.name + kKernelsFile;
      });
  if (object == model.sources.end()) return Loaded(std::unique_ptr<NativeCode>());
  INTARSIA_TRY(const Component component, the_component());
  std::string problem;
  intarsia_llvm_code* code =
      component.load(object->text.data(), object->text.size(), take_problem, &problem);
  if (!problem.empty())
    return Diagnostics(model.name, "LLVM does not load the code: " + problem,
                       "'intarsia run --native' builds a program with it and runs that");
  if (code == nullptr) return Loaded(std::unique_ptr<NativeCode>());
  return Loaded(std::make_unique<LoadedObject>(component, code, model.name));
}

}  // namespace

void add_engine(EngineRegistry& registry) {
  registry.add_native_code("llvm", load);
}

}  // namespace intarsia::targets::llvm
