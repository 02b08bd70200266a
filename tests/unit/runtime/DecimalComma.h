//===- DecimalComma.h - a process that writes 0,5 for a half ---------------===//
#ifndef TILE_TESTS_RUNTIME_DECIMALCOMMA_H
#define TILE_TESTS_RUNTIME_DECIMALCOMMA_H

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <clocale>
#include <cstdlib>
#include <string>

namespace tile::test {

/// While it lives, the process speaks German, where what makes languages is at hand.
class DecimalComma {
public:
  DecimalComma() {
    if (llvm::sys::fs::createUniqueDirectory("tile-languages", folder))
      return;
    std::string path = folder.str().str(), language = path + "/de_DE.UTF-8";
    auto maker = llvm::sys::findProgramByName("localedef");
    if (!maker)
      return;
    std::optional<llvm::StringRef> nowhere[] = {"", "", ""};
    int failed = llvm::sys::ExecuteAndWait(*maker, {*maker, "-i", "de_DE", "-f", "UTF-8", language},
                                           std::nullopt, nowhere);
    made =
        !failed && !::setenv("LOCPATH", path.c_str(), 1) && std::setlocale(LC_ALL, "de_DE.UTF-8");
  }
  ~DecimalComma() {
    (void)std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
    (void)llvm::sys::fs::remove_directories(folder);
  }
  bool made = false;

private:
  llvm::SmallString<64> folder;
};

} // namespace tile::test

#endif // TILE_TESTS_RUNTIME_DECIMALCOMMA_H
