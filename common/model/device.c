/* SPDX-License-Identifier: MIT */
/* The GPU of a trace: its "deviceProperties", as profilers write them. */
#include "model/priv.h"
#include "json/json.h"

/* A trace's properties of a device; NAN: missing. */
struct device {
	struct str name;
	double memory_bytes, num_cus;
};

/* A partition of a GPU (MIG and the like) has the GPU's name, but not its
 * figures. */
static bool
is_whole(const struct arch *a, const struct device *d)
{
	if (!isnan(d->num_cus) && !isnan(a->num_cus))
		return d->num_cus == a->num_cus;
	return str_find(d->name, STR(" MIG "), false) < 0;
}

/*
 * Some systems give a name that identifies no GPU. Then size of memory and
 * number of compute units decide, if unique.
 */
static const struct arch *
of_memory(const struct models *ms, const struct device *d)
{
	const struct arch *found = NULL;

	for (size_t i = 0; i < ms->narch_named; i++) {
		double gib = ms->archs.v[i]->memory_gb * (1 << 30);

		if (!(fabs(d->memory_bytes - gib) < gib * 0.005) ||
		    d->num_cus != ms->archs.v[i]->num_cus)
			continue;
		if (found != NULL)
			return NULL;
		found = ms->archs.v[i];
	}
	return found;
}

bool
device_is_named(struct str name)
{
	return name.len > 0 && !str_starts(name, STR("gfx")) &&
	    !str_eq(name, STR("AMD Radeon Graphics"));
}

static const struct arch *
of_device(const struct models *ms, const struct device *d)
{
	if (!device_is_named(d->name))
		return of_memory(ms, d);
	for (size_t i = 0; i < ms->narch_named; i++) {
		const struct arch_file *a =
		    (const struct arch_file *)ms->archs.v[i];

		for (size_t k = 0; k < a->devices.n; k++)
			if (str_glob(a->devices.v[k], d->name) &&
			    is_whole(&a->arch, d))
				return &a->arch;
	}
	return NULL;
}

static double
number(struct str s)
{
	double d;

	return num_double(s, &d) ? d : NAN;
}

static struct device
read_device(struct arena *mem, struct str text)
{
	struct device d = { { "", 0 }, NAN, NAN };
	json_items items = { 0 };

	(void)!json_split(&items, mem, text);
	for (size_t i = 0; i + 1 < items.n; i += 2) {
		struct str key = items.v[i].text;

		if (str_eq(key, STR("name")))
			d.name = items.v[i + 1].text;
		else if (str_eq(key, STR("totalGlobalMem")))
			d.memory_bytes = number(items.v[i + 1].text);
		else if (str_eq(key, STR("numSms")))
			d.num_cus = number(items.v[i + 1].text);
	}
	vec_free(&items);
	return d;
}

const struct arch *
device_arch(const struct models *ms, struct str devices)
{
	const struct arch *found = NULL;
	json_items list = { 0 };

	(void)!json_split(&list, ms->mem, devices);
	for (size_t i = 0; i < list.n && found == NULL; i++) {
		struct device d = read_device(ms->mem, list.v[i].text);

		found = of_device(ms, &d);
	}
	vec_free(&list);
	return found;
}

void
device_name(struct str devices, struct buf *name)
{
	struct arena *mem = arena_create();
	json_items list = { 0 };

	if (json_split(&list, mem, devices) && list.n > 0) {
		struct device d = read_device(mem, list.v[0].text);

		buf_put(name, d.name.p, d.name.len);
	}
	vec_free(&list);
	arena_destroy(mem);
}
