// What the verifiers of the graph dialect refuse, one violation a split.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// graph_tensor_c1
// expected-error@+1 {{`M, 2*`: a size is missing}}
func.func @formula(%x: !graph.tensor<"M, 2*", f32>) { return }

// -----

// graph_tensor_c1
// expected-error@+1 {{`K*2` is spelled `2*K`}}
func.func @spelling(%x: !graph.tensor<"K*2", f32>) { return }

// -----

// graph_tensor_c2
// expected-error@+1 {{elements are integers or floats}}
func.func @elements(%x: !graph.tensor<"M", index>) { return }

// -----

// graph_constant_c1
func.func @number() {
  // expected-error@+1 {{must have no dimensions}}
  %0 = graph.constant 1.0 : f64 : !graph.tensor<"M", f32>
  return
}

// -----

// graph_constant_c2
func.func @number() {
  // expected-error@+1 {{must be an f64 or an i64}}
  %0 = graph.constant 1.0 : f32 : !graph.tensor<"", f32>
  return
}

// -----

// graph_size_c1
func.func @size() {
  // expected-error@+1 {{must have no dimensions, and elements of i64}}
  %0 = graph.size "M" : !graph.tensor<"", i32>
  return
}

// -----

// graph_index_c1
func.func @index() {
  // expected-error@+1 {{must have one dimension, and elements of i32}}
  %0 = graph.index : !graph.tensor<"M, N", i32>
  return
}

// -----

// graph_map_c1
func.func @operands(%x: !graph.tensor<"M", f32>) {
  // expected-error@+1 {{needs 2 operands}}
  %0 = graph.map add(%x) : (!graph.tensor<"M", f32>) -> !graph.tensor<"M", f32>
  return
}

// -----

