//===- BackEndTest.cpp - LLVM's passes are what we take them for ----------===//
#include "compiler/BackEnd.h"
#include "gtest/gtest.h"

using namespace tile;

// Passes are left out by the names that LLVM prints for them, which it may change; so may a
// switch be gone.
TEST(BackEnd, PassesThatAreLeftOutAndSwitchesExist) {
  for (const char *chip : {"sm_75", "sm_80", "sm_90a", "sm_120a"})
    EXPECT_EQ(BackEnd(chip, 88, /*fuseMulAdd=*/true).namesNotMet(), std::vector<std::string>())
        << chip;
}
