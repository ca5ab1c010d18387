// The commands. Each takes the arguments after its own name and returns the exit status:
// 0 done, 1 failed, 2 wrong usage, 3 not permitted here, 4 no such process.
#pragma once

#include <string>
#include <vector>

#include "symbolizer/base/result.h"

namespace lumbre {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotPermitted = 3;
inline constexpr int kExitNoProcess = 4;
inline constexpr int kExitLumbreFailed = 125;  // with a command of one's own

using Arguments = std::vector<std::string>;

int run_record(const Arguments& arguments);
int run_flamegraph(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_convert(const Arguments& arguments);
int run_stacks(const Arguments& arguments);
int run_doctor(const Arguments& arguments);

// Prints the error as one line on stderr and gives the exit status that its kind stands for.
int fail(const Error& error);

}  // namespace lumbre
