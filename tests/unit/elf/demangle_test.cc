#include "symbolizer/demangle.h"

#include <gtest/gtest.h>

#include <random>

#include "symbolizer/demangle_cost.h"

namespace lumbre {
namespace {

struct Pair {
  const char* in;
  const char* out;
};

TEST(Demangle, ReadsCxxRustAndNothingElse) {
  constexpr Pair kPairs[] = {
      {"_ZN2at6native3addERKNS_6TensorES3_",
       "at::native::add(at::Tensor const&, at::Tensor const&)"},
      {"_ZlsRSoi", "operator<<(std::ostream&, int)"},
      {"_Z3foov@plt", "foo()@plt"},
      {"_ZN3fooE.llvm.123", "foo.llvm.123"},
      {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
      {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE.llvm.99", "core::ptr::drop_in_place"},
      {"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
       "<alloc::string::String as core::fmt::Display>::fmt"},
      {"_ZN3foo17haaaaaaaaaaaaaaaaE", "foo::haaaaaaaaaaaaaaaa"},
      {"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
      {"_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_", "mycrate::main::{closure#0}"},
      {"_RNvMCsgStHSCytQ6I_7mycrateNtB2_7Example3foo", "<mycrate::Example>::foo"},
      {"_RNvXCsgStHSCytQ6I_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
       "<mycrate::Example as mycrate::Trait>::foo"},
      {"_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>"},
      {"_RINvC1a1fKj7b_Kb1_Kc41_Kln5_E", "a::f::<123, true, 'A', -5>"},
      {"_RINvC1a1fRShQTedEPFG_UKCRL0_hEuDNtC1b1TEL_E",
       "a::f::<&[u8], &mut (str, f64), *const for<'a> unsafe extern \"C\" fn(&'a u8), dyn b::T>"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
       "utf8_idents::\xe1\x83\xa1\xe1\x83\x90\xe1\x83\xad\xe1\x83\x9b\xe1\x83\x94\xe1\x83\x9a\xe1"
       "\x83\x90\xe1\x83\x93_\xe1\x83\x92\xe1\x83\x94\xe1\x83\x9b\xe1\x83\xa0\xe1\x83\x98\xe1\x83"
       "\x94\xe1\x83\x9a\xe1\x83\x98_\xe1\x83\xa1\xe1\x83\x90\xe1\x83\x93\xe1\x83\x98\xe1\x83\x9a"
       "\xe1\x83\x98"},
      {"main", "main"},
      {"", ""},
      {"_Z", "_Z"},
      {"_R", "_R"},
      {"_RNvC", "_RNvC"},
      {"_RNvCs_", "_RNvCs_"},
      {"_ZN17h0123456789abcdefE", "h0123456789abcdef"},
      {"q\"uote<&>'x", "q\"uote<&>'x"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(demangle(pair.in), pair.out);
  }
}

TEST(Demangle, BoundsWhatBackReferencesCost) {
  // Each "B" doubles the tuple before it.
  std::string bomb = "_RINvC1a1fTuuE";
  std::size_t previous = 10 - 2 + 3;
  for (int i = 0; i < 60; ++i) {
    const std::size_t here = bomb.size() - 2;
    const std::string reference = "B" + std::to_string(previous % 10) + "_";
    bomb += "T" + reference + reference + "E";
    previous = here;
  }
  bomb += "E";
  EXPECT_LE(demangle(bomb).size(), 70'000U);
  EXPECT_EQ(demangle("_RNvB_1f"), "_RNvB_1f");
  EXPECT_EQ(demangle("_R" + std::string(100'000, 'N')), "_R" + std::string(100'000, 'N'));
}

// Each template holds the one before it twice: 271 characters for four gigabytes.
TEST(Demangle, LeavesNamesThatWouldExplodeAsTheyAre) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string bomb = "_Z1f1aIiiE";
  for (std::size_t i = 0; i < 26; ++i) {
    const std::string previous = {'S', kDigits[i], '_'};
    bomb += "S_I" + previous + previous + "E";
  }
  EXPECT_EQ(demangle(bomb), bomb);
  EXPECT_FALSE(is_safe_to_demangle(bomb));
}

TEST(Demangle, SurvivesBrokenNames) {
  std::mt19937 random(3);
  for (const std::string name :
       {"_ZNSt8functionIFvRN4llvm2IREEEaSIZNKS0_6Helper7tryFoldEPNS0_7GSelectERS4_E3$_"
        "1EENSt9enable_"
        "ifIXsr9_CallableINSt5decayIT_E4typeEEE5valueES9_E4typeEOSD_",
        "_Z1fIiEDTclcvT__Efp_EES0_RA10_KcPFviEMN1A1BEiDpT0_Dv4_fU8__vectorfLi5ELb1E",
        "_ZZN1A1fEvENKUlT_E0_clIiEEDaS0_", "_ZThn16_N1A1fEv", "_ZGVZ1fvE1x", "_ZTCN1AE0_1B",
        "_RINvXs_C1aINtC1b1TShENtB2_1U1fRL_hKj7b_DNtC1c1VEL_FG_UKCRL0_hEuE",
        "_ZN60_$LT$a..b$u20$as$u20$c..d$GT$3fmt17h0123456789abcdefE.llvm.7"}) {
    for (std::size_t size = 0; size <= name.size(); ++size) {
      demangle(name.substr(0, size));
      display_name(name.substr(size));
    }
    for (int round = 0; round < 3000; ++round) {
      std::string broken = name;
      for (int i = 0; i < 3; ++i) {
        broken[2 + random() % (broken.size() - 2)] =
            round % 2 == 0 ? name[random() % name.size()] : static_cast<char>(random());
      }
      EXPECT_FALSE(display_name(broken).empty());
    }
  }
}

TEST(DemangleCost, IsAnUpperEstimate) {
  for (const char* name :
       {"_ZN2at6native3addERKNS_6TensorES3_", "_ZlsRSoi", "_ZNKSt8functionIFviEEclEi",
        "_ZZ4mainENKUlT_E_clIiEEDaS_", "_ZN12_GLOBAL__N_11fEv", "_ZThn16_N1A1fEv",
        "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "_ZN1AcvSt6vectorIiSaIiEEEv",
        "_Z1fIiEDTcl1gfp_EET_", "_Z1fIJidcEEvDpT_", "_Z1fILi5EEvv", "_ZTV3foo", "_ZN3FooC2ERKS_",
        "_Z1fPFvivE", "_Z1fA10_i", "_ZdlPv", "_Zli3_kme"}) {
    EXPECT_GE(demangled_length(name), demangle(name).size()) << name;
    EXPECT_NE(demangle(name), name);
  }
}

TEST(Shorten, LeavesOutArgumentsAndTypes) {
  constexpr Pair kPairs[] = {
      {"at::native::add(at::Tensor const&)", "at::native::add"},
      {"void at::native::(anonymous namespace)::add_kernel<f(T&)::{lambda(float)#1}>(T&, int)",
       "at::native::(anonymous namespace)::add_kernel"},
      {"foo(int) [clone .isra.0]", "foo"},
      {"foo[abi:cxx11]<int>(int)", "foo"},
      {"int const& std::max<int>(int const&, int const&)", "std::max"},
      {"std::function<void (int)>::operator()(int) const", "std::function::operator()"},
      {"f() const::{lambda()#1}::operator()() const", "f::{lambda()#1}::operator()"},
      {"main::{lambda(std::vector<int>)#1}::operator()(std::vector<int>) const",
       "main::{lambda(std::vector)#1}::operator()"},
      {"auto f<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
       "f::{lambda(auto:1)#1}::operator()"},
      {"foo::~foo()", "foo::~foo"},
      {"foo<int>", "foo"},
      {"foo(int)@plt", "foo@plt"},
      {"non-virtual thunk to A<int>::f(int)", "non-virtual thunk to A::f"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(shorten_for_display(pair.in), pair.out);
  }
}

TEST(Shorten, KeepsOperators) {
  constexpr Pair kPairs[] = {
      {"bool operator< <int>(int, int)", "operator<"},
      {"A::operator<<int>(int)", "A::operator<"},
      {"A::operator<<(int)", "A::operator<<"},
      {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
       "std::operator<<"},
      {"A::operator->() const", "A::operator->"},
      {"A::operator->*(int)", "A::operator->*"},
      {"A::operator<=>(A const&) const", "A::operator<=>"},
      {"A::operator()(int)", "A::operator()"},
      {"A::operator[](int)", "A::operator[]"},
      {"A::operator,(int)", "A::operator,"},
      {"operator new[](unsigned long)", "operator new[]"},
      {"operator delete(void*)", "operator delete"},
      {"operator\"\" _km(long double)", "operator\"\" _km"},
      {"c10::Scalar::operator long() const", "c10::Scalar::operator long"},
      {"A::operator std::vector<int, std::allocator<int> > const&() const",
       "A::operator std::vector const&"},
      {"void f<&(A::operator<(int))>()", "f"},
      {"void f<&(bool A::operator< <int>(int))>()", "f"},
      {"my_operator(int)", "my_operator"},
      {"operator_like<int>::f()", "operator_like::f"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(shorten_for_display(pair.in), pair.out);
  }
}

TEST(Shorten, ReadsOddReturnTypesAndArguments) {
  constexpr Pair kPairs[] = {
      {"decltype ((declval<T>()).foo()) foo<Bar>(Bar)", "foo"},
      {"decltype(auto) std::visit<A>(A&&)", "std::visit"},
      {"void (*pick<int>(int))(char)", "pick"},
      {"std::enable_if<((sizeof(int))>(4)), void>::type foo<int>(int)", "foo"},
      {"std::enable_if<(1)<(2), int>::type g<int>(std::less<int>)", "g"},
      {"void f<(void (*)(int))0, &(bar(int))>(int (*)(char))", "f"},
      {"std::string const& (anonymous namespace)::g<int>()", "(anonymous namespace)::g"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(shorten_for_display(pair.in), pair.out);
  }
}

TEST(Shorten, KeepsTheTypesThatRustMethodsBelongTo) {
  constexpr Pair kPairs[] = {
      {"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
       "<alloc::vec::Vec as core::ops::drop::Drop>::drop"},
      {"core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place"},
      {"a::f::<<T as U>::g<u8>::{closure#0}, x>::{closure#1}", "a::f::{closure#1}"},
      {"core::fmt::num::<impl core::fmt::Display for i32>::fmt",
       "core::fmt::num::<impl core::fmt::Display for i32>::fmt"},
      {"<&mut W as core::fmt::Write>::write_str", "<&mut W as core::fmt::Write>::write_str"},
      {"std::thread::spawn::{{closure}}", "std::thread::spawn::{{closure}}"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(shorten_for_display(pair.in), pair.out);
  }
}

TEST(Shorten, LeavesOtherNamesAlone) {
  for (const char* name : {"main",
                           "q\"uote<&>'x",
                           "runtime.(*mheap).alloc",
                           "main.main.func1",
                           "a(b",
                           ")(",
                           "<",
                           ">",
                           "::",
                           "operator",
                           "operator ",
                           "()",
                           "(",
                           "a<b",
                           "py::<module>:/root/x.py",
                           "a b",
                           " ",
                           "x::y<z>w",
                           ".cold",
                           "1.2.3",
                           "$x",
                           "\xff\xfe(",
                           "foo::bar baz (",
                           "operator<",
                           "a::operator",
                           "printf@plt"}) {
    EXPECT_EQ(shorten_for_display(name), name);
  }
  EXPECT_EQ(shorten_for_display(""), "");
}

TEST(Shorten, LeavesOutCloneSuffixes) {
  EXPECT_EQ(shorten_for_display("foo.cold"), "foo");
  EXPECT_EQ(shorten_for_display("foo.part.0.isra.3"), "foo");
  EXPECT_EQ(shorten_for_display("foo.constprop.0.cold"), "foo");
  EXPECT_EQ(shorten_for_display("foo.lto_priv.12"), "foo");
  EXPECT_EQ(shorten_for_display("foo.bar"), "foo.bar");
}

TEST(Shorten, IsNeverEmptyForShortTexts) {
  // Every text of up to five of the characters that the scanner knows.
  const std::string alphabet = "a:<>( )[{}.&o";
  std::vector<std::string> texts = {""};
  for (std::size_t from = 0, length = 0; length < 5; ++length) {
    const std::size_t to = texts.size();
    for (; from < to; ++from) {
      for (const char c : alphabet) {
        texts.push_back(texts[from] + c);
      }
    }
  }
  for (const auto& text : texts) {
    ASSERT_EQ(shorten_for_display(text).empty(), text.empty()) << text;
    ASSERT_FALSE(shorten_for_display("f<operator" + text + ">::operator" + text).empty());
  }
}

TEST(DisplayName, ShortensOnlyWhatWasMangled) {
  EXPECT_EQ(display_name("_ZN2at6native3addERKNS_6TensorES3_"), "at::native::add");
  EXPECT_EQ(display_name("_ZN2at6native3addERKNS_6TensorES3_.cold"), "at::native::add");
  EXPECT_EQ(display_name("odd(name)"), "odd(name)");
  EXPECT_EQ(display_name("odd<name>"), "odd<name>");
  EXPECT_EQ(display_name("plain.part.0"), "plain");
}

}  // namespace
}  // namespace lumbre
