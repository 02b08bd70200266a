#include "mlir_pch.h"
