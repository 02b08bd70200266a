//===- Parser.h - from text to a syntax tree ------------------------------===//
#ifndef TILE_FRONTEND_PARSER_H
#define TILE_FRONTEND_PARSER_H

#include "frontend/AST.h"

namespace tile::frontend {

/// Parses a whole file of Python. Reports every syntax error it can recover
/// from (at statement boundaries) and returns the statements that parsed.
/// Never crashes, whatever the bytes; nesting deeper than a fixed limit is an
/// error.
ast::Module parse(const SourceFile &file, DiagnosticEngine &diagnostics);

/// Parses one expression (option values, signature defaults).
/// Returns null after reporting an error.
ast::ExprPtr parseExpression(const SourceFile &file, DiagnosticEngine &diagnostics);

} // namespace tile::frontend

#endif // TILE_FRONTEND_PARSER_H
