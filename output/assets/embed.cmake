# cmake -DSCRIPT=... -DSTYLE=... -DOUT=... -P embed.cmake: writes the C++ source that holds both.
file(READ "${SCRIPT}" script)
file(READ "${STYLE}" style)
file(WRITE "${OUT}" "#include \"output/svg_assets.h\"

namespace lumbre::output {

const std::string_view kFlamegraphScript = R\"lumbre_asset(${script})lumbre_asset\";
const std::string_view kFlamegraphStyle = R\"lumbre_asset(${style})lumbre_asset\";

}  // namespace lumbre::output
")
