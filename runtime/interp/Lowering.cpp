//===- Lowering.cpp - registers and the frame -----------------------------===//
#include "runtime/interp/Lowering.h"
#include "mlir/IR/Location.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

/// What an instruction takes beside its elements, as so many of them.
static constexpr uint64_t kInstructionWork = 8;

//===----------------------------------------------------------------------===//
// Types and places
//===----------------------------------------------------------------------===//

std::optional<Shape> Lowering::describe(Type type) {
  Shape shape;
  Type element = getElementType(type);
  if (auto block = dyn_cast<RankedTensorType>(type)) {
    if (!block.hasStaticShape() || block.getNumElements() > int64_t(1) << 28)
      return std::nullopt;
    shape.count = uint32_t(block.getNumElements());
  }
  if (isa<PtrType>(element)) {
    shape.type = DType::I64;
    shape.isPointer = true;
  } else if (isa<IndexType>(element) || element.isInteger(64)) {
    shape.type = DType::I64;
  } else if (element.isInteger(1)) {
    shape.type = DType::I1;
  } else if (element.isInteger(8)) {
    shape.type = DType::I8;
  } else if (element.isInteger(16)) {
    shape.type = DType::I16;
  } else if (element.isInteger(32)) {
    shape.type = DType::I32;
  } else if (isa<Float8E4M3FNType>(element)) {
    shape.type = DType::F8E4M3;
  } else if (isa<Float8E5M2Type>(element)) {
    shape.type = DType::F8E5M2;
  } else if (element.isF16()) {
    shape.type = DType::F16;
  } else if (element.isBF16()) {
    shape.type = DType::BF16;
  } else if (element.isF32()) {
    shape.type = DType::F32;
  } else if (element.isF64()) {
    shape.type = DType::F64;
  } else {
    return std::nullopt;
  }
  if (algebraic && isFloat(shape.type))
    shape.type = shape.bytes() == 1   ? DType::I8
                 : shape.bytes() == 2 ? DType::I16
                 : shape.bytes() == 4 ? DType::I32
                                      : DType::I64;
  return shape;
}

static void collectPlaces(Location loc, SourcePlace &place, std::vector<SourcePlace> &callers) {
  if (auto file = dyn_cast<FileLineColRange>(loc)) {
    if (place.line == 0)
      place = {file.getFilename().str(), file.getStartLine(), file.getStartColumn()};
  } else if (auto named = dyn_cast<NameLoc>(loc)) {
    collectPlaces(named.getChildLoc(), place, callers);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectPlaces(call.getCallee(), place, callers);
    SourcePlace caller;
    std::vector<SourcePlace> outer;
    collectPlaces(call.getCaller(), caller, outer);
    callers.push_back(std::move(caller));
    callers.insert(callers.end(), outer.begin(), outer.end());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      if (place.line == 0)
        collectPlaces(part, place, callers);
  } else if (auto opaque = dyn_cast<OpaqueLoc>(loc)) {
    collectPlaces(opaque.getFallbackLocation(), place, callers);
  }
}

uint32_t Lowering::placeOf(Location loc) {
  auto [it, inserted] = placeIndex.try_emplace(loc, uint32_t(program.places.size()));
  if (inserted) {
    Place place;
    collectPlaces(loc, place.place, place.callers);
    program.places.push_back(std::move(place));
  }
  return it->second;
}

