/* SPDX-License-Identifier: MIT */
/*
 * What different tools write for the same: a key's value, a column's name.
 *
 * Values: "(1, 2)", "[1,2]" and "np.float64(1.0)", 80.0 and 80, None and an
 * empty cell, 'c10::BFloat16' and "bf16". A list that none can read stays text.
 * Columns: "Kernel Time (µs)_sum" and kernel_ns_sum, "Input Dims" and
 * input_dims.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/tl-compare/compare.h"

#define LIST_DEPTH_MAX 32

/* ---- scalars ---- */

/* With other names; lower case, without namespace. */
static const char *const types[] = {
	"float16|half|fp16|f16",
	"bfloat16|bf16",
	"float32|float|fp32|f32",
	"float64|double|fp64|f64",
	"complex64|complex<float>|complexfloat|c64",
	"complex128|complex<double>|complexdouble|c128",
	"float8_e4m3fn|fp8_e4m3|f8e4m3fn",
	"float8_e4m3fnuz|f8e4m3fnuz",
	"float8_e5m2|fp8_e5m2|f8e5m2",
	"float8_e5m2fnuz|f8e5m2fnuz",
	"int8|signed char|char|s8|i8",
	"uint8|unsigned char|byte|u8",
	"int16|short int|short|s16|i16",
	"uint16|unsigned short|short unsigned int|u16",
	"int32|int|s32|i32",
	"uint32|unsigned int|u32",
	"int64|long int|long|long long|s64|i64",
	"uint64|unsigned long|long unsigned int|u64",
	"bool|boolean|pred",
};

static bool
is_one_of(struct str s, const char *list)
{
	struct str word;

	while (str_next(&list, '|', &word))
		if (str_eq(s, word))
			return true;
	return false;
}

/* "c10::BFloat16" and "torch.bfloat16" are bfloat16; others stay. */
static struct str
type_name(struct str s)
{
	char lower[32];
	struct str t = s, first;

	(void)(str_take(&t, STR("c10::")) || str_take(&t, STR("torch.")));
	if (t.len > sizeof lower)
		return s;
	for (size_t i = 0; i < t.len; i++)
		lower[i] = (char)tolower((unsigned char)t.p[i]);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const char *list = types[i];

		if (is_one_of((struct str){ lower, t.len }, list) &&
		    str_next(&list, '|', &first))
			return first;
	}
	return s;
}

bool
spelling_is_type(struct str column)
{
	return memmem(column.p, column.len, "type", 4) != NULL;
}

static void
put_text(struct buf *b, struct str s)
{
	uint32_t len = (uint32_t)s.len;

	buf_putc(b, 't');
	buf_put(b, &len, sizeof len);
	buf_put(b, s.p, s.len);
}

/* Workbooks have 16 digits, CSV 17: compare 15. */
static void
put_number(struct buf *b, double v)
{
	buf_printf(b, "n%.15g", v == 0 ? 0 : v);
	buf_putc(b, '\0');
}

static void
put_scalar(struct buf *b, struct str s, bool is_type)
{
	double v;

	if (s.len == 0 || is_one_of(s, "None|null|nan|NaN|Unknown"))
		buf_putc(b, '-');
	else if (is_one_of(s, "True|true"))
		buf_puts(b, "b1");
	else if (is_one_of(s, "False|false"))
		buf_puts(b, "b0");
	else if (num_double(s, &v))
		put_number(b, v);
	else
		put_text(b, is_type ? type_name(s) : s);
}

/* ---- lists ---- */

struct literal {
	struct buf *out;
	struct buf text; /* the current string */
	struct str left;
	unsigned depth;
	bool is_type;
};

static char
next(const struct literal *l)
{
	return l->left.len > 0 ? l->left.p[0] : '\0';
}

static void
advance(struct literal *l, size_t n)
{
	l->left.p += n;
	l->left.len -= n;
}

static void
skip_blanks(struct literal *l)
{
	while (next(l) == ' ' || next(l) == '\t' || next(l) == '\n')
		advance(l, 1);
}

static bool
take(struct literal *l, char c)
{
	skip_blanks(l);
	if (next(l) != c)
		return false;
	advance(l, 1);
	return true;
}

