/* SPDX-License-Identifier: MIT */
/*
 * GPUs: arch/NAME.json, compiled in, and files of the same form.
 *
 *	{ "name": "MI300X", "devices": ["*MI300X*"], "clock_mhz": 2100,
 *	  "mem_bw_gbps": 5300, "peak_tflops": { "matrix_bf16": 1307.4 },
 *	  "max_achievable_tflops": { "matrix_bf16": 708 }, ... }
 *
 * A rate of 0 or null is unknown. Unknown keys are ignored, as files may hold
 * sources and comments. tl-models(5) lists the keys.
 */
#include "model/priv.h"
#include "json/json.h"

const char *const roof_words[] = { "peak", "achievable", NULL };
const char *const bound_words[] = { "", "COMPUTE_BOUND", "MEMORY_BOUND" };

struct arch_reader {
	struct models *ms;
	struct arch_file *a;
	const char *error;
};

static void
fail(struct arch_reader *r, const char *error)
{
	if (r->error == NULL)
		r->error = error;
}

/* A positive number, or null. */
static void
number(struct arch_reader *r, const struct json_item *v, double *out)
{
	*out = NAN;
	if (v->type == JSON_T_NULL)
		return;
	if (v->type != JSON_T_NUMBER || !num_double(v->text, out) || *out < 0)
		fail(r, "a figure must be a number or null");
	if (*out == 0)
		*out = NAN;
}

static struct arch_rate *
rate(struct arch_reader *r, struct str spec)
{
	struct arch_rate *v = r->a->rates.v;

	for (size_t i = 0; i < r->a->rates.n; i++)
		if (str_eq(v[i].spec, spec))
			return &v[i];
	vec_push(
	    &r->a->rates, ((struct arch_rate){ word(r->ms, spec), NAN, NAN }));
	return &r->a->rates.v[r->a->rates.n - 1];
}

/* The members of an object: keys and values alternate. */
static json_items
members(struct arch_reader *r, struct str text, const char *error)
{
	json_items items = { 0 };

	if (!json_split(&items, r->ms->mem, text) ||
	    (items.n > 0 && items.v[0].type != JSON_T_KEY))
		fail(r, error);
	if (r->error != NULL)
		items.n = 0;
	return items;
}

static void
read_rates(struct arch_reader *r, struct str text, enum roof roof)
{
	json_items items = members(r, text, "rates must be an object");

	for (size_t i = 0; i < items.n; i += 2) {
		struct arch_rate *v;

		if (str_starts(items.v[i].text, STR("_"))) /* a comment */
			continue;
		v = rate(r, items.v[i].text);
		number(r, &items.v[i + 1],
		    roof == ROOF_PEAK ? &v->peak : &v->achievable);
	}
	vec_free(&items);
}

static void
read_devices(struct arch_reader *r, struct str text)
{
	json_items items = { 0 };

	if (!json_split(&items, r->ms->mem, text))
		fail(r, "devices must be a list of patterns");
	for (size_t i = 0; i < items.n; i++) {
		if (items.v[i].type != JSON_T_STRING)
			fail(r, "devices must be a list of patterns");
		vec_push(&r->a->devices, items.v[i].text);
	}
	vec_free(&items);
}

static void
read_member(struct arch_reader *r, struct str key, const struct json_item *v)
{
	struct arch *a = &r->a->arch;
	const struct {
		struct str key;
		double *to;
	} numbers[] = {
		{ STR("mem_bw_gbps"), &a->mem_gbps[ROOF_PEAK] },
		{ STR("max_achievable_mem_bw_gbps"),
		    &a->mem_gbps[ROOF_ACHIEVABLE] },
		{ STR("memory_gb"), &a->memory_gb },
		{ STR("num_cus"), &a->num_cus },
		{ STR("clock_mhz"), &a->clock_mhz },
		{ STR("tensor_clock_mhz"), &a->tensor_clock_mhz },
		{ STR("l2_mib"), &a->l2_mib },
		{ STR("last_level_mib"), &a->last_level_mib },
	};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (str_eq(key, numbers[i].key))
			number(r, v, numbers[i].to);
	if (str_eq(key, STR("devices"))) {
		read_devices(r, v->text);
	} else if (str_eq(key, STR("peak_tflops"))) {
		read_rates(r, v->text, ROOF_PEAK);
	} else if (str_eq(key, STR("max_achievable_tflops"))) {
		read_rates(r, v->text, ROOF_ACHIEVABLE);
	} else if (str_eq(key, STR("name"))) {
		a->name = v->text;
		if (v->type != JSON_T_STRING)
			fail(r, "name must be a text");
	}
}

