#include "userspace/report/frame_namer.h"

#include <elf.h>

#include <cstdio>

#include "symbolizer/demangle.h"
#include "userspace/report/interpreter_frames.h"

namespace lumbre {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string with_offset(const std::string& module, std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "+0x%llx", static_cast<unsigned long long>(address));
  return module + text;
}

}  // namespace

FrameNamer::FrameNamer(const SampleStore& store, const FrameSources& sources,
                       output::Profile& profile)
    : store_(store),
      codes_(sources.python),
      jit_(sources.jit),
      sources_(sources.modules),
      profile_(profile) {
  jit_.look_again();
  if (sources_.modules().size() != 0) {
    mapping_of(0);  // pprof takes the first mapping for the main program
  }
}

output::MappingId FrameNamer::mapping_of(ModuleId id) {
  const auto [known, is_new] = mappings_.try_emplace(id, output::kNone);
  if (!is_new) {
    return known->second;
  }
  const Module& module = sources_.modules().at(id);
  output::Mapping mapping;
  mapping.filename = profile_.intern(module.path);
  mapping.has_functions = true;
  mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames =
      sources_.names_of(id).has_lines();
  if (module.elf != nullptr) {
    mapping.build_id = profile_.intern(module.elf->build_id());
    for (const ElfFile::Segment& segment : module.elf->segments()) {
      if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
        // Addresses in the profile are the file's own; the mapping says where those begin.
        mapping.memory_start = segment.address.value & ~0xfffULL;
        mapping.memory_limit = segment.address.value + segment.memory_size_bytes;
        mapping.file_offset = segment.offset.value & ~0xfffULL;
        break;
      }
    }
  }
  known->second = profile_.add_mapping(mapping);
  return known->second;
}

output::FunctionId FrameNamer::add_function(const std::string& symbol_name, const std::string& file,
                                            std::uint32_t start_line) {
  const std::string whole = demangle(symbol_name);
  const auto [short_name, is_new] = short_names_.try_emplace(symbol_name);
  if (is_new) {
    short_name->second = display_name(symbol_name);
  }
  return profile_.add_function({profile_.intern(short_name->second), profile_.intern(whole),
                                profile_.intern(file), start_line});
}

output::Location FrameNamer::text_location(const std::string& text, output::FrameKind kind) {
  output::Location location;
  const output::StringId name = profile_.intern(text);
  location.kind = kind;
  location.lines.push_back({profile_.add_function({name, name, 0, 0}), 0, 0});
  return location;
}

// Unwind data tells functions apart where symbols do not: one function keeps one name.
std::uint64_t FrameNamer::function_start(const Frame& frame) {
  const Module& module = sources_.modules().at(frame.owner);
  if (module.cfi == nullptr) {
    return frame.address;
  }
  const std::vector<CompactRow> rows = module.cfi->rows_of_function({frame.address});
  return rows.empty() ? frame.address : rows.front().start.value;
}

const MethodName* FrameNamer::find_method(const Frame& frame) {
  if (!sources_.modules().at(frame.owner).python.has_value()) {
    return nullptr;
  }
  return sources_.names_of(frame.owner).find_method({function_start(frame)});
}

output::Location FrameNamer::native_location(const Frame& frame) {
  ModuleNames& names = sources_.names_of(frame.owner);
  output::Location location;
  location.mapping = mapping_of(frame.owner);
  location.address = frame.address;
  location.kind = output::FrameKind::kNative;
  const auto symbol = names.find_symbol({frame.address});
  const std::vector<SourceFrame> sources = names.find_source({frame.address});
  for (const SourceFrame& source : sources) {
    std::string function = source.function;
    if (&source == &sources.back() && symbol.has_value()) {
      function = symbol->name;  // the symbol is what runs; DWARF may know it by another alias
    }
    if (!function.empty()) {
      location.lines.push_back(
          {add_function(function, source.file, source.start_line), source.line, source.column});
    }
  }
  if (location.lines.empty() && symbol.has_value()) {
    location.lines.push_back({add_function(std::string(symbol->name), "", 0), 0, 0});
  }
  if (!location.lines.empty()) {
    return location;
  }
  if (const MethodName* method = find_method(frame)) {
    location.lines = text_location(method->name, location.kind).lines;
  } else {
    const std::string name =
        with_offset(file_name(sources_.modules().at(frame.owner).path), function_start(frame));
    location.kind = output::FrameKind::kUnknown;
    location.lines = text_location(name, location.kind).lines;
  }
  return location;
}

