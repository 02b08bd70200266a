// RUN: tile-opt %s | FileCheck %s --check-prefix=FOO
// FOO: func
// CHECK: return