/* NULL: *error has the reason. */
static struct arch_file *
read_arch(struct models *ms, struct str text, const char **error)
{
	struct arch_file *a = arena_alloc(ms->mem, sizeof *a);
	struct arch_reader r = { ms, a, NULL };
	json_items items;

	*a = (struct arch_file){ .arch = { .mem_gbps = { NAN, NAN },
				     .memory_gb = NAN,
				     .num_cus = NAN,
				     .clock_mhz = NAN,
				     .tensor_clock_mhz = NAN,
				     .l2_mib = NAN,
				     .last_level_mib = NAN } };
	items = members(&r, text, "not an object of JSON");
	for (size_t i = 0; i < items.n; i += 2)
		read_member(&r, items.v[i].text, &items.v[i + 1]);
	vec_free(&items);
	if (a->arch.name.len == 0)
		fail(&r, "no name");
	if (isnan(a->arch.mem_gbps[ROOF_PEAK]))
		fail(&r, "no mem_bw_gbps");
	a->arch.rates = a->rates.v;
	a->arch.nrates = a->rates.n;
	*error = r.error;
	return r.error == NULL ? a : NULL;
}

static struct arch_file *
read_file(struct models *ms, const char *path)
{
	struct in *in = in_open(path);
	const char *error = NULL;
	struct arch_file *a;

	while (in_more(in))
		if ((size_t)(in->end - in->p) > MODEL_FILE_MAX)
			die("%s: too long for a GPU's figures", path);
	a = read_arch(ms,
	    (struct str){ (const char *)in->p, (size_t)(in->end - in->p) },
	    &error);
	if (a == NULL)
		die("%s: %s", path, error);
	in_close(in);
	a->arch.file = arena_str(ms->mem, str_of(path));
	return a;
}

/* Adds a GPU with a name; replaces one of the same name. */
static void
add_named(struct models *ms, struct arch_file *a)
{
	for (size_t i = 0; i < ms->narch_named; i++)
		if (str_eq(ms->archs.v[i]->name, a->arch.name)) {
			struct arch_file *old =
			    (struct arch_file *)ms->archs.v[i];

			vec_free(&old->rates);
			vec_free(&old->devices);
			ms->archs.v[i] = &a->arch;
			return;
		}
	vec_push(&ms->archs, &a->arch);
	ms->narch_named++;
}

static void
add_of_path(void *ctx, const char *path)
{
	add_named(ctx, read_file(ctx, path));
}

/* Built-in ones, then those in the folders of $TL_ARCH_PATH. */
static void
load_named(struct models *ms)
{
	const char *error = NULL;

	if (ms->has_archs)
		return;
	ms->has_archs = true;
	for (size_t i = 0; i < model_ndata; i++) {
		const struct embedded *e = &model_data[i];
		struct arch_file *a;

		if (strncmp(e->name, "arch/", 5) != 0)
			continue;
		a = read_arch(
		    ms, (struct str){ (const char *)e->bytes, e->len }, &error);
		if (a == NULL)
			die("built-in %s: %s", e->name, error);
		a->arch.file = str_of(e->name);
		add_named(ms, a);
	}
	path_files("TL_ARCH_PATH", ".json", add_of_path, ms);
}

static const struct arch *
load_file(struct models *ms, const char *path)
{
	struct arch_file *a = read_file(ms, path);

	vec_push(&ms->archs, &a->arch);
	return &a->arch;
}

size_t
arch_list(struct models *ms, const struct arch *const **list)
{
	load_named(ms);
	*list = (const struct arch *const *)ms->archs.v;
	return ms->narch_named;
}

void
archs_free(struct models *ms)
{
	for (size_t i = 0; i < ms->archs.n; i++) {
		struct arch_file *a = (struct arch_file *)ms->archs.v[i];

		vec_free(&a->rates);
		vec_free(&a->devices);
	}
	vec_free(&ms->archs);
}

static noreturn void
die_unknown(const struct models *ms, struct str name)
{
	const char **names = xcalloc(ms->narch_named + 1, sizeof *names);
	struct buf b = { 0 };

	for (size_t i = 0; i < ms->narch_named; i++)
		names[i] = arena_str(ms->mem, ms->archs.v[i]->name).p;
	if (!suggest_put(&b, name, names, ms->narch_named, "")) {
		buf_puts(&b, ": auto, a file.json or one of");
		for (size_t i = 0; i < ms->narch_named; i++)
			buf_printf(&b, " %s", names[i]);
	}
	die_usage("no GPU '%.*s'%.*s", (int)name.len, name.p, (int)b.len, b.p);
}

static const struct arch *
find(struct models *ms, struct str name, struct str devices)
{
	if (str_eq(name, STR("auto")))
		return device_arch(ms, devices);
	for (size_t i = 0; i < ms->narch_named; i++) {
		struct str s = ms->archs.v[i]->name;

		if (s.len == name.len &&
		    strncasecmp(s.p, name.p, name.len) == 0)
			return ms->archs.v[i];
	}
	if (str_find(name, STR("/"), false) < 0 &&
	    !str_ends(name, STR(".json")))
		die_unknown(ms, name);
	return load_file(ms, arena_str(ms->mem, name).p);
}

/*
 * Vendors state rates of tensor cores at a clock of their own, those of fp32
 * and fp64 at the highest clock. Measured figures are dropped, as their clock
 * is unknown.
 */
