// RUN: tile-opt %s --allow-unregistered-dialect --tile-count-loops --cse | FileCheck %s

// A loop that counts down becomes one that counts up what has gone; what it leaves is told
// in its turns.
// CHECK-LABEL: func.func @down
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C63:.*]] = arith.constant 63 : i32
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
// CHECK: %[[MOST:.*]] = arith.maxsi %arg0, %[[C63]]
// CHECK: %[[TURNS:.*]] = arith.divsi %[[MOST]], %[[C64]]
// CHECK: %[[TO:.*]] = arith.subi %[[MOST]], %[[C63]]
// CHECK: scf.for %[[GONE:.*]] = %[[C0]] to %[[TO]] step %[[C64]]
// CHECK: arith.subi %arg0, %[[GONE]]
// CHECK: tile.dot
// CHECK: %[[SOME:.*]] = arith.maxsi %[[TURNS]], %[[C0]]
// CHECK: %[[ALL:.*]] = arith.muli %[[C64]], %[[SOME]]
// CHECK: %[[LEFT:.*]] = arith.subi %arg0, %[[ALL]]
// CHECK: return %{{.*}}, %[[LEFT]]
func.func @down(%n: i32, %x: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> (tensor<16x16xf32>, i32) {
  %c64 = arith.constant 64 : i32
  %r:2 = scf.while (%left = %n, %sum = %acc) : (i32, tensor<16x16xf32>) -> (i32, tensor<16x16xf32>) {
    %more = arith.cmpi sge, %left, %c64 : i32
    scf.condition(%more) %left, %sum : i32, tensor<16x16xf32>
  } do {
  ^bb0(%left: i32, %sum: tensor<16x16xf32>):
    "test.use"(%left) : (i32) -> ()
    %s = tile.dot %x, %x, %sum : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %next = arith.subi %left, %c64 : i32
    scf.yield %next, %s : i32, tensor<16x16xf32>
  }
  return %r#1, %r#0 : tensor<16x16xf32>, i32
}

// The loop's variable takes the place of what counts up; the limit does not wrap around.
// CHECK-LABEL: func.func @up
// CHECK: %[[LEAST:.*]] = arith.constant -2147483585 : i32
// CHECK: %[[LIMIT:.*]] = arith.maxsi %arg0, %[[LEAST]]
// CHECK: %[[TO:.*]] = arith.addi %[[LIMIT]], %c-63_i32
// CHECK: scf.for %[[I:.*]] = %arg1 to %[[TO]] step %c64_i32
// CHECK: "test.use"(%[[I]])
func.func @up(%n: i32, %first: i32, %x: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c64 = arith.constant 64 : i32
  %r:2 = scf.while (%i = %first, %sum = %acc) : (i32, tensor<16x16xf32>) -> (i32, tensor<16x16xf32>) {
    %end = arith.addi %i, %c64 : i32
    %more = arith.cmpi sle, %end, %n : i32
    scf.condition(%more) %i, %sum : i32, tensor<16x16xf32>
  } do {
  ^bb0(%i: i32, %sum: tensor<16x16xf32>):
    "test.use"(%i) : (i32) -> ()
    %s = tile.dot %x, %x, %sum : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %next = arith.addi %i, %c64 : i32
    scf.yield %next, %s : i32, tensor<16x16xf32>
  }
  return %r#1 : tensor<16x16xf32>
}

// Neither counts towards a limit that is known before it: away from it, by a number that
// is not known, to a limit that changes, until it is met exactly.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: scf.while
// CHECK-NOT: scf.for
func.func @others(%n: i32, %by: i32, %x: tensor<16x16xf16>, %acc: tensor<16x16xf32>)
    -> (i32, i32, i32, i32, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %d = tile.dot %x, %x, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %away = scf.while (%i = %n) : (i32) -> i32 {
    %more = arith.cmpi sgt, %i, %c0 : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %c64 : i32
    scf.yield %next : i32
  }
  %unknown = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %by : i32
    scf.yield %next : i32
  }
  %changing:2 = scf.while (%i = %c0, %m = %n) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %m : i32
    scf.condition(%more) %i, %m : i32, i32
  } do {
  ^bb0(%i: i32, %m: i32):
    %next = arith.addi %i, %c64 : i32
    %less = arith.subi %m, %by : i32
    scf.yield %next, %less : i32, i32
  }
  %exact = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi ne, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %c64 : i32
    scf.yield %next : i32
  }
  return %away, %unknown, %changing#0, %exact, %d : i32, i32, i32, i32, tensor<16x16xf32>
}

