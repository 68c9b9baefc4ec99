/* SPDX-License-Identifier: MIT */
/* bucket: computation, communication or copy, by kind and name. */
#include <regex.h>
#include <stdlib.h>

#include "trace/bucket.h"

#define TYPE_LETTERS "abcdefghijklmnopqrstuvwxyz_"

struct bucket_pattern {
	regex_t re;
	struct str type; /* p NULL: unknown */
};

/* ---- names ---- */

/* Nothing, or the suffix of kernel descriptors, remains. */
static bool
is_end(struct str s)
{
	return s.len == 0 || str_eq(s, STR(".kd"));
}

/* ROCm up to 7.1 names copy kernels so (rule R1). */
static bool
is_copy_kernel(struct str s)
{
	if (str_take(&s, STR("MEMORY_COPY_")))
		return (str_take(&s, STR("HOST_TO_DEVICE")) ||
			   str_take(&s, STR("DEVICE_TO_HOST")) ||
			   str_take(&s, STR("DEVICE_TO_DEVICE"))) &&
		    is_end(s);
	if (!str_take(&s, STR("__amd_rocclr_copyBuffer")))
		return false;
	(void)str_take(&s, STR("Rect"));
	(void)str_take(&s, STR("Aligned"));
	return is_end(s);
}

/* Fill kernels (rule R2) are computation, whatever a pattern matches. */
static bool
is_fill_kernel(struct str s)
{
	if (!str_take(&s, STR("__amd_rocclr_fillBuffer")))
		return false;
	(void)str_take(&s, STR("Aligned"));
	return is_end(s);
}

enum copy_way
copy_way(struct str name)
{
	static const struct {
		struct str part;
		enum copy_way way;
	} words[] = { { STR_INIT("HOST_TO_DEVICE"), COPY_H2D },
		{ STR_INIT("DEVICE_TO_HOST"), COPY_D2H },
		{ STR_INIT("DEVICE_TO_DEVICE"), COPY_D2D },
		{ STR_INIT("HostToDevice"), COPY_H2D }, /* .rpd */
		{ STR_INIT("DeviceToHost"), COPY_D2H },
		{ STR_INIT("DeviceToDevice"), COPY_D2D },
		{ STR_INIT("Host-to-Device"), COPY_H2D },
		{ STR_INIT("Device-to-Host"), COPY_D2H },
		{ STR_INIT("Device-to-Device"), COPY_D2D },
		{ STR_INIT("HtoD"), COPY_H2D }, { STR_INIT("DtoH"), COPY_D2H },
		{ STR_INIT("DtoD"), COPY_D2D }, { STR_INIT("PtoP"), COPY_D2D },
		/* XLA */
		{ STR_INIT("H2D"), COPY_H2D }, { STR_INIT("D2H"), COPY_D2H },
		{ STR_INIT("D2D"), COPY_D2D }, { STR_INIT("P2P"), COPY_D2D },
		/* arrays are in the GPU's memory */
		{ STR_INIT("HtoA"), COPY_H2D }, { STR_INIT("AtoH"), COPY_D2H },
		{ STR_INIT("AtoA"), COPY_D2D }, { STR_INIT("AtoD"), COPY_D2D },
		{ STR_INIT("DtoA"), COPY_D2D } };
	enum copy_way way = COPY_OTHER;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_find(name, words[i].part, true) >= 0)
			way = words[i].way;
	return way;
}

/* The first pattern that matches, or NULL. */
static const struct bucket_pattern *
match(const struct bucket_rules *r, struct str name)
{
	struct buf text = { 0 };
	size_t i = 0;

	/* regexec() needs a terminator; a NUL in a name becomes a blank */
	buf_put(&text, name.p, name.len);
	for (size_t k = 0; k < text.len; k++)
		if (text.p[k] == '\0')
			text.p[k] = ' ';
	buf_putc(&text, '\0');
	while (i < r->patterns.n &&
	    regexec(&r->patterns.v[i]->re, text.p, 0, NULL, 0) != 0)
		i++;
	buf_free(&text);
	return i < r->patterns.n ? r->patterns.v[i] : NULL;
}

/*
 * XLA's default name of an instruction: OPCODE, -start or -done, .NUMBER; on a
 * TPU async-OPCODE from start to done.
 */
