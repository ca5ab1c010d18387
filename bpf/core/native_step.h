/* One step of a native walk: from the registers of a frame to those of its caller, by a compact
 * rule (bpf/abi/tables.h; DWARF 5, section 6.4; System V x86-64 ABI).
 *
 * Plain C for the kernel programs and for user space: no libc, no floats, no loops, no helper
 * calls. The includer's include path has a "lumbre_platform.h" that defines
 *   struct lumbre_stack_reader;
 *   static inline int lumbre_read_stack_word(struct lumbre_stack_reader *reader, __u64 address,
 *                                            __u64 *value);   returns 0 or -1
 * and, through vmlinux.h or bpf/abi/types.h, the integer types. Any address may be asked for.
 *
 * Which rule: look up the frame's rip in the leaf and in a frame that a signal interrupted (its
 * callee's rule was LUMBRE_CFA_SIGNAL); rip - 1 in every other frame, because a return address may
 * already belong to the next function. The caller bounds the number of steps.
 * Cost: at most 8 word reads, 17 in a signal frame. Unless the result is LUMBRE_STEP_OK the
 * registers are unchanged, or are not to be used. */
#ifndef LUMBRE_CORE_NATIVE_STEP_H
#define LUMBRE_CORE_NATIVE_STEP_H

#include "bpf/abi/tables.h"
#include "bpf/core/native_step_result.h"
#include "lumbre_platform.h"

#define LUMBRE_STEP_INLINE static inline __attribute__((always_inline))

#define LUMBRE_REGISTER_BIT(number) (1u << (number))

/* What a call leaves to the caller (rbx, rbp, r12-r15) and what a step sets (rsp, rip). */
#define LUMBRE_SURVIVING_REGISTERS                                                  \
  (LUMBRE_REGISTER_BIT(LUMBRE_RBX) | LUMBRE_REGISTER_BIT(LUMBRE_RBP) |              \
   LUMBRE_REGISTER_BIT(LUMBRE_RSP) | LUMBRE_REGISTER_BIT(LUMBRE_R12) |              \
   LUMBRE_REGISTER_BIT(LUMBRE_R13) | LUMBRE_REGISTER_BIT(LUMBRE_R14) |              \
   LUMBRE_REGISTER_BIT(LUMBRE_R15) | LUMBRE_REGISTER_BIT(LUMBRE_RIP))

#define LUMBRE_STACK_WORD 8

/* struct ucontext of arch/x86/include/uapi/asm/ucontext.h: struct sigcontext behind uc_flags,
 * uc_link and uc_stack. */
#define LUMBRE_UCONTEXT_REGISTERS 40

LUMBRE_STEP_INLINE int lumbre_get_register(const struct lumbre_registers *registers, __u64 number,
                                           __u64 *value) {
  /* 64 bits wide and opaque, so that the bound is tested on the very register that indexes: the
   * verifier does not carry a bound over to a widened copy. */
  __asm__ volatile("" : "+r"(number));
  if (number >= LUMBRE_REGISTER_COUNT) {
    return -1;
  }
  if (!(registers->valid >> number & 1)) {
    return -1;
  }
  *value = registers->value[number];
  return 0;
}

LUMBRE_STEP_INLINE enum lumbre_step_result lumbre_compute_cfa(
    const struct lumbre_unwind_rule *rule, const struct lumbre_registers *registers,
    struct lumbre_stack_reader *reader, __u64 *cfa) {
  __u64 base = 0;
  if (lumbre_get_register(registers, rule->cfa_register, &base)) {
    return LUMBRE_STEP_UNKNOWN_REGISTER;
  }
  base += (__u64)(__s64)rule->cfa_offset;
  if (rule->cfa_kind == LUMBRE_CFA_DEREF) {
    if (lumbre_read_stack_word(reader, base, &base)) {
      return LUMBRE_STEP_READ_FAULT;
    }
    base += (__u64)(__s64)rule->cfa_add;
  } else if (rule->cfa_kind == LUMBRE_CFA_PLT) {
    __u64 in_entry = registers->value[LUMBRE_RIP] & 15;
    base += in_entry >= (__u64)(__s64)rule->cfa_add ? LUMBRE_STACK_WORD : 0;
  }
  *cfa = base;
  return LUMBRE_STEP_OK;
}