// Pointers behind a loop over n / 64 turns: the quotient that the program has, and 64 bits for
// the distance. What n % 64 leaves is told by it, too.
// CHECK-LABEL: func.func @behind
// CHECK: %[[Q:.*]] = arith.divsi %arg0, %c64_i32
// CHECK: %[[END:.*]] = arith.subi %arg0, %c63_i32
// CHECK: scf.for {{.*}} to %[[END]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[Q]], %c64_i32
// CHECK: %[[REST:.*]] = arith.subi %arg0, %[[WHOLE]]
// CHECK: %[[TURNS:.*]] = arith.maxsi %[[Q]], %c0_i32
// CHECK: %[[WIDE:.*]] = arith.extsi %[[TURNS]] : i32 to i64
// CHECK: %[[FAR:.*]] = arith.muli %[[WIDE]], %c64_i64
// CHECK: %[[SPLAT:.*]] = tile.splat %[[FAR]]
// CHECK: %[[P:.*]] = tile.addptr %arg1, %[[SPLAT]]
// CHECK: return %[[P]], %[[REST]]
func.func @behind(%n: i32, %p: tensor<16x!tile.ptr<f16>>, %x: tensor<16x16xf16>, %acc: tensor<16x16xf32>)
    -> (tensor<16x!tile.ptr<f16>>, i32, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %step = arith.constant dense<64> : tensor<16xi32>
  %end = arith.subi %n, %c63 : i32
  %r:2 = scf.for %i = %c0 to %end step %c64 iter_args(%q = %p, %sum = %acc)
      -> (tensor<16x!tile.ptr<f16>>, tensor<16x16xf32>) : i32 {
    "test.use"(%q) : (tensor<16x!tile.ptr<f16>>) -> ()
    %s = tile.dot %x, %x, %sum : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %next = tile.addptr %q, %step : tensor<16x!tile.ptr<f16>>, tensor<16xi32>
    scf.yield %next, %s : tensor<16x!tile.ptr<f16>>, tensor<16x16xf32>
  }
  %rest = arith.remsi %n, %c64 : i32
  return %r#0, %rest, %r#1 : tensor<16x!tile.ptr<f16>>, i32, tensor<16x16xf32>
}

// What grows by something else in each turn stays with the loop; so does what grows in
// kernels without products.
// CHECK-LABEL: func.func @irregular
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK: return %[[R]]#0
func.func @irregular(%n: i32, %x: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> (i32, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %c0, %sum = %acc) -> (i32, tensor<16x16xf32>) : i32 {
    %s = tile.dot %x, %x, %sum : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %next = arith.addi %q, %i : i32
    scf.yield %next, %s : i32, tensor<16x16xf32>
  }
  return %r#0, %r#1 : i32, tensor<16x16xf32>
}

// CHECK-LABEL: func.func @no_product
// CHECK: %[[R:.*]] = scf.for
// CHECK: return %[[R]]
func.func @no_product(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %c0) -> i32 : i32 {
    "test.use"(%q) : (i32) -> ()
    %next = arith.addi %q, %c1 : i32
    scf.yield %next : i32
  }
  return %r : i32
}

