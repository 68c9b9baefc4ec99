/* SPDX-License-Identifier: MIT */
/* Writes an instruction into a record: see module.h. */
#include "cmd/tl-decode/hlo/module.h"
#include "json/json.h"

/* Nested calls, branches and loops that are followed. */
#define MAX_CALLS 64

/* Opcodes that run computations in their place. */
static const char run_opcodes[] = "call while conditional async-start";
/* Opcodes whose computations tell what they do. */
static const char body_opcodes[] = "fusion async-start call";
/* Opcodes without work on a device. */
static const char idle_opcodes[] =
    "parameter constant tuple get-tuple-element bitcast after-all "
    "add-dependency opt-barrier domain partition-id replica-id async-update "
    "async-done all-gather-done all-reduce-done collective-permute-done "
    "copy-done recv-done send-done";

/* Opcodes that without groups involve all devices. */
static const char group_opcodes[] =
    "all-reduce all-reduce-start all-gather all-gather-start reduce-scatter "
    "all-to-all ragged-all-to-all collective-broadcast";

static bool
is_word(const char *list, struct str opcode)
{
	struct str word;

	while (str_next(&list, ' ', &word))
		if (str_eq(word, opcode))
			return true;
	return false;
}

/* Queues the computations it calls, each once. */
static void
queue_called(struct hlo_module *m, struct str inst)
{
	struct repeated r = repeated(m, inst, I_CALLED);
	uint64_t id;

	while (repeated_next(&r, &id)) {
		uint64_t *number = map_get(&m->computation_of, id);

		if (number == NULL ||
		    m->computations.v[*number].pass == m->pass)
			continue;
		m->computations.v[*number].pass = m->pass;
		vec_push(&m->queue, (uint32_t)*number);
	}
}

static void put_members(
    struct hlo_module *m, const struct hlo_inst *inst, bool is_body);

/*
 * Numbers the instructions of queued computations, and queues those they call.
 */
static void
place_body(struct hlo_module *m)
{
	uint32_t n = 0;

	for (size_t q = 0; q < m->queue.n; q++) {
		const struct hlo_computation *c =
		    &m->computations.v[m->queue.v[q]];

		for (uint32_t i = c->first; i < c->first + c->n; i++) {
			struct hlo_inst *inst = &m->insts.v[i];

			inst->place = n++;
			inst->body = m->pass;
			if (is_word(body_opcodes,
				module_instruction(m, inst).opcode))
				queue_called(m, inst->bytes);
		}
	}
}

static void
put_body(struct hlo_module *m, struct str caller)
{
	m->pass++;
	m->queue.n = 0;
	queue_called(m, caller);
	if (m->queue.n == 0)
		return;
	place_body(m);
	put_key(m, "body");
	buf_putc(m->out, '[');
	for (size_t q = 0; q < m->queue.n; q++) {
		const struct hlo_computation *c =
		    &m->computations.v[m->queue.v[q]];

		for (uint32_t i = c->first; i < c->first + c->n; i++) {
			const struct hlo_inst *inst = &m->insts.v[i];

			if (module_is_full(m))
				return;
			if (m->out->p[m->out->len - 1] == '}')
				buf_putc(m->out, ',');
			buf_putc(m->out, '{');
			put_members(m, inst, true);
			if (q == 0 && inst->id == c->root) {
				put_key(m, "root");
				buf_puts(m->out, "true");
			}
			buf_putc(m->out, '}');
		}
	}
	buf_putc(m->out, ']');
}

/* ---- calls ---- */

static void put_calls_of(
    struct hlo_module *m, struct hlo_computation *c, unsigned depth);

static void
put_call(struct hlo_module *m, uint32_t number, unsigned depth)
{
	struct hlo_inst *inst = &m->insts.v[number];
	struct instruction i = module_instruction(m, inst);

	if (is_word(run_opcodes, i.opcode)) {
		struct repeated r = repeated(m, inst->bytes, I_CALLED);
		uint64_t id;

		while (repeated_next(&r, &id)) {
			uint64_t *c = map_get(&m->computation_of, id);

			if (c != NULL && depth < MAX_CALLS)
				put_calls_of(
				    m, &m->computations.v[*c], depth + 1);
		}
		return;
	}
	if (is_word(idle_opcodes, i.opcode))
		return;
	if (!inst->is_wanted)
		vec_push(&m->wanted, number);
	inst->is_wanted = true;
	if (m->out->p[m->out->len - 1] != '[')
		buf_putc(m->out, ',');
	json_put_string(m->out, inst->name);
}

