// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* <cofuse/cofuse.h> without the plugin. Writes header.npy; with an argument reads that file as int32[4]. */
#include <cofuse/cofuse.h>

#define CHECK(x) ((x) ? 0 : (printf("header.c:%d: %s (%s)\n", __LINE__, #x, cofuse_last_error()), failed = 1))

int main(int argc, char **argv) {
  int failed = 0;
  if (argc > 1) {
    int32_t v[4] = {9, 9, 9, 9};
    CHECK(cofuse_load_npy(argv[1], v, "i4", 1, (int64_t[]){4}) == 0);
    CHECK(v[0] == 0 && v[3] == 3);
    return failed;
  }
  CHECK(cofuse_rank() == 0 && cofuse_size() == 1 && cofuse_flush() == 0);
  double *a = cofuse_alloc(6 * sizeof *a), b[6] = {0};
  CHECK(a && a[5] == 0);
  for (int i = 0; i < 6; i++)
    a[i] = i;
  const int64_t shape[] = {2, 3};
  CHECK(cofuse_save_npy("header.npy", a, "f8", 2, shape) == 0);
  CHECK(cofuse_load_npy("header.npy", b, "<f8", 2, shape) == 0);
  CHECK(memcmp(a, b, sizeof b) == 0);
  CHECK(cofuse_load_npy("header.npy", b, "f4", 2, shape) == COFUSE_EINVAL);
  CHECK(cofuse_load_npy("header.npy", b, "f8", 1, shape) == COFUSE_EINVAL);
  CHECK(cofuse_load_npy("header.npy", b, "f8", 3, (int64_t[]){2, 3, 1}) == COFUSE_EINVAL);
  CHECK(cofuse_load_npy("header.npy", b, "f8", 2, (int64_t[]){3, 2}) == COFUSE_EINVAL);
  CHECK(cofuse_load_npy("missing.npy", b, "f8", 2, shape) == COFUSE_EIO);
  CHECK(cofuse_save_npy("header.npy", a, "q8", 2, shape) == COFUSE_EINVAL);
  CHECK(cofuse_save_npy("x.npy", a, "f", 2, shape) == COFUSE_EINVAL);
  CHECK(cofuse_save_npy("scalar.npy", a + 3, "f8", 0, NULL) == 0);
  CHECK(cofuse_load_npy("scalar.npy", b, "f8", 0, NULL) == 0 && b[0] == 3);
  int64_t lo[2] = {0, 0}, hi[2] = {2, 3};
  CHECK(cofuse_local_box(a, lo, hi) < 0 && hi[1] == 3);
  struct cofuse_stats s;
  CHECK(cofuse_stats(&s) == 0 && s.tasks == 0);
  CHECK(*cofuse_strerror(COFUSE_EIO) && *cofuse_strerror(77));
  cofuse_free(a);
  return failed;
}
