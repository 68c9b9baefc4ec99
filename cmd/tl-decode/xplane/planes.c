/* SPDX-License-Identifier: MIT */
/* Finds planes, lines and metadata. */
#include "cmd/tl-decode/xplane/xplane.h"

/* xprof's pids: plane ids up to 499 stay distinct. */
#define PLANE_IDS 500
#define PID_DEVICE 1
#define PID_CUSTOM (PID_DEVICE + PLANE_IDS)
#define PID_HOST 701
#define PID_OTHER 1000

/* ---- maps ---- */

/* {1: key, 2: message} */
static uint64_t
map_entry(struct xplane *x, struct str bytes, struct str *message)
{
	struct fields m = fields_of(bytes);
	uint64_t key = 0;

	*message = STR("");
	while (xplane_next(x, &m))
		if (m.field == 1 && m.type == PROTO_VARINT)
			key = m.u;
		else if (m.field == 2 && m.type == PROTO_BYTES)
			*message = m.bytes;
	return key;
}

static void
add_event_meta(struct xplane *x, struct plane *p, struct str bytes)
{
	struct event_meta meta = { .text = INTERN_NONE };
	bool is_new;
	uint64_t *at;

	meta.id = map_entry(x, bytes, &meta.bytes);
	at = map_put(&p->meta_of, meta.id, &is_new);
	if (is_new) {
		*at = p->metas.n;
		vec_push(&p->metas, meta);
	} else {
		p->metas.v[*at] = meta;
	}
}

static void
add_stat_key(struct xplane *x, struct plane *p, struct str bytes)
{
	struct str message;
	uint64_t id = map_entry(x, bytes, &message);
	struct fields m = fields_of(message);
	struct str name = STR("");

	while (xplane_next(x, &m))
		if (m.field == 2 && m.type == PROTO_BYTES)
			name = m.bytes;
	stat_key_add(p, id, name);
}

/* ---- planes ---- */

static void
read_fields(struct xplane *x, struct plane *p)
{
	struct fields m = fields_of(p->bytes);
	bool is_cut = false;

	while (p->is_cut ? xplane_next_part(x, &m, 3, &is_cut)
			 : xplane_next(x, &m)) {
		if (m.field == 1 && m.type == PROTO_VARINT)
			p->id = m.u;
		if (m.type != PROTO_BYTES)
			continue;
		switch (m.field) {
		case 2: p->name = m.bytes; break;
		case 3: vec_push(&p->lines, m.bytes); break;
		case 4: add_event_meta(x, p, m.bytes); break;
		case 5: add_stat_key(x, p, m.bytes); break;
		case 6: vec_push(&p->stats, m.bytes); break;
		default: break;
		}
	}
}

static void
name_plane(struct plane *p)
{
	struct str rest = p->name;

	p->dev = -1;
	if (str_eq(rest, STR("Task Environment")))
		p->kind = PLANE_ENVIRONMENT;
	else if (str_eq(rest, STR("/host:metadata")))
		p->kind = PLANE_MODULES;
	else if (str_take(&rest, STR("/host:")))
		p->kind = PLANE_HOST;
	else if (str_take(&rest, STR("/device:GPU:")))
		p->kind = PLANE_GPU;
	else if (str_take(&rest, STR("/device:TPU:")))
		p->kind = PLANE_TPU;
	if (p->kind != PLANE_GPU && p->kind != PLANE_TPU)
		return;
	for (size_t i = 0; i < rest.len && i < 9; i++) {
		if (rest.p[i] < '0' || rest.p[i] > '9')
			break;
		p->dev = (i > 0 ? p->dev * 10 : 0) + (rest.p[i] - '0');
	}
}

/*
 * Ids count per kind of plane; a second plane with the same pid gets another.
 */
static int64_t
pid_of(const struct plane *p, size_t number, struct map *taken)
{
	int64_t pid = PID_DEVICE + (int64_t)(p->id % PLANE_IDS);
	bool is_new;

	if (str_eq(p->name, STR("/host:CPU")))
		pid = PID_HOST;
	else if (str_starts(p->name, STR("/device:CUSTOM:")))
		pid += PID_CUSTOM - PID_DEVICE;
	else if (p->kind != PLANE_GPU && p->kind != PLANE_TPU)
		pid = PID_OTHER + (int64_t)number;
	(void)map_put(taken, (uint64_t)pid, &is_new);
	return is_new ? pid : PID_OTHER + (int64_t)number;
}

/* ---- facts ---- */

/* Stats of planes about the recording, by name. */
static void
put_environment(struct xplane *x, struct plane *p, int64_t *began_ns)
{
	for (size_t i = 0; i < p->stats.n; i++) {
		struct stat st;
		struct str key;

		if (!stat_read(x, p, p->stats.v[i], &st))
			continue;
		key = p->keys.v[st.key].name;
		if (str_eq(key, STR("profile_start_time")) &&
		    (st.type == STAT_UINT || st.type == STAT_INT) &&
		    source_is_time((int64_t)st.u))
			*began_ns = (int64_t)st.u;
		x->text.len = 0;
		stat_json(x, p, &st, &x->text);
		if (x->text.len > 0)
			source_meta(x->s, xplane_utf8(x, key),
			    (struct value){
				.type = VAL_JSONX, .s = buf_str(&x->text) });
	}
}

