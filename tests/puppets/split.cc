// A program with a known time split and known frame lists: `split [SECONDS] [WORKERS]`.
//
// Prints one line of JSON when it starts (what it is made of, and how many frames of libc stand
// where, by libgcc's own unwinder) and one when it ends (the CPU time of each part, by the thread
// clock). Built -O2 -fomit-frame-pointer.
#include "split.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include <string>

#include "puppet.h"

namespace split {

struct PartTimes {
  double recursion = 0, helpers = 0, sort = 0;
};

volatile std::uint64_t sink;
double end_time;

// ---- the oracle: asked once, before the work starts ------------------------------------------

struct Oracle {
  bool asking = false;
  std::string root;         // modules above main or the thread's function, nearest first
  std::string thread_root;
  int sort_frames = 0;      // frames of libc between part_sort and compare_slowly
} oracle;

std::string modules_above(int skip) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  std::string list;
  for (int i = skip; i < count; ++i) {
    Dl_info info = {};
    dladdr(frames[i], &info);
    const char* slash = info.dli_fname ? strrchr(info.dli_fname, '/') : nullptr;
    list += std::string(list.empty() ? "" : ", ") + "\"" +
            (slash ? slash + 1 : info.dli_fname ? info.dli_fname : "") + "\"";
  }
  return list;
}

PUPPET_FUNCTION int count_frames_in_compare() {
  void* frames[64];
  const int count = backtrace(frames, 64);
  int libc_frames = 0;
  for (int i = 2; i < count; ++i) {  // after this function and compare_slowly
    Dl_info info = {};
    if (!dladdr(frames[i], &info) || !info.dli_fname || !strstr(info.dli_fname, "libc.so")) break;
    ++libc_frames;
  }
  return libc_frames;
}

// ---- the parts --------------------------------------------------------------------------------

PUPPET_FUNCTION std::uint64_t deepest(std::uint64_t seed) {
  return puppet_chain(seed, kChainPerUnit);
}

PUPPET_FUNCTION std::uint64_t climb_odd(int level, std::uint64_t seed);

PUPPET_FUNCTION std::uint64_t climb_even(int level, std::uint64_t seed) {
  const std::uint64_t below = level == 1                  ? deepest(seed)
                              : is_odd_climber(level - 1) ? climb_odd(level - 1, seed)
                                                          : climb_even(level - 1, seed);
  return below ^ sink;  // after the call: no jump instead of it
}

PUPPET_FUNCTION std::uint64_t climb_odd(int level, std::uint64_t seed) {
  volatile std::uint64_t locals[4] = {seed, 1, 2, 3};  // another frame size than climb_even's
  const std::uint64_t below = level == 1                  ? deepest(locals[0])
                              : is_odd_climber(level - 1) ? climb_odd(level - 1, locals[0])
                                                          : climb_even(level - 1, locals[0]);
  return below + locals[level & 3];
}

PUPPET_FUNCTION std::uint64_t part_recursion(std::uint64_t seed) {
  for (int unit = 0; unit < kRecursionShare; ++unit) {
    const int depth = kDepths[static_cast<std::size_t>(unit) % kDepths.size()];
    seed += is_odd_climber(depth) ? climb_odd(depth, seed) : climb_even(depth, seed);
  }
  return seed;
}

PUPPET_INLINE std::uint64_t mix_bits(std::uint64_t x) {
  return x * 6364136223846793005ULL + 1442695040888963407ULL;
}

PUPPET_INLINE std::uint64_t accumulate(std::uint64_t x, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) x = mix_bits(x);
  return x;
}

PUPPET_FUNCTION std::uint64_t part_helpers(std::uint64_t seed) {
  return accumulate(seed, kHelpersShare * kChainPerUnit);
}

PUPPET_FUNCTION int compare_slowly(const void* left, const void* right) {
  if (oracle.asking) {
    oracle.sort_frames = count_frames_in_compare();
    return 0;
  }
  sink = puppet_chain(*static_cast<const std::uint64_t*>(left), kChainPerUnit);
  return *static_cast<const std::uint64_t*>(left) < *static_cast<const std::uint64_t*>(right);
}

