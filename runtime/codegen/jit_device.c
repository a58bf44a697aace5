// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Kernels of a device, from LLVM IR as it was lowered for one.
 *
 * Calls of the C library are simplified first, as they are for the CPU: the plain program's compiler has done
 * so, and behind the device's names they are unknown. Then they get those names. For `emu` the names go back
 * to the host's, and special registers are read from the box that the launch hands over. */
#include "codegen/jit_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char device_prefix[] = "__nv_";

/* Functions of libm whose counterpart on the device has another name. */
static const struct {
  const char *host, *device;
} other[] = {{"lround", "llround"}, {"lroundf", "llroundf"}, {"lrint", "llrint"}, {"lrintf", "llrintf"}};

static LLVMErrorRef run(cf_jit *jit, LLVMModuleRef m, const char *passes) {
  LLVMPassBuilderOptionsRef po = LLVMCreatePassBuilderOptions();
  LLVMErrorRef e = LLVMRunPasses(m, passes, jit->tm, po);
  LLVMDisposePassBuilderOptions(po);
  return e;
}

/* What the simplification, or the plugin, may have turned a library function into. powi is left alone for the
 * host, whose code generator knows it. */
static const char *const intrinsics[] = {"exp", "exp2", "exp10", "log", "log2",  "log10",
                                         "sin", "cos",  "tan",   "pow", "ldexp", "powi"};

/* The device's function for an intrinsic "llvm.exp.f32"; false: none is needed. */
static bool function_of(const char *name, size_t n, bool powi, char to[64]) {
  for (size_t k = 0; k < sizeof intrinsics / sizeof *intrinsics; k++) {
    size_t len = strlen(intrinsics[k]);
    if (n < 5 + len + 4 || memcmp(name + 5, intrinsics[k], len) != 0 || name[5 + len] != '.')
      continue;
    if (!powi && strcmp(intrinsics[k], "powi") == 0)
      return false;
    snprintf(to, 64, "%s%s%s", device_prefix, intrinsics[k],
             memcmp(name + 5 + len, ".f32", 4) == 0 ? "f" : "");
    return true;
  }
  return false;
}

static void replace_intrinsics(LLVMModuleRef m, bool powi) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f; f = next) {
    next = LLVMGetNextFunction(f);
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    char to[64];
    if (LLVMGetIntrinsicID(f) == 0 || !function_of(name, n, powi, to))
      continue;
    LLVMValueRef g = LLVMGetNamedFunction(m, to);
    if (!g)
      g = LLVMAddFunction(m, to, LLVMGlobalGetValueType(f));
    LLVMReplaceAllUsesWith(f, g);
    LLVMDeleteFunction(f);
  }
}

/* LLVM's own remainder is not exact on a device. */
static void replace_remainders(LLVMModuleRef m) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
      for (LLVMValueRef i = LLVMGetFirstInstruction(k), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (LLVMGetInstructionOpcode(i) != LLVMFRem)
          continue;
        LLVMTypeRef t = LLVMTypeOf(i), two[] = {t, t}, type = LLVMFunctionType(t, two, 2, false);
        const char *name = LLVMGetTypeKind(t) == LLVMFloatTypeKind ? "__nv_fmodf" : "__nv_fmod";
        LLVMValueRef g = LLVMGetNamedFunction(m, name), v[] = {LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)};
        if (!g)
          g = LLVMAddFunction(m, name, type);
        LLVMPositionBuilderBefore(b, i);
        LLVMReplaceAllUsesWith(i, LLVMBuildCall2(b, type, g, v, 2, ""));
        LLVMInstructionEraseFromParent(i);
      }
  LLVMDisposeBuilder(b);
}

static bool called(LLVMValueRef f) { return LLVMIsDeclaration(f) && LLVMGetIntrinsicID(f) == 0; }

static void rename_to(LLVMModuleRef m, LLVMValueRef f, const char *name) {
  LLVMValueRef old = LLVMGetNamedFunction(m, name);
  if (old && old != f) {
    LLVMReplaceAllUsesWith(f, old);
    LLVMDeleteFunction(f);
  } else {
    LLVMSetValueName2(f, name, strlen(name));
  }
}

/* Functions of the C library by the device's names. One that it does not have: an error. */
static cf_status to_device(LLVMModuleRef m, char **error) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f; f = next) {
    next = LLVMGetNextFunction(f);
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (!called(f))
      continue;
    char to[64];
    snprintf(to, sizeof to, "%s%.*s", device_prefix, (int)n, name);
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
      if (strlen(other[k].host) == n && memcmp(name, other[k].host, n) == 0)
        snprintf(to, sizeof to, "%s%s", device_prefix, other[k].device);
    if (!LLVMGetFirstUse(f))
      LLVMDeleteFunction(f);
    else if (n + sizeof device_prefix > sizeof to)
      return cf_jit_fail(error, "a device has no function %.*s", (int)n, name);
    else
      rename_to(m, f, to);
  }
  return CF_OK;
}

