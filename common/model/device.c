/* SPDX-License-Identifier: MIT */
/* The GPU of a trace: its "deviceProperties", as the profiler writes them. */
#include "model/priv.h"
#include "json/json.h"

/* What a trace says of a device; NAN: nothing. */
struct device {
	struct str name;
	double memory_bytes, num_cus;
};

/* A part of a GPU (MIG, partitions) has the GPU's name, but not its figures. */
static bool
is_whole(const struct arch *a, const struct device *d)
{
	if (!isnan(d->num_cus) && !isnan(a->num_cus))
		return d->num_cus == a->num_cus;
	return str_find(d->name, STR(" MIG "), false) < 0;
}

/*
 * Some systems give no name that tells: then memory of a size, and a number of
 * compute units, that only one has.
 */
static const struct arch *
of_memory(const struct models *ms, const struct device *d)
{
	const struct arch *found = NULL;

	for (size_t i = 0; i < ms->narch_named; i++) {
		double gib = ms->archs.v[i]->memory_gb * (1 << 30);

		if (!(fabs(d->memory_bytes - gib) < gib * 0.005) ||
		    !is_whole(ms->archs.v[i], d))
			continue;
		if (found != NULL)
			return NULL;
		found = ms->archs.v[i];
	}
	return found;
}

static const struct arch *
of_device(const struct models *ms, const struct device *d)
{
	bool is_named = d->name.len > 0 && !str_starts(d->name, STR("gfx")) &&
	    !str_eq(d->name, STR("AMD Radeon Graphics"));

	if (!is_named)
		return of_memory(ms, d);
	for (size_t i = 0; i < ms->narch_named; i++) {
		const struct arch_file *a =
		    (const struct arch_file *)ms->archs.v[i];

		for (size_t k = 0; k < a->devices.n; k++)
			if (str_glob(a->devices.v[k], d->name))
				return is_whole(&a->arch, d) ? &a->arch : NULL;
	}
	return NULL;
}

/* A number of a device that is asked for by key, or none. */
static double *
device_number(struct device *d, struct str key)
{
	if (str_eq(key, STR("totalGlobalMem")))
		return &d->memory_bytes;
	return str_eq(key, STR("numSms")) ? &d->num_cus : NULL;
}

/* Calls f on each device until it is true. */
typedef bool device_fn(void *ctx, const struct device *d);

static void
each_device(struct str devices, device_fn *f, void *ctx)
{
	static const char pad[IN_PAD];
	const struct device unknown = { { "", 0 }, NAN, NAN };
	struct json *j = xmalloc(sizeof *j);
	struct buf text = { 0 };
	struct device d = unknown;
	struct str key = { "", 0 };
	bool done = devices.len == 0;
	enum json_token t;

	buf_put(&text, devices.p, devices.len);
	buf_put(&text, pad, sizeof pad);
	json_start(j, text.p, devices.len);
	while (!done && (t = json_next(j)) > JSON_T_END) {
		if (t == JSON_T_KEY) {
			key = j->raw;
		} else if (t == JSON_T_STRING && str_eq(key, STR("name"))) {
			d.name = j->raw;
		} else if (t == JSON_T_NUMBER) {
			double *to = device_number(&d, key);

			if (to != NULL && !num_double(j->raw, to))
				*to = NAN;
		} else if (t == JSON_T_OBJECT_END) {
			done = f(ctx, &d);
			d = unknown;
		}
	}
	buf_free(&text);
	vec_release(j);
}

struct search {
	const struct models *ms;
	const struct arch *found;
};

static bool
find(void *ctx, const struct device *d)
{
	struct search *s = ctx;

	s->found = of_device(s->ms, d);
	return s->found != NULL;
}

const struct arch *
device_arch(const struct models *ms, struct str devices)
{
	struct search s = { ms, NULL };

	each_device(devices, find, &s);
	return s.found;
}

static bool
copy_name(void *ctx, const struct device *d)
{
	buf_put(ctx, d->name.p, d->name.len);
	return true;
}

void
device_name(struct str devices, struct buf *name)
{
	each_device(devices, copy_name, name);
}
