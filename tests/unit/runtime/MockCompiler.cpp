//===- MockCompiler.cpp - the one symbol of the compiler that keys need ---===//
#include "compiler/Compiler.h"

llvm::StringRef tile::compilerVersion() { return "test"; }
