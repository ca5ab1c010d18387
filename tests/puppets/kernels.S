# Loops written by hand, without unwind data, in the shapes of matrix kernels; each exists twice, so
# that a test knows by its name who called it. uint64_t kernel(uint64_t rounds).
    .text
    .macro function name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    endbr64
    .endm
    .macro finish name
    .size \name, . - \name
    .endm

    .macro work count
    mov $6364136223846793005, %rax
98: imul %rax, %rbp
    add $1442695040888963407 & 0x7fffffff, %rbp
    imul %rax, %rbx
    dec \count
    jnz 98b
    .endm

    .macro kernels colour
# The frame pointer holds data, the stack is cut off at a page, what was before lies in a slot.
    function kernel_realigned_\colour
    sub $0x40, %rsp
    mov %rbx, (%rsp)
    mov %rbp, 8(%rsp)
    mov %rsp, %rbp
    mov %rdi, %rax
    and $0xff00, %rax
    sub %rax, %rsp
    and $-4096, %rsp
    mov %rbp, 0x78(%rsp)
    work %rdi
    mov 0x78(%rsp), %rbp
    mov %rbp, %rsp
    mov (%rsp), %rbx
    mov 8(%rsp), %rbp
    add $0x40, %rsp
    ret
    finish kernel_realigned_\colour

# Pushes, and a part in the middle that needs more of the stack.
    function kernel_pushing_\colour
    push %rbp
    push %rbx
    work %rdi
    mov $1000, %ecx
    sub $256, %rsp
    work %rcx
    add $256, %rsp
    pop %rbx
    pop %rbp
    ret
    finish kernel_pushing_\colour

# Calls back into code that has unwind data.
    function kernel_calling_\colour
    push %rbp
    push %rbx
    sub $24, %rsp
    xor %ebp, %ebp
    call compiled_work
    add $24, %rsp
    pop %rbx
    pop %rbp
    ret
    finish kernel_calling_\colour
    .endm

    kernels red
    kernels blue

    .section .note.GNU-stack, "", @progbits