/* By schedule, else in file order. */
static void
put_calls_of(struct hlo_module *m, struct hlo_computation *c, unsigned depth)
{
	struct repeated r = repeated(m, c->schedule, 1);
	uint64_t id, *number;

	if (c->pass == m->pass)
		return;
	c->pass = m->pass;
	if (c->schedule.len == 0)
		for (uint32_t i = 0; i < c->n; i++)
			put_call(m, c->first + i, depth);
	while (!module_is_full(m) && repeated_next(&r, &id))
		if ((number = map_get(&m->inst_of, id)) != NULL)
			put_call(m, (uint32_t)*number, depth);
}

/* What these computations run. */
static void
put_calls(struct hlo_module *m, struct repeated *ids, uint64_t id)
{
	m->pass++;
	put_key(m, "calls");
	buf_putc(m->out, '[');
	do {
		uint64_t *c = map_get(&m->computation_of, id);

		if (c != NULL)
			put_calls_of(m, &m->computations.v[*c], 0);
	} while (ids != NULL && repeated_next(ids, &id));
	buf_putc(m->out, ']');
}

void
module_put_buffer(struct hlo_module *m, struct str name)
{
	buf_putc(m->out, '{');
	put_text(m, "name", name);
	put_text(m, "opcode", STR("command-buffer"));
	if (m->calls.len == 0) {
		size_t before = m->out->len;

		put_calls(m, NULL, m->entry);
		buf_put(&m->calls, m->out->p + before, m->out->len - before);
	} else {
		buf_put(m->out, m->calls.p, m->calls.len);
	}
	buf_putc(m->out, '}');
}

/* ---- members ---- */

static void
put_operands(struct hlo_module *m, const struct hlo_inst *inst, bool is_body)
{
	struct repeated r = repeated(m, inst->bytes, I_OPERANDS);
	bool is_first = true;
	uint64_t id;

	while (!module_is_full(m) && repeated_next(&r, &id)) {
		uint64_t *number = map_get(&m->inst_of, id);
		const struct hlo_inst *from =
		    number != NULL ? &m->insts.v[*number] : NULL;

		if (is_first)
			put_key(m, "operands");
		buf_putc(m->out, is_first ? '[' : ',');
		is_first = false;
		if (from == NULL || (is_body && from->body != m->pass)) {
			buf_puts(m->out, "null");
			continue;
		}
		if (is_body) {
			json_put_i64(m->out, from->place);
			continue;
		}
		buf_puts(m->out, "{\"name\":");
		json_put_string(m->out, from->name);
		buf_puts(m->out, ",\"shape\":\"");
		put_shape(m, module_instruction(m, from).shape, 0);
		buf_puts(m->out, "\"}");
	}
	if (!is_first)
		buf_putc(m->out, ']');
}

/* Element n of a list, from 1, by a field. */
static struct str
indexed(struct hlo_module *m, const str_vec *list, struct str message,
    uint32_t field)
{
	uint64_t u = module_number(m, message, field);

	return u >= 1 && u <= list->n ? list->v[u - 1] : STR("");
}

/* File and line of the metadata, or of its stack frame. */
static void
put_source(struct hlo_module *m, struct str metadata)
{
	struct str file = module_bytes(m, metadata, 3);
	uint64_t line = module_number(m, metadata, 4);

	if (file.len == 0) {
		struct str frame = indexed(m, &m->frames, metadata, 15);
		struct str place = indexed(m, &m->locations, frame, 1);

		file = indexed(m, &m->files, place, 1);
		line = module_number(m, place, 3);
	}
	m->text.len = 0;
	buf_put(&m->text, file.p, file.len);
	if (file.len > 0 && line > 0)
		buf_printf(&m->text, ":%" PRIu64, line);
	put_text(m, "source", buf_str(&m->text));
}