// The mask of a block that no turn leaves is none, and a first turn that begins what others go
// on with stands before the loop.
// CHECK-LABEL: func.func @first_turn
// CHECK: %[[FIRST:.*]] = tile.load %arg0 : tensor<8x!tile.ptr<f32>>
// CHECK: scf.for %{{.*}} = %c8_i32 to %c64_i32 step %c8_i32 iter_args(%[[SUM:.*]] = %[[FIRST]])
// CHECK-NOT: arith.cmpi
// CHECK-NOT: scf.if
// CHECK: %[[NEXT:.*]] = tile.load %{{[a-z0-9]+}} : tensor<8x!tile.ptr<f32>>
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM]], %[[NEXT]]
// CHECK-NEXT: scf.yield %[[MORE]]
func.func @first_turn(%p: tensor<8x!tile.ptr<f32>>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %end = arith.constant dense<64> : tensor<8xi32>
  %range = tile.make_range 0 to 8 : tensor<8xi32>
  %r = scf.for %i = %c0 to %c64 step %c8 iter_args(%sum = %zero) -> tensor<8xf32> : i32 {
    %from = tile.splat %i : i32 -> tensor<8xi32>
    %at = arith.addi %from, %range : tensor<8xi32>
    %mask = arith.cmpi slt, %at, %end : tensor<8xi32>
    %q = tile.addptr %p, %from : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
    %x = tile.load %q, %mask, other %zero : tensor<8x!tile.ptr<f32>>
    %begins = arith.cmpi eq, %i, %c0 : i32
    %next = scf.if %begins -> tensor<8xf32> {
      scf.yield %x : tensor<8xf32>
    } else {
      %more = arith.addf %sum, %x : tensor<8xf32>
      scf.yield %more : tensor<8xf32>
    }
    %kept = arith.select %mask, %next, %sum : tensor<8xi1>, tensor<8xf32>
    scf.yield %kept : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The last turn leaves the block's end: the mask stays. So does one that no bound is known for.
// CHECK-LABEL: func.func @ragged_turn
// CHECK: scf.for
// CHECK: tile.load %{{[a-z0-9]+}}, %{{[a-z0-9]+}}
// CHECK: scf.for
// CHECK: tile.load %{{[a-z0-9]+}}, %{{[a-z0-9]+}}
func.func @ragged_turn(%p: tensor<8x!tile.ptr<f32>>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c63 = arith.constant 63 : i32
  %end = arith.constant dense<63> : tensor<8xi32>
  %range = tile.make_range 0 to 8 : tensor<8xi32>
  scf.for %i = %c0 to %c63 step %c8 : i32 {
    %from = tile.splat %i : i32 -> tensor<8xi32>
    %at = arith.addi %from, %range : tensor<8xi32>
    %mask = arith.cmpi slt, %at, %end : tensor<8xi32>
    %x = tile.load %p, %mask : tensor<8x!tile.ptr<f32>>
    "test.use"(%x) : (tensor<8xf32>) -> ()
  }
  scf.for %i = %c0 to %n step %c8 : i32 {
    %from = tile.splat %i : i32 -> tensor<8xi32>
    %at = arith.addi %from, %range : tensor<8xi32>
    %mask = arith.cmpi slt, %at, %end : tensor<8xi32>
    %x = tile.load %p, %mask : tensor<8x!tile.ptr<f32>>
    "test.use"(%x) : (tensor<8xf32>) -> ()
  }
  return
}

// Positions that go on by another number in each turn: the loop carries the sum of the numbers, and
// the range can be wherever it is needed. What every turn adds alike is told by the counter.
// CHECK-LABEL: func.func @next_in_list
// CHECK: %[[RANGE:.*]] = tile.make_range 0 to 8
// CHECK: %[[LOOP:.*]]:{{[0-9]+}} = scf.for {{.*}} iter_args({{.*}}, %[[SUM:[a-z0-9]+]] = %{{.*}})
// CHECK-NEXT: %[[BY:.*]] = tile.splat %[[SUM]]
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[RANGE]], %[[BY]]
// CHECK: "test.use"(%[[AT]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[SUM]], %{{.*}} : i32
// CHECK: scf.yield {{.*}}%[[NEXT]]
func.func @next_in_list(%list: !tile.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %range = tile.make_range 0 to 8 : tensor<8xi32>
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %p = tile.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%at = %range) -> (tensor<8xi32>) : i32 {
    "test.use"(%at) : (tensor<8xi32>) -> ()
    %item = tile.addptr %list, %i : !tile.ptr<i32>, i32
    %by = tile.load %item : !tile.ptr<i32>
    %all = tile.splat %by : i32 -> tensor<8xi32>
    %next = arith.addi %all, %at : tensor<8xi32>
    scf.yield %next : tensor<8xi32>
  }
  "test.use"(%last) : (tensor<8xi32>) -> ()
  "test.use"(%p) : (tensor<16x16xf32>) -> ()
  return
}

