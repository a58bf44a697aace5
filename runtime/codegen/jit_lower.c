// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR text to LLVM IR.
#include "codegen/jit_impl.h"

#include <mlir-c/Conversion.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/ControlFlow.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/LLVM.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/SCF.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Target/LLVMIR.h>

static void note(MlirStringRef s, void *jit) { cf_jit_note(jit, s.data, s.length); }

static MlirLogicalResult take_diagnostic(MlirDiagnostic d, void *jit) {
  if (mlirDiagnosticGetSeverity(d) == MlirDiagnosticError) {
    mlirLocationPrint(mlirDiagnosticGetLocation(d), note, jit);
    cf_jit_note(jit, ": ", 2);
    mlirDiagnosticPrint(d, note, jit);
    cf_jit_note(jit, "\n", 1);
  }
  return mlirLogicalResultSuccess(); /* handled: not printed */
}

cf_status cf_jit_open_mlir(cf_jit *jit, char **error) {
  MlirDialectRegistry r = mlirDialectRegistryCreate();
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__arith__(), r);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__cf__(), r);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__func__(), r);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__llvm__(), r);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__math__(), r);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__scf__(), r);
  jit->mlir = mlirContextCreateWithRegistry(r, false);
  mlirDialectRegistryDestroy(r);
  if (mlirContextIsNull(jit->mlir))
    return cf_jit_fail(error, "cannot create an MLIR context");
  mlirRegisterAllLLVMTranslations(jit->mlir);
  mlirContextAttachDiagnosticHandler(jit->mlir, take_diagnostic, jit, NULL);
  return CF_OK;
}

static cf_status fail(cf_jit *jit, const char *what, char **error) {
  return cf_jit_fail(error, "%s:\n%s", what, jit->diagnostics ? jit->diagnostics : "(no diagnostic)\n");
}

static bool run_passes(cf_jit *jit, MlirOperation module) {
  MlirPassManager pm = mlirPassManagerCreate(jit->mlir);
  mlirPassManagerEnableVerifier(pm, jit->verify);
  mlirPassManagerAddOwnedPass(pm, mlirCreateConversionSCFToControlFlow());
  mlirPassManagerAddOwnedPass(pm, mlirCreateConversionConvertMathToLLVMPass());
  mlirPassManagerAddOwnedPass(pm, mlirCreateConversionArithToLLVMConversionPass());
  mlirPassManagerAddOwnedPass(pm, mlirCreateConversionConvertControlFlowToLLVMPass());
  mlirPassManagerAddOwnedPass(pm, mlirCreateConversionConvertIndexToLLVMPass());
  mlirPassManagerAddOwnedPass(pm, mlirCreateConversionConvertFuncToLLVMPass());
  mlirPassManagerAddOwnedPass(pm, mlirCreateConversionReconcileUnrealizedCasts());
  bool ok = mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(pm, module));
  mlirPassManagerDestroy(pm);
  return ok;
}

cf_status cf_jit_lower(cf_jit *jit, const cf_jit_job *job, LLVMContextRef lc, LLVMModuleRef *out,
                       char **error) {
  MlirModule module = mlirModuleCreateParse(jit->mlir, mlirStringRefCreate(job->text, job->len));
  if (mlirModuleIsNull(module))
    return fail(jit, "MLIR rejects the kernel", error);
  cf_status st = CF_OK;
  if (!run_passes(jit, mlirModuleGetOperation(module))) {
    st = fail(jit, "MLIR cannot lower the kernel", error);
  } else {
    LLVMModuleRef m = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(module), lc);
    if (m)
      *out = m;
    else
      st = fail(jit, "MLIR cannot translate the kernel to LLVM IR", error);
  }
  mlirModuleDestroy(module);
  return st;
}
