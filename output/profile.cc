#include "output/profile.h"

namespace lumbre::output {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  // The 64-bit finalizer of a multiply-xorshift hash: addresses differ in few bits.
  hash ^= value;
  hash *= 0x9E3779B97F4A7C15ull;
  hash ^= hash >> 32;
  return hash;
}

std::uint64_t hash_of(const Function& function) {
  std::uint64_t hash = mix(1, function.name);
  hash = mix(hash, function.system_name);
  hash = mix(hash, function.filename);
  return mix(hash, static_cast<std::uint64_t>(function.start_line));
}

std::uint64_t hash_of(const Location& location) {
  std::uint64_t hash = mix(2, location.mapping);
  hash = mix(hash, location.address);
  hash = mix(hash, static_cast<std::uint64_t>(location.kind));
  for (const Line& line : location.lines) {
    hash = mix(hash, line.function);
    hash = mix(hash, static_cast<std::uint64_t>(line.line));
    hash = mix(hash, static_cast<std::uint64_t>(line.column));
  }
  return hash;
}

template <typename Item>
std::uint32_t add_once(const Item& item, std::vector<Item>& items, IdTable& ids) {
  const auto new_id = static_cast<std::uint32_t>(items.size());
  // A caller may have changed the public table since; then the item counts as a new one.
  const auto is_equal = [&](std::uint32_t id) { return id < items.size() && items[id] == item; };
  const std::uint32_t id = ids.find_or_add(hash_of(item), new_id, is_equal);
  if (id == new_id) items.push_back(item);
  return id;
}

}  // namespace

Profile::Profile() { intern(""); }

StringId Profile::intern(std::string_view text) {
  const auto known = string_ids_.find(text);
  if (known != string_ids_.end()) return known->second;
  const auto id = static_cast<StringId>(strings_.size());
  strings_.emplace_back(text);
  string_ids_.emplace(strings_.back(), id);
  return id;
}

FunctionId Profile::add_function(const Function& function) {
  return add_once(function, functions, function_ids_);
}

LocationId Profile::add_location(const Location& location) {
  return add_once(location, locations, location_ids_);
}

MappingId Profile::add_mapping(const Mapping& mapping) {
  mappings.push_back(mapping);
  return static_cast<MappingId>(mappings.size() - 1);
}

std::uint32_t Profile::find_sample_type(std::string_view name) const {
  if (name.empty() && default_sample_type == 0) {
    // pprof's rule where a file names no default.
    return sample_types.empty() ? kNone : static_cast<std::uint32_t>(sample_types.size() - 1);
  }
  const std::string_view wanted = name.empty() ? std::string_view(text(default_sample_type)) : name;
  for (std::size_t i = 0; i < sample_types.size(); ++i) {
    if (text(sample_types[i].type) == wanted) return static_cast<std::uint32_t>(i);
  }
  return kNone;
}

}  // namespace lumbre::output