// graph_map_c2
func.func @shapes(%x: !graph.tensor<"M", f32>, %y: !graph.tensor<"N", f32>) {
  // expected-error@+1 {{operands do not broadcast}}
  %0 = graph.map add(%x, %y) : (!graph.tensor<"M", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"M", f32>
  return
}

// -----

// graph_map_c2
func.func @result(%x: !graph.tensor<"M, 1", f32>, %y: !graph.tensor<"N", f32>) {
  // expected-error@+1 {{operands broadcast to (M, N)}}
  %0 = graph.map add(%x, %y) : (!graph.tensor<"M, 1", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N, M", f32>
  return
}

// -----

// graph_cast_c1
func.func @cast(%x: !graph.tensor<"M", f32>) {
  // expected-error@+1 {{must keep the shape}}
  %0 = graph.cast %x : !graph.tensor<"M", f32> -> !graph.tensor<"N", f16>
  return
}

// -----

// graph_reduce_c1
func.func @axes(%x: !graph.tensor<"M, N", f32>) {
  // expected-error@+1 {{axes must be dimensions of the operand, in order}}
  %0 = graph.reduce sum %x [1, 0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"", f32>
  return
}

// -----

// graph_reduce_c2
func.func @left(%x: !graph.tensor<"M, N", f32>) {
  // expected-error@+1 {{leaves (M,)}}
  %0 = graph.reduce sum %x [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N", f32>
  return
}

// -----

// graph_rearrange_c1
func.func @twice(%x: !graph.tensor<"M, N", f32>) {
  // expected-error@+1 {{must name dimensions of the operand, each once}}
  %0 = graph.rearrange %x [0, 0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M, M", f32>
  return
}

// -----

// graph_rearrange_c1
func.func @forgotten(%x: !graph.tensor<"M, N", f32>) {
  // expected-error@+1 {{leaves dimension 1 out, which is not 1}}
  %0 = graph.rearrange %x [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
  return
}

// -----

// graph_rearrange_c2
func.func @order(%x: !graph.tensor<"M, N", f32>) {
  // expected-error@+1 {{gives (N, 1, M)}}
  %0 = graph.rearrange %x [1, -1, 0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N, M", f32>
  return
}

// -----

// graph_matmul_c1
func.func @vector(%x: !graph.tensor<"M, K", f32>, %y: !graph.tensor<"K", f32>) {
  // expected-error@+1 {{operands must have two dimensions at least}}
  %0 = graph.matmul %x, %y : !graph.tensor<"M, K", f32>, !graph.tensor<"K", f32> -> !graph.tensor<"M", f32>
  return
}

// -----

// graph_matmul_c2
func.func @inner(%x: !graph.tensor<"M, K", f32>, %y: !graph.tensor<"N, K", f32>) {
  // expected-error@+1 {{multiplies K columns with N rows}}
  %0 = graph.matmul %x, %y : !graph.tensor<"M, K", f32>, !graph.tensor<"N, K", f32> -> !graph.tensor<"M, K", f32>
  return
}

// -----

// graph_matmul_c3
func.func @product(%x: !graph.tensor<"B, M, K", f32>, %y: !graph.tensor<"K, N", f32>) {
  // expected-error@+1 {{does not give the shape of its result}}
  %0 = graph.matmul %x, %y : !graph.tensor<"B, M, K", f32>, !graph.tensor<"K, N", f32> -> !graph.tensor<"M, N", f32>
  return
}

// -----

// graph_kernel_c1
func.func @region(%x: !graph.tensor<"M", f32>) {
  // expected-error@+1 {{must pass its operands to the region}}
  %0 = graph.kernel "k"(%x) : (!graph.tensor<"M", f32>) -> !graph.tensor<"N", f32> {
  ^bb0(%a: !graph.tensor<"N", f32>):
    graph.yield %a : !graph.tensor<"N", f32>
  }
  return
}

// -----

// graph_kernel_c2
func.func @yields(%x: !graph.tensor<"M", f32>) {
  // expected-error@+1 {{must end in a `graph.yield` of its results}}
  %0 = graph.kernel "k"(%x) : (!graph.tensor<"M", f32>) -> !graph.tensor<"N", f32> {
  ^bb0(%a: !graph.tensor<"M", f32>):
    graph.yield %a : !graph.tensor<"M", f32>
  }
  return
}

// -----

// graph_partial_c1
func.func @part_axes(%x: !graph.tensor<"M, N", f32>) {
  // expected-error@+1 {{axes must be dimensions of the operand, in order}}
  %0 = graph.partial sum %x [2] : !graph.tensor<"M, N", f32> -> !graph.tensor<"P, M, N", f32>
  return
}

// -----

// graph_partial_c2
func.func @part_shape(%x: !graph.tensor<"M, N", f32>) {
  // expected-error@+1 {{must have a first dimension with a name, and then leaves (N,)}}
  %0 = graph.partial sum %x [0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"4, N", f32>
  return
}

// -----

// graph_partial_c3
func.func @part_type(%x: !graph.tensor<"M, N", f16>) {
  // expected-error@+1 {{must have elements as its operand's are computed in}}
  %0 = graph.partial sum %x [0] : !graph.tensor<"M, N", f16> -> !graph.tensor<"P, N", f16>
  return
}

// -----

// graph_window_c1
func.func @starts(%x: !graph.tensor<"M, N", f16>) {
  // expected-error@+1 {{needs 2 starts}}
  %0 = graph.window %x ["0"] : !graph.tensor<"M, N", f16> -> !graph.tensor<"M, N", f16>
  return
}

// -----

// graph_window_c1
func.func @start_formula(%x: !graph.tensor<"M", f16>) {
  // expected-error@+1 {{"2*": a size is missing}}
  %0 = graph.window %x ["2*"] : !graph.tensor<"M", f16> -> !graph.tensor<"M", f16>
  return
}

// -----

// graph_window_c2
func.func @window_rank(%x: !graph.tensor<"M", f16>) {
  // expected-error@+1 {{must keep the number of dimensions and the type}}
  %0 = graph.window %x ["0"] : !graph.tensor<"M", f16> -> !graph.tensor<"M", f32>
  return
}

// -----

// graph_gather_c1
func.func @too_few(%x: !graph.tensor<"M, N", f16>, %i: !graph.tensor<"K", i32>) {
  // expected-error@+1 {{needs 2 indices}}
  %0 = graph.gather %x [%i] : (!graph.tensor<"M, N", f16>, !graph.tensor<"K", i32>) -> !graph.tensor<"K", f16>
  return
}

// -----

// graph_gather_c1
func.func @not_whole(%x: !graph.tensor<"M", f16>, %i: !graph.tensor<"K", f32>) {
  // expected-error@+1 {{indices must be integers}}
  %0 = graph.gather %x [%i] : (!graph.tensor<"M", f16>, !graph.tensor<"K", f32>) -> !graph.tensor<"K", f16>
  return
}

// -----

// graph_gather_c2
func.func @gather_shape(%x: !graph.tensor<"M", f16>, %i: !graph.tensor<"K", i32>) {
  // expected-error@+1 {{indices broadcast to (K,)}}
  %0 = graph.gather %x [%i] : (!graph.tensor<"M", f16>, !graph.tensor<"K", i32>) -> !graph.tensor<"M", f16>
  return
}

// -----

// graph_gather_c3
func.func @gather_type(%x: !graph.tensor<"M", f16>, %i: !graph.tensor<"K", i32>) {
  // expected-error@+1 {{must keep the type}}
  %0 = graph.gather %x [%i] : (!graph.tensor<"M", f16>, !graph.tensor<"K", i32>) -> !graph.tensor<"K", f32>
  return
}

// -----

// graph_reshape_c1
func.func @reshape_count(%x: !graph.tensor<"M, N", f16>) {
  // expected-error@+1 {{makes 2*M*N elements of M*N}}
  %0 = graph.reshape %x : !graph.tensor<"M, N", f16> -> !graph.tensor<"2*M*N", f16>
  return
}

// -----

// graph_reshape_c2
func.func @reshape_type(%x: !graph.tensor<"M, N", f16>) {
  // expected-error@+1 {{must keep the type}}
  %0 = graph.reshape %x : !graph.tensor<"M, N", f16> -> !graph.tensor<"M*N", f32>
  return
}

// -----

// graph_scan_c1
func.func @scan_axis(%x: !graph.tensor<"M, N", f16>) {
  // expected-error@+1 {{the axis must be a dimension}}
  %0 = graph.scan sum %x 2 : !graph.tensor<"M, N", f16>
  return
}

// -----

// graph_scan_c2
func.func @scan_integers(%x: !graph.tensor<"M", i32>) {
  // expected-error@+1 {{needs floats}}
  %0 = graph.scan logaddexp %x 0 : !graph.tensor<"M", i32>
  return
}

// -----

// graph_launch_c1
func.func @launch_result(%x: !graph.tensor<"M", f16>) {
  // expected-error@+1 {{must have a result}}
  graph.launch "k" 0 (%x) : (!graph.tensor<"M", f16>) -> ()
  return
}

// -----

// Attributes (ir/graph/Attributes.h): those that nobody reads, or not there.
// expected-error@+1 {{has an attribute that no pass knows: `graph.updated`}}
func.func @misspelt() attributes {graph.updated = array<i64: 0>} { return }

// -----

// expected-error@+1 {{attribute `graph.updates` must be an array of i64}}
func.func @type_of_array() attributes {graph.updates = [0]} { return }

// -----

// expected-error@+1 {{attribute `graph.requires` must be an array of strings}}
func.func @type_of_elements() attributes {graph.requires = [0]} { return }

// -----

// expected-error@+1 {{cannot carry `graph.chained`}}
func.func @no_product() attributes {graph.chained} { return }

// -----

// expected-error@+1 {{cannot carry `graph.tuple`}}
func.func @no_function(%x: !graph.tensor<"M", f32> {graph.tuple}) { return }

// -----

// expected-error@+1 {{cannot carry `graph.name`}}
func.func @no_parameter() attributes {graph.name = "x"} { return }

// -----

// graph_join_c1
func.func @nothing() {
  // expected-error@+1 {{must join something}}
  %0 = graph.join 0 : () -> !graph.tensor<"M", f32>
  return
}

// -----

// graph_join_c2
func.func @axis(%x: !graph.tensor<"M", f32>) {
  // expected-error@+1 {{the axis must be a dimension of the result}}
  %0 = graph.join %x 1 : (!graph.tensor<"M", f32>) -> !graph.tensor<"M", f32>
  return
}

// -----

// graph_join_c3
func.func @parts(%x: !graph.tensor<"M, N", f32>, %y: !graph.tensor<"M, K", f32>) {
  // expected-error@+1 {{cannot join (M, K)}}
  %0 = graph.join %x, %y 0 : (!graph.tensor<"M, N", f32>, !graph.tensor<"M, K", f32>) -> !graph.tensor<"2*M, N", f32>
  return
}

// -----

// graph_join_c3
func.func @dimensions(%x: !graph.tensor<"M", f32>) {
  // expected-error@+1 {{cannot join (M,)}}
  %0 = graph.join %x 0 : (!graph.tensor<"M", f32>) -> !graph.tensor<"M, N", f32>
  return
}

// -----

// graph_join_c3
func.func @total(%x: !graph.tensor<"M", f32>, %y: !graph.tensor<"N", f32>) {
  // expected-error@+1 {{has M + N elements along the axis}}
  %0 = graph.join %x, %y 0 : (!graph.tensor<"M", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"2*M", f32>
  return
}

// -----

// graph_join_c4
func.func @types(%x: !graph.tensor<"M", f32>, %y: !graph.tensor<"M", f16>) {
  // expected-error@+1 {{must keep the type}}
  %0 = graph.join %x, %y 0 : (!graph.tensor<"M", f32>, !graph.tensor<"M", f16>) -> !graph.tensor<"2*M", f32>
  return
}
