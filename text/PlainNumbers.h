//===- PlainNumbers.h - numbers for machines, in every language ------------===//
//
// What turns numbers into text and back follows the language that the process speaks: where that
// writes 0,5 a number for a machine would be no JSON, or another file's number not be read. Whoever
// embeds the library chooses the language, so text for machines is made and read under this.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TEXT_PLAINNUMBERS_H
#define TILE_TEXT_PLAINNUMBERS_H

#include <locale.h>

namespace tile {

/// While it lives, this thread writes and reads numbers as programs do.
class PlainNumbers {
public:
  PlainNumbers() : before(::uselocale(plain())) {}
  ~PlainNumbers() { ::uselocale(before); }
  PlainNumbers(const PlainNumbers &) = delete;
  PlainNumbers &operator=(const PlainNumbers &) = delete;

private:
  static locale_t plain() {
    static const locale_t c = ::newlocale(LC_ALL_MASK, "C", locale_t());
    return c;
  }
  locale_t before;
};

} // namespace tile

#endif // TILE_TEXT_PLAINNUMBERS_H
