//===- WarpRolesParameter.h - warp roles as a parameter of attributes -----===//
#ifndef TILE_IR_WARPROLESPARAMETER_H
#define TILE_IR_WARPROLESPARAMETER_H

#include "mlir/IR/DialectImplementation.h"
#include "target/WarpRoles.h"

namespace mlir {
template <> struct FieldParser<tile::WarpRoles> {
  static FailureOr<tile::WarpRoles> parse(AsmParser &parser) {
    StringRef name;
    SMLoc at = parser.getCurrentLocation();
    tile::WarpRoles roles;
    if (parser.parseKeyword(&name))
      return failure();
    if (!tile::readWarpRoles(name, roles))
      return parser.emitError(at) << "there are no warp roles `" << name << "`";
    return roles;
  }
};
} // namespace mlir

namespace tile {
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, WarpRoles roles) {
  return printer << nameOf(roles);
}
} // namespace tile

#endif // TILE_IR_WARPROLESPARAMETER_H