void
put_config(struct hlo_module *m, struct str config)
{
	const char *error;
	size_t before, at;

	if (config.len > HLO_MAX_CONFIG) {
		put_key(m, "config_bytes");
		json_put_i64(m->out, (int64_t)config.len);
	} else if (config.len > 0) {
		put_key(m, "config");
		before = m->out->len;
		if (config.p[0] != '{' ||
		    !json_minify(config, 2, m->out, &error, &at)) {
			m->out->len = before;
			json_put_string(m->out, config);
		}
	}
}

static void
put_above_1(struct hlo_module *m, const char *key, uint64_t u)
{
	if (u > 1) {
		put_key(m, key);
		json_put_i64(m->out, (int64_t)u);
	}
}

/* Dimensions, and members of single opcodes. */
static void
put_special(struct hlo_module *m, const struct hlo_inst *inst,
    const struct instruction *i)
{
	size_t before;

	if (i->dot.p != NULL) { /* empty: an outer product */
		put_key(m, "dot");
		put_dot(m, i->dot);
	}
	if (i->conv.len > 0) {
		put_key(m, "conv");
		put_conv(m, i->conv);
	}
	put_precision(m, i->precision);
	if (i->window.len > 0) {
		put_key(m, "window");
		put_window(m, i->window);
	}
	put_above_1(m, "feature_groups", i->feature_groups);
	put_above_1(m, "batch_groups", i->batch_groups);
	before = m->out->len;
	put_key(m, "dimensions");
	put_numbers(m, inst->bytes, I_DIMENSIONS);
	if (m->out->p[m->out->len - 2] == '[')
		m->out->len = before;
	if (i->channel > 0) {
		put_key(m, "channel");
		json_put_i64(m->out, (int64_t)i->channel);
	}
	put_groups(m, inst->bytes, i->devices,
	    is_word(group_opcodes, i->opcode) ? m->ndevices : 0);
	put_pairs(m, inst->bytes);
	if (i->has_global_ids) {
		put_key(m, "global_ids");
		buf_puts(m->out, "true");
	}
}

static void
put_members(struct hlo_module *m, const struct hlo_inst *inst, bool is_body)
{
	struct instruction i = module_instruction(m, inst);
	bool is_custom = str_eq(i.opcode, STR("custom-call"));

	put_text(m, "opcode", i.opcode);
	put_key(m, "shape");
	buf_putc(m->out, '"');
	put_shape(m, i.shape, 0);
	buf_putc(m->out, '"');
	put_operands(m, inst, is_body);
	if (is_body && str_eq(i.opcode, STR("parameter"))) {
		put_key(m, "parameter");
		json_put_i64(m->out, (int64_t)i.parameter);
	}
	if (!is_body) {
		put_text(m, "op_name", module_bytes(m, i.metadata, 2));
		put_text(m, "op_type", module_bytes(m, i.metadata, 1));
		put_source(m, i.metadata);
		put_text(m, "deduplicated", module_bytes(m, i.metadata, 12));
	}
	put_text(m, "target", i.target);
	if (!is_body || is_custom)
		put_config(m, i.config);
	put_text(m, "fusion", i.fusion);
	put_special(m, inst, &i);
	if (is_body)
		return;
	if (str_eq(i.opcode, STR("call"))) {
		struct repeated r = repeated(m, inst->bytes, I_CALLED);
		uint64_t id;

		if (repeated_next(&r, &id))
			put_calls(m, &r, id);
	} else if (is_word(body_opcodes, i.opcode)) {
		put_body(m, inst->bytes);
	}
}

void
module_put(struct hlo_module *m, const struct hlo_inst *inst, struct str name,
    bool is_guess)
{
	buf_putc(m->out, '{');
	put_text(m, "name", name);
	if (!str_eq(name, inst->name))
		put_text(m, "instruction", inst->name);
	if (is_guess) {
		put_key(m, "guess");
		buf_puts(m->out, "true");
	}
	if (m->is_text)
		module_put_members(m, inst->bytes);
	else
		put_members(m, inst, false);
	buf_putc(m->out, '}');
}