// So do pointers, by sums of 64 bits.
// CHECK-LABEL: func.func @next_rows
// CHECK: %[[LOOP:.*]]:{{[0-9]+}} = scf.for {{.*}} iter_args({{.*}}, %[[SUM:[a-z0-9]+]] = %{{.*}})
// CHECK-NEXT: %[[BY:.*]] = tile.splat %[[SUM]] : i64 -> tensor<8xi64>
// CHECK-NEXT: %[[AT:.*]] = tile.addptr %arg0, %[[BY]]
// CHECK: "test.use"(%[[AT]])
// CHECK: %[[MORE:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[SUM]], %[[MORE]] : i64
// CHECK: scf.yield {{.*}}%[[NEXT]]
func.func @next_rows(%rows: tensor<8x!tile.ptr<f32>>, %list: !tile.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.constant dense<1.0> : tensor<16x16xf16>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %p = tile.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%at = %rows) -> (tensor<8x!tile.ptr<f32>>) : i32 {
    "test.use"(%at) : (tensor<8x!tile.ptr<f32>>) -> ()
    %item = tile.addptr %list, %i : !tile.ptr<i32>, i32
    %by = tile.load %item : !tile.ptr<i32>
    %all = tile.splat %by : i32 -> tensor<8xi32>
    %next = tile.addptr %at, %all : tensor<8x!tile.ptr<f32>>, tensor<8xi32>
    scf.yield %next : tensor<8x!tile.ptr<f32>>
  }
  "test.use"(%last) : (tensor<8x!tile.ptr<f32>>) -> ()
  "test.use"(%p) : (tensor<16x16xf32>) -> ()
  return
}

// A search halves a range that is known: its turns stand one behind the other, and of what is left
// of the range only constants are.
// CHECK-LABEL: func.func @search
// CHECK-NOT: scf.while
// CHECK-COUNT-3: "test.look"
// CHECK-NOT: "test.look"
// CHECK: return
func.func @search(%low: tensor<8xi32>) -> (tensor<8xi32>, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c5 = arith.constant 5 : i32
  %r:2 = scf.while (%at = %low, %left = %c5) : (tensor<8xi32>, i32) -> (tensor<8xi32>, i32) {
    %more = arith.cmpi sgt, %left, %c1 : i32
    scf.condition(%more) %at, %left : tensor<8xi32>, i32
  } do {
  ^bb0(%at: tensor<8xi32>, %left: i32):
    %next = "test.look"(%at) : (tensor<8xi32>) -> tensor<8xi32>
    %half = arith.addi %left, %c1 : i32
    %rest = arith.divsi %half, %c2 : i32
    scf.yield %next, %rest : tensor<8xi32>, i32
  }
  return %r#0, %r#1 : tensor<8xi32>, i32
}

// What is searched is not known, or takes too many turns: a loop.
// CHECK-LABEL: func.func @endless
// CHECK-COUNT-2: scf.while
func.func @endless(%low: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c1000 = arith.constant 1000 : i32
  %r = scf.while (%left = %low) : (i32) -> i32 {
    %more = arith.cmpi sgt, %left, %c1 : i32
    scf.condition(%more) %left : i32
  } do {
  ^bb0(%left: i32):
    "test.look"(%left) : (i32) -> ()
    %rest = arith.divsi %left, %c2 : i32
    scf.yield %rest : i32
  }
  %s = scf.while (%left = %c1000) : (i32) -> i32 {
    %more = arith.cmpi ne, %left, %c1 : i32
    scf.condition(%more) %left : i32
  } do {
  ^bb0(%left: i32):
    "test.look"(%left) : (i32) -> ()
    %flip = arith.xori %left, %c2 : i32
    scf.yield %flip : i32
  }
  return %r, %s : i32, i32
}

