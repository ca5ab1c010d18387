#include "userspace/process/module_cache.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdio>

#include "symbolizer/procfs/maps.h"

namespace lumbre {
namespace {

std::string map_files_path(const MappedRange& range) {
  char text[96];
  std::snprintf(text, sizeof(text), "/proc/%u/map_files/%llx-%llx", range.pid,
                static_cast<unsigned long long>(range.start.value),
                static_cast<unsigned long long>(range.end.value));
  return text;
}

bool is_same_file(const FileIdentity& identity, const MappedFileKey& key) {
  return identity.inode == key.inode && major(identity.device) == key.device_major &&
         minor(identity.device) == key.device_minor;
}

Result<MappedFile> open_mapped_file(const MappedFileKey& key, const MappedRange& range) {
  // The link of the mapping itself leads to the right file even when it is deleted or hidden.
  Result<MappedFile> through_mapping = MappedFile::open(map_files_path(range));
  if (through_mapping.has_value()) {
    return through_mapping;
  }
  const std::string in_root = "/proc/" + std::to_string(range.pid) + "/root" + range.path;
  Error why = std::move(through_mapping).error();
  for (const std::string& path : {in_root, range.path}) {
    Result<MappedFile> file = MappedFile::open(path);
    if (file.has_value() && is_same_file(file->identity(), key)) {
      return file;
    }
    if (!file.has_value() && file.error().kind != ErrorKind::kNotFound) {
      why = file.error();
    }
  }
  return why;
}

Result<MappedFile> read_own_vdso() {
  LUMBRE_TRY_ASSIGN(const std::vector<MapsEntry> entries, read_maps(::getpid()));
  for (const MapsEntry& entry : entries) {
    if (entry.path == "[vdso]") {
      const auto* begin = reinterpret_cast<const char*>(entry.start.value);
      return MappedFile::from_bytes(std::string(begin, entry.end.value - entry.start.value));
    }
  }
  return Error::not_found("this kernel maps no vdso");
}

}  // namespace

const SymbolIndex* Module::symbols() {
  if (symbols_ == nullptr && elf != nullptr) {
    symbols_ = SymbolIndex::build(elf);
    elf->release_pages();  // it has read the whole symbol table, names will take little of it
  }
  return symbols_.get();
}

Module& ModuleCache::add(std::string path) {
  auto module = std::make_unique<Module>();
  module->id = static_cast<ModuleId>(modules_.size());
  module->path = std::move(path);
  return *modules_.emplace_back(std::move(module));
}

void ModuleCache::load(Module& module, Result<MappedFile> file) {
  if (!file.has_value()) {
    module.failure = file.error().message;
    return;
  }
  Result<std::shared_ptr<ElfFile>> elf = ElfFile::parse(std::move(file).value());
  if (!elf.has_value()) {
    module.failure = elf.error().message;
    return;
  }
  module.elf = std::move(elf).value();
  module.cfi = std::make_unique<CfiTable>(module.elf);
  module.synthesised = std::make_unique<SynthesisedRules>(module.elf, *module.cfi);
}

Module& ModuleCache::find(const MappedFileKey& key, const MappedRange& range) {
  if (const auto found = by_file_.find(key); found != by_file_.end()) {
    Module& module = at(found->second);
    if (module.elf != nullptr || module.failure.empty()) {
      return module;
    }
    // An earlier process was gone before its file could be opened: try through this one.
    load(module, open_mapped_file(key, range));
    return module;
  }
  Module& module = add(range.path);
  module.target_root = "/proc/" + std::to_string(range.pid) + "/root";
  by_file_.emplace(key, module.id);
  load(module, open_mapped_file(key, range));
  if (module.elf != nullptr) {
    module.python = find_python_runtime(module.elf);
  }
  return module;
}

Module& ModuleCache::vdso() {
  if (vdso_ == kNoModule) {
    Module& module = add("[vdso]");
    module.is_vdso = true;
    vdso_ = module.id;
    load(module, read_own_vdso());
  }
  return at(vdso_);
}

}  // namespace lumbre