/* ndigits of hex; false: missing. */
static bool
take_hex(struct literal *l, size_t ndigits, uint32_t *cp)
{
	char hex[9] = "";

	if (l->left.len < ndigits)
		return false;
	memcpy(hex, l->left.p, ndigits);
	advance(l, ndigits);
	*cp = (uint32_t)strtoul(hex, NULL, 16);
	return strspn(hex, "0123456789abcdefABCDEF") == ndigits &&
	    *cp < 0x110000;
}

/* After a backslash, in Python and JSON. */
static bool
take_escape(struct literal *l)
{
	static const char letters[] = "nrtbf", meant[] = "\n\r\t\b\f";
	char c = next(l), utf8[4];
	const char *at = c != '\0' ? strchr(letters, c) : NULL;
	uint32_t cp, low;

	if (c == '\0')
		return false;
	advance(l, 1);
	if (c != 'x' && c != 'u' && c != 'U') {
		buf_putc(&l->text, at != NULL ? meant[at - letters] : c);
		return true;
	}
	if (!take_hex(l, c == 'x' ? 2 : c == 'u' ? 4 : 8, &cp))
		return false;
	if (cp >= 0xd800 && cp < 0xdc00 && str_starts(l->left, STR("\\u"))) {
		advance(l, 2);
		if (!take_hex(l, 4, &low))
			return false;
		cp = 0x10000 + ((cp - 0xd800) << 10) + (low & 0x3ff);
	}
	buf_put(&l->text, utf8, utf8_put(utf8, cp));
	return true;
}

static bool
take_string(struct literal *l)
{
	char quote = next(l);

	advance(l, 1);
	l->text.len = 0;
	while (l->left.len > 0 && next(l) != quote) {
		char c = next(l);

		advance(l, 1);
		if (c != '\\')
			buf_putc(&l->text, c);
		else if (!take_escape(l))
			return false;
	}
	if (l->left.len == 0)
		return false;
	advance(l, 1);
	put_scalar(l->out, buf_str(&l->text), l->is_type);
	return true;
}

/* Without quotes: a number, None, a type. */
static bool
take_word(struct literal *l)
{
	struct str s = { l->left.p, 0 };

	while (l->left.len > 0 && strchr(",:()[]{}'\"", next(l)) == NULL) {
		advance(l, 1);
		s.len++;
	}
	while (s.len > 0 && s.p[s.len - 1] == ' ')
		s.len--;
	put_scalar(l->out, s, l->is_type);
	return s.len > 0;
}

static bool take_value(struct literal *l);

/* "a, b]" after the "["; a tuple of one ends with a comma. */
static bool
take_items(struct literal *l, char end)
{
	bool is_map = end == '}';

	while (!take(l, end)) {
		if (!take_value(l) ||
		    (is_map && (!take(l, ':') || !take_value(l))))
			return false;
		if (!take(l, ',')) {
			if (!take(l, end))
				return false;
			break;
		}
	}
	buf_putc(l->out, is_map ? '}' : ')');
	return true;
}

/* The argument of np.float64(1.5), torch.Size([1, 2]). */
static bool
take_call(struct literal *l)
{
	static const char *const owners[] = { "np.", "numpy.", "torch." };
	size_t n = 0;

	for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
		if (str_starts(l->left, str_of(owners[i])))
			n = strlen(owners[i]);
	while (n > 0 && n < l->left.len &&
	    (isalnum((unsigned char)l->left.p[n]) || l->left.p[n] == '_'))
		n++;
	if (n == 0 || n == l->left.len || l->left.p[n] != '(')
		return false;
	advance(l, n + 1);
	return true;
}

static bool
take_value(struct literal *l)
{
	bool good;
	char c;

	skip_blanks(l);
	c = next(l);
	if (c == '\'' || c == '"')
		return take_string(l);
	if (l->depth == LIST_DEPTH_MAX)
		return false;
	l->depth++;
	if (take_call(l)) {
		good = take_value(l) && take(l, ')');
	} else if (c == '[' || c == '(' || c == '{') {
		advance(l, 1);
		buf_putc(l->out, c == '{' ? '{' : '(');
		good = take_items(l, c == '[' ? ']' : c == '(' ? ')' : '}');
	} else {
		good = take_word(l);
	}
	l->depth--;
	return good;
}

