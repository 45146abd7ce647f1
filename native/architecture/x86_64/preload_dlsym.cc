// The `dlsym` of pjrt/preload.cc.
//
// The real dlsym reads its return address, so this jumps to it with the caller's stack unchanged.
asm(R"(
    .pushsection .text
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call framedex_answer
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rax, %rax
    jz 1f
    ret
1:  jmp *framedex_real_dlsym(%rip)
    .cfi_endproc
    .size dlsym, .-dlsym
    .popsection
)");
