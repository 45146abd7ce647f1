#include "boundary/trampolines.h"

namespace framedex::boundary {

// A trampoline pushes its index and jumps to the common part, which stores a Registers on the stack and calls
// framedex_boundary_enter. The function itself is then entered by a jump, with the caller's stack and registers: its
// stack arguments are in place, and the trampoline is no frame. The vector registers are stored as far as a `double`
// or an __m128 uses them.
asm(R"(
    .pushsection .text
    .balign 16
framedex_boundary_trampolines:
    .set index, 0
    .rept 257
    .balign 16
    pushq $index
    jmp framedex_boundary_common
    .set index, index + 1
    .endr

framedex_boundary_common:
    .cfi_startproc
    .cfi_def_cfa %rsp, 16
    pushq %rbp
    .cfi_offset %rbp, -24
    pushq %r9
    pushq %r8
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %rax
    movq %rsp, %rbp
    .cfi_def_cfa %rbp, 80
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
    popq %rax
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %r8
    popq %r9
    popq %rbp
    leaq 8(%rsp), %rsp
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmp *%r11
    .cfi_endproc

    .globl framedex_boundary_return
    .hidden framedex_boundary_return
framedex_boundary_return:
    ret
    .popsection
)");

extern "C" __attribute__((visibility("hidden"))) const char framedex_boundary_trampolines[];

const void* trampoline(size_t index) {
  constexpr size_t kSize = 16;
  static_assert(kMaximumBoundaries == 256, "as .rept has it, with that of dlsym");
  return framedex_boundary_trampolines + kSize * index;
}

}  // namespace framedex::boundary