// Around products branches are decided that follow from a loop's bounds; masks stay.
// CHECK-LABEL: func.func @branches
// CHECK: scf.for
// CHECK: %[[M:.*]] = arith.cmpi sge
// CHECK-NEXT: %[[D:.*]] = tile.dot
// CHECK-NEXT: arith.select %[[M]], %[[D]]
func.func @branches(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %always = arith.cmpi sge, %i, %c0 : i32
    %next = scf.if %always -> (tensor<16x16xf32>) {
      %d = tile.dot %a, %b, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    } else {
      scf.yield %acc : tensor<16x16xf32>
    }
    %kept = arith.select %always, %next, %acc : tensor<16x16xf32>
    scf.yield %kept : tensor<16x16xf32>
  }
  return %sum : tensor<16x16xf32>
}

// What keeps its distance from the loop's variable is that: where it has caught up, and ahead of it by
// a number or by what is known before the loop.
// CHECK-LABEL: func.func @counters
// CHECK: %[[AHEAD:.*]] = arith.subi %arg1, %arg0
// CHECK: scf.for %[[T:.*]] = %arg0 to %arg2
// CHECK-DAG: %[[OTHER:.*]] = arith.addi %[[T]], %[[AHEAD]]
// CHECK-DAG: %[[NEAR:.*]] = arith.addi %[[T]], %c3_i32
// CHECK: "test.load"(%[[T]], %[[OTHER]], %[[NEAR]])
// CHECK: tile.dot
// CHECK: "test.store"(%[[T]])
func.func @counters(%first: i32, %far: i32, %n: i32, %x: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %before = arith.subi %first, %c8 : i32
  %near = arith.addi %first, %c3 : i32
  %r:4 = scf.for %t = %first to %n step %c8 iter_args(%c = %before, %d = %far, %e = %near, %sum = %acc) -> (i32, i32, i32, tensor<16x16xf32>) : i32 {
    "test.load"(%t, %d, %e) : (i32, i32, i32) -> ()
    %s = tile.dot %x, %x, %sum : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %c2 = arith.addi %c, %c8 : i32
    "test.store"(%c2) : (i32) -> ()
    %d2 = arith.addi %d, %c8 : i32
    %e2 = arith.addi %c8, %e : i32
    scf.yield %c2, %d2, %e2, %s : i32, i32, i32, tensor<16x16xf32>
  }
  return %r#3 : tensor<16x16xf32>
}

// One that grows by another number stays, and so does one that is needed behind a loop whose turns
// are not counted.
// CHECK-LABEL: func.func @other_counters
// CHECK: scf.for %[[T:.*]] = %arg0 to %arg1 step %c8_i32 iter_args(%[[C:.*]] = %c0_i32, %[[D:.*]] = %c0_i32,
// CHECK: "test.load"(%[[C]], %[[D]])
func.func @other_counters(%first: i32, %n: i32, %x: tensor<16x16xf16>, %acc: tensor<16x16xf32>) -> (i32, tensor<16x16xf32>) {
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %r:3 = scf.for %t = %first to %n step %c8 iter_args(%c = %c0, %d = %c0, %sum = %acc) -> (i32, i32, tensor<16x16xf32>) : i32 {
    "test.load"(%c, %d) : (i32, i32) -> ()
    %s = tile.dot %x, %x, %sum : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
    %c2 = arith.addi %c, %c7 : i32
    %d2 = arith.addi %d, %c8 : i32
    scf.yield %c2, %d2, %s : i32, i32, tensor<16x16xf32>
  }
  return %r#1, %r#2 : i32, tensor<16x16xf32>
}
