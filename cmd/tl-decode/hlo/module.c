/* SPDX-License-Identifier: MIT */
/* Reads an HloProto: see module.h. */
#include "cmd/tl-decode/hlo/module.h"

bool
module_next(struct hlo_module *m, struct fields *f)
{
	if (m->error != NULL)
		return false;
	m->nreads++;
	if (fields_next(f))
		return true;
	if (f->error != NULL) {
		m->error = f->error;
		m->at = (size_t)((const char *)f->p - m->base);
	}
	return false;
}

struct str
module_bytes(struct hlo_module *m, struct str message, uint32_t field)
{
	struct fields f = fields_of(message);
	struct str found = STR("");

	while (module_next(m, &f))
		if (f.field == field && f.type == PROTO_BYTES)
			found = f.bytes;
	return found;
}

uint64_t
module_number(struct hlo_module *m, struct str message, uint32_t field)
{
	struct fields f = fields_of(message);
	uint64_t u = 0;

	while (module_next(m, &f))
		if (f.field == field && f.type == PROTO_VARINT)
			u = f.u;
	return u;
}

bool
repeated_next(struct repeated *r, uint64_t *u)
{
	for (;;) {
		r->m->nreads++;
		if (r->m->error == NULL && proto_number(&r->it, u))
			return true;
		if (r->it.is_bad && r->m->error == NULL) {
			r->m->error = "a bad list of numbers";
			r->m->at = (size_t)((const char *)r->message.p -
			    r->m->base); /* behind it */
		}
		do {
			if (!module_next(r->m, &r->message))
				return false;
		} while (r->message.field != r->field);
		r->it = proto_numbers(&r->message, PROTO_VARINT);
	}
}

struct instruction
module_instruction(struct hlo_module *m, const struct hlo_inst *inst)
{
	struct instruction i = { 0 };
	struct fields f = fields_of(inst->bytes);

	while (module_next(m, &f)) {
		bool is_text = f.type == PROTO_BYTES;

		switch (f.field << 1 | is_text) {
		case I_NAME << 1 | 1: i.name = f.bytes; break;
		case I_OPCODE << 1 | 1: i.opcode = f.bytes; break;
		case I_SHAPE << 1 | 1: i.shape = f.bytes; break;
		case I_METADATA << 1 | 1: i.metadata = f.bytes; break;
		case I_FUSION << 1 | 1: i.fusion = f.bytes; break;
		case I_WINDOW << 1 | 1: i.window = f.bytes; break;
		case I_CONV << 1 | 1: i.conv = f.bytes; break;
		case I_TARGET << 1 | 1: i.target = f.bytes; break;
		case I_DOT << 1 | 1: i.dot = f.bytes; break;
		case I_CONFIG << 1 | 1: i.config = f.bytes; break;
		case I_DEVICES << 1 | 1: i.devices = f.bytes; break;
		case I_PRECISION << 1 | 1: i.precision = f.bytes; break;
		case I_ID << 1: i.id = f.u; break;
		case I_PARAMETER << 1: i.parameter = f.u; break;
		case I_CHANNEL << 1: i.channel = f.u; break;
		case I_FEATURE_GROUPS << 1: i.feature_groups = f.u; break;
		case I_BATCH_GROUPS << 1: i.batch_groups = f.u; break;
		case I_GLOBAL_IDS << 1: i.has_global_ids = f.u != 0; break;
		}
	}
	return i;
}

static void
read_instruction(struct hlo_module *m, struct str bytes)
{
	uint32_t number = (uint32_t)m->insts.n, name;
	struct hlo_inst *inst = vec_add(&m->insts);
	struct instruction i;
	bool is_new;

	*inst = (struct hlo_inst){ .bytes = bytes,
		.computation = (uint32_t)m->computations.n - 1 };
	i = module_instruction(m, inst);
	inst->id = i.id;
	inst->name = i.name;
	name = intern_put(m->names, i.name);
	if (name == m->by_name.n)
		vec_push(&m->by_name, number);
	uint64_t *place = map_put(&m->inst_of, inst->id, &is_new);
	if (is_new)
		*place = number;
}

