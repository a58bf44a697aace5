// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kit.h"

#include <stdio.h>
#include <string.h>

const uint8_t kit_iv_types[COFUSE_MAX_DIMS] = {COFUSE_I64, COFUSE_I64, COFUSE_I64,
                                               COFUSE_I64, COFUSE_I64, COFUSE_I64};

static cf_codegen *codegen;

cf_codegen *kit_codegen(void) {
  if (!codegen) {
    cf_options opt;
    assert_int_equal(cf_options_read(&opt), CF_OK);
    opt.cache_dir = "off";
    if (cf_codegen_create(&opt, 0, 1, NULL, NULL, &codegen) != CF_OK)
      fail_msg("%s", cf_last_error());
  }
  return codegen;
}

void kit_close(void) {
  cf_codegen_destroy(codegen);
  codegen = NULL;
}

const cf_kernel *kit_kernel(const cf_cg_unit *u) {
  cf_buf text = {0};
  const cf_kernel *k = NULL;
  if (cf_cg_assemble(u, &text) != CF_OK)
    fail_msg("assemble: %s", cf_last_error());
  if (cf_kernel_get(kit_codegen(), text.data, text.len, u->nnests, "kit", &k) != CF_OK)
    fail_msg("%s\n%s", cf_last_error(), text.data);
  cf_buf_free(&text);
  return k;
}

const cf_kernel *kit_nest(uint32_t ndims, uint32_t ntasks, const cf_cg_task *tasks, uint32_t nlocals,
                          const uint8_t *local_types, uint32_t nbases, uint32_t nints) {
  cf_cg_nest n = {ndims, ntasks, tasks, nlocals, local_types};
  cf_cg_unit u = {.nnests = 1, .nests = &n, .nbases = nbases, .nints = nints};
  return kit_kernel(&u);
}

void kit_same_(const void *a, const void *b, size_t n, const char *file, int line) {
  const unsigned char *p = a, *q = b;
  for (size_t i = 0; i < n; i++)
    if (p[i] != q[i]) {
      print_error("%s:%d: byte %zu of %zu differs: %02x, expected %02x\n", file, line, i, n, p[i], q[i]);
      _fail(file, line);
    }
}

double kit_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1.0;
}
