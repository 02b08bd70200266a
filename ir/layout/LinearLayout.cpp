//===- LinearLayout.cpp - the layout algebra ------------------------------===//
#include "ir/layout/LinearLayout.h"
