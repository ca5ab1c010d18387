// The tree that a mangled C++ name is read into, from which both its whole and its short form are
// printed. Nodes are numbered, 0 is none; they refer to earlier nodes only, and a node may be
// shared, as a substitution is. Internal to the demangler. One thread. Format: Itanium C++ ABI,
// section 5.1.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lumbre::itanium {

using NodeId = std::uint32_t;
constexpr NodeId kNone = 0;

// What the fields of a node hold; `l` is a node of the kind kList.
enum class Kind : std::uint8_t {
  kEmpty,
  // Names.
  kName,             // text
  kStandard,         // text: as abbreviated ("std::string")
  kNested,           // a::b
  kLocal,            // b in the function a
  kTemplate,         // a<b: l>
  kTagged,           // a[abi:text]
  kConstructor,      // text: the class
  kDestructor,       // text: the class
  kOperator,         // text: with its space ("new", "+")
  kConversion,       // a: the type
  kLiteralOperator,  // text
  kLambda,           // a: l of parameters, number
  kUnnamed,          // number
  kBinding,          // a: l of names
  kDefaultArgument,  // number, a: what is in it
  // Encodings.
  kFunction,      // a: name, b: kFunctionType, flags: of the member function
  kSpecial,       // text: "vtable for ", a
  kConstruction,  // construction vtable for a in b
  kReference,     // reference temporary `number` for a
  kClone,         // a, text: ".isra.0"
  // Types.
  kBuiltin,         // text
  kQualified,       // a, flags
  kPointer,         // a
  kLeftReference,   // a
  kRightReference,  // a
  kSuffixed,        // a, text: "_Complex", b: l of a vendor's arguments
  kFunctionType,    // a: returned type or none, b: l, flags
  kThrows,          // a: function type, text: "noexcept", b: an expression or l, or none
  kArray,           // a: of, b: size as expression or none, text: size
  kMemberPointer,   // b: in class a
  kVector,          // a: of, b: size as expression, text: size
  kTemplateParam,   // number
  kPack,            // a: l
  kExpansion,       // a
  kDecltype,        // a
  // Expressions.
  kLiteral,        // a: type, text: value
  kPrefix,         // text: operator, a
  kSuffix,         // a, text: operator
  kParenthesised,  // text: "sizeof ", a: always in parentheses
  kBinary,         // a, text: operator, b
  kIndex,          // a[b]
  kConditional,    // number: condition, a, b
  kCall,           // a(b: l)
  kCast,           // (a)b
  kNamedCast,      // text<a>(b)
  kBraces,         // a{b: l}
  kNew,            // text: "new" or "new[]", number: l of the placement, a: type, b: initializer
  kFold,           // text: operator, a, b, flags: 1 from the left
  kParameter,      // number; 0 for this
  kPackSize,       // a
  kList,           // number: the first item, a: how many
  kGlobal,         // ::a
};

// Flags of kQualified, kFunction and kFunctionType.
enum : std::uint8_t {
  kConst = 1,
  kVolatile = 2,
  kRestrict = 4,
  kLeftReferenceQualifier = 8,
  kRightReferenceQualifier = 16,
};

// Names, encodings, types and expressions follow one another in Kind.
constexpr bool is_name(Kind kind) { return kind <= Kind::kDefaultArgument; }
constexpr bool is_encoding(Kind kind) { return !is_name(kind) && kind <= Kind::kClone; }
constexpr bool is_type(Kind kind) { return kind > Kind::kClone && kind <= Kind::kDecltype; }

struct Node {
  Kind kind = Kind::kEmpty;
  std::uint8_t flags = 0;
  std::uint32_t number = 0;
  NodeId a = kNone, b = kNone;
  std::string_view text = {};
};

// Holds views into the mangled text, which has to outlive it.
struct Tree {
  std::vector<Node> nodes = std::vector<Node>(1);
  std::size_t count = 1;  // of the nodes in use
  std::vector<NodeId> items;
  NodeId root = kNone;

  const Node& at(NodeId id) const { return nodes[id]; }
  NodeId add(const Node& node) {
    if (count == nodes.size()) {
      nodes.resize(2 * nodes.size());
    }
    nodes[count] = node;
    return static_cast<NodeId>(count++);
  }
  std::span<const NodeId> list(NodeId id) const {
    const Node& node = nodes[id];
    return node.kind == Kind::kList ? std::span(items).subspan(node.number, node.a)
                                    : std::span<const NodeId>();
  }
};

}  // namespace lumbre::itanium
