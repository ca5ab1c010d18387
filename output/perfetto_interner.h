// Gives a trace's texts, mappings, frames and callstacks their interning ids, and writes each the
// first time that a packet needs it. Used by write_perfetto() only.
//
// Work per sample is one bit test once its callstack is known. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "output/perfetto.h"
#include "output/proto_writer.h"
#include "output/stack_frames.h"

namespace lumbre::output {

class PerfettoInterner {
 public:
  PerfettoInterner(const Profile& profile, const std::vector<std::vector<LocationId>>& stacks);

  // The id of a callstack. What it needs and is not written yet is appended to `data`, a message
  // InternedData. A stack that is empty or not there is the single frame "[unknown]".
  std::uint64_t callstack(std::uint32_t stack, ProtoWriter& data);

 private:
  using Ids = std::vector<std::uint64_t>;
  struct Texts {
    std::uint32_t field;  // of InternedData
    std::unordered_map<std::string, std::uint64_t> ids;
  };

  const Ids& frames_of(LocationId id, ProtoWriter& data);
  Ids write_frames(const Location& location, ProtoWriter& data);
  std::uint64_t write_frame(const Location& location, const FrameView& frame, ProtoWriter& data);
  std::uint64_t mapping_of(const Location& location, ProtoWriter& data);
  std::uint64_t relative_pc(const Location& location, std::uint64_t frame) const;
  std::uint64_t text_id(Texts& texts, std::string_view text, ProtoWriter& data);

  const Profile& profile_;
  const std::vector<std::vector<LocationId>>& stacks_;
  std::vector<bool> written_stacks_;
  std::vector<bool> written_mappings_;
  std::vector<Ids> location_frames_;  // by location; empty: not written yet
  Texts function_names_, source_paths_, mapping_paths_, build_ids_;
  std::uint64_t last_frame_ = 0;
  ProtoWriter message_;
};

}  // namespace lumbre::output
