// The files of a recording folder, or the single file asked for, from a finished recording.
#pragma once

#include <string>

#include "userspace/recording/recording.h"
#include "userspace/report/profile_builder.h"

namespace lumbre {

// Names the frames and builds the profile of the event (enum lumbre_event).
BuiltProfile build_event_profile(Recording& recording, NameSources& sources, std::uint32_t event,
                                 bool shows_interpreter_frames);
// Of `cpu` and `offcpu` together, for wall.svg.
BuiltProfile build_wall_profile(Recording& recording, NameSources& sources,
                                bool shows_interpreter_frames);
std::string target_of(const RecordOptions& options);  // " of process 1234"
std::string title_of(const RecordOptions& options, std::uint32_t event);
// timeline.pftrace: every sample of `cpu` at its time.
bool write_timeline(Recording& recording, const BuiltProfile& built, std::ostream& out);

}  // namespace lumbre
