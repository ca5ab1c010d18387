// What the puppet `split` does, as constants that tests compare a profile with: which parts take
// which share of its time, and the frames of each, from the root, below main or the thread.
#pragma once

#include <array>
#include <cstdint>

namespace split {

inline constexpr int kRecursionShare = 70, kHelpersShare = 20, kSortShare = 10;  // percent
inline constexpr std::array<int, 3> kDepths = {30, 60, 90};  // one after the other
inline constexpr std::uint64_t kChainPerUnit = 200'000;      // multiplications; 1% of a round
inline constexpr char kThreadName[] = "split-worker";

// Frames by name, as a profile shows them. A part's frame list is
//   <root> main|thread_main, run_round, part..., then the inlined helpers, as deep as the line is.
inline constexpr char kMain[] = "main";
inline constexpr char kThreadMain[] = "split::thread_main";
inline constexpr char kRound[] = "split::run_round";

inline constexpr char kRecursionPart[] = "split::part_recursion";
inline constexpr char kClimbOdd[] = "split::climb_odd";
inline constexpr char kClimbEven[] = "split::climb_even";
inline constexpr char kDeepest[] = "split::deepest";
inline constexpr char kDeepestInlined[] = "puppet_chain";

inline constexpr char kHelpersPart[] = "split::part_helpers";
inline constexpr std::array<const char*, 2> kHelpersInlined = {"split::accumulate",
                                                               "split::mix_bits"};

inline constexpr char kSortPart[] = "split::part_sort";  // then libc's qsort frames, then
inline constexpr char kCompare[] = "split::compare_slowly";
inline constexpr char kCompareInlined[] = "puppet_chain";

// Which of the two climbing functions stands at a level; level `depth` is nearest to the root.
inline constexpr bool is_odd_climber(int level) { return level % 3 == 0 || level % 7 == 2; }

}  // namespace split
