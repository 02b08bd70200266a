//===- DevicesTest.cpp - how many programs a multiprocessor runs ----------===//
#include "compiler/Devices.h"
#include "gtest/gtest.h"

using namespace tile;

// Each of the four schedulers has a quarter of the registers: four warps of 104 registers fit it,
// so sixteen a multiprocessor, though all of them together would do for nineteen.
TEST(Devices, RegistersAreThoseOfFourSchedulers) {
  const DeviceModel &h200 = *findDevice("h200");
  EXPECT_EQ(occupancyOf(h200, 32, 104, 0).programs, 16);
  EXPECT_EQ(occupancyOf(h200, 64, 104, 0).programs, 8);
  EXPECT_EQ(occupancyOf(h200, 96, 104, 0).programs, 5);
  EXPECT_EQ(occupancyOf(h200, 128, 104, 0).programs, 4);
  EXPECT_EQ(occupancyOf(h200, 128, 104, 0).limit, "registers");
}

TEST(Devices, FewRegistersLeaveOtherLimits) {
  const DeviceModel &h200 = *findDevice("h200");
  EXPECT_EQ(occupancyOf(h200, 32, 32, 0).programs, 32);
  EXPECT_EQ(occupancyOf(h200, 32, 32, 0).limit, "thread blocks");
  EXPECT_EQ(occupancyOf(h200, 512, 32, 0).limit, "threads");
  EXPECT_EQ(occupancyOf(h200, 128, 32, 56 << 10).programs, 4);
  EXPECT_EQ(occupancyOf(h200, 128, 32, 56 << 10).limit, "shared memory");
}
