/* Makes code at run time and spends its time in it: `jit [SECONDS] [SHAPE] [NAMES]`.
 * main calls known_caller, which calls the code made here.
 * SHAPE: how the code keeps its frame.
 *   pushes   saved registers, room on the stack, rbp as a counter: no frame pointer (the default)
 *   frame    push rbp; mov rsp,rbp; ...; leave; ret
 *   through_pushes, through_frame   the same, but the time is spent in called_back, which they call
 * NAMES: none (default), map (/tmp/perf-PID.map), reuse (a second name over the first), dump (a
 * jitdump; JITDUMP_FOLDER says where), late (a map written before the last moment). */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "puppet.h"

#if !defined(__x86_64__)
int main(void) { return 1; }
#else

typedef void (*Code)(uint64_t count, void (*callback)(uint64_t));

volatile unsigned long sink;
static unsigned char* code;
static size_t code_bytes;

PUPPET_FUNCTION void called_back(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) sink++;
}

PUPPET_FUNCTION void known_caller(double until) {
  while (puppet_clock(CLOCK_MONOTONIC) < until) ((Code)(uintptr_t)code)(20000000, called_back);
}

static void emit(const char* bytes, size_t count) {
  memcpy(code + code_bytes, bytes, count);
  code_bytes += count;
}
#define EMIT(bytes) emit(bytes, sizeof(bytes) - 1)

static void emit_work(int calls) {
  if (calls) {
    EMIT("\xff\xd6"); /* call *%rsi */
  } else {
    EMIT("\x48\xff\xcd\x75\xfb"); /* 1: dec %rbp; jnz 1b */
  }
}

static void emit_pushes(int calls) {
  EMIT("\x53\x55\x41\x54");                 /* push %rbx; push %rbp; push %r12 */
  EMIT("\x48\x81\xec\x90\x00\x00\x00");     /* sub $0x90,%rsp */
  EMIT("\x48\x89\xfd\x48\x89\x6c\x24\x08"); /* mov %rdi,%rbp; mov %rbp,8(%rsp) */
  emit_work(calls);
  EMIT("\x48\x81\xc4\x90\x00\x00\x00"); /* add $0x90,%rsp */
  EMIT("\x41\x5c\x5d\x5b\xc3");         /* pop %r12; pop %rbp; pop %rbx; ret */
}

static void emit_frame(int calls) {
  EMIT("\x55\x48\x89\xe5\x48\x83\xec\x20"); /* push %rbp; mov %rsp,%rbp; sub $0x20,%rsp */
  if (calls) {
    emit_work(calls);
  } else {
    EMIT("\x48\x89\xf8\x48\xff\xc8\x75\xfb"); /* mov %rdi,%rax; 1: dec %rax; jnz 1b */
  }
  EMIT("\xc9\xc3"); /* leave; ret */
}

static void write_map(const char* name) {
  char path[64];
  snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
  FILE* file = fopen(path, "a");
  if (file == NULL) exit(1);
  fprintf(file, "%lx %zx %s\n", (unsigned long)(uintptr_t)code, code_bytes, name);
  fclose(file);
}

static void put(FILE* file, uint64_t value, size_t bytes) { fwrite(&value, 1, bytes, file); }

static void write_record(FILE* file, uint32_t id, uint32_t body_bytes) {
  put(file, id, 4);
  put(file, 16 + body_bytes, 4);
  put(file, (uint64_t)(puppet_clock(CLOCK_MONOTONIC) * 1e9), 8);
}

/* A header, the lines of the code, the code; and one page mapped as code, which says it is there. */
static void write_dump(const char* name) {
  static const char kSource[] = "/made/up/kernel.jit";
  const char* folder = getenv("JITDUMP_FOLDER");
  char path[512];
  snprintf(path, sizeof(path), "%s/jit-%d.dump", folder ? folder : "/tmp", (int)getpid());
  FILE* file = fopen(path, "w+");
  if (file == NULL) exit(1);
  put(file, 0x4A695444, 4), put(file, 1, 4), put(file, 40, 4), put(file, 62, 4), put(file, 0, 4);
  put(file, (uint64_t)getpid(), 4), put(file, 0, 8), put(file, 0, 8);
  const uint64_t start = (uint64_t)(uintptr_t)code;
  write_record(file, 2, 16 + 16 + sizeof(kSource));
  put(file, start, 8), put(file, 1, 8);
  put(file, start, 8), put(file, 42, 4), put(file, 0, 4), fwrite(kSource, 1, sizeof(kSource), file);
  write_record(file, 0, (uint32_t)(40 + strlen(name) + 1 + code_bytes));
  put(file, (uint64_t)getpid(), 4), put(file, (uint64_t)getpid(), 4);
  put(file, start, 8), put(file, start, 8), put(file, code_bytes, 8), put(file, 0, 8);
  fwrite(name, 1, strlen(name) + 1, file), fwrite(code, 1, code_bytes, file);
  fflush(file);
  if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED) exit(1);
  fclose(file);
}

int main(int argc, char** argv) {
  const char* shape = argc > 2 ? argv[2] : "pushes";
  const char* names = argc > 3 ? argv[3] : "none";
  code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  const int calls = strncmp(shape, "through_", 8) == 0;
  if (strstr(shape, "frame") != NULL) {
    emit_frame(calls);
  } else {
    emit_pushes(calls);
  }
  if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0) return 1;
  if (strcmp(names, "map") == 0 || strcmp(names, "reuse") == 0) write_map("old_name");
  if (strcmp(names, "reuse") == 0) write_map("Foo bar(int, char)<T>");
  if (strcmp(names, "dump") == 0) write_dump("dumped_kernel");
  const double end = puppet_deadline(argc, argv, 1);
  puppet_ready();
  known_caller(end - 0.1);
  if (strcmp(names, "late") == 0) write_map("late_name");
  return 0;
}
#endif
