// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Affine.h"
#include <algorithm>

namespace cofuse {

static int64_t wrapMul(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) * static_cast<uint64_t>(B));
}
static int64_t wrapAdd(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) + static_cast<uint64_t>(B));
}

unsigned SymbolTable::intern(Symbol::Kind K, unsigned Index, llvm::StringRef Text) {
  std::string Key = std::to_string(K) + ":" + std::to_string(Index) + ":" + Text.str();
  auto R = Ids.try_emplace(Key, Symbols.size());
  if (R.second)
    Symbols.push_back({K, Index, Text.str()});
  return R.first->second;
}

Poly Poly::constant(int64_t C) {
  Poly P;
  if (C)
    P.Terms[{}] = C;
  return P;
}

Poly Poly::symbol(unsigned Id) {
  Poly P;
  P.Terms[{Id}] = 1;
  return P;
}

Poly &Poly::add(const Poly &B, int64_t Factor) {
  if (&B == this)
    return add(Poly(B), Factor);
  for (auto &T : B.Terms) {
    auto It = Terms.try_emplace(T.first, 0).first;
    It->second = wrapAdd(It->second, wrapMul(T.second, Factor));
    if (It->second == 0)
      Terms.erase(It);
  }
  return *this;
}

Poly Poly::times(const Poly &B) const {
  Poly R;
  for (auto &X : Terms)
    for (auto &Y : B.Terms) {
      Mono M = X.first;
      M.insert(M.end(), Y.first.begin(), Y.first.end());
      std::sort(M.begin(), M.end());
      auto It = R.Terms.try_emplace(std::move(M), 0).first;
      It->second = wrapAdd(It->second, wrapMul(X.second, Y.second));
      if (It->second == 0)
        R.Terms.erase(It);
    }
  return R;
}

bool Poly::isConstant(int64_t &C) const {
  if (Terms.empty()) {
    C = 0;
    return true;
  }
  if (Terms.size() > 1 || !Terms.begin()->first.empty())
    return false;
  C = Terms.begin()->second;
  return true;
}

bool Poly::uses(const SymbolTable &S, bool Counters, bool Inners) const {
  for (auto &T : Terms)
    for (unsigned Id : T.first)
      if ((Counters && S[Id].K == Symbol::Counter) || (Inners && S[Id].K == Symbol::Inner))
        return true;
  return false;
}

bool Poly::split(const SymbolTable &S, Poly &Rest, std::map<unsigned, Poly> &Coef) const {
  for (auto &T : Terms) {
    Mono M;
    int Var = -1;
    for (unsigned Id : T.first) {
      if (S[Id].K == Symbol::Invariant) {
        M.push_back(Id);
        continue;
      }
      if (Var >= 0)
        return false;
      Var = static_cast<int>(Id);
    }
    (Var < 0 ? Rest : Coef[Var]).Terms[M] = T.second;
  }
  return true;
}

std::string Poly::text(const std::function<std::string(unsigned)> &SymbolText) const {
  if (Terms.empty())
    return "0UL";
  std::string R;
  for (auto &T : Terms) {
    if (!R.empty())
      R += " + ";
    std::string M;
    if (T.second != 1 || T.first.empty())
      M = T.second < 0 ? "-" + std::to_string(0 - static_cast<uint64_t>(T.second)) + "UL"
                       : std::to_string(T.second) + "UL";
    for (unsigned Id : T.first)
      M += (M.empty() ? "" : " * ") + SymbolText(Id);
    R += M;
  }
  return R;
}

} // namespace cofuse
