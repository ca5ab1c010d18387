// The summary of a recording: summary.json and the lines printed at the end.
#pragma once

#include <string>
#include <vector>

#include "userspace/recording/recording.h"
#include "userspace/report/profile_builder.h"

namespace lumbre {

// Every loss of the event's samples by cause; the causes without loss are left out.
std::map<std::string, std::uint64_t> losses_of(const RecordingFacts& facts,
                                               const Pipeline& pipeline, std::uint32_t event);
// Each loss and health fact as one sentence, for the pprof comments.
std::vector<std::string> recording_comments(const RecordingFacts& facts, const Pipeline& pipeline,
                                            std::uint32_t event);

// One profile for each event recorded.
std::string summary_json(const RecordingFacts& facts, Pipeline& pipeline,
                         const std::vector<BuiltProfile>& built);
std::string summary_text(const RecordingFacts& facts, Pipeline& pipeline,
                         const std::vector<BuiltProfile>& built);

}  // namespace lumbre
