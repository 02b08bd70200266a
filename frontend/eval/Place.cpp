//===- Place.cpp - where in the source an evaluator is --------------------===//
#include "frontend/eval/Place.h"
#include <utility>

using namespace tile::eval;

static thread_local Place innermost;
static thread_local unsigned eagerly = 0;

Place tile::eval::currentPlace() { return innermost; }

AtPlace::AtPlace(Place place) : outer(std::exchange(innermost, place)) {}
AtPlace::~AtPlace() { innermost = outer; }

Eagerly::Eagerly(bool starts) : starts(starts) { eagerly += starts; }
Eagerly::~Eagerly() { eagerly -= starts; }
bool Eagerly::isOn() { return eagerly != 0; }
