// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host guards: makes ordinary C code that touches stores coherent (docs: "Host access").
//
// The only entry point the front end needs. Everything else in this folder is private.
#ifndef COFUSE_PLUGIN_GUARD_GUARD_H
#define COFUSE_PLUGIN_GUARD_GUARD_H

#include <memory>

namespace clang {
class ASTConsumer;
class CompilerInstance;
} // namespace clang

namespace cofuse {

/// Adds the guard pass to the code generation of CI and returns the consumer that collects, before
/// code generation ends, what IR no longer knows: which functions the system's headers declare.
/// Call it once, from CreateASTConsumer of an AddBeforeMainAction plugin, for the outer compile only.
///
/// The calls that are inserted are those at the end of include/cofuse/descriptor.h. What a guard says:
///   without COFUSE_MAY  every byte of [lo, hi) may be touched and its ends are; base == lo. It counts for
///                       every store that it overlaps (one memcpy may cross several);
///   with COFUSE_MAY     the program touches some part of it, inside one object. The store meant is the one
///                       that holds `base` or, if none does, the one that holds `lo`; if neither is a store
///                       there is nothing to do. Clip the range to that store and those that abut with it
///                       (closer than 8 bytes: an array carved into several stores, members of a struct).
///                       hi < lo (the bound overflowed) and hi == UINTPTR_MAX (no bound known) mean: up to
///                       the end, from lo;
///   COFUSE_W alone      every byte of [lo, hi) is written before it is read: nothing has to be fetched.
std::unique_ptr<clang::ASTConsumer> registerGuards(clang::CompilerInstance &CI);

} // namespace cofuse

#endif
