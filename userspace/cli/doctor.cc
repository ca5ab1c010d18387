// lumbre doctor: what this machine allows, what is missing, what to do about it.
#include <cstdio>

#include "userspace/cli/commands.h"
#include "userspace/cli/parse.h"
#include "userspace/kernel/features.h"

namespace lumbre {

int run_doctor(const Arguments& arguments) {
  CLI::App app("Say what this machine allows, what is missing and what to do about it.",
               "lumbre doctor");
  if (const auto status = parse_options(app, arguments)) {
    return *status;
  }
  bool is_usable = true;
  for (const FeatureFinding& finding : probe_features()) {
    const char* mark = finding.is_present ? "yes" : finding.is_required ? "NO " : "no ";
    std::printf("%s  %s%s%s\n", mark, finding.sentence.c_str(), finding.detail.empty() ? "" : ": ",
                finding.detail.c_str());
    if (!finding.is_present && !finding.remedy.empty()) {
      std::printf("       -> %s\n", finding.remedy.c_str());
    }
    is_usable = is_usable && (finding.is_present || !finding.is_required);
  }
  std::printf("\n%s\n", is_usable ? "Lumbre can record here." : "Lumbre cannot record here yet.");
  return is_usable ? kExitDone : kExitNotPermitted;
}

}  // namespace lumbre
