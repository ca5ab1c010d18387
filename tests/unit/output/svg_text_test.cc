#include "output/svg_text.h"

#include <gtest/gtest.h>

namespace lumbre::output {
namespace {

TEST(SvgText, ReplacesWhatXmlForbids) {
  EXPECT_EQ(clean_text(std::string_view("a\0b\x1b\n", 5)), "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(clean_text("\xff ok \xc3("), "\uFFFD ok \uFFFD(");
  EXPECT_EQ(clean_text("\xef\xbf\xbe|\xef\xbf\xbf|\xc2\x85|\x7f"), "\uFFFD|\uFFFD|\uFFFD|\uFFFD");
  EXPECT_EQ(clean_text("\u4e2d\u6587 \u00e9 <b>"), "\u4e2d\u6587 \u00e9 <b>");
}

TEST(SvgText, ReplacesMarksThatTurnTheTextAround) {
  EXPECT_EQ(clean_text("a\xe2\x80\xae"
                       "b\xe2\x81\xa6"),
            "a\uFFFDb\uFFFD");
  EXPECT_EQ(clean_text("a\u2026b"), "a\u2026b");
}

TEST(SvgText, EscapesMarkup) {
  EXPECT_EQ(escape_markup("q\"uote<&>'x"), "q&quot;uote&lt;&amp;&gt;&#39;x");
}

TEST(SvgText, WritesJsonThatNeitherEndsAScriptNorCdata) {
  EXPECT_EQ(json_string("</script>]]>&\"\\"), "\"\\u003c/script\\u003e]]\\u003e\\u0026\\\"\\\\\"");
}

TEST(SvgText, KeepsALabelThatFits) { EXPECT_EQ(fit_label("conv2d", 200), "conv2d"); }

TEST(SvgText, DropsLeadingNamespacesFirst) {
  const std::string name = "at::native::conv2d";
  EXPECT_EQ(fit_label(name, label_width(name) - 1), "\u2026native::conv2d");
  EXPECT_EQ(fit_label(name, label_width("\u2026conv2d")), "\u2026conv2d");
  EXPECT_EQ(fit_label(name, label_width("con\u2026")), "con\u2026");
  EXPECT_EQ(fit_label(name, 10), "");
}

TEST(SvgText, DoesNotCutNamesInsideOfBrackets) {
  const std::string name = "run<std::vector<a::b>>(c::d)";
  EXPECT_EQ(fit_label(name, label_width(name) - 1).substr(0, 4), "run<");
}

TEST(SvgText, CutsBetweenCharactersNotBytes) {
  EXPECT_EQ(fit_label("\u4e2d\u6587\u540d\u5b57", 37), "\u4e2d\u6587\u2026");
}

TEST(SvgText, SpeaksOfTimeBytesAndCountsAsPeopleDo) {
  EXPECT_EQ(human_value(950, "nanoseconds"), "950 ns");
  EXPECT_EQ(human_value(1'500'000, "nanoseconds"), "1.50 ms");
  EXPECT_EQ(human_value(9'870'000'000, "nanoseconds"), "9.87 s");
  EXPECT_EQ(human_value(999'990'000, "nanoseconds"), "1.00 s");
  EXPECT_EQ(human_value(1'200, "seconds"), "20.0 min");
  EXPECT_EQ(human_value(7'200, "seconds"), "2.00 h");
  EXPECT_EQ(human_value(512, "bytes"), "512 B");
  EXPECT_EQ(human_value(432'013'312, "bytes"), "412 MiB");
  EXPECT_EQ(human_value(1'048'575, "bytes"), "1.00 MiB");
  EXPECT_EQ(human_value(12345, "count"), "12,345");
  EXPECT_EQ(human_value(7, "cycles"), "7 cycles");
}

TEST(SvgText, NeverRoundsASmallShareToNothingNorALargeOneToAll) {
  EXPECT_EQ(human_share(0, 10), "0%");
  EXPECT_EQ(human_share(1, 1'000'000), "<0.01%");
  EXPECT_EQ(human_share(123, 1000), "12.3%");
  EXPECT_EQ(human_share(999'999, 1'000'000), "99.9%");
  EXPECT_EQ(human_share(5, 5), "100%");
  EXPECT_EQ(human_share(1, 0), "0%");
}

}  // namespace
}  // namespace lumbre::output
