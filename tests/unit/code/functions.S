# Functions by hand, without unwind data, each with a shape that compilers do not write but
# hand-written kernels have. The labels are the places that the test asks about.
    .text
    .macro function name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .endm
    .macro place name
    .globl \name
\name:
    .endm
    .macro finish name
    .globl \name\()_end
\name\()_end:
    .size \name, . - \name
    .endm

# Saves by mov below a stack that is then cut off at a page; the old stack pointer is kept in it.
    function code_realigned
    endbr64
    sub $0x40, %rsp
    mov %rbx, (%rsp)
    mov %rbp, 8(%rsp)
    mov %r12, 0x10(%rsp)
    mov %rsp, %rbp
    sub %rax, %rsp
    and $-4096, %rsp
    mov %rbp, 0x78(%rsp)
    xor %ebp, %ebp
    xor %ebx, %ebx
    place code_realigned_body
    nop
    mov 0x78(%rsp), %rbp
    place code_realigned_restored
    mov %rbp, %rsp
    mov (%rsp), %rbx
    mov 8(%rsp), %rbp
    mov 0x10(%rsp), %r12
    add $0x40, %rsp
    place code_realigned_return
    ret
    finish code_realigned

# Two ways to one place that disagree about the stack.
    function code_disagreeing
    test %rdi, %rdi
    je 1f
    push %rbx
1:  nop
    place code_disagreeing_join
    xor %eax, %eax
2:  jmp 2b
    finish code_disagreeing

# The same, but rbp knows the frame.
    function code_with_frame_pointer
    push %rbp
    mov %rsp, %rbp
    test %rdi, %rdi
    je 1f
    sub $64, %rsp
1:  nop
    place code_with_frame_pointer_join
    leave
    place code_with_frame_pointer_return
    ret
    finish code_with_frame_pointer

# A call that never returns, with more on the stack than what follows it has.
    function code_aborting
    test %rdi, %rdi
    je 1f
    push %rbx
    push %rbx
    call abort
1:  nop
    place code_aborting_after
    ret
    finish code_aborting

# A jump that is not understood: behind it nothing is proven.
    function code_with_unknown_jump
    push %rbx
    push %r12
    xor %ebx, %ebx
    jmp *%rdi
    place code_behind_unknown_jump
    xor %eax, %eax
    pop %r12
    pop %rbx
    ret
    finish code_with_unknown_jump

# Probes the stack page by page down to r11.
    function code_probing
    lea -0x4000(%rsp), %r11
1:  sub $0x1000, %rsp
    orq $0, (%rsp)
    cmp %r11, %rsp
    jne 1b
    place code_probed
    xor %eax, %eax
    add $0x4000, %rsp
    ret
    finish code_probing

# Returns with another stack than it was entered with: its reading is wrong somewhere.
    function code_unbalanced
    push %rbx
    place code_unbalanced_body
    nop
    ret
    finish code_unbalanced

# A saved register that is overwritten in its slot.
    function code_overwriting
    push %rbx
    movl $0, (%rsp)
    xor %ebx, %ebx
    place code_overwritten
    nop
    pop %rbx
    ret
    finish code_overwriting

# A function within the function.
    function code_with_inner
    push %rbp
    sub $32, %rsp
    call 1f
    add $32, %rsp
    pop %rbp
    ret
1:  push %r15
    xor %r15d, %r15d
    place code_inner
    nop
    pop %r15
    ret
    finish code_with_inner

# A table of distances.
    function code_with_table
    push %r14
    cmp $1, %rdi
    ja 9f
    lea code_table(%rip), %rdx
    movslq (%rdx, %rdi, 4), %rax
    add %rdx, %rax
    jmp *%rax
1:  sub $16, %rsp
    place code_case_0
    nop
    add $16, %rsp
    jmp 9f
2:  sub $48, %rsp
    place code_case_1
    nop
    add $48, %rsp
9:  pop %r14
    ret
    finish code_with_table

    .section .rodata
    .p2align 2
code_table:
    .long 1b - code_table
    .long 2b - code_table

    .section .note.GNU-stack, "", @progbits
