//===- TileMemoryOps.td - pointers, loads and stores, atomics -------------===//
//
// Part of TileOps.td, which includes it.
//
#ifndef TILE_IR_TILEMEMORYOPS
#define TILE_IR_TILEMEMORYOPS

def Tile_AddPtrOp : Tile_ElementwiseOp<"addptr", [
    SameOperandsAndResultShape,
    TypesMatchWith<"result type matches the pointer", "ptr", "result", "$_self">]> {
  let summary = "advance a pointer by a number of elements";
  let description = [{
    `result = ptr + offset * sizeof(pointee)`. The offset is signed and may be
    of any integer width (the front end has zero-extended unsigned ones).
    ```mlir
    %q = tile.addptr %p, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "where to start from">:$ptr,
    Arg<Tile_Int, "how far, in elements of the pointee; signed, of any width">:$offset);
  let results = (outs
    Res<Tile_Ptr, "pointers of the operand's type">:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
  let hasFolder = 1;
}

def Tile_PtrToIntOp : Tile_ElementwiseOp<"ptr_to_int", [SameOperandsAndResultShape]> {
  let summary = "the address as an i64";
  let description = [{
    ```mlir
    %a = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "pointers into global memory">:$src);
  let results = (outs
    Res<Tile_Int, "their addresses in bytes, of the same shape">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_IntToPtrOp : Tile_ElementwiseOp<"int_to_ptr", [SameOperandsAndResultShape]> {
  let summary = "a pointer from an i64 address";
  let description = [{
    ```mlir
    %p = tile.int_to_ptr %a : i64 -> !tile.ptr<f32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Int, "addresses in bytes of global memory">:$src);
  let results = (outs
    Res<Tile_Ptr, "pointers to any pointee, of the same shape">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_PtrCastOp : Tile_ElementwiseOp<"ptr_cast", [SameOperandsAndResultShape]> {
  let summary = "the same address with another pointee type";
  let description = [{
    ```mlir
    %q = tile.ptr_cast %p : !tile.ptr<i1> -> !tile.ptr<i8>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "pointers to any type">:$src);
  let results = (outs
    Res<Tile_Ptr, "the same addresses as pointers to another type">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read elements through pointers";
  let description = [{
    `result[i] = mask[i] ? *ptr[i] : other[i]`. A lane whose mask is false
    touches no memory. Without `other` such a lane yields zero (the language
    leaves it undefined; kernels in the wild rely on zero).

    The pointee is never i1: the front end reads bytes and compares with zero.

    `vector` is what the coalescing pass proved: the accesses fall into aligned
    groups of that many consecutive elements along the fastest dimension of
    the layout, each with one common mask value. It is 1 until then.

    Constraints:
    }] # accessRules # [{
    - `load_c1`: `other` comes with a mask
    - `load_c2`: `other` is of the result's type
    ```mlir
    %v = tile.load %p, %m, other %o : tensor<128x!tile.ptr<f32>>
    %w = tile.load %p, %m cache = cg evict = evict_last {vector = 4 : i32} : tensor<128x!tile.ptr<f32>>
    %s = tile.load %q : !tile.ptr<f16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "where each element is read, aligned to its size">:$ptr,
    Arg<Optional<Tile_Bool>, "where it is false nothing is read; absent: true everywhere">:$mask,
    Arg<Optional<Tile_Any>, "what elements with a false mask become; absent: zero">:$other,
    Arg<DefaultValuedAttr<Tile_CacheModifier, "::tile::CacheModifier::none">,
        "in which caches the data is looked for and kept">:$cache,
    Arg<DefaultValuedAttr<Tile_EvictionPolicy, "::tile::EvictionPolicy::normal">,
        "how soon the lines read may be evicted from the L2 cache">:$evict,
    Arg<DefaultValuedAttr<BoolAttr, "false">,
        "true: the read happens, exactly once, where it stands">:$is_volatile,
    Arg<DefaultValuedAttr<I32Attr, "1">,
        "elements in each aligned group that is read at once, a power of two">:$vector);
  let results = (outs
    Res<Tile_Any, "what was read, of the pointee type and the pointers' shape">:$result);
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` `other` $other^)? (`cache` `=` $cache^)? (`evict` `=` $evict^)?
    attr-dict `:` custom<PointeeBlock>(ref($mask), ref($other), type($ptr), type($result), type($mask), type($other))
  }];
  let builders = [OpBuilder<(ins "mlir::Value":$ptr, "mlir::Value":$mask, "mlir::Value":$other,
      CArg<"::tile::CacheModifier", "::tile::CacheModifier::none">:$cache,
      CArg<"::tile::EvictionPolicy", "::tile::EvictionPolicy::normal">:$evict,
      CArg<"bool", "false">:$is_volatile)>];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "write elements through pointers";
  let description = [{
    `if mask[i]: *ptr[i] = value[i]`. Each element is written once, however
    many threads hold a copy of it. `vector` as in `tile.load`.

    Constraints:
    }] # accessRules # [{
    ```mlir
    tile.store %p, %v, %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "where each element is written, aligned to its size">:$ptr,
    Arg<Tile_Any, "what is written, of the pointee type and the pointers' shape">:$value,
    Arg<Optional<Tile_Bool>,
        "where it is false nothing is written; absent: true everywhere">:$mask,
    Arg<DefaultValuedAttr<Tile_CacheModifier, "::tile::CacheModifier::none">,
        "in which caches the data is kept">:$cache,
    Arg<DefaultValuedAttr<Tile_EvictionPolicy, "::tile::EvictionPolicy::normal">,
        "how soon the lines written may be evicted from the L2 cache">:$evict,
    Arg<DefaultValuedAttr<I32Attr, "1">,
        "elements in each aligned group that is written at once, a power of two">:$vector);
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)? (`cache` `=` $cache^)? (`evict` `=` $evict^)?
    attr-dict `:` custom<PointeeStore>(ref($mask), type($ptr), type($value), type($mask))
  }];
  let hasVerifier = 1;
}

def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomic read-modify-write through pointers";
  let description = [{
    For each lane with a true mask: `result[i] = *ptr[i]; *ptr[i] = kind(*ptr[i], value[i])`,
    atomically in `scope` with ordering `sem`. Masked-off results are zero.

    Constraints:
    }] # accessRules # [{
    ```mlir
    %old = tile.atomic_rmw fadd acq_rel gpu %p, %v, %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins
    Arg<Tile_AtomicKind, "how memory's value and the operand are combined">:$kind,
    Arg<Tile_MemSemantic, "how the access is ordered with other accesses of its thread">:$sem,
    Arg<Tile_MemScope, "among whose threads it is atomic and ordered">:$scope,
    Arg<Tile_Ptr, "where each element is, aligned to its size">:$ptr,
    Arg<Tile_Any,
        "the right operand of `kind`, of the pointee type and the pointers' shape">:$value,
    Arg<Optional<Tile_Bool>,
        "where it is false memory is left alone; absent: true everywhere">:$mask,
    Arg<DefaultValuedAttr<I32Attr, "1">,
        "elements in each aligned group that one instruction may update where nobody uses "
        "the result, a power of two; each element is atomic by itself">:$vector);
  let results = (outs
    Res<Tile_Any, "what memory held before; zero where the mask is false">:$result);
  let assemblyFormat = [{
    $kind $sem $scope $ptr `,` $value (`,` $mask^)? attr-dict `:`
    custom<PointeeAtomic>(ref($mask), type($ptr), type($value), type($mask), type($result))
  }];
  let hasVerifier = 1;
}

def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomic compare and swap through pointers";
  let description = [{
    `result[i] = *ptr[i]; if (result[i] == cmp[i]) *ptr[i] = value[i]`, bitwise, atomically.

    Constraints:
    }] # accessRules # [{
    - `atomic_cas_c1`: `cmp` is of the value's type
    ```mlir
    %old = tile.atomic_cas acq_rel gpu %p, %c, %v : !tile.ptr<i32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_MemSemantic, "how the access is ordered with other accesses of its thread">:$sem,
    Arg<Tile_MemScope, "among whose threads it is atomic and ordered">:$scope,
    Arg<Tile_Ptr, "where each element is, aligned to its size">:$ptr,
    Arg<Tile_Any, "what memory must hold, bit for bit, to be replaced">:$cmp,
    Arg<Tile_Any, "what it is replaced by, of the pointee type and the pointers' shape">:$value);
  let results = (outs
    Res<Tile_Any, "what memory held before">:$result);
  let assemblyFormat = [{
    $sem $scope $ptr `,` $cmp `,` $value attr-dict `:`
    custom<PointeeCas>(type($ptr), type($cmp), type($value), type($result))
  }];
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the program";
  let description = [{
    `tl.debug_barrier`: orders the memory accesses of the program's threads.
    ```mlir
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_IR_TILEMEMORYOPS
