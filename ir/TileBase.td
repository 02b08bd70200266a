//===- TileBase.td - the tile dialect, its types and shared constraints ---===//
#ifndef TILE_IR_TILEBASE
#define TILE_IR_TILEBASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile";
  let summary = "Block-level operations of the Triton kernel language";
  let description = [{
    `tile` says *what* a program computes, on whole blocks, with value
    semantics and no hardware in sight. A block is a `RankedTensorType` with a
    static shape; a scalar is a plain element type. Elementwise work uses
    `arith` and `math`; control flow uses `scf`; the kernel itself is a
    `func.func`. The dialect holds only what MLIR lacks: program ids, ranges,
    pointers, masked memory access, shape movement, reductions and scans with a
    combiner region, and the casts whose rounding the language defines.

    Integers are signless, as everywhere in MLIR: signedness is a property of
    the source language and has been resolved into signed or unsigned ops.

    A block without an encoding has no home yet. Once the layout pass has run,
    every tensor carries a `#cta.layout`, and the same ops describe what each
    thread block does; see the `cta` dialect.
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::math::MathDialect",
    "mlir::scf::SCFDialect", "mlir::func::FuncDialect"
  ];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasConstantMaterializer = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "pointer into global memory";
  let description = [{
    A 64-bit address of elements of `pointee` type in global memory. Offsets
    are counted in elements.
    ```mlir
    !tile.ptr<!tile.ptr<f16>>
    ```
  }];
  let parameters = (ins
    TypeParameter<"mlir::Type", "what is at the address: an element type">:$pointee);
  let assemblyFormat = "`<` $pointee `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "mlir::Type":$pointee), [{
    return $_get(pointee.getContext(), pointee);
  }]>];
}

class TensorOrScalar<Type scalar, string what> :
  AnyTypeOf<[scalar, RankedTensorOf<[scalar]>], what>;

def Tile_Int      : TensorOrScalar<AnySignlessInteger, "integer or block of integers">;
def Tile_Bool     : TensorOrScalar<I1, "i1 or block of i1">;
def Tile_Float    : TensorOrScalar<AnyFloat, "float or block of floats">;
def Tile_Ptr      : TensorOrScalar<Tile_PtrType, "pointer or block of pointers">;
def Tile_Element  : AnyTypeOf<[AnySignlessInteger, AnyFloat, Tile_PtrType], "element type">;
def Tile_Any      : TensorOrScalar<Tile_Element, "element or block of elements">;
def Tile_Block    : RankedTensorOf<[Tile_Element]>;

//===----------------------------------------------------------------------===//
// What a kernel is compiled for
//===----------------------------------------------------------------------===//

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_TargetAttr : Tile_Attr<"Target", "target"> {
  let summary = "the chip that a kernel is compiled for";
  let description = [{
    On the module, as `tile.target`: one of the rows of `target/Target.cpp`, by its name.
    Passes ask it for features and limits (`ir/Kernel.h`). A module without one is
    compiled for `tile::fallbackTarget()`.
    ```mlir
    module attributes {tile.target = #tile.target<sm_90a>} {}
    ```
  }];
  let parameters = (ins AttrParameter<"const ::tile::Target *", "a row of the table">:$target);
  let hasCustomAssemblyFormat = 1;
}

