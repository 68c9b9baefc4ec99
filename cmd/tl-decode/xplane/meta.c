/* SPDX-License-Identifier: MIT */
/* An event's metadata: name and kind. */
#include "cmd/tl-decode/xplane/xplane.h"

static bool
starts_any(struct str name, const struct str *words, size_t n)
{
	char low[16];
	size_t len = name.len < sizeof low ? name.len : sizeof low;

	for (size_t i = 0; i < len; i++)
		low[i] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z'
			? name.p[i] + ('a' - 'A')
			: name.p[i]);
	for (size_t i = 0; i < n; i++)
		if (str_starts((struct str){ low, len }, words[i]) ||
		    str_starts(name, words[i]))
			return true;
	return false;
}

/* Work of a stream by name: copies may run as kernels. */
static enum kind
kind_of_work(struct str name)
{
	static const struct str copies[] = { STR_INIT("copy"),
		STR_INIT("memcpy"), STR_INIT("__amd_rocclr_copyBuffer"),
		STR_INIT("MEMORY_COPY_") };
	static const struct str fills[] = { STR_INIT("memset"),
		STR_INIT("__amd_rocclr_fillBuffer") };

	if (starts_any(name, copies, sizeof copies / sizeof *copies))
		return KIND_MEMCPY;
	if (starts_any(name, fills, sizeof fills / sizeof *fills))
		return KIND_MEMSET;
	return KIND_KERNEL;
}

static enum host_name
host_name_of(struct str name)
{
	if (name.len > 0 && name.p[0] == '$')
		return HOST_PYTHON;
	if (str_eq(name, STR("MemoryAllocation")))
		return HOST_ALLOCATION;
	return str_eq(name, STR("MemoryDeallocation")) ? HOST_FREE : HOST_ANY;
}

/* XEventMetadata {1: id, 2: name, 4: display_name, 5: stats} */
static void
read_meta(struct xplane *x, struct event_meta *meta)
{
	struct fields m = fields_of(meta->bytes);
	size_t n = 0;

	meta->name = meta->display = STR("");
	while (xplane_next(x, &m)) {
		if (++n > STATS_MAX) {
			/* each event would read them again */
			meta->bytes.len =
			    (size_t)((const char *)m.p - meta->bytes.p);
			xplane_lose(x, m.p, (uint64_t)(m.end - m.p),
			    "an event's metadata of more than 1,024 fields");
			break;
		}
		if (m.type != PROTO_BYTES)
			continue;
		if (m.field == 2)
			meta->name = m.bytes;
		else if (m.field == 4)
			meta->display = m.bytes;
		meta->has_stats |= m.field == 5;
	}
	meta->is_read = true;
	meta->work = (uint8_t)kind_of_work(meta->name);
	meta->host = (uint8_t)host_name_of(meta->name);
}

struct event_meta *
event_meta_of(struct xplane *x, struct plane *p, uint64_t id)
{
	const uint64_t *at = map_get(&p->meta_of, id);
	struct event_meta *meta;

	if (at != NULL) {
		meta = &p->metas.v[*at];
		if (!meta->is_read)
			read_meta(x, meta);
		return meta;
	}
	*map_put(&p->meta_of, id, NULL) = p->metas.n;
	meta = vec_add(&p->metas);
	*meta = (struct event_meta){ .id = id,
		.is_read = true,
		.is_missing = true,
		.work = KIND_KERNEL,
		.name = str_of(arena_printf(x->mem, "#%" PRId64, (int64_t)id)),
		.display = STR(""),
		.bytes = STR(""),
		.text = INTERN_NONE };
	return meta;
}

struct str
event_meta_name(const struct event_meta *meta)
{
	return meta->display.len > 0 ? meta->display : meta->name;
}
