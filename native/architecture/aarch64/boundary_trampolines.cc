// The trampolines of boundary/ (boundary/trampolines.h).
//
// A trampoline puts its index into a register and jumps to the common part, which stores a Registers on the stack and
// calls framedex_boundary_enter. The function itself is then entered by a jump, with the caller's stack and registers:
// its stack arguments are in place, and the trampoline adds no frame. x16 and x17 are free at the entry of a function.
// Of the vector registers, only the lower 128 bits are stored, which hold a `double` or a 128-bit vector.
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
    mov x17, #index
    b framedex_boundary_common
    .set index, index + 1
    .endr

framedex_boundary_common:
    sub sp, sp, #224
    .cfi_def_cfa_offset 224
    stp x17, x30, [sp, #208]
    .cfi_offset x30, -8
    stp x7, x29, [sp, #192]
    stp x5, x6, [sp, #176]
    stp x3, x4, [sp, #160]
    stp x1, x2, [sp, #144]
    stp x8, x0, [sp, #128]
    stp q6, q7, [sp, #96]
    stp q4, q5, [sp, #64]
    stp q2, q3, [sp, #32]
    stp q0, q1, [sp]
    mov x0, sp
    bl framedex_boundary_enter
    mov x16, x0
    ldp q0, q1, [sp]
    ldp q2, q3, [sp, #32]
    ldp q4, q5, [sp, #64]
    ldp q6, q7, [sp, #96]
    ldp x8, x0, [sp, #128]
    ldp x1, x2, [sp, #144]
    ldp x3, x4, [sp, #160]
    ldp x5, x6, [sp, #176]
    ldr x7, [sp, #192]
    ldr x30, [sp, #216]
    .cfi_restore x30
    add sp, sp, #224
    .cfi_def_cfa_offset 0
    br x16

    .globl framedex_boundary_return
    .hidden framedex_boundary_return
framedex_boundary_return:
    mov x0, x8
    ret
    .cfi_endproc
    .popsection
)");
