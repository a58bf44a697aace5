// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* sparse: matrices in compressed sparse rows, multiplied with the vectors of the library dense.
 *
 * Results are unnamed arrays of dense: the operation that they are passed to frees them (see dense.h). The
 * loops here and there wait in one window, so they fuse across the border between the two libraries. */
#ifndef SPARSE_H
#define SPARSE_H

#include "../dense/dense.h"

typedef struct csr {
  long rows, cols, entries;
  long *start; // row i has the entries start[i] <= k < start[i + 1]
  int *column; // ascending in each row
  double *value;
  long *first; // the same by columns: column j has first[j] <= k < first[j + 1],
  int *row;    // which are in these rows
  long *entry; // and are these entries of value
} csr;

/* read.c: a matrix from a file in Matrix Market's coordinate format: real, integer or pattern (all ones);
 * general, symmetric or skew-symmetric. Entries that occur twice are added. A fault of the file ends the
 * program with its line. */
csr sparse_read(const char *path);

/* matrix.c: entries are given as triplets in any order. */
csr sparse_from_triplets(long rows, long cols, long entries, const int *row, const int *column,
                         const double *value);
/* The five-point formula for -(u_xx + u_yy) on n x m points inside a border of zeros, times h squared. */
csr sparse_poisson(long n, long m);
/* factor * a + shift * identity, as a matrix of its own. */
csr sparse_shifted(csr a, double factor, double shift);
void sparse_free(csr a);
bool sparse_is_symmetric(csr a);

/* multiply.c */
dense sparse_multiply(csr a, dense x);            // a * x
dense sparse_multiply_transposed(csr a, dense x); // transposed a * x
dense sparse_residual(csr a, dense x, dense b);   // b - a * x
dense sparse_diagonal(csr a);                     // zero where there is no entry
/* One sweep of Jacobi's relaxation: x + omega * (b - a x) / diagonal. */
dense sparse_relax(csr a, dense diagonal, dense x, dense b, double omega);

#endif
