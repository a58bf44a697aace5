// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials with integer coefficients over symbols. Arithmetic is modulo 2^64, as addresses are.
#ifndef COFUSE_PLUGIN_AFFINE_H
#define COFUSE_PLUGIN_AFFINE_H

#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cofuse {

struct Symbol {
  enum Kind {
    Invariant, ///< Text is C for its value, evaluated when the task is issued
    Counter,   ///< value of the counter of parallel loop Index
    Inner      ///< iteration number 0, 1, ... of inner loop Index
  } K;
  unsigned Index;
  std::string Text;
};

class SymbolTable {
public:
  unsigned intern(Symbol::Kind K, unsigned Index, llvm::StringRef Text);
  const Symbol &operator[](unsigned Id) const { return Symbols[Id]; }

private:
  std::vector<Symbol> Symbols;
  llvm::StringMap<unsigned> Ids;
};

class Poly {
public:
  using Mono = std::vector<unsigned>; ///< sorted symbol numbers
  std::map<Mono, int64_t> Terms;      ///< no zero coefficients

  static Poly constant(int64_t C);
  static Poly symbol(unsigned Id);
  Poly &add(const Poly &B, int64_t Factor = 1);
  Poly times(const Poly &B) const;
  Poly scaled(int64_t F) const { return Poly().add(*this, F); }
  bool isZero() const { return Terms.empty(); }
  bool isConstant(int64_t &C) const;
  bool operator==(const Poly &B) const { return Terms == B.Terms; }
  bool operator!=(const Poly &B) const { return Terms != B.Terms; }

  /// True if some monomial holds a symbol of one of the kinds.
  bool uses(const SymbolTable &S, bool Counters, bool Inners) const;
  /// Writes *this = Rest + sum over non-invariant symbols s of Coef[s] * s with invariant Rest and
  /// Coef; false if a monomial holds two such symbols.
  bool split(const SymbolTable &S, Poly &Rest, std::map<unsigned, Poly> &Coef) const;
  /// C expression of type unsigned long.
  std::string text(const std::function<std::string(unsigned)> &SymbolText) const;
};

} // namespace cofuse
#endif