static const struct arch *
at_clock(struct models *ms, const struct arch *a, const char *mhz)
{
	struct arch_file *f = arena_alloc(ms->mem, sizeof *f);
	struct buf name = { 0 };
	double to;

	if (!num_double(str_of(mhz), &to) || to <= 0)
		die_usage("option '--arch': clock=%s: needs MHz", mhz);
	if (isnan(a->clock_mhz))
		die_usage("option '--arch': no clock_mhz of %.*s: its rates "
			  "cannot be scaled",
		    (int)a->name.len, a->name.p);
	if (to > a->clock_mhz)
		die_usage(
		    "option '--arch': clock=%s: %.*s has at most %.6g MHz", mhz,
		    (int)a->name.len, a->name.p, a->clock_mhz);
	*f = (struct arch_file){ .arch = *a };
	buf_printf(&name, "%.*s at %s MHz", (int)a->name.len, a->name.p, mhz);
	f->arch.name = arena_str(ms->mem, buf_str(&name));
	for (size_t i = 0; i < a->nrates; i++) {
		struct arch_rate r = a->rates[i];
		bool is_tensor = str_starts(r.spec, STR("matrix_")) &&
		    !str_starts(r.spec, STR("matrix_fp32")) &&
		    !str_starts(r.spec, STR("matrix_fp64")) &&
		    !isnan(a->tensor_clock_mhz);

		r.peak *= to / (is_tensor ? a->tensor_clock_mhz : a->clock_mhz);
		r.achievable = NAN;
		vec_push(&f->rates, r);
	}
	f->arch.rates = f->rates.v;
	vec_push(&ms->archs, &f->arch);
	buf_free(&name);
	return &f->arch;
}

bool
arch_is_auto(const char *name)
{
	return str_starts(str_of(name), STR("auto")) &&
	    (name[4] == '\0' || name[4] == ':');
}

const struct arch *
arch_load(struct models *ms, const char *name, struct str devices)
{
	static const char option[] = ":clock=";
	const char *at = strstr(name, option);
	const struct arch *a;

	load_named(ms);
	a = find(ms,
	    (struct str){
		name, at != NULL ? (size_t)(at - name) : strlen(name) },
	    devices);
	return a == NULL || at == NULL ? a
				       : at_clock(ms, a, at + strlen(option));
}

/* ---- figures ---- */

double
arch_tflops(const struct arch *a, enum roof roof, struct str spec)
{
	const struct str sums = STR("_acc16");

	for (size_t i = 0; i < a->nrates; i++)
		if (str_eq(a->rates[i].spec, spec))
			return roof == ROOF_PEAK ? a->rates[i].peak
						 : a->rates[i].achievable;
	if (str_eq(spec, STR("matrix_tf32"))) /* GPUs before Ampere */
		return arch_tflops(a, roof, STR("matrix_fp32"));
	/* few GPUs have a faster one */
	if (!str_ends(spec, sums))
		return NAN;
	spec.len -= sums.len;
	return arch_tflops(a, roof, spec);
}

/* Few have a measured bandwidth; the fallback is the data sheet's. */
double
arch_gbps(const struct arch *a, enum roof roof)
{
	double v = a->mem_gbps[roof];

	return isnan(v) ? a->mem_gbps[ROOF_PEAK] : v;
}

double
arch_cache_mib(const struct arch *a)
{
	if (a == NULL)
		return (double)NAN;
	return isnan(a->last_level_mib) ? a->l2_mib : a->last_level_mib;
}

bool
arch_has_gbps(const struct arch *a, enum roof roof)
{
	return !isnan(a->mem_gbps[roof]);
}

/* The other roof's figure where this roof has none. */
static double
rate_of(const struct arch *a, enum roof *roof, struct str spec)
{
	double v = arch_tflops(a, *roof, spec);
	enum roof other = *roof == ROOF_PEAK ? ROOF_ACHIEVABLE : ROOF_PEAK;

	if (!isnan(v) || isnan(arch_tflops(a, other, spec)))
		return v;
	*roof = other;
	return arch_tflops(a, other, spec);
}

struct roofline
roofline_of(const struct arch *a, enum roof roof, const struct model_result *r)
{
	struct roofline rf = { NAN, NAN, NAN, NAN, NAN, BOUND_NONE, roof };

	if (a == NULL || r->status != MODEL_OK)
		return rf;
	rf.tflops = rate_of(a, &rf.roof, r->spec);
	rf.gbps = arch_gbps(a, roof);
	/* GFLOPS first, as the reference does, for the same last digit. */
	if (r->flops > 0)
		rf.compute_us = r->flops / 1e9 * 1e9 / (rf.tflops * 1e12) * 1e6;
	rf.memory_us = r->bytes / (rf.gbps * 1e9) * 1e6;
	if (isnan(rf.memory_us))
		return rf;
	if (rf.compute_us >= rf.memory_us) {
		rf.time_us = rf.compute_us;
		rf.bound = BOUND_COMPUTE;
	} else {
		rf.time_us = rf.memory_us;
		rf.bound = BOUND_MEMORY;
		rf.roof = arch_has_gbps(a, roof) ? roof : ROOF_PEAK;
	}
	return rf;
}
