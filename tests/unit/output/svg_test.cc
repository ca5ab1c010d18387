#include "output/svg.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "output/svg_assets.h"
#include "svg_sample.h"

namespace lumbre::output {
namespace {

using test::make_small_profile;
using test::ProfileBuilder;

SvgOptions small_options() {
  SvgOptions options;
  options.title = "cpu: train.py";
  options.subtitle = "pid 7; 1.00 s at 99 Hz";
  options.unit = "nanoseconds";
  options.metric = "CPU time";
  options.minimum_share = 0.001;
  return options;
}

std::string draw(const Profile& profile, const SvgOptions& options) {
  std::ostringstream out;
  EXPECT_TRUE(write_svg(layout_flamegraph(profile, {}), profile, options, out));
  return out.str();
}

std::string without_style(std::string svg) {
  const std::size_t start = svg.find("<style>");
  const std::size_t end = svg.find("</style>");
  return svg.erase(start, end + std::string_view("</style>\n").size() - start);
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

// Whether xmllint finds the text well-formed; true where there is no xmllint.
bool is_well_formed(const std::string& text) {
  if (std::system("xmllint --version >/dev/null 2>&1") != 0) return true;
  const auto path =
      std::filesystem::temp_directory_path() /
      ("lumbre-svg-test-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
       "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".svg");
  std::ofstream(path, std::ios::binary) << text;
  const int status =
      std::system(("xmllint --noout --huge --nonet '" + path.string() + "'").c_str());
  std::filesystem::remove(path);
  return status == 0;
}

TEST(Svg, LooksLikeTheGoldenPicture) {
  SvgOptions options = small_options();
  options.with_script = false;
  const std::string drawn = without_style(draw(make_small_profile(), options));
  const std::string path = LUMBRE_SOURCE_DIR "/tests/unit/output/golden/flamegraph_small.svg";
  if (std::getenv("LUMBRE_BLESS") != nullptr) std::ofstream(path, std::ios::binary) << drawn;
  std::ifstream file(path, std::ios::binary);
  const std::string golden((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(drawn, golden) << "LUMBRE_BLESS=1 rewrites " << path;
}

TEST(Svg, IsTheSameEveryTime) {
  EXPECT_EQ(draw(make_small_profile(), small_options()),
            draw(make_small_profile(), small_options()));
}

TEST(Svg, DrawsFramesFromTheMinimumShareOnAndSaysWhatItLeavesOut) {
  const std::string svg = draw(make_small_profile(), small_options());
  const std::string picture = svg.substr(0, svg.find("<script"));
  EXPECT_EQ(count(picture, "<g data-i="), 8U);
  EXPECT_NE(picture.find("Frames under 0.1% of the total (1 of 8; 0.05% of the samples end in "
                         "them) are drawn when you zoom in."),
            picture.npos);
  EXPECT_EQ(picture.find("rare"), picture.npos);
  EXPECT_NE(svg.find("rare\\u003c\\u0026\\u003e"), svg.npos);
}

TEST(Svg, PutsTheRootAtTheTopWhenInverted) {
  SvgOptions options = small_options();
  EXPECT_NE(draw(make_small_profile(), options).find("class=\"r\" x=\"0\" y=\"54\""),
            std::string::npos);
  options.is_inverted = true;
  EXPECT_NE(draw(make_small_profile(), options).find("class=\"r\" x=\"0\" y=\"0\""),
            std::string::npos);
}

TEST(Svg, TellsKindsOfFramesApartByClass) {
  const std::string svg = draw(make_small_profile(), small_options());
  for (const std::string_view kind : {"p", "n", "k", "j", "u", "t"}) {
    EXPECT_NE(svg.find("<rect class=\"" + std::string(kind)), svg.npos) << kind;
  }
}

TEST(Svg, ShowsBothSharesInDifferentialMode) {
  ProfileBuilder now, base;
  now.sample({"n:a"}, 300);
  now.sample({"n:b"}, 100);
  base.sample({"n:b"}, 20);
  SvgOptions options = small_options();
  options.is_differential = true;
  std::ostringstream out;
  ASSERT_TRUE(
      write_svg(layout_differential(now.profile, base.profile, {}), now.profile, options, out));
  EXPECT_NE(
      out.str().find("<title>a\n300 ns, 75.0% (base: 0%), self 75.0%</title><rect class=\"d10\""),
      std::string::npos);
  EXPECT_NE(
      out.str().find("<title>b\n100 ns, 25.0% (base: 100%), self 25.0%</title><rect class=\"d1\""),
      std::string::npos);
}

TEST(Svg, IsWellFormedWhateverTheNamesHold) {
  ProfileBuilder builder;
  for (const std::string& name :
       {std::string("</script><script>alert(1)</script>"), std::string("]]>"),
        std::string("a\0b", 3), std::string("\x01\x1b[31m"), std::string("\xff\xfe"),
        std::string("q\"uote<&>'x"), std::string("<!--"), std::string("\xed\xa0\x80")}) {
    builder.sample({"n:main", "n:" + name}, 1);
  }
  SvgOptions options = small_options();
  options.title = "]]></title><script>alert(1)</script>\x02";
  options.subtitle = "\xff<&";
  options.unit = "]]><b>";
  const std::string svg = draw(builder.profile, options);
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(svg.find("alert(1)</script"), svg.npos);
  EXPECT_EQ(count(svg, "</script>"), 2U);
  EXPECT_EQ(count(svg, "]]>"), 3U);
}

TEST(Svg, IsSelfContained) {
  const std::string svg = draw(make_small_profile(), small_options());
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(svg.find("href"), svg.npos);
  EXPECT_EQ(svg.find("url("), svg.npos);
  EXPECT_EQ(svg.find("@import"), svg.npos);
  EXPECT_EQ(count(svg, "http://"), count(svg, "http://www.w3.org/"));
  EXPECT_EQ(svg.find("https://"), svg.npos);
}

TEST(Svg, SaysThatThereAreNoSamples) {
  SvgOptions options = small_options();
  options.empty_hint = "Try -e offcpu.";
  const std::string svg = draw(ProfileBuilder().profile, options);
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_NE(svg.find("There are no samples to show."), svg.npos);
  EXPECT_NE(svg.find("Try -e offcpu."), svg.npos);
}

TEST(Svg, ReportsAFailedStream) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  const Profile profile = make_small_profile();
  EXPECT_FALSE(write_svg(layout_flamegraph(profile, {}), profile, small_options(), out));
}

TEST(Svg, ScriptAndStyleCanStandInCdataAndInHtml) {
  for (const std::string_view asset : {kFlamegraphScript, kFlamegraphStyle}) {
    EXPECT_GT(asset.size(), 1000U);
    EXPECT_EQ(asset.find("]]>"), asset.npos);
    EXPECT_EQ(asset.find("</"), asset.npos);
    EXPECT_EQ(asset.find("<!--"), asset.npos);
  }
}

TEST(Html, IsOnePageAroundTheSamePicture) {
  const Profile profile = make_small_profile();
  std::ostringstream out;
  ASSERT_TRUE(write_html(layout_flamegraph(profile, {}), profile, small_options(), out));
  const std::string page = out.str();
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(count(page, "<svg "), 1U);
  EXPECT_EQ(count(page, "<g data-i="), 8U);
  EXPECT_EQ(count(page, "<![CDATA["), 0U);
  EXPECT_EQ(count(page, "</script>"), 2U);
}

}  // namespace
}  // namespace lumbre::output
