// Each layout once, as a table of lanes and registers, with who has it.
// RUN: tile-opt %s --print-layouts="rows=4 columns=4" -o /dev/null | FileCheck %s --strict-whitespace
// RUN: tile-opt %s --print-layouts="tables=2" -o /dev/null | FileCheck %s --check-prefix=ALL
func.func @kernel() {
  // CHECK: {{^}}#cta.layout<{register = {{.*}} : [8, 16]>{{$}}
  // CHECK-NEXT:{{^}}of arith.constant, math.exp (2){{$}}
  // CHECK-NEXT:{{^}}warp 0{{$}}
  // CHECK-NEXT:{{^}}lane   |  r0  r1  r2  r3{{$}}
  // CHECK-NEXT:{{^}}0      | 0,0 0,1 4,0 4,1{{$}}
  // CHECK-NEXT:{{^}}1      | 0,2 0,3 4,2 4,3{{$}}
  // CHECK-NEXT:{{^}}2      | 0,4 0,5 4,4 4,5{{$}}
  // CHECK-NEXT:{{^}}3      | 0,6 0,7 4,6 4,7{{$}}
  // CHECK-NEXT:{{^}}... 28 more of 32 rows{{$}}
  // CHECK-NEXT:{{^}}... 1 more of 2 tables{{$}}
  // Warps hold the same.
  // ALL: warp 1
  // ALL: {{^}}31     | 3,14' 3,15' 7,14' 7,15'{{$}}
  %0 = arith.constant dense<1.0> : tensor<8x16xf32, #cta.layout<{register = [[0, 1], [4, 0]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[0, 0]]} : [8, 16]>>
  %1 = math.exp %0 : tensor<8x16xf32, #cta.layout<{register = [[0, 1], [4, 0]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[0, 0]]} : [8, 16]>>
  %2 = math.exp %1 : tensor<8x16xf32, #cta.layout<{register = [[0, 1], [4, 0]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[0, 0]]} : [8, 16]>>
  return
}
