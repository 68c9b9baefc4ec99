/* SPDX-License-Identifier: MIT */
/* Words of kernel names, and the letters of Tensile and nvjet. */
#include "model/element.h"

enum {
	E_HALF = 1 << 0,
	E_BF16 = 1 << 1,
	E_FLOAT = 1 << 2,
	E_DOUBLE = 1 << 3,
	E_OTHER = 1 << 4, /* operands and result differ, as with fp8 */
	E_SHORT = E_HALF | E_BF16,
	E_LONG = E_FLOAT | E_DOUBLE,
};

/* Between characters other than letters and digits. */
static const struct {
	const char *word;
	unsigned type;
} words[] = {
	/* C++, Triton */
	{ "Half", E_HALF },
	{ "half", E_HALF },
	{ "fp16", E_HALF },
	{ "BFloat16", E_BF16 },
	{ "bfloat16", E_BF16 },
	{ "bf16", E_BF16 },
	{ "float", E_FLOAT },
	{ "fp32", E_FLOAT },
	{ "double", E_DOUBLE },
	{ "fp64", E_DOUBLE },
	/* cutlass and xmma: in, out, sums */
	{ "f16", E_HALF },
	{ "f16f16", E_HALF },
	{ "f16f32", E_HALF },
	{ "bf16bf16", E_BF16 },
	{ "bf16f32", E_BF16 },
	{ "f32", E_FLOAT },
	{ "f32f32", E_FLOAT },
	{ "tf32", E_FLOAT },
	{ "tf32f32", E_FLOAT },
	{ "f64", E_DOUBLE },
	{ "f64f64", E_DOUBLE },
	/* cuBLAS and cuDNN; s16816gemm is either short type, s1688gemm either
	 * if not TF32 */
	{ "hgemm", E_HALF },
	{ "h884gemm", E_HALF },
	{ "h1688gemm", E_HALF },
	{ "h16816gemm", E_HALF },
	{ "hcudnn", E_HALF },
	{ "sgemm", E_FLOAT },
	{ "s1688gemm", E_FLOAT },
	{ "scudnn", E_FLOAT },
	{ "dgemm", E_DOUBLE },
	{ "d884gemm", E_DOUBLE },
	{ "s8", E_OTHER },
};

/* Prefixes of words for byte types: e4m3bf16, i8816gemm. */
static const char *const byte_words[] = { "e4m3", "e5m2", "e2m1", "i8", "u8",
	"i16832gemm", "fp8", "Float8", "Float4", "int8", "int4" };

static unsigned
of_word(struct str s)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(s, str_of(words[i].word)))
			return words[i].type;
	for (size_t i = 0; i < sizeof byte_words / sizeof *byte_words; i++)
		if (str_starts(s, str_of(byte_words[i])))
			return E_OTHER;
	return 0;
}

static bool
is_part(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	    (c >= 'a' && c <= 'z');
}

/* Tensile's HHS, BBS, SB and nvjet's hsh, tst: the first letter is the
 * operands'. */
static unsigned
of_letter(struct str s)
{
	switch (s.len > 0 ? s.p[0] : 0) {
	case 'h':
	case 'H': return E_HALF;
	case 't':
	case 'B': return E_BF16;
	case 's':
	case 'S': return E_FLOAT;
	case 'd':
	case 'D': return E_DOUBLE;
	default: return E_OTHER;
	}
}

/* The next word from *p on; len 0: none. */
static struct str
next_word(const char **p, const char *end)
{
	struct str s;

	while (*p < end && !is_part(**p))
		(*p)++;
	s.p = *p;
	while (*p < end && is_part(**p))
		(*p)++;
	s.len = (size_t)(*p - s.p);
	return s;
}

static unsigned
types_in(struct str name)
{
	const char *p = name.p, *end = name.p + name.len;
	unsigned found = 0;
	struct str s;

	while ((s = next_word(&p, end)).len > 0) {
		if (str_eq(s, STR("Cijk"))) { /* Cijk_Alik_Bljk_HHS_ */
			next_word(&p, end);
			next_word(&p, end);
			return of_letter(next_word(&p, end));
		}
		if (str_eq(
			s, STR("nvjet"))) { /* nvjet_hsh_, nvjet_sm100_hsh_ */
			s = next_word(&p, end);
			return of_letter(
			    str_starts(s, STR("sm")) ? next_word(&p, end) : s);
		}
		found |= of_word(s);
	}
	return found;
}

struct str
element_type(struct str kernel)
{
	unsigned found = types_in(kernel);

	/* a short type beside a long one: the long one is the sums', except in
	 * copies */
	if ((found & E_SHORT) != 0 && (found & E_LONG) != 0 &&
	    str_find(kernel, STR("copy"), false) < 0)
		found &= ~(unsigned)E_LONG;
	switch (found) {
	case E_HALF: return STR("c10::Half");
	case E_BF16: return STR("c10::BFloat16");
	case E_FLOAT: return STR("float");
	case E_DOUBLE: return STR("double");
	default: return (struct str){ "", 0 };
	}
}
