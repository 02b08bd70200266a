//===- Reference.td - all passes, for their page of the reference ----------===//
//
// Those over functions of whole tensors have declarations of their own, in a namespace of their
// own.
//
//===----------------------------------------------------------------------===//
include "passes/Passes.td"
include "passes/graph/GraphPasses.td"