/* Names in Kineto's deviceProperties. */
static const struct {
	struct str stat, is;
} properties[] = {
	{ STR_INIT("gpu_device_name"), STR_INIT("name") },
	{ STR_INIT("device_type_string"), STR_INIT("name") },
	{ STR_INIT("memory_size"), STR_INIT("totalGlobalMem") },
	{ STR_INIT("core_count"), STR_INIT("numSms") },
	{ STR_INIT("compute_cap_major"), STR_INIT("computeMajor") },
	{ STR_INIT("compute_cap_minor"), STR_INIT("computeMinor") },
};

static struct str
property_of(struct str stat)
{
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
		if (str_eq(stat, properties[i].stat))
			return properties[i].is;
	return stat;
}

/* {"id":0,"name":"..."} */
static void
put_device(struct xplane *x, struct plane *p, struct buf *list)
{
	buf_printf(list, "%s{\"id\":%" PRId64, list->len > 0 ? "," : "[",
	    p->dev >= 0 ? p->dev : (int64_t)p->id);
	for (size_t i = 0; i < p->stats.n; i++) {
		struct stat st;

		if (!stat_read(x, p, p->stats.v[i], &st))
			continue;
		x->text.len = 0;
		stat_json(x, p, &st, &x->text);
		if (x->text.len == 0)
			continue;
		buf_putc(list, ',');
		json_put_string(
		    list, xplane_utf8(x, property_of(p->keys.v[st.key].name)));
		buf_putc(list, ':');
		buf_put(list, x->text.p, x->text.len);
	}
	buf_putc(list, '}');
}

/* Precedes the line's events; INT64_MAX: none. */
static int64_t
line_start(struct str bytes)
{
	struct fields m = fields_of(bytes);
	int64_t ns = 0;

	while (fields_next(&m))
		if (m.field == 3 && m.type == PROTO_VARINT)
			ns = (int64_t)m.u;
		else if (m.field == 4)
			return ns;
	return INT64_MAX;
}

/*
 * Times count from the recording's begin; with old writers from 1970, if the
 * earliest line does.
 */
static void
set_base(struct xplane *x, int64_t began_ns)
{
	const int64_t limit = INT64_C(1) << 52;
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < x->planes.n; i++)
		for (size_t k = 0; k < x->planes.v[i].lines.n; k++) {
			struct str line = x->planes.v[i].lines.v[k];
			int64_t ns = line_start(line);

			first = ns < first ? ns : first;
			xplane_pass(x, (const unsigned char *)line.p);
		}
	x->s->has_base = true;
	if (first > limit && first != INT64_MAX)
		x->s->base_ns = began_ns > 0 ? began_ns : first;
	facts_ns(&x->s->facts, "base", began_ns > 0 ? began_ns : x->s->base_ns);
}

static void
put_facts(struct xplane *x)
{
	struct map pids = { 0 };
	struct buf devices = { 0 };
	int64_t began_ns = 0;

	for (size_t i = 0; i < x->planes.n; i++) {
		struct plane *p = &x->planes.v[i];

		xplane_pass(x, (const unsigned char *)p->bytes.p);
		p->pid = pid_of(p, i, &pids);
		if (p->kind == PLANE_MODULES || p->kind == PLANE_ENVIRONMENT)
			put_environment(x, p, &began_ns);
		else if (p->kind == PLANE_GPU || p->kind == PLANE_TPU)
			put_device(x, p, &devices);
	}
	map_free(&pids);
	if (x->hostname.len > 0)
		facts_str(
		    &x->s->facts, "hostname", xplane_utf8(x, x->hostname));
	if (devices.len > 0) {
		buf_putc(&devices, ']');
		facts_json(&x->s->facts, "devices", buf_str(&devices));
	}
	buf_free(&devices);
	set_base(x, began_ns);
	source_emit(x->s, false);
}

/* ---- the file ---- */

void
planes_read(struct xplane *x)
{
	struct fields m = fields_of((struct str){
	    (const char *)x->bytes, (size_t)(x->in->end - x->bytes) });
	bool is_cut = false;

	while (xplane_next_part(x, &m, 1, &is_cut)) {
		xplane_pass(x, m.p);
		if (m.field == 1 && m.type == PROTO_BYTES) {
			struct plane *p = vec_add(&x->planes);

			*p = (struct plane){ .bytes = m.bytes,
				.name = STR(""),
				.is_cut = is_cut };
			read_fields(x, p);
			name_plane(p);
		} else if (m.field == 2 && m.type == PROTO_BYTES) {
			report(MSG_RECORDING_LOSSES, x->s->in->name, INT64_C(1),
			    xplane_utf8(x, m.bytes));
		} else if (m.field == 3 && m.type == PROTO_BYTES) {
			report(MSG_RECORDER_WARNED, x->s->in->name,
			    xplane_utf8(x, m.bytes));
		} else if (m.field == 4 && m.type == PROTO_BYTES &&
		    x->hostname.len == 0) {
			x->hostname = m.bytes;
		}
	}
	put_facts(x);
}

void
planes_free(struct xplane *x)
{
	for (size_t i = 0; i < x->planes.n; i++) {
		struct plane *p = &x->planes.v[i];

		vec_free(&p->lines);
		vec_free(&p->metas);
		map_free(&p->meta_of);
		vec_free(&p->keys);
		map_free(&p->key_of);
		vec_free(&p->stats);
		vec_free(&p->runs);
		map_free(&p->texts);
	}
	vec_free(&x->planes);
}
