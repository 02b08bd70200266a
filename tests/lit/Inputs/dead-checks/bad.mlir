// RUN: tile-opt %s | FileCheck %s
// CHECK-LABEL: func @f
// CHECK-NEXT return
// CHECK-NEXTT: return
// CHEKC: return
