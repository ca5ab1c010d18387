// FrameNamer: from a frame to a pprof location with its functions, files and lines. Each distinct
// frame is named once, after the recording. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/profile.h"
#include "userspace/aggregate/samples.h"
#include "userspace/process/jit_codes.h"
#include "userspace/report/name_sources.h"
#include "userspace/unwind/python_codes.h"

namespace lumbre {

// Where the names of each kind of frame come from.
struct FrameSources {
  const PythonCodes& python;
  JitCodes& jit;
  NameSources& modules;
};

class FrameNamer {
 public:
  FrameNamer(const SampleStore& store, const FrameSources& sources, output::Profile& profile);

  output::LocationId location(FrameId frame);
  // True for a native frame that is hidden between two Python frames.
  bool is_plumbing(FrameId frame);
  // Code of -X perf that calls the eval loop: it says what the Python frame above it says.
  bool is_python_trampoline(FrameId frame);
  // A kernel function that only hands the CPU over.
  bool is_scheduler(FrameId frame);
  // The module of a native frame that no symbol names.
  std::optional<ModuleId> unnamed_module(FrameId frame);

 private:
  output::MappingId mapping_of(ModuleId module);
  output::LocationId make_location(const Frame& frame);
  output::Location native_location(const Frame& frame);
  std::uint64_t function_start(const Frame& frame);
  // Of an interpreter without symbols: what its own data says, or null.
  const MethodName* find_method(const Frame& frame);
  output::Location python_location(const Frame& frame);
  output::Location jit_location(const Frame& frame);
  output::Location kernel_location(const Frame& frame);
  output::Location text_location(const std::string& text, output::FrameKind kind);
  output::FunctionId add_function(const std::string& symbol_name, const std::string& file,
                                  std::uint32_t start_line);

  const SampleStore& store_;
  const PythonCodes& codes_;
  JitCodes& jit_;
  NameSources& sources_;
  output::Profile& profile_;
  std::unordered_map<FrameId, output::LocationId> locations_;
  std::unordered_map<FrameId, bool> plumbing_;
  std::map<ModuleId, output::MappingId> mappings_;
  std::unordered_map<std::string, std::string> short_names_;  // symbol name -> display name
  output::MappingId kernel_mapping_ = output::kNone;
};

}  // namespace lumbre