PUPPET_FUNCTION std::uint64_t part_sort(std::uint64_t seed, int units) {
  std::uint64_t pair[2] = {seed, seed + 1};
  for (int unit = 0; unit < units; ++unit) qsort(pair, 2, sizeof pair[0], compare_slowly);
  return pair[0];
}

PUPPET_FUNCTION std::uint64_t run_round(std::uint64_t seed, PartTimes* times) {
  const double start = puppet_clock(CLOCK_THREAD_CPUTIME_ID);
  seed = part_recursion(seed);
  const double after_recursion = puppet_clock(CLOCK_THREAD_CPUTIME_ID);
  seed = part_helpers(seed);
  const double after_helpers = puppet_clock(CLOCK_THREAD_CPUTIME_ID);
  seed = part_sort(seed, kSortShare);
  const double after_sort = puppet_clock(CLOCK_THREAD_CPUTIME_ID);
  times->recursion += after_recursion - start;
  times->helpers += after_helpers - after_recursion;
  times->sort += after_sort - after_helpers;
  return seed;
}

PUPPET_FUNCTION void* thread_main(void* times) {
  prctl(PR_SET_NAME, kThreadName);
  std::uint64_t seed = 1;
  while (puppet_clock(CLOCK_MONOTONIC) < end_time)
    seed = run_round(seed, static_cast<PartTimes*>(times));
  sink = seed;
  return nullptr;
}

PUPPET_FUNCTION void* ask_in_thread(void*) {
  oracle.thread_root = modules_above(2);
  return nullptr;
}

// ---- what it says of itself -------------------------------------------------------------------

std::string climber_list(int depth) {
  std::string list;
  for (int level = depth; level >= 1; --level)
    list += std::string("\"") + (is_odd_climber(level) ? kClimbOdd : kClimbEven) + "\", ";
  return list;
}

void describe() {
  printf("{\"root\": [%s], \"thread_root\": [%s], \"sort_frames\": %d, \"round\": \"%s\", ",
         oracle.root.c_str(), oracle.thread_root.c_str(), oracle.sort_frames, kRound);
  printf("\"main\": \"%s\", \"thread_main\": \"%s\", \"thread_name\": \"%s\", \"parts\": [", kMain,
         kThreadMain, kThreadName);
  for (const int depth : kDepths)
    printf("{\"part\": \"recursion\", \"frames\": [\"%s\", %s\"%s\"], \"inlined\": [\"%s\"]}, ",
           kRecursionPart, climber_list(depth).c_str(), kDeepest, kDeepestInlined);
  printf("{\"part\": \"helpers\", \"frames\": [\"%s\"], \"inlined\": [\"%s\", \"%s\"]}, ",
         kHelpersPart, kHelpersInlined[0], kHelpersInlined[1]);
  printf("{\"part\": \"sort\", \"frames\": [\"%s\", \"*libc*\", \"%s\"], \"inlined\": [\"%s\"]}]}\n",
         kSortPart, kCompare, kCompareInlined);
  fflush(stdout);
}

}  // namespace split

int main(int argc, char** argv) {
  using namespace split;
  end_time = puppet_deadline(argc, argv, 1);
  const int workers = argc > 2 ? atoi(argv[2]) : 1;
  if (workers < 0 || workers > 8) return 2;

  oracle.root = modules_above(2);
  pthread_t threads[8];
  pthread_create(&threads[0], nullptr, ask_in_thread, nullptr);
  pthread_join(threads[0], nullptr);
  oracle.asking = true;
  part_sort(1, 1);
  oracle.asking = false;
  describe();

  PartTimes times[9];
  for (int i = 0; i < workers; ++i) pthread_create(&threads[i], nullptr, thread_main, &times[i]);
  std::uint64_t seed = 1;
  while (puppet_clock(CLOCK_MONOTONIC) < end_time) seed = run_round(seed, &times[workers]);
  sink = seed;
  for (int i = 0; i < workers; ++i) pthread_join(threads[i], nullptr);

  PartTimes sum;
  for (int i = 0; i <= workers; ++i) {
    sum.recursion += times[i].recursion;
    sum.helpers += times[i].helpers;
    sum.sort += times[i].sort;
  }
  printf("{\"recursion_s\": %.6f, \"helpers_s\": %.6f, \"sort_s\": %.6f}\n", sum.recursion,
         sum.helpers, sum.sort);
  return 0;
}
