//===- Program.h - a function of whole tensors, behind tile.h ---------------===//
#ifndef TILE_RUNTIME_CAPI_PROGRAM_H
#define TILE_RUNTIME_CAPI_PROGRAM_H

#include "runtime/capi/Internal.h"
#include "runtime/capi/ProgramRecordings.h"
#include "runtime/capi/ProgramTuning.h"

/// A file's function with all that it was read from.
struct tile_program {
  std::shared_ptr<tile_compiler> compiler;
  std::unique_ptr<tile::frontend::SourceFile> file;
  tile::ast::Module module;
  std::unique_ptr<tile::eval::Program> files; ///< behind what it refers to
  tile::eval::PyValue function;
  tile::tensors::Signature signature;
  std::vector<std::string> resultTypes;
  std::unique_ptr<tile::TensorProgram> program;
  const tile::Target *target = nullptr;
  /// By the launch's key and the context.
  std::map<std::pair<std::string, tile::runtime::Context *>,
           std::shared_ptr<const tile::runtime::LoadedKernel>>
      kernels;
  bool repeats = false; ///< runs are recorded
  tile::runtime::capi::ProgramRecordings recordings;
  std::unique_ptr<tile::runtime::capi::ProgramTuning> tuning; ///< null: the model's cuts are taken
};

#endif // TILE_RUNTIME_CAPI_PROGRAM_H
