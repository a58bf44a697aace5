// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The structs that the plugin spells inline have the layout of cofuse/descriptor.h.
// RUN: %clang_cofuse -I%include -fsyntax-only -fplugin-arg-cofuse-emit-source=%t.1.c %s
// RUN: sed 's/= cofuse_p_run(/= check_run(/; s/; cofuse_p_store(/; check_store(/' %t.1.c > %t.c
// RUN: grep -c 'check_run(&' %t.c
// RUN: grep -c 'check_store(&' %t.c
// RUN: %clang_plain -I%include -DCHECK_LAYOUT -fsyntax-only -w %t.c
#include <cofuse/descriptor.h>

#define SAME(s, t, f)                                                                                        \
  _Static_assert(__builtin_offsetof(__typeof__(s), f) == offsetof(t, f), #f);                                \
  _Static_assert(sizeof((s).f) == sizeof(((t *)0)->f), #f)

#ifdef CHECK_LAYOUT
// The injected declarations are visible inside their block only: look at them from the calls there.
#define check_run(d, n, v, o)                                                                             \
  (__extension__({                                                                                           \
    SAME(cofuse_d, cofuse_forall, abi);                                                                      \
    SAME(cofuse_d, cofuse_forall, kind);                                                                     \
    SAME(cofuse_d, cofuse_forall, ndims);                                                                    \
    SAME(cofuse_d, cofuse_forall, nscalars);                                                                 \
    SAME(cofuse_d, cofuse_forall, nreds);                                                                    \
    SAME(cofuse_d, cofuse_forall, naccess);                                                                  \
    SAME(cofuse_d, cofuse_forall, flags);                                                                    \
    SAME(cofuse_d, cofuse_forall, line);                                                                     \
    SAME(cofuse_d, cofuse_forall, column);                                                                   \
    SAME(cofuse_d, cofuse_forall, file);                                                                     \
    SAME(cofuse_d, cofuse_forall, function);                                                                 \
    SAME(cofuse_d, cofuse_forall, name);                                                                     \
    SAME(cofuse_d, cofuse_forall, iv_types);                                                                 \
    SAME(cofuse_d, cofuse_forall, access);                                                                   \
    SAME(cofuse_d, cofuse_forall, scalar_types);                                                             \
    SAME(cofuse_d, cofuse_forall, reds);                                                                     \
    SAME(cofuse_d, cofuse_forall, body);                                                                     \
    SAME(cofuse_d, cofuse_forall, decls);                                                                    \
    SAME(cofuse_d, cofuse_forall, state);                                                                    \
    _Static_assert(sizeof(cofuse_d) == sizeof(cofuse_forall), "forall");                                     \
    SAME(cofuse_da[0], cofuse_access, type);                                                                 \
    SAME(cofuse_da[0], cofuse_access, mode);                                                                 \
    SAME(cofuse_da[0], cofuse_access, flags);                                                                \
    SAME(cofuse_da[0], cofuse_access, ninner);                                                               \
    SAME(cofuse_da[0], cofuse_access, line);                                                                 \
    SAME(cofuse_da[0], cofuse_access, column);                                                               \
    SAME(cofuse_da[0], cofuse_access, text);                                                                 \
    _Static_assert(sizeof(cofuse_da[0]) == sizeof(cofuse_access), "access");                                 \
    SAME(cofuse_dr[0], cofuse_red, op);                                                                      \
    SAME(cofuse_dr[0], cofuse_red, type);                                                                    \
    SAME(cofuse_dr[0], cofuse_red, flags);                                                                   \
    SAME(cofuse_dr[0], cofuse_red, line);                                                                    \
    SAME(cofuse_dr[0], cofuse_red, column);                                                                  \
    SAME(cofuse_dr[0], cofuse_red, text);                                                                    \
    _Static_assert(sizeof(cofuse_dr[0]) == sizeof(cofuse_red), "red");                                       \
    cofuse_p_run((d), n, v, o);                                                                             \
  }))
#define check_store(d, b, ...)                                                                             \
  (__extension__({                                                                                           \
    SAME(*(d), cofuse_object, abi);                                                                          \
    SAME(*(d), cofuse_object, type);                                                                         \
    SAME(*(d), cofuse_object, rank);                                                                         \
    SAME(*(d), cofuse_object, flags);                                                                        \
    SAME(*(d), cofuse_object, elem_bytes);                                                                   \
    SAME(*(d), cofuse_object, line);                                                                         \
    SAME(*(d), cofuse_object, column);                                                                       \
    SAME(*(d), cofuse_object, file);                                                                         \
    SAME(*(d), cofuse_object, text);                                                                         \
    _Static_assert(sizeof(*(d)) == sizeof(cofuse_object), "object");                                         \
    cofuse_p_store((d), b, __VA_ARGS__);                                                                              \
  }))
#endif

double sum(int n, double *a) {
  double s = 0;
#pragma cofuse store(a[0:n])
#pragma cofuse forall reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}