static void
read_computation(struct hlo_module *m, struct str bytes)
{
	struct hlo_computation c = { .first = (uint32_t)m->insts.n };
	uint32_t number = (uint32_t)m->computations.n;
	struct fields f = fields_of(bytes);
	bool is_new;

	vec_push(&m->computations, c);
	while (module_next(m, &f)) {
		if (f.field == 2 && f.type == PROTO_BYTES)
			read_instruction(m, f.bytes);
		else if (f.field == 5 && f.type == PROTO_VARINT)
			c.id = f.u;
		else if (f.field == 6 && f.type == PROTO_VARINT)
			c.root = f.u;
	}
	c.n = (uint32_t)m->insts.n - c.first;
	m->computations.v[number] = c;
	uint64_t *place = map_put(&m->computation_of, c.id, &is_new);
	if (is_new)
		*place = number;
}

/* The scheduled order of computations, which precede it in the file. */
static void
read_schedule(struct hlo_module *m, struct str bytes)
{
	struct fields f = fields_of(bytes);

	while (module_next(m, &f)) {
		struct fields entry = fields_of(f.bytes);
		struct str sequence = STR("");
		uint64_t id = 0, *number;

		if (f.field != 1 || f.type != PROTO_BYTES)
			continue;
		while (module_next(m, &entry)) {
			if (entry.field == 1 && entry.type == PROTO_VARINT)
				id = entry.u;
			else if (entry.field == 2 && entry.type == PROTO_BYTES)
				sequence = entry.bytes;
		}
		number = map_get(&m->computation_of, id);
		if (number != NULL)
			m->computations.v[*number].schedule = sequence;
	}
}

static void
read_frames(struct hlo_module *m, struct str bytes)
{
	struct fields f = fields_of(bytes);

	while (module_next(m, &f)) {
		if (f.type != PROTO_BYTES)
			continue;
		switch (f.field) {
		case 1: vec_push(&m->files, f.bytes); break;
		case 3: vec_push(&m->locations, f.bytes); break;
		case 4: vec_push(&m->frames, f.bytes); break;
		}
	}
}

/* With both, the instruction tells which counts. */
void
module_count(struct hlo_module *m, uint64_t replicas, uint64_t partitions)
{
	m->ndevices = replicas == 1 ? partitions
	    : partitions == 1       ? replicas
				    : 0;
}

void
module_read(struct hlo_module *m, struct str proto)
{
	struct str schedule = STR("");
	struct fields f;

	*m = (struct hlo_module){ .base = proto.p, .names = intern_create() };
	f = fields_of(module_bytes(m, proto, 1));
	while (module_next(m, &f)) {
		if (f.field == 6 && f.type == PROTO_VARINT)
			m->entry = f.u;
		if (f.type != PROTO_BYTES)
			continue;
		switch (f.field) {
		case 1: m->name = f.bytes; break;
		case 3: read_computation(m, f.bytes); break;
		case 7: schedule = f.bytes; break;
		case 15:
			module_count(m, module_number(m, f.bytes, 1),
			    module_number(m, f.bytes, 2));
			break;
		case 17: read_frames(m, f.bytes); break;
		}
	}
	read_schedule(m, schedule);
	m->max_reads = HLO_MAX_READS + m->nreads * HLO_MAX_TIMES;
	m->nreads = 0;
}

void
module_free(struct hlo_module *m)
{
	vec_free(&m->insts);
	vec_free(&m->computations);
	map_free(&m->inst_of);
	map_free(&m->computation_of);
	intern_destroy(m->names);
	vec_free(&m->by_name);
	vec_free(&m->files);
	vec_free(&m->locations);
	vec_free(&m->frames);
	vec_free(&m->queue);
	vec_free(&m->wanted);
	buf_free(&m->text);
	buf_free(&m->calls);
}

bool
module_is_full(struct hlo_module *m)
{
	m->is_full = m->is_full || m->out->len > HLO_MAX_RECORD ||
	    m->nreads > m->max_reads;
	return m->is_full;
}

uint32_t
module_find(const struct hlo_module *m, struct str name)
{
	uint32_t id = intern_find(m->names, name, hash_bytes(name.p, name.len));

	return id == INTERN_NONE ? NO_HLO : m->by_name.v[id];
}
