// Not a program: the format wants two arguments.
#include "text/Format.h"

std::string wrong() { return tile::formatted("{} of {}", 1); }