output::Location FrameNamer::python_location(const Frame& frame) {
  const PythonCode& code = codes_.at(frame.owner);
  output::Location location;
  location.kind = output::FrameKind::kPython;
  const output::StringId name = profile_.intern(code.name);
  const output::FunctionId function =
      profile_.add_function({name, name, profile_.intern(code.filename), code.first_line});
  location.lines.push_back({function, static_cast<std::int64_t>(frame.address), 0});
  return location;
}

output::Location FrameNamer::jit_location(const Frame& frame) {
  const JitName* name = jit_.name_of(frame);
  if (name == nullptr) {
    return text_location("[jit]", output::FrameKind::kJit);
  }
  const auto line = frame.kind == FrameKind::kJit ? static_cast<std::int64_t>(frame.address) : 0;
  output::Location location;
  location.kind = output::FrameKind::kJit;
  const output::StringId shown = profile_.intern(display_name(name->function));
  const output::StringId whole = profile_.intern(demangle(name->whole));
  const output::FunctionId function =
      profile_.add_function({shown, whole, profile_.intern(name->file), name->start_line});
  location.lines.push_back({function, line, 0});
  return location;
}

output::Location FrameNamer::kernel_location(const Frame& frame) {
  if (kernel_mapping_ == output::kNone) {
    output::Mapping mapping;
    mapping.filename = profile_.intern("[kernel.kallsyms]");
    mapping.memory_start = 0xffff800000000000ULL;
    mapping.memory_limit = ~std::uint64_t{0};
    mapping.has_functions = true;
    kernel_mapping_ = profile_.add_mapping(mapping);
  }
  const auto symbol = sources_.find_kernel_symbol(frame.address);
  output::Location location = text_location(
      symbol.has_value() ? std::string(symbol->name) : with_offset("[kernel]", frame.address),
      output::FrameKind::kKernel);
  location.mapping = kernel_mapping_;
  location.address = frame.address;
  return location;
}

output::LocationId FrameNamer::make_location(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kPython:
      return profile_.add_location(python_location(frame));
    case FrameKind::kKernel:
      return profile_.add_location(kernel_location(frame));
    case FrameKind::kNoFile:
    case FrameKind::kJit:
      return profile_.add_location(jit_location(frame));
    case FrameKind::kTruncated:
      return profile_.add_location(text_location(
          "[truncated: " + store_.texts.text(frame.owner) + "]", output::FrameKind::kTruncated));
    case FrameKind::kMissing:
      return profile_.add_location(
          text_location("[frames missing: " + store_.texts.text(frame.owner) + "]",
                        output::FrameKind::kTruncated));
    default:
      return profile_.add_location(native_location(frame));
  }
}

output::LocationId FrameNamer::location(FrameId frame) {
  const auto found = locations_.find(frame);
  if (found != locations_.end()) {
    return found->second;
  }
  const output::LocationId location = make_location(store_.frames.at(frame));
  locations_.emplace(frame, location);
  return location;
}

bool FrameNamer::is_python_trampoline(FrameId id) {
  const Frame& frame = store_.frames.at(id);
  if (frame.kind != FrameKind::kJit && frame.kind != FrameKind::kNoFile) {
    return false;
  }
  const JitName* name = jit_.name_of(frame);
  return name != nullptr && name->is_python_trampoline;
}

bool FrameNamer::is_scheduler(FrameId id) {
  const Frame& frame = store_.frames.at(id);
  return frame.kind == FrameKind::kKernel && sources_.is_kernel_scheduler(frame.address);
}

bool FrameNamer::is_plumbing(FrameId id) {
  const auto [known, is_new] = plumbing_.try_emplace(id, false);
  const Frame& frame = store_.frames.at(id);
  if (is_new && frame.kind == FrameKind::kEvalLoop) {
    known->second = true;
  } else if (is_new && frame.kind == FrameKind::kNative &&
             sources_.modules().at(frame.owner).python.has_value()) {
    const auto symbol = sources_.names_of(frame.owner).find_symbol({frame.address});
    // In a stripped interpreter what Python code can call is known by its data: what is neither
    // exported nor a method is how it gets from one to the next. Without that data it may be
    // anything, and is shown.
    known->second = symbol.has_value() ? is_interpreter_plumbing(symbol->name)
                                       : find_method(frame) == nullptr &&
                                             sources_.names_of(frame.owner).has_methods();
  }
  return known->second;
}

std::optional<ModuleId> FrameNamer::unnamed_module(FrameId id) {
  const Frame& frame = store_.frames.at(id);
  if (frame.kind != FrameKind::kNative && frame.kind != FrameKind::kEvalLoop) {
    return std::nullopt;
  }
  const output::Location& named = profile_.locations[location(id)];
  return named.kind == output::FrameKind::kUnknown ? std::optional(frame.owner) : std::nullopt;
}

}  // namespace lumbre
