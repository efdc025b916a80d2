// The file that holds a program: the model's own tensors and operators where they stay, and for each stream an operator with its payload.
#pragma once

#include "tflite_writer/model_draft.h"
#include "tflite_writer/program.h"

namespace intarsia::tflite_writer {

// `steps` are those that the program was made of.
ModelDraft draft_file(const Original& model, const std::vector<Step>& steps, const Program& program,
                      const ProgramOperator& container);

}  // namespace intarsia::tflite_writer
