#include "userspace/report/interpreter_frames.h"

#include <algorithm>
#include <array>

namespace lumbre {
namespace {

// The call protocol (PEP 590 and before) and the eval loop's entry points of CPython 3.8-3.14.
constexpr std::array<std::string_view, 47> kPlumbing = {
    "PyEval_EvalCode",
    "PyEval_EvalCodeEx",
    "PyEval_EvalFrame",
    "PyEval_EvalFrameEx",
    "PyObject_Call",
    "PyObject_CallFunctionObjArgs",
    "PyObject_CallMethodObjArgs",
    "PyObject_CallNoArgs",
    "PyObject_CallObject",
    "PyObject_CallOneArg",
    "PyObject_Vectorcall",
    "PyObject_VectorcallDict",
    "PyObject_VectorcallMethod",
    "PyVectorcall_Call",
    "_PyEval_EvalCode",
    "_PyEval_EvalCodeWithName",
    "_PyEval_EvalFrame",
    "_PyEval_EvalFrameDefault",
    "_PyEval_Vector",
    "_PyFunction_FastCallDict",
    "_PyFunction_Vectorcall",
    "_PyFunction_VectorcallD",
    "_PyObject_Call",
    "_PyObject_CallFunctionVa",
    "_PyObject_CallMethod",
    "_PyObject_CallNoArg",
    "_PyObject_CallNoArgs",
    "_PyObject_CallNoArgsTstate",
    "_PyObject_Call_Prepend",
    "_PyObject_FastCall",
    "_PyObject_FastCallDict",
    "_PyObject_FastCallDictTstate",
    "_PyObject_MakeTpCall",
    "_PyObject_Vectorcall",
    "_PyObject_VectorcallTstate",
    "_PyVectorcall_Call",
    "call_function",
    "function_code_fastcall",
    "method_vectorcall",
    "method_call",
    "object_vacall",
    "do_call_core",
    "slot_tp_call",
    "trace_call_function",
    "vectorcall_method",
    "_PyObject_VectorcallMethod",
    "_PyEval_BuiltinsFromGlobals",
};

}  // namespace

bool is_interpreter_plumbing(std::string_view name) {
  // Compiler clones carry a suffix: method_vectorcall.llvm.123, slot_tp_call.part.0, ....cold
  name = name.substr(0, name.find('.'));
  return std::find(kPlumbing.begin(), kPlumbing.end(), name) != kPlumbing.end() ||
         name.starts_with("_TAIL_CALL_");
}

}  // namespace lumbre
