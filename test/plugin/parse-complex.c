// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of run/complex.c are valid MLIR.
// RUN: %clang_cofuse -w -fsyntax-only -fplugin-arg-cofuse-emit-source=%t.c %S/run/complex.c
// RUN: %bodies %t.c > %t.mlir
// RUN: mlir-opt %t.mlir -o /dev/null
// RUN: %clang_plain -w -fsyntax-only %t.c