/* ---- emu */

static void to_host(LLVMModuleRef m) {
  size_t skip = sizeof device_prefix - 1;
  for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f; f = next) {
    next = LLVMGetNextFunction(f);
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (!called(f) || n <= skip || memcmp(name, device_prefix, skip) != 0)
      continue;
    char to[64];
    snprintf(to, sizeof to, "%.*s", (int)(n - skip), name + skip);
    rename_to(m, f, to);
  }
}

/* Which of the ids a special register is; negative: none. */
static int id_of(const char *name, size_t n) {
  static const char prefix[] = "llvm.nvvm.read.ptx.sreg.";
  static const char *const kinds[] = {"tid.", "ntid.", "ctaid.", "nctaid."};
  size_t skip = sizeof prefix - 1;
  if (n <= skip || memcmp(name, prefix, skip) != 0)
    return -1;
  for (int k = 0; k < 4; k++) {
    size_t len = strlen(kinds[k]);
    if (n == skip + len + 1 && memcmp(name + skip, kinds[k], len) == 0)
      return 3 * k + (name[n - 1] - 'x');
  }
  return -1;
}

/* Special registers of a kernel, whose second parameter is the box, are read from there. */
static cf_status replace_registers(LLVMModuleRef m, char **error) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(c), i32 = LLVMInt32TypeInContext(c), i64 = LLVMInt64TypeInContext(c);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
  cf_status st = CF_OK;
  for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f && st == CF_OK; f = next) {
    next = LLVMGetNextFunction(f);
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (!LLVMIsDeclaration(f) || n < 10 || memcmp(name, "llvm.nvvm.", 10) != 0)
      continue;
    int id = id_of(name, n);
    if (id < 0) {
      st = cf_jit_fail(error, "the emulation does not know %.*s", (int)n, name);
      break;
    }
    for (LLVMUseRef u; (u = LLVMGetFirstUse(f));) {
      LLVMValueRef call = LLVMGetUser(u);
      LLVMValueRef kernel = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
      LLVMPositionBuilderBefore(b, call);
      LLVMValueRef at = LLVMConstInt(i64, (unsigned long long)(8 * CF_DEVICE_BOX_IDS + 4 * id), false);
      LLVMValueRef p = LLVMBuildGEP2(b, i8, LLVMGetParam(kernel, 1), &at, 1, "");
      LLVMReplaceAllUsesWith(call, LLVMBuildLoad2(b, i32, p, ""));
      LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(f);
  }
  LLVMDisposeBuilder(b);
  return st;
}

/* The emulation hands its box over by address. */
static void pass_by_address(const cf_jit_job *job, LLVMModuleRef m) {
  unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
  for (uint32_t k = 0; k < job->nnests; k++) {
    char name[80];
    snprintf(name, sizeof name, "cofuse_k%u_%s", k, job->id);
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (f)
      LLVMRemoveEnumAttributeAtIndex(f, 2, kind);
  }
}

/* ---- both */

/* Lanes add up in another order, and a partial sum may leave the range that the whole stays in. */
static void let_wrap(LLVMModuleRef m) {
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
    if (!cf_jit_attribute(f, "cofuse-lanes"))
      continue;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(i);
        if (op == LLVMAdd || op == LLVMSub || op == LLVMMul) {
          LLVMSetNSW(i, false);
          LLVMSetNUW(i, false);
        }
      }
  }
}

cf_status cf_jit_device_compile(cf_jit *jit, const cf_jit_job *job, LLVMModuleRef m, void **object,
                                size_t *size, char **error) {
  cf_jit_set_target(m, jit->triple, jit->tm);
  let_wrap(m);
  cf_jit_rename_calls(m);
  CF_TRY(cf_jit_ran(run(jit, m, "always-inline,globaldce,function(sroa,instcombine<no-verify-fixpoint>)"),
                    error));
  CF_TRY(to_device(m, error));
  replace_intrinsics(m, strncmp(job->target, "sm_", 3) == 0);
  replace_remainders(m);
  if (strncmp(job->target, "sm_", 3) == 0)
    return cf_jit_nvptx(jit, job, m, object, size, error);
  to_host(m);
  CF_TRY(replace_registers(m, error));
  CF_TRY(cf_jit_prepare(jit, job, m, error));
  pass_by_address(job, m);
  CF_TRY(cf_jit_ran(run(jit, m, "default<O1>"), error));
  return cf_jit_emit(jit, job, m, object, size, error);
}
