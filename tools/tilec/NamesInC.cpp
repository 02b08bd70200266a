//===- NamesInC.cpp - what names of a file are called in C ----------------===//
#include "tools/tilec/NamesInC.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

/// Keywords of C or C++ that Python can have as names, and macros that are always there.
static constexpr StringRef taken[] = {
    "NULL",         "alignas",    "alignof",       "and_eq",
    "asm",          "auto",       "bitand",        "bitor",
    "bool",         "case",       "catch",         "char",
    "char16_t",     "char32_t",   "char8_t",       "co_await",
    "co_return",    "co_yield",   "compl",         "concept",
    "const",        "const_cast", "consteval",     "constexpr",
    "constinit",    "decltype",   "default",       "delete",
    "do",           "double",     "dynamic_cast",  "enum",
    "explicit",     "export",     "extern",        "false",
    "float",        "friend",     "goto",          "inline",
    "int",          "linux",      "long",          "mutable",
    "namespace",    "new",        "noexcept",      "not_eq",
    "nullptr",      "operator",   "or_eq",         "private",
    "protected",    "public",     "register",      "reinterpret_cast",
    "requires",     "restrict",   "short",         "signed",
    "sizeof",       "static",     "static_assert", "static_cast",
    "struct",       "switch",     "template",      "this",
    "thread_local", "throw",      "true",          "typedef",
    "typeid",       "typename",   "typeof",        "union",
    "unix",         "unsigned",   "using",         "virtual",
    "void",         "volatile",   "wchar_t",       "xor",
    "xor_eq"};

std::string tilec::nameInC(StringRef name) {
  return llvm::is_contained(taken, name) ? name.str() + "_" : name.str();
}

std::string tilec::parameterInC(StringRef name) {
  static constexpr StringRef others[] = {"arguments", "grid",   "results",
                                         "status",    "stream", "values"};
  bool isOther = name.starts_with("result") || llvm::is_contained(others, name);
  return isOther ? name.str() + "_" : nameInC(name);
}
