#include "output/svg.h"

#include <string_view>

#include "output/svg_assets.h"
#include "output/svg_data.h"
#include "output/svg_shapes.h"
#include "output/svg_text.h"

namespace lumbre::output {
namespace {

constexpr std::string_view kViewport = "width=device-width, initial-scale=1";

// Titles that a caller left out are made of what the profile knows.
SvgOptions complete(const SvgOptions& options, const Profile& profile) {
  SvgOptions complete = options;
  if (complete.title.empty()) complete.title = "Flame graph";
  if (complete.subtitle.empty() && profile.duration_nanos > 0) {
    complete.subtitle = "recorded for " + human_value(profile.duration_nanos, "nanoseconds");
  }
  return complete;
}

void append_svg_start(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  const std::string height = std::to_string(picture_height(graph, options.minimum_share));
  const std::string width = std::to_string(kPictureWidth);
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lumbre\" width=\"" + width +
         "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height + "\">\n<title>" +
         escape_markup(clean_text(options.title)) + "</title>\n";
}

void append_picture(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  out += "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n";
  append_header(graph, options, out);
  append_frames(graph, options, out);
  append_footer(graph, options, out);
}

}  // namespace

bool write_svg(const Flamegraph& graph, const Profile& profile, const SvgOptions& given,
               std::ostream& out) {
  const SvgOptions options = complete(given, profile);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  append_svg_start(graph, options, text);
  if (options.with_script) {
    // Without it, phones lay an SVG file out for a desktop's width and shrink it.
    text += "<metadata><meta xmlns=\"http://www.w3.org/1999/xhtml\" name=\"viewport\" content=\"" +
            std::string(kViewport) + "\"/></metadata>\n";
  }
  text += "<style><![CDATA[\n" + std::string(kFlamegraphStyle) + "]]></style>\n";
  append_picture(graph, options, text);
  if (options.with_script) {
    text += "<script type=\"application/json\" class=\"data\"><![CDATA[";
    append_data(graph, options, text);
    text += "]]></script>\n<script><![CDATA[\n" + std::string(kFlamegraphScript) + "]]></script>\n";
  }
  text += "</svg>\n";
  out << text;
  return out.good();
}

bool write_html(const Flamegraph& graph, const Profile& profile, const SvgOptions& given,
                std::ostream& out) {
  const SvgOptions options = complete(given, profile);
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  text += "<meta name=\"viewport\" content=\"" + std::string(kViewport) + "\">\n<title>" +
          escape_markup(clean_text(options.title)) + "</title>\n<style>\n" +
          std::string(kFlamegraphStyle) + "</style>\n</head>\n<body class=\"lumbre-page\">\n";
  append_svg_start(graph, options, text);
  append_picture(graph, options, text);
  text += "</svg>\n";
  if (options.with_script) {
    text += "<script type=\"application/json\" class=\"data\">";
    append_data(graph, options, text);
    text += "</script>\n<script>\n" + std::string(kFlamegraphScript) + "</script>\n";
  }
  text += "</body>\n</html>\n";
  out << text;
  return out.good();
}

}  // namespace lumbre::output