bool Lowering::refuse(Op *op, const Twine &why) {
  if (!error.empty())
    return false;
  SourcePlace place;
  std::vector<SourcePlace> callers;
  collectPlaces(op->getLoc(), place, callers);
  if (place.line)
    error = formatted("{}:{}:{}: ", place.file, place.line, place.column);
  error += formatted("`{}`: {}", op->getName().getStringRef(), why);
  return false;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

RegId Lowering::makeRegister(uint64_t bytes) {
  registers.push_back({bytes});
  return RegId(registers.size() - 1);
}

RegId Lowering::makeConstant(ArrayRef<uint8_t> bytes) {
  RegId reg = makeRegister(bytes.size());
  std::vector<uint8_t> &pool = program.constants;
  pool.resize((pool.size() + 63) & ~size_t(63));
  registers[reg].constant = true;
  registers[reg].offset = uint32_t(pool.size());
  pool.insert(pool.end(), bytes.begin(), bytes.end());
  return reg;
}

RegId Lowering::define(Value value) {
  Shape shape = *describe(value.getType()); // checked before the op is lowered
  if (combiner)
    shape.count = combiner->info->wide ? combiner->lanes : 1;
  RegId reg = makeRegister(shape);
  values[value] = reg;
  touch(reg);
  return reg;
}

RegId Lowering::use(Value value) {
  auto it = values.find(value);
  assert(it != values.end() && "operand lowered before its definition");
  RegId reg = it->second;
  if (!combiner || !combiner->info->wide)
    return reg;
  bool outside = registers[reg].constant || !combiner->region->isAncestor(value.getParentRegion());
  if (!outside)
    return reg;
  // A scalar from outside of the combiner: every lane gets a copy of it.
  auto [captured, inserted] = combiner->captured.try_emplace(value, kNone);
  if (inserted) {
    unsigned bytes = describe(value.getType())->bytes();
    captured->second = makeRegister(uint64_t(bytes) * combiner->lanes);
    touch(captured->second);
    combiner->captures.push_back({bytes, reg, captured->second});
    touch(reg);
  }
  return captured->second;
}

void Lowering::touch(RegId reg) {
  // Combiner code runs as part of the one instruction it belongs to.
  uint32_t position = uint32_t(program.code.size());
  registers[reg].first = std::min(registers[reg].first, position);
  registers[reg].last = std::max(registers[reg].last, position);
}

void Lowering::refer(uint32_t &field, RegId reg) {
  touch(reg);
  references.push_back({&field, reg});
}

Instruction &Lowering::emit(Kernel kernel, uint32_t n, RegId dst, RegId a, RegId b, RegId c) {
  for (RegId reg : {dst, a, b, c})
    if (reg != kNone)
      touch(reg);
  Instruction i;
  i.kernel = kernel;
  i.n = n;
  i.dst = dst;
  i.a = a;
  i.b = b;
  i.c = c;
  i.place = current ? placeOf(current->getLoc()) : 0;
  code->push_back(i);
  if (counted) {
    counted->work += kInstructionWork + (combiner ? 0 : n);
    ++counted->ofLane;
  }
  return code->back();
}

Lowering::Counted::Counted(Lowering &lowering, RegId times)
    : lowering(lowering), code(*lowering.code), at(lowering.here()), outer(lowering.counted) {
  lowering.counted = nullptr;
  lowering.emit(nullptr, 0, kNone, times).control = Control::Spend;
  lowering.counted = this;
}

Lowering::Counted::~Counted() {
  code[at].imm = int64_t(std::min<uint64_t>(work, INT64_MAX));
  code[at].n = uint32_t(std::min<uint64_t>(ofLane, UINT32_MAX));
  lowering.counted = outer;
}

/// Places registers in the frame so that those whose live ranges overlap do
/// not. A value that is live on entry to a loop and used inside must survive
/// until the loop's end.
bool Lowering::assignOffsets() {
  llvm::sort(loops, [](const Loop &a, const Loop &b) { return a.end < b.end; });
  for (Register &r : registers) {
    if (r.pinned) {
      r.first = 0;
      r.last = ~0u;
    }
    for (const Loop &loop : loops)
      if (r.first < loop.begin && r.last >= loop.begin && r.last < loop.end)
        r.last = loop.end;
  }
  constexpr uint64_t alignment = 64;
  uint64_t floor = (program.constants.size() + alignment - 1) / alignment * alignment;
  uint64_t top = floor;
  SmallVector<Register *> order;
  for (Register &r : registers)
    if (!r.constant && r.first != ~0u)
      order.push_back(&r);
  llvm::sort(order, [](Register *a, Register *b) {
    return std::pair(a->first, a) < std::pair(b->first, b);
  });
  SmallVector<Register *> active; // by offset
  for (Register *r : order) {
    llvm::erase_if(active, [&](Register *a) { return a->last < r->first; });
    uint64_t offset = floor, size = std::max<uint64_t>(r->bytes, 1);
    auto gap = active.begin();
    for (; gap != active.end() && (*gap)->offset < offset + size; ++gap)
      offset = ((*gap)->offset + std::max<uint64_t>((*gap)->bytes, 1) + alignment - 1) / alignment *
               alignment;
    if (offset + size >= kNone) {
      error = "the function needs more than 4 GB of working memory a program";
      return false;
    }
    r->offset = uint32_t(offset);
    active.insert(gap, r);
    top = std::max(top, offset + size);
  }
  program.frameBytes = (top + alignment - 1) / alignment * alignment;
  return true;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

bool Lowering::run(func::FuncOp function) {
  program.name = function.getName().str();
  program.checked = checked;
  Place &ofFunction = program.places.emplace_back();
  collectPlaces(function.getLoc(), ofFunction.place, ofFunction.callers);
  for (BlockArgument argument : function.getArguments()) {
    auto shape = describe(argument.getType());
    if (!shape || isa<RankedTensorType>(argument.getType()))
      return refuse(function, "a parameter of this type is not supported");
    if (algebraic && isa<FloatType>(argument.getType()))
      return refuse(function, "a float of the launch has no place in the algebraic mode");
    define(argument);
    std::string name;
    if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
      name = named.getName().str();
    int64_t divisibility = 1;
    if (auto attr =
            function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kDivisibilityAttr))
      divisibility = std::max<int64_t>(attr.getInt(), 1);
    auto source = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kSourceTypeAttr);
    bool isConstant = shape->isPointer && source && source.getValue().starts_with("*k");
    program.parameters.push_back(
        {shape->type, 0, shape->isPointer, std::move(name), divisibility, isConstant});
  }
  lookForDoubt(function);
  activations.push_back({function, {}, {}});
  if (!lowerBody(function.getBody()))
    return false;
  current = nullptr;
  for (uint32_t jump : activations.back().returns)
    program.code[jump].target = here();
  emit(nullptr, 0, kNone).control = Control::Return;
  for (auto [index, argument] : llvm::enumerate(function.getArguments()))
    refer(program.parameters[index].offset, values[argument]);
  // Parameters are written before the first instruction.
  for (BlockArgument argument : function.getArguments())
    registers[values[argument]].first = 0;
  if (!assignOffsets())
    return false;
  auto place = [&](uint32_t &field) {
    if (field != kNone)
      field = registers[field].offset;
  };
  auto placeCode = [&](std::vector<Instruction> &list) {
    for (Instruction &i : list)
      for (uint32_t *field : {&i.dst, &i.a, &i.b, &i.c})
        place(*field);
  };
  placeCode(program.code);
  for (auto &aux : program.auxiliary)
    if (auto *list = aux->nestedCode()) {
      placeCode(*list);
      program.nested.push_back(list);
    }
  for (auto &[field, reg] : references)
    *field = registers[reg].offset;
  return true;
}
