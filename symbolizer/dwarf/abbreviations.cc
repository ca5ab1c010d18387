#include "symbolizer/dwarf/abbreviations.h"

#include <algorithm>

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {

bool read_abbreviation(ByteReader& reader, Abbreviation& abbreviation,
                       std::vector<AttributeSpec>& attributes) {
  abbreviation = Abbreviation{};
  attributes.clear();
  abbreviation.code = reader.uleb128();
  if (abbreviation.code == 0) {
    return false;
  }
  abbreviation.tag = static_cast<std::uint16_t>(reader.uleb128());
  abbreviation.has_children = reader.u8() != 0;
  while (!reader.is_failed()) {
    AttributeSpec spec;
    const std::uint64_t name = reader.uleb128();
    const std::uint64_t form = reader.uleb128();
    spec.name = static_cast<std::uint16_t>(std::min<std::uint64_t>(name, 0xffff));
    spec.form = static_cast<std::uint16_t>(std::min<std::uint64_t>(form, 0xffff));
    if (spec.form == form::kImplicitConst) {
      spec.implicit_const = static_cast<std::int32_t>(reader.sleb128());
    }
    if (name == 0 && form == 0) {
      return !reader.is_failed();
    }
    attributes.push_back(spec);
  }
  return false;
}

AbbreviationTable::AbbreviationTable(std::span<const std::byte> section, std::uint64_t offset,
                                     const UnitFormat& format)
    : format_(format) {
  ByteReader reader(section, offset);
  Abbreviation abbreviation;
  std::vector<AttributeSpec> specs;
  while (read_abbreviation(reader, abbreviation, specs)) {
    abbreviation.attributes_begin = static_cast<std::uint32_t>(attributes_.size());
    abbreviation.skips_begin = static_cast<std::uint32_t>(skips_.size());
    skips_.emplace_back();
    for (const AttributeSpec& spec : specs) {
      add_attribute(abbreviation, spec);
    }
    abbreviation.attributes_end = static_cast<std::uint32_t>(attributes_.size());
    abbreviation.skips_end = static_cast<std::uint32_t>(skips_.size());
    abbreviations_.push_back(abbreviation);
  }
  parsed_bytes_ = reader.offset() - std::min<std::uint64_t>(offset, reader.offset());
  const auto by_code = [](const Abbreviation& a, const Abbreviation& b) { return a.code < b.code; };
  if (!std::is_sorted(abbreviations_.begin(), abbreviations_.end(), by_code)) {
    std::stable_sort(abbreviations_.begin(), abbreviations_.end(), by_code);
  }
  abbreviations_.shrink_to_fit();
  attributes_.shrink_to_fit();
  skips_.shrink_to_fit();
}

void AbbreviationTable::add_attribute(Abbreviation& abbreviation, const AttributeSpec& spec) {
  attributes_.push_back(spec);
  abbreviation.has_code |= spec.name == at::kLowPc || spec.name == at::kRanges;
  add_skip(spec.form);
}

void AbbreviationTable::add_skip(std::uint16_t form) {
  const auto size = fixed_size(form, format_);
  Skip& last = skips_.back();
  if (size.has_value() && last.size_bytes <= 0xffff - *size) {
    last.size_bytes = static_cast<std::uint16_t>(last.size_bytes + *size);
    return;
  }
  last.form = form;
  skips_.emplace_back();
}

const Abbreviation* AbbreviationTable::find(std::uint64_t code) const {
  // Compilers number them 1, 2, 3...
  if (code - 1 < abbreviations_.size() && abbreviations_[code - 1].code == code) {
    return &abbreviations_[code - 1];
  }
  const auto found = std::lower_bound(
      abbreviations_.begin(), abbreviations_.end(), code,
      [](const Abbreviation& abbreviation, std::uint64_t key) { return abbreviation.code < key; });
  return found != abbreviations_.end() && found->code == code ? &*found : nullptr;
}

void AbbreviationTable::skip(ByteReader& reader, const Abbreviation& abbreviation) const {
  for (std::uint32_t i = abbreviation.skips_begin; i != abbreviation.skips_end; ++i) {
    const Skip& step = skips_[i];
    reader.skip(step.size_bytes);
    if (step.form != 0) {
      skip_form(reader, step.form, format_);
    }
  }
}

}  // namespace lumbre::dwarf
