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

TEST(Demangle, ReadsTheGrammarOfCxxNames) {
  constexpr Pair kPairs[] = {
      {"_ZNKSt8functionIFviEEclEi", "std::function<void (int)>::operator()(int) const"},
      {"_ZNSsC1ERKSs",
       "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string("
       "std::string const&)"},
      {"_ZZ4mainENKUlT_E_clIiEEDaS_", "auto main::{lambda(auto:1)#1}::operator()<int>(int) const"},
      {"_ZN1AcvT_IiEEv", "A::operator int<int>()"},
      {"_Z1fIJidcEEvDpT_", "void f<int, double, char>(int, double, char)"},
      {"_Z1fIiEvOT_", "void f<int>(int&&)"},
      {"_Z1fIRiEvOT_", "void f<int&>(int&)"},
      {"_ZThn16_N1A1fEv", "non-virtual thunk to A::f()"},
      {"_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()"},
      {"_ZTCN1AE0_1B", "construction vtable for B-in-A"},
      {"_ZGVZ1fvE1x", "guard variable for f()::x"},
      {"_ZN1A1fEv.part.0.isra.3.cold", "A::f() [clone .part.0] [clone .isra.3] [clone .cold]"},
      {"_ZN1A1fEv.llvm.123456", "A::f() [clone .llvm.123456]"},
      {"_ZN1AltIiEEbT_", "bool A::operator< <int>(int)"},
      {"_Z1fM1AKFviE", "f(void (A::*)(int) const)"},
      {"_Z1fRA10_Kc", "f(char const (&) [10])"},
      {"_Z1fPFPFvvEiE", "f(void (*(*)(int))())"},
      {"_Z1fDv4_f", "f(float __vector(4))"},
      {"_ZNKR1A1fEv", "A::f() const &"},
      {"_ZN1A1fB5cxx11Ev", "A::f[abi:cxx11]()"},
      {"_ZN3FooILi5ELb1ELj3ELln2EE3barEv", "Foo<5, true, 3u, -2l>::bar()"},
      {"_Z1fILN1A1EE1EEvv", "void f<(A::E)1>()"},
      {"_Z1fIiEDTcl1gfp_EET_", "decltype (g({parm#1})) f<int>(int)"},
      {"_ZZZ1fvENKUlvE_clEvENKUlvE5_clEv",
       "f()::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(demangle(pair.in), pair.out);
  }
}

// The lambda is what the function is called with, whatever the substitution for its parameter was
// first written for.
TEST(Demangle, ResolvesTemplateParametersWhereTheyAreUsed) {
  EXPECT_EQ(
      demangle("_ZNSt9once_flag18_Prepare_executionC4IZSt9call_onceIMSt6threadFvvEJPS3_EEvRS_OT_"
               "DpOT0_EUlvE_EERS8_"),
      "std::once_flag::_Prepare_execution::_Prepare_execution<std::call_once<void "
      "(std::thread::*)(), std::thread*>(std::once_flag&, void (std::thread::*&&)(), "
      "std::thread*&&)::{lambda()#1}>(std::call_once<void (std::thread::*)(), "
      "std::thread*>(std::once_flag&, void (std::thread::*&&)(), "
      "std::thread*&&)::{lambda()#1}&)");
}

TEST(DisplayName, NamesTheFunctionThatGenericCodeWasMadeFor) {
  constexpr Pair kPairs[] = {
      {"_ZN3c1012function_refIFvPPcPKlllEE11callback_fnIZN2at18TensorIteratorBase15loop_2d_from_"
       "1dIZNS8_6native4AVX217cpu_serial_kernelIZZZNSB_9templates3cpu12_GLOBAL__N_116bernoulli_"
       "kernelIPNS8_16CPUGeneratorImplEEEvRKNS8_10TensorBaseEdT_ENKUlvE_clEvENKUlvE5_clEvEUlvE_"
       "EEvRS9_OSN_RKNS8_5RangeEEUlS2_S4_lE_EEDaRKSN_EUlS2_S4_llE_EEvlS2_S4_ll",
       "c10::function_ref::callback_fn<bernoulli_kernel>"},
      {"_ZN3c104impl28wrap_kernel_functor_unboxed_INS0_6detail24WrapFunctionIntoFunctor_INS_"
       "26CompileTimeFunctionPointerIFN2at6TensorERKS6_S8_RKNS_6ScalarEEXadL_ZNS5_12_GLOBAL__N_"
       "122wrapper_CPU_add_TensorES8_S8_SB_EEEES6_NS_4guts8typelist8typelistIJS8_S8_SB_EEEEESC_"
       "E4callEPNS_14OperatorKernelENS_14DispatchKeySetES8_S8_SB_",
       "c10::impl::wrap_kernel_functor_unboxed_<wrapper_CPU_add_Tensor>::call"},
      {"_ZN3c104impl31make_boxed_from_unboxed_functorINS0_6detail24WrapFunctionIntoFunctor_INS_"
       "26CompileTimeFunctionPointerIFN2at6TensorENS_14DispatchKeySetERKS6_S9_RKNS_6ScalarEEXadL_"
       "ZN5torch8autograd12VariableType12_GLOBAL__N_110add_TensorES7_S9_S9_SC_EEEES6_NS_4guts8type"
       "list8typelistIJS7_S9_S9_SC_EEEEELb0EE4callEPNS_14OperatorKernelERKNS_14OperatorHandleES7_"
       "PSt6vectorINS_6IValueESaISV_EE",
       "c10::impl::make_boxed_from_unboxed_functor<add_Tensor>::call"},
      {"_ZN2at6native4AVX215vectorized_loopIRZZZNS0_12_GLOBAL__N_110add_kernelERNS_18TensorIterator"
       "BaseERKN3c106ScalarEENKUlvE_clEvENKUlvE11_clEvEUlNS6_7complexINS6_4HalfEEESE_E_RZZZNS3_"
       "10add_kernelES5_S9_ENKSA_clEvENKSB_clEvEUlNS_3vec4AVX210VectorizedISE_EESK_E_EEvPPcllOT_"
       "OT0_",
       "at::native::AVX2::vectorized_loop<add_kernel>"},
      {"_ZNSt8functionIFvRN4llvm2IREEEaSIZNKS0_6Helper7tryFoldEPNS0_7GSelectERS4_E3$_1EENSt9enable_"
       "ifIXsr9_CallableINSt5decayIT_E4typeEEE5valueES9_E4typeEOSD_",
       "std::function<void (llvm::IR&)>::operator=<tryFold>"},
      {"_ZNSt17_Function_handlerIFvPN5torch3jit13ProcessedNodeEEZNKS1_26SROperatorFunctor_aten_"
       "cat2fnMUlPNS1_4NodeEE_clES8_EUlS3_E_E9_M_invokeERKSt9_Any_dataOS3_",
       "std::_Function_handler<SROperatorFunctor_aten_cat::fn>::_M_invoke"},
      {"_ZN1fIXadL_ZN1A1gEvEEE1hEv", "f<g>::h"},
      {"_ZN1fIXadL_ZN1A4callEvEEE1hEv", "f<A::call>::h"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(display_name(pair.in), pair.out);
  }
}

TEST(DisplayName, KeepsTypesThatTakeLittleRoom) {
  constexpr Pair kPairs[] = {
      {"_Z4adamIfEvT_", "adam<float>"},
      {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int>::push_back"},
      {"_ZNSt6vectorIN2at6TensorESaIS1_EED2Ev", "std::vector<at::Tensor>::~vector"},
      {"_ZNSt23_Sp_counted_ptr_inplaceIN5torch3jit5GraphESaIvELN9__gnu_cxx12_Lock_policyE2EE10_M_"
       "disposeEv",
       "std::_Sp_counted_ptr_inplace<torch::jit::Graph>::_M_dispose"},
      {"_ZN3c1013intrusive_ptrIN4c10d5StoreENS_6detail34intrusive_target_default_null_typeIS2_EEE"
       "15reset_not_null_EPS2_",
       "c10::intrusive_ptr<c10d::Store>::reset_not_null_"},
      {"_ZN1AIN6a_long14namespace_name8the_TypeEE1fEv", "A<the_Type>::f"},
      {"_ZN1AIN6a_long42a_name_that_takes_too_much_room_to_keep_itEE1fEv", "A::f"},
      {"_ZN3FooILi5ELb1EE3barEv", "Foo<5, true>::bar"},
      {"_ZN1AltIiEEbT_", "A::operator< <int>"},
      {"_ZN1A1fB5cxx11Ev.cold", "A::f"},
      {"_ZZZ1fvENKUlvE_clEvENKUlvE5_clEv", "f::{lambda()#1}::operator()::{lambda()#7}::operator()"},
      {"_ZZ1fvENKUlN1A23long_name_of_a_type_OneES0_E_clES0_S0_", "f::{lambda(...)#1}::operator()"},
      {"_ZN1A1fEv@plt", "A::f@plt"},
      {"_ZN1A1xE.llvm.12", "A::x"},
      {"___ZN1A1fEv_block_invoke", "___ZN1A1fEv_block_invoke"},
  };
  for (const auto& pair : kPairs) {
    EXPECT_EQ(display_name(pair.in), pair.out);
  }
}

TEST(DisplayName, IsCappedInTheMiddle) {
  std::string name = "_ZN";
  for (char c = 'a'; c <= 'z'; ++c) {
    name += "10" + std::string(10, c);
  }
  const std::string shown = display_name(name + "Ev");
  EXPECT_EQ(shown.size(), 120U);
  EXPECT_EQ(shown.substr(0, 12), "aaaaaaaaaa::");
  EXPECT_EQ(shown.substr(108), "::zzzzzzzzzz");
}

TEST(DisplayName, SurvivesDeepNesting) {
  for (const char* part :
       {"P", "N1aI", "Z", "X", "Dp", "L_Z", "FvT_", "DTclcv", "UlS_E_", "1aIJ"}) {
    std::string name = "_Z1fI";
    for (int i = 0; i < 5000; ++i) {
      name += part;
    }
    EXPECT_EQ(demangle(name), name);
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
