// Files that the program contains.
#pragma once

// C++23 as g++ 12 has it cannot embed a file; the assembler can.
// clang-format off

/// Puts the bytes of a file into read-only data, from `begin` to before `end`, which it declares. `path` is a
/// string literal. The name of a symbol is one of the whole program.
#define PRAXIS_EMBED(begin, end, path)                               \
  asm(".pushsection .rodata\n"                                       \
      ".global " #begin "\n"                                         \
      ".hidden " #begin "\n"                                         \
      ".global " #end "\n"                                           \
      ".hidden " #end "\n"                                           \
      #begin ":\n"                                                   \
      ".incbin \"" path "\"\n"                                       \
      #end ":\n"                                                     \
      ".popsection\n");                                              \
  extern "C" __attribute__((visibility("hidden"))) const char begin[]; \
  extern "C" __attribute__((visibility("hidden"))) const char end[]
// clang-format on
