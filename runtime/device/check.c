// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Before a GPU is used that nobody asked for: does it compute what it should, the way cofuse calls it? A
 * kernel with the parameters of all others, whose operations have one right answer each (IEEE 754). */
#include "device/device.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* out[4 * i + 0..3] = x / y, sqrt(y), fma(x, y, x), x * 0.5 for (x, y) = in[2 * i + 0..1], i < box.hi[0] */
static const char text[] = ".version 7.8\n"
                           ".target sm_80\n"
                           ".address_size 64\n"
                           ".visible .entry cofuse_k0_check(\n"
                           "  .param .u64 cofuse_in,\n"
                           "  .param .align 8 .b8 cofuse_box[512],\n"
                           "  .param .u64 cofuse_out\n"
                           ")\n"
                           "{\n"
                           "  .reg .pred %p<2>;\n"
                           "  .reg .b32 %r<5>;\n"
                           "  .reg .b64 %rd<10>;\n"
                           "  .reg .f64 %fd<7>;\n"
                           "  mov.u32 %r1, %tid.x;\n"
                           "  mov.u32 %r2, %ntid.x;\n"
                           "  mov.u32 %r3, %ctaid.x;\n"
                           "  mad.lo.s32 %r4, %r3, %r2, %r1;\n"
                           "  cvt.u64.u32 %rd1, %r4;\n"
                           "  ld.param.u64 %rd2, [cofuse_box+64];\n"
                           "  setp.ge.s64 %p1, %rd1, %rd2;\n"
                           "  @%p1 bra $L_end;\n"
                           "  ld.param.u64 %rd3, [cofuse_in];\n"
                           "  cvta.to.global.u64 %rd4, %rd3;\n"
                           "  shl.b64 %rd5, %rd1, 4;\n"
                           "  add.s64 %rd6, %rd4, %rd5;\n"
                           "  ld.global.f64 %fd1, [%rd6];\n"
                           "  ld.global.f64 %fd2, [%rd6+8];\n"
                           "  div.rn.f64 %fd3, %fd1, %fd2;\n"
                           "  sqrt.rn.f64 %fd4, %fd2;\n"
                           "  fma.rn.f64 %fd5, %fd1, %fd2, %fd1;\n"
                           "  mul.rn.f64 %fd6, %fd1, 0d3FE0000000000000;\n"
                           "  ld.param.u64 %rd7, [cofuse_out];\n"
                           "  cvta.to.global.u64 %rd8, %rd7;\n"
                           "  shl.b64 %rd5, %rd1, 5;\n"
                           "  add.s64 %rd9, %rd8, %rd5;\n"
                           "  st.global.f64 [%rd9], %fd3;\n"
                           "  st.global.f64 [%rd9+8], %fd4;\n"
                           "  st.global.f64 [%rd9+16], %fd5;\n"
                           "  st.global.f64 [%rd9+24], %fd6;\n"
                           "$L_end:\n"
                           "  ret;\n"
                           "}\n";

enum { N = 3000, PAIR = 2 * sizeof(double), PITCH = 3 * sizeof(double) };

typedef struct data {
  double in[N][3]; /* the third is not copied */
  double want[N][4], got[N][4];
} data;

static void prepare(data *t) {
  uint64_t bits = 88172645463325252u; /* xorshift: numbers of all sizes, subnormal ones too */
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) {
      bits ^= bits << 13;
      bits ^= bits >> 7;
      bits ^= bits << 17;
      uint64_t b = bits & ~((uint64_t)(i % 3 == 0 ? 0x7ff : 0x400) << 52);
      if (k == 1)
        b &= ~((uint64_t)1 << 63); /* a root is taken of it */
      memcpy(&t->in[i][k], &b, sizeof b);
      memset(t->got[i], 0xff, sizeof t->got[i]);
    }
  fenv_t env; /* the program may flush subnormal numbers, say; the device does not */
  fegetenv(&env);
  fesetenv(FE_DFL_ENV);
  for (int i = 0; i < N; i++) {
    double x = t->in[i][0], y = t->in[i][1];
    t->want[i][0] = x / y;
    t->want[i][1] = sqrt(y);
    t->want[i][2] = fma(x, y, x);
    t->want[i][3] = x * 0.5;
  }
  fesetenv(&env);
}

static cf_status run(cf_device *d, data *t, const cf_device_code *code, void *in, void *out) {
  cf_device_launch l = {.code = code,
                        .args = in,
                        .partials = out,
                        .grid = {{(N + 127) / 128, 1, 1}, {128, 1, 1}},
                        .box = {.hi = {N}}};
  cf_device_copy to = {N, PAIR, PAIR, PITCH}, from = {1, sizeof t->got, sizeof t->got, sizeof t->got};
  CF_TRY(d->ops->write(d, in, t->in, &to));
  CF_TRY(d->ops->run(d, &l, 1, NULL));
  CF_TRY(d->ops->read(d, t->got, out, &from));
  if (memcmp(t->got, t->want, sizeof t->got) == 0)
    return CF_OK;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 4; k++)
      if (memcmp(&t->got[i][k], &t->want[i][k], sizeof(double)) != 0)
        return cf_fail(CF_EINTERNAL, "device %s (%s) fails its test: %s of %a and %a is %a, not %a", d->name,
                       d->describe, (const char *[]){"x / y", "sqrt(y)", "fma(x, y, x)", "x * 0.5"}[k],
                       t->in[i][0], t->in[i][1], t->got[i][k], t->want[i][k]);
  return CF_OK;
}

cf_status cf_device_check(cf_device *d) {
  data *t = malloc(sizeof *t);
  if (!t)
    return cf_fail(CF_ENOMEM, "out of memory");
  prepare(t);
  void *in = NULL, *out = NULL;
  cf_device_code *code = NULL;
  cf_status st = d->ops->load(d, text, sizeof text, NULL, "check", 1, &code);
  if (st == CF_OK)
    st = d->ops->alloc(d, (size_t)N * PAIR, &in);
  if (st == CF_OK)
    st = d->ops->alloc(d, sizeof t->got, &out);
  if (st == CF_OK)
    st = run(d, t, code, in, out);
  else if (st == CF_ENOMEM)
    cf_fail(st, "device %s (%s) has no memory left", d->name, d->describe);
  if (out)
    d->ops->release(d, out);
  if (in)
    d->ops->release(d, in);
  if (code)
    d->ops->unload(d, code);
  free(t);
  return st;
}
