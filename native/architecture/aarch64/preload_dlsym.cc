// The `dlsym` of pjrt/preload.cc.
//
// The real dlsym reads its return address, so this jumps to it with the caller's stack unchanged.
asm(R"(
    .pushsection .text
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    mov x29, sp
    stp x0, x1, [sp, #16]
    bl framedex_answer
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    cbz x16, 1f
    mov x0, x16
    ret
1:  adrp x16, framedex_real_dlsym
    ldr x16, [x16, #:lo12:framedex_real_dlsym]
    br x16
    .cfi_endproc
    .size dlsym, .-dlsym
    .popsection
)");