static bool
put_list(struct buf *b, struct str s, bool is_type)
{
	struct literal l = { .out = b, .left = s, .is_type = is_type };
	size_t len = b->len;
	bool good = take_value(&l);

	skip_blanks(&l);
	good = good && l.left.len == 0;
	if (!good)
		b->len = len;
	buf_free(&l.text);
	return good;
}

void
spelling_put(struct buf *b, const struct val *v, bool is_type)
{
	static const char *const starts[] = { "[", "(", "{", "np.", "numpy.",
		"torch." };

	switch (v->type) {
	case VAL_NUMBER: put_number(b, v->number); return;
	case VAL_TEXT:
	case VAL_BIG: break;
	case VAL_BOOL:
	case VAL_NONE: buf_putc(b, '-'); return;
	}
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (str_starts(v->text, str_of(starts[i])) &&
		    put_list(b, v->text, is_type))
			return;
	put_scalar(b, v->text, is_type);
}

/* ---- columns ---- */

/* Ids that do not follow from the label. */
static const struct {
	const char *label, *id;
	double div;
	const char *with; /* another column that must exist; or NULL */
} ids[] = {
	{ "Kernel name", "name", 1, "gpu_stream" },
	{ "Parent cpu_op", "op", 1, NULL },
	{ "Kernel stream", "gpu_stream", 1, NULL },
	{ "Kernel duration (\302\265s)_sum", "dur_ns_sum", 1e3, "gpu_stream" },
	{ "Kernel duration (\302\265s)_mean", "dur_ns_mean", 1e3,
	    "gpu_stream" },
	{ "Kernel duration (\302\265s)_count", "count", 1, "gpu_stream" },
	{ "Total Kernel Time (ms)", "dur_ns_sum", 1e6, NULL },
	{ "Mean Kernel Time (\302\265s)", "dur_ns_mean", 1e3, NULL },
	{ "Kernel Time (\302\265s)_sum", "kernel_ns_sum", 1e3, NULL },
	{ "Kernel Time (\302\265s)_mean", "kernel_ns_mean", 1e3, NULL },
	{ "TFLOPS/s_mean", "tflop_s_mean", 1, NULL },
	{ "name_count", "operation_count", 1, NULL },
	{ "Input type", "input_types", 1, NULL },
	{ "total_direct_kernel_time_ms", "direct_ns_sum", 1e6, NULL },
	{ "total_direct_kernel_time_ms", "dur_ns_sum", 1e6, NULL },
	{ "total_direct_kernel_time_sum", "direct_ns_sum", 1e3, NULL },
	{ "total_direct_kernel_time_mean", "direct_ns_mean", 1e3, NULL },
	{ "Collective name", "collective", 1, NULL },
	{ "Process Group Name", "group", 1, NULL },
	{ "Process Group Ranks", "group_ranks", 1, NULL },
	{ "In msg nelems", "in_nelems", 1, NULL },
	{ "Out msg nelems", "out_nelems", 1, NULL },
	{ "In split size", "in_split", 1, NULL },
	{ "Out split size", "out_split", 1, NULL },
	{ "dur_sum", "dur_ns_sum", 1e3, NULL },
	{ "dur_mean", "dur_ns_mean", 1e3, NULL },
	{ "operation_count", "count", 1, NULL },
	{ "Total comm latency (ms)", "latency_ns_total", 1e6, NULL },
	{ "comm_latency_mean", "latency_ns_mean", 1e3, NULL },
	{ "skew in start time_mean", "start_skew_ns_mean", 1e3, NULL },
	{ "bus bw (GB/s)_mean", "bus_gib_per_s_mean", 1, NULL },
	{ "total_wait_time_us", "wait_ns_total", 1e3, NULL },
	{ "total_nccl_dur_us", "dur_ns_total", 1e3, NULL },
	{ "num_collectives", "collectives", 1, NULL },
};

/* "Kernel Time (\302\265s)_sum" to "kernel_time_us_sum", "h100::x" to "h100.x".
 */