LUMBRE_STEP_INLINE enum lumbre_step_result lumbre_find_return_address(
    const struct lumbre_unwind_rule *rule, const struct lumbre_registers *registers,
    struct lumbre_stack_reader *reader, __u64 cfa, __u64 *return_address) {
  __s64 place = rule->return_address;
  if (rule->flags & LUMBRE_RULE_RA_IN_REGISTER) {
    return lumbre_get_register(registers, (__u64)place, return_address)
               ? LUMBRE_STEP_UNKNOWN_REGISTER
               : LUMBRE_STEP_OK;
  }
  return lumbre_read_stack_word(reader, cfa + (__u64)(place * LUMBRE_STACK_WORD), return_address)
             ? LUMBRE_STEP_READ_FAULT
             : LUMBRE_STEP_OK;
}

/* A slot that cannot be read (the copied stack may end between two slots) costs that register
 * alone: the walk needs it only if a later rule counts from it. */
LUMBRE_STEP_INLINE void lumbre_restore_register(struct lumbre_registers *registers, __u32 number,
                                                struct lumbre_stack_reader *reader, __u64 address) {
  __u64 word = 0;
  int failure = lumbre_read_stack_word(reader, address, &word);
  /* Without a branch: the verifier would follow both ways of every register. */
  __asm__ volatile("" : "+r"(failure));
  registers->value[number] = word;
  registers->valid = (registers->valid & ~LUMBRE_REGISTER_BIT(number)) |
                     (LUMBRE_REGISTER_BIT(number) & ~(__u32)failure);
}

/* Where the slots of a rule count from, taken before any register changes. */
struct lumbre_slot_bases {
  __u64 cfa;
  __u64 rbp;
  __u32 is_by_rbp;
};

LUMBRE_STEP_INLINE void lumbre_apply_slot(const struct lumbre_unwind_rule *rule, __u32 saved,
                                          struct lumbre_registers *registers, __u32 number,
                                          struct lumbre_stack_reader *reader,
                                          const struct lumbre_slot_bases *bases) {
  __s64 slot = rule->saved[saved];
  __u32 is_by_rbp = bases->is_by_rbp && !(rule->flags & (LUMBRE_RULE_SAVED_BY_CFA << saved));
  __u64 base = is_by_rbp ? bases->rbp : bases->cfa;
  if (slot == LUMBRE_SLOT_UNDEFINED) {
    registers->valid &= ~LUMBRE_REGISTER_BIT(number);
  } else if (slot != LUMBRE_SLOT_SAME || (is_by_rbp && number == LUMBRE_RBP)) {
    lumbre_restore_register(registers, number, reader, base + (__u64)(slot * LUMBRE_STACK_WORD));
  }
}

LUMBRE_STEP_INLINE enum lumbre_step_result lumbre_restore_saved(
    const struct lumbre_unwind_rule *rule, struct lumbre_registers *registers,
    struct lumbre_stack_reader *reader, __u64 cfa) {
  struct lumbre_slot_bases bases;
  bases.cfa = cfa;
  bases.rbp = registers->value[LUMBRE_RBP];
  bases.is_by_rbp = rule->flags & LUMBRE_RULE_SAVED_BY_RBP;
  if (bases.is_by_rbp && !(registers->valid & LUMBRE_REGISTER_BIT(LUMBRE_RBP))) {
    return LUMBRE_STEP_UNKNOWN_REGISTER;
  }
  lumbre_apply_slot(rule, LUMBRE_SAVED_RBX, registers, LUMBRE_RBX, reader, &bases);
  lumbre_apply_slot(rule, LUMBRE_SAVED_RBP, registers, LUMBRE_RBP, reader, &bases);
  lumbre_apply_slot(rule, LUMBRE_SAVED_R12, registers, LUMBRE_R12, reader, &bases);
  lumbre_apply_slot(rule, LUMBRE_SAVED_R13, registers, LUMBRE_R13, reader, &bases);
  lumbre_apply_slot(rule, LUMBRE_SAVED_R14, registers, LUMBRE_R14, reader, &bases);
  lumbre_apply_slot(rule, LUMBRE_SAVED_R15, registers, LUMBRE_R15, reader, &bases);
  return LUMBRE_STEP_OK;
}

#define LUMBRE_RESTORE_SIGNAL_REGISTER(index, number) \
  lumbre_restore_register(registers, number, reader, frame + LUMBRE_STACK_WORD * (index))

/* Everything, caller-saved registers included, is what the kernel put into the ucontext at rsp.
 * The stack may be another one (sigaltstack), so rsp may go either way. */
