//===- BackEndTest.cpp - LLVM's passes are what we take them for ----------===//
#include "compiler/BackEnd.h"
#include "gtest/gtest.h"

using namespace tile;

// Passes are left out by the names that LLVM prints for them, which it may change.
TEST(BackEnd, PassesThatAreLeftOutExist) {
  EXPECT_EQ(BackEnd("sm_90a", 80, /*fuseMulAdd=*/true).passNamesNotMet(),
            std::vector<std::string>());
}