def Tile_KernelAttr : Tile_Attr<"Kernel", "kernel"> {
  let summary = "what the author of a kernel asked for";
  let description = [{
    On the module, as `tile.kernel`. No pass changes it; what the passes make of it is
    the module's `#cta.kernel`.

    - `warps`: that compute a program, all groups of them together.
    - `stages`: of pipelines, loads that are under way counted in iterations; 0 leaves
      the number to the compiler. `tile.num_stages` of a loop counts for that loop.
    - `ctas`: thread blocks of a cluster; 0 leaves it to the compiler.
    - `roles`: how warps share the work of a kernel with products.

    Constraints:
    - `kernel_c1`: there are 1 to 32 warps
    - `kernel_c2`: there are not less than no stages
    - `kernel_c3`: there are not less than no thread blocks
    ```mlir
    module attributes {tile.kernel = #tile.kernel<warps = 8, roles = pingpong>} {}
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int32_t", "::tile::kDefaultWarps", "warps that compute">:$warps,
    DefaultValuedParameter<"int32_t", "::tile::kDefaultStages", "stages of pipelines">:$stages,
    DefaultValuedParameter<"int32_t", "0", "thread blocks of a cluster">:$ctas,
    DefaultValuedParameter<"::tile::WarpRoles", "::tile::WarpRoles::Auto", "who does what">:$roles);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Tile_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<I32EnumAttr e, string mnemonic> : EnumAttr<Tile_Dialect, e, mnemonic>;

def Tile_CacheModifierEnum : Tile_I32Enum<"CacheModifier", "cache operator of a memory access", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"ca", 1>, I32EnumAttrCase<"cg", 2>,
  I32EnumAttrCase<"cs", 3>, I32EnumAttrCase<"cv", 4>, I32EnumAttrCase<"wb", 5>,
  I32EnumAttrCase<"wt", 6>]>;
def Tile_CacheModifier : Tile_EnumAttr<Tile_CacheModifierEnum, "cache">;

def Tile_EvictionPolicyEnum : Tile_I32Enum<"EvictionPolicy", "eviction priority of the touched lines", [
  I32EnumAttrCase<"normal", 0>, I32EnumAttrCase<"evict_first", 1>, I32EnumAttrCase<"evict_last", 2>]>;
def Tile_EvictionPolicy : Tile_EnumAttr<Tile_EvictionPolicyEnum, "evict">;

def Tile_RoundingEnum : Tile_I32Enum<"Rounding", "rounding of a narrowing float cast", [
  I32EnumAttrCase<"rtne", 0>, I32EnumAttrCase<"rtz", 1>]>;
def Tile_Rounding : Tile_EnumAttr<Tile_RoundingEnum, "rounding">;

def Tile_AtomicKindEnum : Tile_I32Enum<"AtomicKind", "operation of an atomic read-modify-write", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"fadd", 1>, I32EnumAttrCase<"max", 2>,
  I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"umax", 4>, I32EnumAttrCase<"umin", 5>,
  I32EnumAttrCase<"band", 6, "and">, I32EnumAttrCase<"bor", 7, "or">, I32EnumAttrCase<"bxor", 8, "xor">,
  I32EnumAttrCase<"xchg", 9>, I32EnumAttrCase<"fmax", 10>, I32EnumAttrCase<"fmin", 11>]>;
def Tile_AtomicKind : Tile_EnumAttr<Tile_AtomicKindEnum, "atomic_kind">;

def Tile_PaddingEnum : Tile_I32Enum<"Padding", "elements outside of a tensor", [
  I32EnumAttrCase<"zero", 0>, I32EnumAttrCase<"nan", 1>]>;
def Tile_Padding : Tile_EnumAttr<Tile_PaddingEnum, "padding">;

def Tile_MemSemanticEnum : Tile_I32Enum<"MemSemantic", "memory ordering of an atomic", [
  I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>,
  I32EnumAttrCase<"release", 2>, I32EnumAttrCase<"acq_rel", 3>]>;
def Tile_MemSemantic : Tile_EnumAttr<Tile_MemSemanticEnum, "sem">;

def Tile_MemScopeEnum : Tile_I32Enum<"MemScope", "threads among which an atomic is atomic", [
  I32EnumAttrCase<"cta", 0>, I32EnumAttrCase<"gpu", 1>, I32EnumAttrCase<"sys", 2>]>;
def Tile_MemScope : Tile_EnumAttr<Tile_MemScopeEnum, "scope">;

def Tile_InputPrecisionEnum : Tile_I32Enum<"InputPrecision", "how f32 operands of a matrix product are read", [
  I32EnumAttrCase<"ieee", 0>, I32EnumAttrCase<"tf32", 1>, I32EnumAttrCase<"tf32x3", 2>,
  I32EnumAttrCase<"bf16x3", 3>, I32EnumAttrCase<"bf16x6", 4>]>;
def Tile_InputPrecision : Tile_EnumAttr<Tile_InputPrecisionEnum, "input_precision">;

#endif // TILE_IR_TILEBASE
