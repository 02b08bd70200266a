//===- Located.cpp - diagnostics at a line and a column -------------------===//
#include "frontend/Located.h"
#include "text/Format.h"

using namespace tile;

void frontend::say(Diagnostic &d, std::string message, LineAndColumn place,
                   const SourceFile *file) {
  d.file = nullptr;
  d.message = std::move(message);
  if (!place.line)
    return;
  if (file && place.line <= file->numLines()) {
    d.file = file;
    d.range.begin = file->offsetOf(place.line, place.column);
    d.range.end = d.range.begin + 1;
  } else {
    d.message += formatted(" (at {}:{}:{})", place.path, place.line, place.column);
  }
}