static bool
is_instruction(struct str s)
{
	static const struct str opcodes[] = { STR_INIT("all-gather"),
		STR_INIT("all-reduce"), STR_INIT("all-to-all"),
		STR_INIT("collective-broadcast"),
		STR_INIT("collective-permute"), STR_INIT("ragged-all-to-all"),
		STR_INIT("reduce-scatter") };

	(void)str_take(&s, STR("async-"));
	for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
		if (str_take(&s, opcodes[i])) {
			(void)(str_take(&s, STR("-start")) ||
			    str_take(&s, STR("-done")));
			return s.len == 0 || s.p[0] == '.';
		}
	return false;
}

static bool
is_default(struct str name)
{
	return str_find(name, STR("cross_device_reduce"), true) >= 0;
}

static bool
is_collective(const struct bucket_rules *r, struct str name)
{
	/* rccl does not contain nccl, so check both */
	return str_find(name, STR("nccl"), true) >= 0 ||
	    str_find(name, STR("rccl"), true) >= 0 || is_instruction(name) ||
	    (r->patterns.n == 0 ? is_default(name) : match(r, name) != NULL);
}

struct str
bucket_comm_type(const struct bucket_rules *r, struct str name)
{
	const struct bucket_pattern *p;

	if (r->patterns.n == 0)
		return is_default(name) ? STR("allreduce")
					: (struct str){ NULL, 0 };
	p = match(r, name);
	return p != NULL ? p->type : (struct str){ NULL, 0 };
}

enum bucket
bucket_of(const struct bucket_rules *r, enum kind kind, struct str name)
{
	if ((KIND_BIT(kind) & KINDS_GPU) == 0)
		return BUCKET_NONE;
	if (kind == KIND_MEMCPY)
		return BUCKET_MEMCPY;
	if (kind == KIND_KERNEL) {
		if (is_copy_kernel(name))
			return BUCKET_MEMCPY;
		if (is_fill_kernel(name))
			return BUCKET_COMPUTE;
	}
	return is_collective(r, name) ? BUCKET_COMM : BUCKET_COMPUTE;
}

/* ---- once per name ---- */

enum bucket
bucket_slow(struct bucket_rules *r, const struct dict *st, enum kind kind,
    uint32_t name)
{
	enum bucket b = bucket_of(r, kind, dict_get(st, name));

	if ((KIND_BIT(kind) & KINDS_GPU) == 0 || name == INTERN_NONE)
		return b;
	if (name >= r->known.n) {
		size_t n = (size_t)name + 1;

		vec_reserve(&r->known, n);
		memset(r->known.v + r->known.n, 0, n - r->known.n);
		r->known.n = n;
	}
	r->known.v[name] |= (uint8_t)((b + 1) << (kind == KIND_MEMSET ? 4 : 0));
	return b;
}

/* RE or RE=TYPE: the type is a word after the last '='. */
bool
bucket_opt(struct bucket_rules *r, const struct optparse *op, int ch)
{
	struct bucket_pattern *p;
	char why[200], *re, *eq;
	int rc;

	if (ch != OPT_BUCKET_COMM)
		return false;
	p = xcalloc(1, sizeof *p);
	re = xstrdup(op->arg);
	eq = strrchr(re, '=');
	if (eq != NULL && eq[1] != '\0' &&
	    eq[1 + strspn(eq + 1, TYPE_LETTERS)] == '\0') {
		p->type = str_of(op->arg + (eq + 1 - re));
		*eq = '\0';
	}
	if (*re == '\0')
		die_usage(
		    "option '%s': '%s' is not RE[=TYPE]", op->name, op->arg);
	rc = regcomp(&p->re, re, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (rc == REG_ESPACE)
		die("out of memory");
	if (rc != 0) {
		regerror(rc, &p->re, why, sizeof why);
		die_usage("option '%s': '%s' is no regular expression: %s",
		    op->name, op->arg, why);
	}
	free(re);
	vec_push(&r->patterns, p);
	return true;
}

void
bucket_free(struct bucket_rules *r)
{
	for (size_t i = 0; i < r->patterns.n; i++) {
		regfree(&r->patterns.v[i]->re);
		vec_release(r->patterns.v[i]);
	}
	vec_free(&r->patterns);
	vec_free(&r->known);
}
