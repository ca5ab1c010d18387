# cmake -DFOLDER=assets -DOUT=FILE.cc -P embed.cmake: joins the parts of the script into one scope
# and writes the C++ source that holds it and the style sheet.
set(script "")
foreach(part flamegraph_data flamegraph_text flamegraph_page flamegraph_draw flamegraph)
  file(READ "${FOLDER}/${part}.js" text)
  string(APPEND script "${text}\n")
endforeach()
file(READ "${FOLDER}/flamegraph.css" style)
file(WRITE "${OUT}" "#include \"output/svg_assets.h\"

namespace lumbre::output {

const std::string_view kFlamegraphScript = R\"lumbre_asset(\"use strict\";
(() => {
${script}})();
)lumbre_asset\";
const std::string_view kFlamegraphStyle = R\"lumbre_asset(${style})lumbre_asset\";

}  // namespace lumbre::output
")
