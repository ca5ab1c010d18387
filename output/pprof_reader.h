// Reads pprof's protocol buffer, already inflated, from any producer. Used by read_pprof() only.
//
// Passes over the bytes once per kind of table, because fields may come in any order. What it
// builds is bounded, as is their number: a file of empty messages would otherwise grow fifty-fold
// in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "output/profile.h"
#include "output/proto_reader.h"

namespace lumbre::output {

// From a file's 64-bit ids, which may be any numbers, to indices.
class PprofIdMap {
 public:
  // False when the id is 0 or known already.
  bool add(std::uint64_t id, std::uint32_t index);
  std::uint32_t find(std::uint64_t id) const;  // kNone: unknown

 private:
  std::vector<std::uint32_t> dense_;  // by id, as far as ids come in order
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

class PprofReader {
 public:
  explicit PprofReader(std::string_view message) : message_(message) {}

  // Call once. On failure `fault` says why.
  std::optional<Profile> read(std::string& fault);

 private:
  using Step = bool (PprofReader::*)(const ProtoReader&);

  bool each_field(std::uint32_t field, Step step);
  bool read_tables();
  bool count_fields();
  bool read_string(const ProtoReader& field);
  bool read_header(const ProtoReader& field);
  bool read_sample_type(const ProtoReader& field);
  bool read_mapping(const ProtoReader& field);
  bool read_function(const ProtoReader& field);
  bool read_location(const ProtoReader& field);
  bool read_sample(const ProtoReader& field);

  bool parse_value_type(std::string_view bytes, ValueType& type);
  bool parse_line(std::string_view bytes, Line& line);
  bool parse_label(std::string_view bytes, Sample& sample);
  void judge_kind(Location& location) const;

  bool text(std::uint64_t index, StringId& id);
  bool charge(std::size_t bytes);
  bool fail(std::string fault);

  std::string_view message_;
  Profile profile_;
  std::vector<std::string_view> strings_;
  std::vector<StringId> string_ids_;  // kNone: not interned yet
  PprofIdMap mapping_ids_, function_ids_, location_ids_;
  std::size_t charged_bytes_ = 0;
  std::string fault_;
};

}  // namespace lumbre::output
