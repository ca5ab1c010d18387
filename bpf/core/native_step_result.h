/* How one step of a native walk ended. Shared by bpf/core/native_step.h and the user-space walk. */
#ifndef LUMBRE_CORE_NATIVE_STEP_RESULT_H
#define LUMBRE_CORE_NATIVE_STEP_RESULT_H

enum lumbre_step_result {
  LUMBRE_STEP_OK = 0,           /* the registers are the caller's */
  LUMBRE_STEP_ROOT,             /* this frame has no caller: the walk is complete */
  LUMBRE_STEP_NO_RULE,          /* nothing says how to find the caller */
  LUMBRE_STEP_READ_FAULT,       /* the return address or the CFA's slot could not be read */
  LUMBRE_STEP_UNKNOWN_REGISTER, /* the rule counts from a register whose value is not known */
  LUMBRE_STEP_NOT_PROGRESSING,  /* the caller's frame would not lie above this one */
  LUMBRE_STEP_NEEDS_FULL,       /* LUMBRE_CFA_FULL: step by the whole row, in user space */
};

#endif