void
spelling_id(struct buf *b, struct str s)
{
	bool gap = false;

	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];
		unsigned char next =
		    i + 1 < s.len ? (unsigned char)s.p[i + 1] : '\0';
		bool is_micro =
		    (c == 0xc2 && next == 0xb5) || (c == 0xce && next == 0xbc);
		bool is_owner = c == ':' && next == ':';

		i += is_micro || is_owner;
		if (!isalnum(c) && c != '%' && c != '_' && !is_micro &&
		    !is_owner) {
			gap = b->len > 0;
			continue;
		}
		if (gap && c != '_' && b->p[b->len - 1] != '_')
			buf_putc(b, '_');
		gap = false;
		if (c == '%')
			buf_puts(b, "pct");
		else
			buf_putc(b,
			    is_micro       ? 'u'
				: is_owner ? '.'
					   : (char)tolower(c));
	}
	if (b->len == 0)
		buf_putc(b, '_');
}

/* A label or id without its unit of time; returns the unit in ns, 0: none. */
static double
without_unit(struct buf *b, struct str s)
{
	static const struct {
		const char *word;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 } };
	struct buf id = { 0 };
	const char *list;
	struct str word;
	double ns = 0;

	spelling_id(&id, s);
	buf_putc(&id, '\0');
	list = id.p;
	while (str_next(&list, '_', &word)) {
		size_t i = 0;

		while (i < 3 && !str_eq(word, str_of(units[i].word)))
			i++;
		if (i < 3 && ns == 0)
			ns = units[i].ns;
		else
			buf_put(b, word.p, word.len);
		buf_putc(b, '_');
	}
	buf_free(&id);
	return ns;
}

/* The only column that spells this label otherwise; div: its divisor. */
static size_t
spelled_otherwise(const struct data *d, struct str label, double *div)
{
	struct buf want = { 0 }, is = { 0 };
	double ns = without_unit(&want, label);
	size_t found = NO_COLUMN;

	for (size_t i = 0; i < d->columns.n; i++) {
		double unit;

		is.len = 0;
		unit = without_unit(&is, d->columns.v[i]);
		if ((unit == 0) != (ns == 0) ||
		    !str_eq(buf_str(&is), buf_str(&want)))
			continue;
		if (found != NO_COLUMN) {
			found = NO_COLUMN;
			break;
		}
		found = i;
		*div = ns == 0 ? 1 : ns / unit;
	}
	buf_free(&want);
	buf_free(&is);
	return found;
}

static size_t
as_id(const struct data *d, struct str label, double *div)
{
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		size_t at = str_eq(label, str_of(ids[i].label))
		    ? data_column(d, str_of(ids[i].id))
		    : NO_COLUMN;

		if (at == NO_COLUMN ||
		    (ids[i].with != NULL &&
			data_column(d, str_of(ids[i].with)) == NO_COLUMN))
			continue;
		*div = ids[i].div;
		return at;
	}
	return NO_COLUMN;
}

/* Gives a column the rule's label and unit. */
static void
rename_column(struct data *d, struct str label)
{
	double div = 1;
	size_t at;

	if (data_column(d, label) != NO_COLUMN)
		return;
	at = as_id(d, label, &div);
	if (at == NO_COLUMN)
		at = spelled_otherwise(d, label, &div);
	if (at == NO_COLUMN)
		return;
	d->columns.v[at] = label;
	for (size_t row = 0; div != 1 && row < d->nrows; row++) {
		struct val *v = &d->cells.v[row * d->columns.n + at];

		if (v->type == VAL_NUMBER)
			v->number /= div;
	}
}

static void
rename_all(struct data *d, const char *labels)
{
	struct str label;

	while (str_next(&labels, '|', &label)) {
		bool has_sign = label.p[0] == '-' || label.p[0] == '+';

		rename_column(d,
		    has_sign ? (struct str){ label.p + 1, label.len - 1 }
			     : label);
	}
}

void
spelling_columns(struct data *d, const struct sheet_rule *rule)
{
	for (; rule != NULL; rule = rule->otherwise) {
		rename_all(d, rule->keys);
		rename_all(d, rule->measures);
	}
	rename_all(d, columns_alike);
}
