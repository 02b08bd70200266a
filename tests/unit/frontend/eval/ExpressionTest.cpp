//===- ExpressionTest.cpp - expected values are what CPython prints -------===//
#include "EvalTest.h"

using namespace tile::eval;

namespace {

struct Case {
  const char *expr, *expected;
};

void check(std::initializer_list<Case> cases) {
  for (const Case &c : cases)
    EXPECT_EQ(eval(c.expr), c.expected) << c.expr;
}

TEST(Expression, IntegerArithmeticIsExactAndRoundsDown) {
  check({{"7 // 2", "3"},
         {"-7 // 2", "-4"},
         {"7 // -2", "-4"},
         {"-7 % 3", "2"},
         {"7 % -3", "-2"},
         {"2**64 + 1", "18446744073709551617"},
         {"(2**64 + 1) * (2**64 - 1)", "340282366920938463463374607431768211455"},
         {"-(2**63)", "-9223372036854775808"},
         {"(1 << 70) >> 68", "4"},
         {"-5 >> 1", "-3"},
         {"-1 >> 200", "-1"},
         {"~5", "-6"},
         {"0xFFFF_FFFF & 0xD2511F53", "3528531795"},
         {"-1 & 0xFF", "255"},
         {"6 ^ 3", "5"},
         {"10 / 4", "2.5"},
         {"2 ** -2", "0.25"},
         {"(-2) ** 3", "-8"},
         {"(-1) ** 1000001", "-1"},
         {"-2 ** 2", "-4"},
         {"True + True", "2"},
         {"True & False", "False"},
         {"True ^ 3", "2"},
         {"2**63 / 2, (2**80) / 2**79, float(2**63), float(-2**64)",
          "(4.611686018427388e+18, 2.0, 9.223372036854776e+18, -1.8446744073709552e+19)"},
         {"-True", "-1"}});
}

TEST(Expression, StringsAreCountedInCodePoints) {
  check({{"len('\u00e4b'), len('\U0001F600'), len('e\u0301')", "(2, 1, 2)"},
         {"'\u00e4b'[0], '\u00e4b'[-1], '\u00e4bc'[::-1]", "('\u00e4', 'b', 'cb\u00e4')"},
         {"list('\u00e4\u20ac'), tuple('b\u00e4')", "(['\u00e4', '\u20ac'], ('b', '\u00e4'))"},
         {"ord('\u00e4'), ord('\U0001F600'), chr(0xe4), chr(0x20ac)",
          "(228, 128512, '\u00e4', '\u20ac')"},
         {"'\u00e4\u00e4b'.find('b'), '\u00e4b'.count('')", "(2, 3)"},
         {"'\u00e4'.rjust(3, '\u20ac'), f'{\"\u00e4b\":>4.1}', '\u00e4'.zfill(3)",
          "('\u20ac\u20ac\u00e4', '   \u00e4', '00\u00e4')"},
         {"'\u00e9\u00e4b\u00e4'.strip('\u00e4\u00e9')", "'b'"},
         {"'a' in '\u00e4', '\u00e4' < '\u00f6', '\u00e4,b'.split(',')",
          "(False, True, ['\u00e4', 'b'])"}});
}

TEST(Expression, FloatsPrintAndDivideAsInPython) {
  check({{"0.1 + 0.2", "0.30000000000000004"},
         {"1e16", "1e+16"},
         {"1e15", "1000000000000000.0"},
         {"1e-5", "1e-05"},
         {"0.0001", "0.0001"},
         {"-7.5 // 2", "-4.0"},
         {"-7.5 % 2", "0.5"},
         {"7.5 % -2", "-0.5"},
         {"2 ** 0.5", "1.4142135623730951"},
         {"float('inf') - 1", "inf"},
         {"float(' -.5E+1 ')", "-5.0"},
         {"float('2.')", "2.0"},
         {"float('+1e400')", "inf"},
         {"-float('nan')", "nan"},
         {"1.0 * 3", "3.0"},
         {"-0.0", "-0.0"},
         {"1 / 3", "0.3333333333333333"},
         {"5e-324", "5e-324"}});
}

TEST(Expression, ErrorsOfArithmetic) {
  check({{"1 // 0", "ZeroDivisionError: division by zero"},
         {"1.0 % 0", "ZeroDivisionError: division by zero"},
         {"1 << -1", "ValueError: negative shift count"},
         {"1 << 100000", "OverflowError: the integer result needs more than 8192 bits"},
         {"3 ** 1000000", "OverflowError: the integer result needs more than 8192 bits"},
         {"(-8) ** (1/3)", "ValueError: a negative number raised to a fraction is complex"},
         {"float('1e')", "ValueError: cannot read \"1e\" as a float"},
         {"float('0x10')", "ValueError: cannot read \"0x10\" as a float"},
         {"float('++5')", "ValueError: cannot read \"++5\" as a float"},
         {"float('.')", "ValueError: cannot read \".\" as a float"},
         {"1.5 << 1", "TypeError: operator `<<` needs integers, got a float"},
         {"'a' + 1", "TypeError: unsupported operand types for `+`: `str` and `int`"},
         {"-'a'", "TypeError: unsupported operand type for unary `-`: `str`"}});
}

TEST(Expression, ComparisonsAreChainedAndExact) {
  check({{"1 < 2 < 3", "True"},
         {"1 < 3 < 2", "False"},
         {"2**53 + 1 == float(2**53)", "False"},
         {"2**53 == float(2**53)", "True"},
         {"2**53 + 1 > float(2**53)", "True"},
         {"-1 < -0.5", "True"},
         {"float('nan') != float('nan')", "True"},
         {"1 == 1.0 == True", "True"},
         {"(1, 2) < (1, 3)", "True"},
         {"(1, 2) == [1, 2]", "False"},
         {"'abc' < 'abd'", "True"},
         {"1 in (1, 2)", "True"},
         {"'b' in 'abc'", "True"},
         {"3 not in {1: 2}", "True"},
         {"4 in range(0, 10, 3)", "False"},
         {"None is None", "True"},
         {"1 is not None", "True"},
         {"{1, 2} == {2, 1}", "True"},
         {"1 < 'a'", "TypeError: `<` is not defined between `int` and `str`"}});
}

TEST(Expression, LogicYieldsOperands) {
  check({{"0 or 'x'", "'x'"},
         {"1 and 0 and 1//0", "0"},
         {"not []", "True"},
         {"1 if 'a' else 1//0", "1"},
         {"[] or None", "None"}});
}

TEST(Expression, SequencesAndSlices) {
  check({{"() * 9223372036854775807", "()"},
         {"'' * (1 << 100)", "''"},
         {"[1, 2, 3][-1]", "3"},
         {"(1, 2, 3, 4)[1:3]", "(2, 3)"},
         {"[1, 2, 3, 4][::-1]", "[4, 3, 2, 1]"},
         {"[1, 2, 3, 4][10:1:-2]", "[4]"},
         {"'abcdef'[1::2]", "'bdf'"},
         {"range(10)[2:8:3]", "range(2, 8, 3)"},
         {"(1,) * 3 + (2,)", "(1, 1, 1, 2)"},
         {"[*range(3), *'ab']", "[0, 1, 2, 'a', 'b']"},
         {"{'a': 1, **{'b': 2}}['b']", "2"},
         {"[1, 2][2]", "IndexError: index 2 is out of range for a list of length 2"},
         {"{'a': 1}['b']", "KeyError: the dict has no key 'b'"},
         {"(1, 2)['a']",
          "TypeError: an index into a tuple must be an integer or a slice, got `str`"}});
}

TEST(Expression, Comprehensions) {
  check({{"[i * j for i in range(3) for j in range(i)]", "[0, 0, 2]"},
         {"[i for i in range(10) if i % 2 if i > 3]", "[5, 7, 9]"},
         {"{k: v for k, v in zip('ab', (1, 2))}", "{'a': 1, 'b': 2}"},
         {"sum(x * x for x in range(5))", "30"},
         {"{x % 3 for x in range(9)}", "{0, 1, 2}"},
         {"[(lambda y: x + y)(10) for x in (1, 2)]", "[11, 12]"},
         {"[f(1) for f in [lambda a, b=i: a + b for i in range(3)]]", "[1, 2, 3]"}});
}

TEST(Expression, FormatStrings) {
  check({{"f'{3:>5}|{3:<5}|{3:^5}|'", "'    3|3    |  3  |'"},
         {"f'{-3:05d} {255:#x} {255:X} {5:08b}'", "'-0003 0xff FF 00000101'"},
         {"f'{3.14159:.2f} {12345.678:,.1f} {1e-7:.3e} {0.5:.1%}'",
          "'3.14 12,345.7 1.000e-07 50.0%'"},
         {"f'{1234567:,} {1.0:g} {1e20:g} {0.1:.3}'", "'1,234,567 1 1e+20 0.1'"},
         {"f'{\"a\"!r} {2.5} {1+1=}'", "\"'a' 2.5 1+1=2\""},
         {"f'{\"ab\":*^6}{\"abc\":.2}'", "'**ab**ab'"},
         {"f'{7:{2+1}}'", "'  7'"},
         {"'%d %s %.2f %5d|%-5s|' % (1, 'a', 2.0, 3, 'b')", "'1 a 2.00     3|b    |'"},
         {"'%-5d|%05d|%-05d|%+d|% d|%-8.2f|%+05d' % (3, 3, 3, 3, 3, 2.5, 3)",
          "'3    |00003|3    |+3| 3|2.50    |+0003'"},
         {"'{} {1} {x:.1f}'.format(1, 2, x=3)", "'1 2 3.0'"},
         {"f'{1.5:d}'", "ValueError: format code `d` does not apply to a float"}});
}

TEST(Expression, FormatsOfNumbers) {
  check(
      {// Zeros that are filled in are grouped, too.
       {"f'{1:08,d}|{-1234:012,}|{1.5:+010,.1f}|{42:0=+15_x}|{7:03,}'",
        "'0,000,001|-000,001,234|+000,001.5|+0000_0000_002a|007'"},
       {"f'{1:>08}|{1:<08}|{1:x>08}|{float(\"inf\"):08}'", "'00000001|10000000|xxxxxxx1|00000inf'"},
       {"f'{1.0:#g} {2.5:#.3g} {1e22:#g} {3:#.0f} {1e300:#.3g} {3:#.0e} {0:#.4g}'",
        "'1.00000 2.50 1.00000e+22 3. 1.00e+300 3.e+00 0.000'"},
       // A precision alone counts digits, and leaves one of them to a fraction.
       {"f'{12.0:.2} {12.0:.3} {2.0:.1} {0.00001234:.2} {-2.5:.0}'",
        "'1.2e+01 12.0 2e+00 1.2e-05 -2e+00'"},
       {"f'{float(\"nan\"):%} {float(\"-inf\"):.1%} {1e308:.0%}'", "'nan% -inf% inf%'"},
       {"f'{True:5}|{True:<3}|{False:03d}'", "'    1|1  |000'"},
       {"f'{228:c}{65:c}|{0x20ac:>3c}|{97:03c}'", "'\u00e4A|  \u20ac|00a'"}});
}

TEST(Expression, FormatsThatPythonRefuses) {
  check({{"f'{1:.2}'", "ValueError: an integer has no precision"},
         {"f'{True:.1d}'", "ValueError: an integer has no precision"},
         {"f'{255:,x}'", "ValueError: `,` cannot be used with `x`"},
         {"f'{1.5:_n}'", "ValueError: `_` cannot be used with `n`"},
         {"f'{-1:c}'", "OverflowError: `c` needs the number of a character, below 0x110000"},
         {"f'{65:+c}'", "ValueError: a sign, `#` or a precision cannot be used with `c`"},
         {"f'{\"a\":=5}'", "ValueError: a sign, `#`, `=` or a separator cannot be used with text"},
         {"f'{\"a\":+}'", "ValueError: a sign, `#`, `=` or a separator cannot be used with text"},
         {"f'{\"a\":d}'", "ValueError: format code `d` does not apply to `str`"}});
}

TEST(Expression, PercentFormats) {
  check({{"'%.3d|%5.2d|%-+6.3d|%.3x|%#.4x|%.0d' % (5, -7, 9, 10, 255, 0)",
          "'005|  -07|+009  |00a|0x00ff|0'"},
         {"'%c%c|%5.1s|%-4s|%.2r' % (65, 'z', 'abc', True, 'abc')", "\"Az|    a|True|'a\""},
         {"'%d %d %x' % (2.9, True, 255)", "'2 1 ff'"},
         {"'%5d|%#g|%.2f' % (True, 2, 1)", "'    1|2.00000|1.00'"}});
}

TEST(Expression, FloorsOfQuotients) {
  check(
      {{"1.0 // 0.1, -1.0 // 0.1, 6.0 // 0.1, 1e300 // 1e-5 > 0", "(9.0, -10.0, 59.0, True)"},
       {"1.0 // float('inf'), -1.0 // float('inf'), 1.0 // -float('inf'), -0.0 // float('inf')",
        "(0.0, -1.0, -1.0, -0.0)"},
       {"-51.5 // -float('inf'), -0.0 // 2.0, 0.0 // -2.0, 0.5 // -2.0", "(0.0, -0.0, -0.0, -1.0)"},
       {"float('inf') // 2.0, -1.0 % float('inf'), 1.0 % -float('inf'), 4.0 % -2.0",
        "(nan, inf, -inf, -0.0)"},
       {"divmod(7.5, -2), divmod(-1.0, float('inf'))", "((-4.0, -0.5), (-1.0, inf))"}});
}

TEST(Expression, TextIsSplitAndCentredAsInPython) {
  check({{"'a b  c d'.split(None, 1), ' a b '.split(None, 2), ' a  b  '.split(maxsplit=1)",
          "(['a', 'b  c d'], ['a', 'b'], ['a', 'b  '])"},
         {"'a b'.split(None, 0), '  a b '.split(None, 0), ' '.split(None, 1), 'a b c'.split(None, "
          "-1)",
          "(['a b'], ['a b '], [], ['a', 'b', 'c'])"},
         {"'ab'.center(5), 'abc'.center(6), 'ab'.center(5, '*'), 'a'.center(4)",
          "('  ab ', ' abc  ', '**ab*', ' a  ')"},
         {"f'{\"ab\":^5}'", "' ab  '"}});
}

TEST(Expression, FunctionsOfInfinitiesThatHaveNoResult) {
  check({{"math.sin(float('inf'))", "ValueError: the argument is outside the domain of `math.sin`"},
         {"math.fmod(float('inf'), 2.0)",
          "ValueError: the argument is outside the domain of `math.fmod`"},
         {"math.sqrt(-float('inf'))",
          "ValueError: the argument is outside the domain of `math.sqrt`"},
         {"math.sin(float('nan')), math.fmod(1.0, float('inf')), math.exp(float('inf'))",
          "(nan, 1.0, inf)"}});
}

TEST(Expression, Builtins) {
  check({{"len((1, 2)) + len('abc') + len(range(0, 10, 3))", "9"},
         {"min(3, 1, 2), max([1, 5, 3]), max('ab', 'b', key=len)", "(1, 5, 'ab')"},
         {"sorted([3, 1, 2], reverse=True)", "[3, 2, 1]"},
         {"sorted(['bb', 'a', 'c'], key=len)", "['a', 'c', 'bb']"},
         {"list(enumerate('ab', 1))", "[(1, 'a'), (2, 'b')]"},
         {"any([0, 1]), all([]), all([1, 0])", "(True, True, False)"},
         {"round(2.5), round(3.5), round(2.675, 2), round(-1.5)", "(2, 4, 2.67, -2)"},
         {"round(1234, -2), round(1250, -2), round(1350, -2), round(-1251, -2)",
          "(1200, 1200, 1400, -1300)"},
         {"round(5, -1), round(15, -1), round(-5, -1), round(7, -3), round(8, 2)",
          "(0, 20, 0, 0, 8)"},
         {"divmod(-7, 2)", "(-4, 1)"},
         {"int('0x1F', 16), int('-12'), int(3.99), int(-3.99)", "(31, -12, 3, -3)"},
         {"isinstance(True, int), isinstance(1, (str, float)), isinstance(1.0, float)",
          "(True, False, True)"},
         {"list(map(lambda a, b: a + b, (1, 2), (10, 20)))", "[11, 22]"},
         {"hex(255), bin(5), abs(-3), abs(-2.5)", "('0xff', '0b101', 3, 2.5)"},
         {"getattr(tl.float16, 'nothing', 7), hasattr(tl.float16, 'itemsize')", "(7, True)"},
         {"'a-b'.split('-'), '-'.join(['x', 'y']), 'Abc'.lower(), 'ab'.upper()",
          "(['a', 'b'], 'x-y', 'abc', 'AB')"},
         {"'relu'.startswith(('re', 'x')), ' a '.strip(), 'aXa'.replace('X', '--')",
          "(True, 'a', 'a--a')"},
         {"int('0b11', 0), int('0o17', 0), int('19', 0), int('z', 36)", "(3, 15, 19, 35)"},
         {"int('x')", "ValueError: cannot read \"x\" as an integer"},
         {"int('' + 'a' * 900, 9223372036854775807)",
          "ValueError: the base of `int` must be 0 or 2 to 36"},
         {"int('11', 1)", "ValueError: the base of `int` must be 0 or 2 to 36"}});
}

TEST(Expression, MathAndTriton) {
  check({{"math.sqrt(2)", "1.4142135623730951"},
         {"math.ceil(2.1), math.floor(-2.1), math.log2(8)", "(3, -3, 3.0)"},
         {"math.pi", "3.141592653589793"},
         {"math.gcd(12, 18), math.isqrt(17), math.prod([2, 3])", "(6, 4, 6)"},
         {"-math.inf, math.isnan(math.nan)", "(-inf, True)"},
         {"math.sqrt(-1)", "ValueError: the argument is outside the domain of `math.sqrt`"},
         {"triton.cdiv(10, 4), tl.cdiv(8, 4), triton.next_power_of_2(5)", "(3, 2, 8)"},
         {"triton.next_power_of_2(1), triton.next_power_of_2(64)", "(1, 64)"},
         {"tl.constexpr(3) + 1", "4"},
         {"tl.constexpr(3).value", "3"},
         {"triton.Config({'B': 1}, num_warps=8)",
          "triton.Config(kwargs={'B': 1}, num_warps=8, num_stages=3, num_ctas=1, maxnreg=None, "
          "pre_hook=None, ir_override=None)"},
         {"tl.exp(1)", "TypeError: `tl.exp` works on run-time values inside a kernel; it cannot be "
                       "evaluated at compile time"},
         {"tl.arrange", "AttributeError: module `triton.language` has no member `arrange`; did you "
                        "mean `arange`?"}});
}

TEST(Expression, DTypes) {
  check({{"tl.float16", "fp16"},
         {"f'{tl.bfloat16}', str(tl.int1)", "('bf16', 'int1')"},
         {"tl.float32.primitive_bitwidth, tl.int1.itemsize, tl.int1.primitive_bitwidth",
          "(32, 1, 1)"},
         {"tl.float16.is_floating(), tl.int8.is_int(), tl.uint8.is_int_signed()",
          "(True, True, False)"},
         {"tl.float16 == tl.float16, tl.float16 != tl.float32", "(True, True)"},
         {"tl.pointer_type(tl.float32) == tl.pointer_type(tl.float32)", "True"},
         {"tl.pointer_type(tl.int8), tl.pointer_type(tl.int8).element_ty", "(*i8, i8)"},
         {"tl.uint8.get_int_max_value(), tl.int8.get_int_min_value()", "(255, -128)"},
         {"tl.float8e4nv.is_fp8(), tl.float8e4nv.fp_mantissa_width, tl.float8e5.exponent_bias",
          "(True, 3, 15)"},
         {"tl.dtype('fp32') is tl.float32", "True"},
         {"str(tl.uint8), tl.int64.name, str(tl.pointer_type(tl.int8)), f'{tl.block_type(tl.int8, "
          "[4, 2])}'",
          "('uint8', 'int64', 'pointer<int8>', '<[4, 2], int8>')"},
         {"tl.block_type(tl.int8, [4, 2]).with_element_ty(tl.float32), "
          "tl.int8.with_element_ty(tl.int1)",
          "(<[4, 2], fp32>, i1)"},
         {"tl.block_type(tl.int16, [4, 2]).get_block_shapes(), tl.block_type(tl.int16, [4, "
          "2]).nbytes",
          "((4, 2), 16)"},
         {"tl.pointer_type(tl.int8).address_space, tl.int8.kind() == tl.dtype.KIND.INTEGRAL",
          "(1, True)"},
         {"tl.uint8.int_signedness == tl.dtype.SIGNEDNESS.UNSIGNED, tl.int8.int_signedness == "
          "tl.dtype.SIGNEDNESS.UNSIGNED",
          "(True, False)"},
         {"'fp16' in tl.dtype.FP_TYPES, 'int1' in tl.dtype.UINT_TYPES, len(tl.dtype.SINT_TYPES)",
          "(True, True, 4)"},
         {"{tl.float16: 1}[tl.float16]", "1"},
         {"tl.float16.is_flaoting()",
          "AttributeError: a value of type `dtype` has no attribute `is_flaoting`; did you mean "
          "`is_floating`?"}});
}

TEST(DType, SpellingsRoundTrip) {
  for (const char *text : {"fp32", "i1", "u64", "fp8e4nv", "*fp16", "*kbf16", "**i8"}) {
    std::optional<DType> type = DType::parse(text);
    ASSERT_TRUE(type) << text;
    EXPECT_EQ(type->str(), text);
  }
  EXPECT_EQ(DType::parse("float16"), DType(DType::Kind::Float16));
  EXPECT_EQ(DType::parse("u1"), DType(DType::Kind::Int1));
  for (const char *text : {"", "*", "float", "*k", "fp3"})
    EXPECT_FALSE(DType::parse(text)) << text;
}

TEST(RangeObject, SizesAtTheEndsOfInt64) {
  EXPECT_EQ((RangeObject{0, 10, 3}).size(), 4);
  EXPECT_EQ((RangeObject{10, 0, -3}).size(), 4);
  EXPECT_EQ((RangeObject{5, 5, 1}).size(), 0);
  EXPECT_EQ((RangeObject{INT64_MIN, INT64_MAX, INT64_MAX}).size(), 3);
}

} // namespace
