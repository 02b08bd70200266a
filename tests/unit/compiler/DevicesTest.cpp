//===- DevicesTest.cpp - how many programs a multiprocessor runs ----------===//
#include "target/Devices.h"
#include "target/Target.h"
#include "gtest/gtest.h"

using namespace tile;

// Each of the four schedulers has a quarter of the registers: four warps of 104 registers fit it,
// so sixteen a multiprocessor, though all of them together would do for nineteen.
TEST(Devices, RegistersAreThoseOfFourSchedulers) {
  const Multiprocessor &h200 = findDevice("h200")->multiprocessor();
  EXPECT_EQ(occupancyOf(h200, 32, 104, 0).programs, 16);
  EXPECT_EQ(occupancyOf(h200, 64, 104, 0).programs, 8);
  EXPECT_EQ(occupancyOf(h200, 96, 104, 0).programs, 5);
  EXPECT_EQ(occupancyOf(h200, 128, 104, 0).programs, 4);
  EXPECT_EQ(occupancyOf(h200, 128, 104, 0).limit, "registers");
}

TEST(Devices, FewRegistersLeaveOtherLimits) {
  const Multiprocessor &h200 = findDevice("h200")->multiprocessor();
  EXPECT_EQ(occupancyOf(h200, 32, 32, 0).programs, 32);
  EXPECT_EQ(occupancyOf(h200, 32, 32, 0).limit, "thread blocks");
  EXPECT_EQ(occupancyOf(h200, 512, 32, 0).limit, "threads");
  EXPECT_EQ(occupancyOf(h200, 128, 32, 56 << 10).programs, 4);
  EXPECT_EQ(occupancyOf(h200, 128, 32, 56 << 10).limit, "shared memory");
}

// Chips differ in what they have room for: a kernel of 512 threads fits an H200 four times, a
// T4 twice, and a 1536-thread multiprocessor three times.
TEST(Devices, LimitsAreThoseOfTheTarget) {
  auto programs = [](const char *target, int threads, int64_t sharedBytes) {
    return occupancyOf(findTarget(target)->multiprocessor, threads, 32, sharedBytes);
  };
  EXPECT_EQ(programs("sm_90a", 512, 0).programs, 4);
  EXPECT_EQ(programs("sm_75", 512, 0).programs, 2);
  EXPECT_EQ(programs("sm_86", 512, 0).programs, 3);
  EXPECT_EQ(programs("sm_120a", 512, 0).programs, 3);
  EXPECT_EQ(programs("sm_86", 512, 0).limit, "threads");
  // The system keeps 1 KB of each block's shared memory, but not on Turing.
  EXPECT_EQ(programs("sm_86", 32, 49 << 10).programs, 2);
  EXPECT_EQ(programs("sm_86", 32, 50 << 10).programs, 1);
  EXPECT_EQ(programs("sm_75", 32, 32 << 10).programs, 2);
}

TEST(Devices, EveryDeviceStandsForATarget) {
  for (const DeviceModel &device : allDevices()) {
    const Target *target = findTarget(targetOf(device));
    ASSERT_TRUE(target) << device.name.str();
    EXPECT_EQ(target->capability, device.capability);
    EXPECT_LE(target->maxSharedBytes, device.multiprocessor().sharedBytes);
  }
}

TEST(Devices, EveryBoardStandsForATarget) {
  for (llvm::StringRef board : boardNames()) {
    std::optional<std::string> target = targetOfBoard(board);
    ASSERT_TRUE(target) << board.str();
    EXPECT_TRUE(findTarget(*target)) << board.str();
    EXPECT_FALSE(findTarget(board)) << board.str();
  }
  EXPECT_EQ(targetOfBoard("NVIDIA GeForce RTX 4090"), "sm_89");
  EXPECT_EQ(targetOfBoard("H100"), "sm_90a");
  EXPECT_FALSE(targetOfBoard("mi300x"));
}
