#include <gtest/gtest.h>

#include "output/formats.h"
#include "output/utf8.h"
#include "tests/unit/output/formats_sample.h"

namespace lumbre::output {
namespace {

TEST(Profile, EqualStringsFunctionsAndLocationsShareAnId) {
  Profile profile;
  Function function;
  function.name = profile.intern("main");
  Location location;
  location.lines.push_back({.function = profile.add_function(function), .line = 3});
  const LocationId first = profile.add_location(location);
  EXPECT_EQ(profile.intern("main"), function.name);
  EXPECT_EQ(profile.add_function(function), 0u);
  EXPECT_EQ(profile.add_location(location), first);
  location.lines[0].line = 4;
  EXPECT_NE(profile.add_location(location), first);
}

TEST(Profile, StringZeroIsEmptyAndTextsMayHoldAnything) {
  Profile profile;
  const std::string text("a\0b\n\xff", 5);
  EXPECT_EQ(profile.text(0), "");
  EXPECT_EQ(profile.text(profile.intern(text)), text);
  EXPECT_NE(profile.intern("a"), profile.intern(text));
}

TEST(Profile, StaysUsableAfterAMove) {
  Profile profile = make_sample_profile();
  const StringId known = profile.intern("Trainer.step");
  const Profile moved_once = std::move(profile);
  EXPECT_EQ(moved_once.text(known), "Trainer.step");
  Profile again = make_sample_profile();
  Profile moved = std::move(again);
  EXPECT_EQ(moved.intern("Trainer.step"), known);
}

TEST(Profile, TheNamelessSampleTypeIsTheDefaultOneAndElseTheLast) {
  Profile profile = make_sample_profile();
  EXPECT_EQ(profile.find_sample_type("samples"), 0u);
  EXPECT_EQ(profile.find_sample_type("bytes"), kNone);
  profile.default_sample_type = profile.intern("samples");
  EXPECT_EQ(profile.find_sample_type(""), 0u);
  profile.default_sample_type = 0;
  EXPECT_EQ(profile.find_sample_type(""), 1u);
  EXPECT_EQ(Profile().find_sample_type(""), kNone);
}

TEST(Utf8, EachMaximalIllFormedPartBecomesOneReplacementCharacter) {
  const auto repaired = [](std::string_view text) {
    std::string out;
    append_valid_utf8(out, text);
    return out;
  };
  EXPECT_EQ(repaired("gr\xC3\xBC\xC3\x9F \xF0\x9F\x94\xA5"), "gr\xC3\xBC\xC3\x9F \xF0\x9F\x94\xA5");
  EXPECT_EQ(repaired("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(repaired("\xE2\x82"), "\xEF\xBF\xBD");                              // cut off
  EXPECT_EQ(repaired("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong '/'
  EXPECT_EQ(repaired("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(repaired("\xF4\x90\x80\x80").size(), 12u);                          // past U+10FFFF
}

TEST(ProfileCheck, AcceptsAFinishedProfile) { EXPECT_EQ(check_profile(make_sample_profile()), ""); }

TEST(ProfileCheck, NamesTheFirstBrokenRule) {
  const auto fault_after = [](auto change) {
    Profile profile = make_sample_profile();
    change(profile);
    return check_profile(profile);
  };
  EXPECT_EQ(fault_after([](Profile& p) { p.samples[1].values.pop_back(); }),
            "sample 2 has not one value for each sample type");
  EXPECT_EQ(fault_after([](Profile& p) { p.samples[0].labels.push_back(p.samples[0].labels[0]); }),
            "sample 1 has the label pid twice");
  EXPECT_EQ(fault_after([](Profile& p) { p.samples[0].locations[0] = 99; }),
            "sample 1 names a location that is not there");
  EXPECT_EQ(fault_after([](Profile& p) { p.functions[0].name = 0; }), "function 1 has no name");
  EXPECT_EQ(fault_after([](Profile& p) { p.locations[0].lines.clear(); }),
            "location 1 has no name");
  EXPECT_EQ(fault_after([](Profile& p) { p.default_sample_type = p.sample_types[0].type; }),
            "the default sample type is not the last one");
  EXPECT_EQ(fault_after([](Profile& p) { p.locations[0].address = 5; }),
            "location 1 has an address outside its mapping");
  EXPECT_EQ(fault_after([](Profile& p) { p.duration_nanos = 0; }), "the duration is not set");
  EXPECT_EQ(fault_after([](Profile& p) { std::swap(p.mappings[0], p.mappings[2]); }),
            "mapping 1 is not the main program");
  EXPECT_EQ(fault_after([](Profile& p) { p.samples[2].labels.clear(); }),
            "sample 3 lacks the label pid or tid");
}

}  // namespace
}  // namespace lumbre::output
