// The trampolines of boundary/ (boundary/trampolines.h).
//
// A trampoline pushes its index and jumps to the common part, which stores a Registers on the stack and calls
// framedex_boundary_enter. The function itself is then entered by a jump, with the caller's stack and registers: its
// stack arguments are in place, and the trampoline adds no frame. Of the vector registers, only the lower 128 bits are
// stored, which hold a `double` or an __m128.
asm(R"(
    .pushsection .text
    .balign 16
    .globl framedex_boundary_trampolines
    .hidden framedex_boundary_trampolines
framedex_boundary_trampolines:
    .cfi_startproc
    .set index, 0
    .rept 257
    .balign 16
    .cfi_def_cfa_offset 8
    pushq $index
    .cfi_def_cfa_offset 16
    jmp framedex_boundary_common
    .set index, index + 1
    .endr

framedex_boundary_common:
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -24
    pushq %r9
    .cfi_adjust_cfa_offset 8
    pushq %r8
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rax
    .cfi_adjust_cfa_offset 8
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $128, %rsp
    andq $-16, %rsp
    movups %xmm0, -128(%rbp)
    movups %xmm1, -112(%rbp)
    movups %xmm2, -96(%rbp)
    movups %xmm3, -80(%rbp)
    movups %xmm4, -64(%rbp)
    movups %xmm5, -48(%rbp)
    movups %xmm6, -32(%rbp)
    movups %xmm7, -16(%rbp)
    leaq -128(%rbp), %rdi
    call framedex_boundary_enter
    movq %rax, %r11
    movups -128(%rbp), %xmm0
    movups -112(%rbp), %xmm1
    movups -96(%rbp), %xmm2
    movups -80(%rbp), %xmm3
    movups -64(%rbp), %xmm4
    movups -48(%rbp), %xmm5
    movups -32(%rbp), %xmm6
    movups -16(%rbp), %xmm7
    movq %rbp, %rsp
    .cfi_def_cfa_register %rsp
    popq %rax
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %r8
    .cfi_adjust_cfa_offset -8
    popq %r9
    .cfi_adjust_cfa_offset -8
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    leaq 8(%rsp), %rsp
    .cfi_adjust_cfa_offset -8
    jmp *%r11

    .globl framedex_boundary_return
    .hidden framedex_boundary_return
framedex_boundary_return:
    ret
    .cfi_endproc
    .popsection
)");