LUMBRE_STEP_INLINE enum lumbre_step_result lumbre_step_signal(
    struct lumbre_registers *registers, struct lumbre_stack_reader *reader) {
  const __u32 needed = LUMBRE_REGISTER_BIT(LUMBRE_RSP) | LUMBRE_REGISTER_BIT(LUMBRE_RIP);
  __u64 frame = 0;
  if (lumbre_get_register(registers, LUMBRE_RSP, &frame)) {
    return LUMBRE_STEP_UNKNOWN_REGISTER;
  }
  frame += LUMBRE_UCONTEXT_REGISTERS;
  LUMBRE_RESTORE_SIGNAL_REGISTER(0, LUMBRE_R8);
  LUMBRE_RESTORE_SIGNAL_REGISTER(1, LUMBRE_R9);
  LUMBRE_RESTORE_SIGNAL_REGISTER(2, LUMBRE_R10);
  LUMBRE_RESTORE_SIGNAL_REGISTER(3, LUMBRE_R11);
  LUMBRE_RESTORE_SIGNAL_REGISTER(4, LUMBRE_R12);
  LUMBRE_RESTORE_SIGNAL_REGISTER(5, LUMBRE_R13);
  LUMBRE_RESTORE_SIGNAL_REGISTER(6, LUMBRE_R14);
  LUMBRE_RESTORE_SIGNAL_REGISTER(7, LUMBRE_R15);
  LUMBRE_RESTORE_SIGNAL_REGISTER(8, LUMBRE_RDI);
  LUMBRE_RESTORE_SIGNAL_REGISTER(9, LUMBRE_RSI);
  LUMBRE_RESTORE_SIGNAL_REGISTER(10, LUMBRE_RBP);
  LUMBRE_RESTORE_SIGNAL_REGISTER(11, LUMBRE_RBX);
  LUMBRE_RESTORE_SIGNAL_REGISTER(12, LUMBRE_RDX);
  LUMBRE_RESTORE_SIGNAL_REGISTER(13, LUMBRE_RAX);
  LUMBRE_RESTORE_SIGNAL_REGISTER(14, LUMBRE_RCX);
  LUMBRE_RESTORE_SIGNAL_REGISTER(15, LUMBRE_RSP);
  LUMBRE_RESTORE_SIGNAL_REGISTER(16, LUMBRE_RIP);
  return (registers->valid & needed) == needed ? LUMBRE_STEP_OK : LUMBRE_STEP_READ_FAULT;
}

LUMBRE_STEP_INLINE enum lumbre_step_result lumbre_step_frame(
    const struct lumbre_unwind_rule *rule, struct lumbre_registers *registers,
    struct lumbre_stack_reader *reader) {
  __u64 cfa = 0;
  __u64 return_address = 0;
  enum lumbre_step_result result = lumbre_compute_cfa(rule, registers, reader, &cfa);
  if (result != LUMBRE_STEP_OK) {
    return result;
  }
  result = lumbre_find_return_address(rule, registers, reader, cfa, &return_address);
  if (result != LUMBRE_STEP_OK) {
    return result;
  }
  /* vfork pops its return address into a register: its frame is empty. */
  if (cfa < registers->value[LUMBRE_RSP] ||
      (cfa == registers->value[LUMBRE_RSP] && !(rule->flags & LUMBRE_RULE_RA_IN_REGISTER))) {
    return LUMBRE_STEP_NOT_PROGRESSING;
  }
  /* Zero is what threads and coroutines of many run-times have for a return address. */
  if (return_address == 0) {
    return LUMBRE_STEP_ROOT;
  }
  result = lumbre_restore_saved(rule, registers, reader, cfa);
  if (result != LUMBRE_STEP_OK) {
    return result;
  }
  registers->value[LUMBRE_RSP] = cfa;
  registers->value[LUMBRE_RIP] = return_address;
  registers->valid &= LUMBRE_SURVIVING_REGISTERS;
  return LUMBRE_STEP_OK;
}

/* rsp and rip have to be known on entry; they always are after a step that succeeded. */
LUMBRE_STEP_INLINE enum lumbre_step_result lumbre_native_step(
    const struct lumbre_unwind_rule *rule, struct lumbre_registers *registers,
    struct lumbre_stack_reader *reader) {
  switch (rule->cfa_kind) {
    case LUMBRE_CFA_REGISTER:
    case LUMBRE_CFA_DEREF:
    case LUMBRE_CFA_PLT:
      if (rule->return_address == LUMBRE_SLOT_UNDEFINED &&
          !(rule->flags & LUMBRE_RULE_RA_IN_REGISTER)) {
        return LUMBRE_STEP_ROOT;
      }
      return lumbre_step_frame(rule, registers, reader);
    case LUMBRE_CFA_SIGNAL:
      return lumbre_step_signal(registers, reader);
    case LUMBRE_CFA_FULL:
      return LUMBRE_STEP_NEEDS_FULL;
    default:
      return LUMBRE_STEP_NO_RULE;
  }
}

#endif
