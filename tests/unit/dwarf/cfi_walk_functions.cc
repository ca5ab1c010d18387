#include "tests/unit/dwarf/cfi_walk_functions.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unwind.h>

#include <array>
#include <thread>

namespace lumbre {
namespace {

Capture* destination = nullptr;

__attribute__((noinline, no_sanitize("address"))) void copy_stack(std::uint64_t start,
                                                                  std::uint64_t end,
                                                                  Capture& capture) {
  std::string bytes(end - start, '\0');
  // Not memcpy: ASan's would object to the red zones of other frames.
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = *reinterpret_cast<const volatile char*>(start + i);
  }
  capture.stacks[start] = std::move(bytes);
}

std::uint64_t end_of_thread_stack() {
  pthread_attr_t attributes;
  void* start = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &start, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uint64_t>(start) + size;
}

void set_register(Capture& capture, lumbre_register number, long long value) {
  capture.registers.value[number] = static_cast<std::uint64_t>(value);
  capture.registers.valid |= 1u << number;
}

void set_registers(Capture& capture, const ucontext_t& context) {
  const auto& registers = context.uc_mcontext.gregs;
  set_register(capture, LUMBRE_RBX, registers[REG_RBX]);
  set_register(capture, LUMBRE_RBP, registers[REG_RBP]);
  set_register(capture, LUMBRE_R12, registers[REG_R12]);
  set_register(capture, LUMBRE_R13, registers[REG_R13]);
  set_register(capture, LUMBRE_R14, registers[REG_R14]);
  set_register(capture, LUMBRE_R15, registers[REG_R15]);
  set_register(capture, LUMBRE_RSP, registers[REG_RSP]);
  set_register(capture, LUMBRE_RIP, registers[REG_RIP]);
}

// The unwinder of libgcc, not backtrace(3): AddressSanitizer puts its own in place of that.
_Unwind_Reason_Code append_frame(_Unwind_Context* context, void* frames) {
  if (const auto address = _Unwind_GetIP(context); address != 0) {
    static_cast<std::vector<std::uint64_t>*>(frames)->push_back(address);
  }
  return _URC_NO_REASON;
}

// `extra_start` is the stack pointer on the thread's own stack, where this runs on another.
__attribute__((noinline)) void capture_here(std::uint64_t alternate_end,
                                            std::uint64_t extra_start) {
  ucontext_t context;
  getcontext(&context);
  set_registers(*destination, context);
  destination->backtrace.clear();
  _Unwind_Backtrace(append_frame, &destination->backtrace);
  destination->stacks.clear();
  const std::uint64_t stack = destination->registers.value[LUMBRE_RSP];
  copy_stack(stack, alternate_end != 0 ? alternate_end : end_of_thread_stack(), *destination);
  if (extra_start != 0) {
    copy_stack(extra_start, end_of_thread_stack(), *destination);
  }
}

__attribute__((noinline)) int recurse(int depth) {
  volatile int local = depth;
  if (depth == 0) {
    capture_here(0, 0);
  } else {
    local = recurse(depth - 1) + 1;
  }
  return local;
}

__attribute__((noinline)) int compare_and_capture(const void* first, const void* second) {
  capture_here(0, 0);
  return *static_cast<const int*>(first) - *static_cast<const int*>(second);
}

std::array<char, 1 << 16> alternate_stack;

void handle_signal(int, siginfo_t*, void* context) {
  const auto* here = reinterpret_cast<const char*>(__builtin_frame_address(0));
  const bool is_alternate =
      here >= alternate_stack.data() && here < alternate_stack.data() + alternate_stack.size();
  if (!is_alternate) {
    capture_here(0, 0);
    return;
  }
  const auto* interrupted = static_cast<const ucontext_t*>(context);
  capture_here(reinterpret_cast<std::uint64_t>(alternate_stack.data() + alternate_stack.size()),
               static_cast<std::uint64_t>(interrupted->uc_mcontext.gregs[REG_RSP]));
}

using Vector = float __attribute__((vector_size(32)));

struct OnStack {
  long values[10];
};

// Realigned, with a frame of variable size and an argument on the stack: GCC then keeps the old
// stack pointer in a slot that the CFA has to be read from.
__attribute__((noinline)) float realigned(long count, OnStack argument, const float* in) {
  auto* room = static_cast<float*>(__builtin_alloca(static_cast<unsigned long>(count) * 4));
  volatile Vector kept = {in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7]};
  room[1] = static_cast<float>(argument.values[9]);
  __asm__ volatile("" : : "r"(room), "r"(&argument), "r"(&kept) : "memory");
  capture_here(0, 0);
  const Vector result = kept * kept + room[1];
  return result[0] + result[7] + static_cast<float>(argument.values[3]);
}

}  // namespace

Capture capture_nested(int depth) {
  Capture capture;
  destination = &capture;
  volatile int result = recurse(depth);
  (void)result;
  return capture;
}

Capture capture_in_qsort_callback() {
  Capture capture;
  destination = &capture;
  int values[] = {3, 1, 2, 5, 4};
  qsort(values, std::size(values), sizeof(values[0]), compare_and_capture);
  return capture;
}

Capture capture_in_signal_handler(bool on_alternate_stack) {
  Capture capture;
  destination = &capture;
  struct sigaction action {};
  struct sigaction old {};
  stack_t stack{};
  stack.ss_sp = alternate_stack.data();
  stack.ss_size = alternate_stack.size();
  stack_t old_stack{};
  sigaltstack(&stack, &old_stack);
  action.sa_sigaction = handle_signal;
  action.sa_flags = SA_SIGINFO | (on_alternate_stack ? SA_ONSTACK : 0);
  sigaction(SIGUSR1, &action, &old);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &old, nullptr);
  sigaltstack(&old_stack, nullptr);
  return capture;
}

Capture capture_in_realigned_function() {
  Capture capture;
  destination = &capture;
  const float in[] = {1, 2, 3, 4, 5, 6, 7, 8};
  volatile float result = realigned(8, OnStack{{1, 2, 3}}, in);
  (void)result;
  return capture;
}

Capture capture_in_thread() {
  Capture capture;
  std::thread([&] {
    destination = &capture;
    volatile int result = recurse(3);
    (void)result;
  }).join();
  return capture;
}

}  // namespace lumbre
