/* SPDX-License-Identifier: MIT */
/* Records of XLA modules, from HloProtos that this test builds. */
#include "cmd/tl-decode/hlo/module.h"

#undef HLO_MAX_RECORD
#define HLO_MAX_RECORD ((size_t)1 << 20)
/* NOLINTNEXTLINE(bugprone-suspicious-include): with limits of this test */
#include "cmd/tl-decode/hlo/hlo.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): a program's part */
#include "cmd/tl-decode/hlo/module.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): a program's part */
#include "cmd/tl-decode/hlo/put.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): a program's part */
#include "cmd/tl-decode/hlo/text.c"
/* NOLINTNEXTLINE(bugprone-suspicious-include): a program's part */
#include "cmd/tl-decode/hlo/value.c"
#include "proto/put.h"

#include "tests/unit/tap.h"

void
source_meta(struct source_state *s, struct str key, struct value v)
{
	(void)s;
	(void)key;
	(void)v;
}

/* Ids as JAX writes them. */
#define ID(computation, n) ((uint64_t)(computation) << 32 | (n))

static struct buf b; /* an HloModuleProto */
static size_t in_comp, in_inst;

static void
put_str(uint32_t field, const char *s)
{
	proto_put_bytes(&b, field, str_of(s));
}

/* Numbers, separated by blanks, packed. */
static void
put_packed(uint32_t field, const char *numbers)
{
	size_t m = proto_begin(&b, field);
	struct str word;

	while (str_next(&numbers, ' ', &word)) {
		uint64_t u = 0;

		if (num_u64(word, &u))
			buf_varint(&b, u);
	}
	proto_end(&b, m);
}

/* An array: its type, dimensions, and minor to major. */
static void
shape(uint32_t field, uint64_t type, const char *dims, const char *layout)
{
	size_t m = proto_begin(&b, field);

	proto_put_number(&b, 2, type);
	put_packed(3, dims);
	if (layout != NULL) {
		size_t l = proto_begin(&b, 5);

		put_packed(1, layout);
		proto_end(&b, l);
	}
	proto_end(&b, m);
}

static void
computation(uint64_t id, uint64_t root)
{
	in_comp = proto_begin(&b, 3);
	proto_put_number(&b, 5, id);
	proto_put_number(&b, 6, root);
}

static void
begin(const char *name, const char *opcode, uint64_t id)
{
	in_inst = proto_begin(&b, 2);
	put_str(I_NAME, name);
	put_str(I_OPCODE, opcode);
	proto_put_number(&b, I_ID, id);
}

static void
end(void)
{
	proto_end(&b, in_inst);
}

/* An instruction that has an f32[4], and operands. */
static void
plain(const char *name, const char *opcode, uint64_t id,
    const uint64_t *operands, size_t n)
{
	begin(name, opcode, id);
	shape(I_SHAPE, 11, "4", NULL);
	for (size_t i = 0; i < n; i++)
		proto_put_number(&b, I_OPERANDS, operands[i]);
	end();
}

static void
start(void)
{
	b.len = 0;
	put_str(1, "jit_f");
	proto_put_number(&b, 6, 1);
}

/* The record of the module, if events name those instructions; or the error. */
static const char *
record_of(const char *names)
{
	static struct buf proto, text;
	struct hlo *h = hlo_create();
	struct hlo_module m;
	struct str name;

	proto.len = text.len = 0;
	proto_put_bytes(&proto, 1, buf_str(&b));
	while (str_next(&names, ' ', &name))
		hlo_name(h, 7, name, STR(""));
	record(h, &m, &h->programs.v[0], buf_str(&proto));
	if (m.error != NULL)
		buf_printf(&text, "%zu: %s", m.at, m.error);
	else
		buf_put(&text, h->record.p, h->record.len);
	buf_putc(&text, '\0');
	module_free(&m);
	hlo_destroy(h);
	return text.p;
}

/* Members of the only instruction, after its opcode and shape f32[4]. */
static const char *
members_of(const char *name)
{
	static const char tail[] = "}]}", shape_text[] = "\"f32[4]\"";
	char *text = (char *)record_of(name);
	char *at = strstr(text, shape_text);
	size_t len = strlen(text);

	if (at == NULL || strcmp(text + len - 3, tail) != 0)
		return text;
	text[len - 3] = '\0';
	return at + sizeof shape_text - 1;
}

static void
test_gemm(void)
{
	size_t m, n;

	start();
	computation(1, ID(1, 2));
	begin("p0", "parameter", ID(1, 0));
	shape(I_SHAPE, 16, "8 4", "1 0");
	end();
	begin("custom-call.1", "custom-call", ID(1, 1));
	m = proto_begin(&b, I_SHAPE);
	proto_put_number(&b, 2, 13);
	shape(4, 16, "8 8", "0 1");
	shape(4, 2, "64", "0");
	shape(4, 11, "", "");
	proto_end(&b, m);
	proto_put_number(&b, I_OPERANDS, ID(1, 0));
	proto_put_number(&b, I_OPERANDS, ID(9, 9));
	put_str(I_TARGET, "__cublas$gemm");
	put_str(I_CONFIG, "{\"beta\": 0}");
	m = proto_begin(&b, I_METADATA);
	put_str(1, "dot_general");
	put_str(2, "jit(f)/a \"b\"");
	proto_put_number(&b, 15, 2);
	proto_end(&b, m);
	end();
	proto_end(&b, in_comp);
	n = proto_begin(&b, 17);
	put_str(1, "other.py");
	put_str(1, "f.py");
	m = proto_begin(&b, 3);
	proto_put_number(&b, 1, 2);
	proto_put_number(&b, 3, 12);
	proto_end(&b, m);
	put_str(4, "");
	m = proto_begin(&b, 4);
	proto_put_number(&b, 1, 1);
	proto_end(&b, m);
	proto_end(&b, n);
	is_str(record_of("%custom-call.1 custom-call.1"),
	    "{\"module\":\"jit_f\",\"instructions\":[{\"name\":\"custom-call."
	    "1\","
	    "\"opcode\":\"custom-call\","
	    "\"shape\":\"(bf16[8,8]{0,1},s8[64]{0},f32[])\","
	    "\"operands\":[{\"name\":\"p0\",\"shape\":\"bf16[8,4]{1,0}\"},null]"
	    ","
	    "\"op_name\":\"jit(f)/a \\\"b\\\"\",\"op_type\":\"dot_general\","
	    "\"source\":\"f.py:12\",\"target\":\"__cublas$gemm\","
	    "\"config\":{\"beta\":0}}]}",
	    "a GEMM: tuple, layouts, operands by 64-bit ids, frame, config");
	is_str(record_of("nothing"),
	    "{\"module\":\"jit_f\",\"instructions\":[],"
	    "\"missing\":[\"nothing\"]}",
	    "a name that the module lacks");
}

static void
test_numbers(void)
{
	size_t m;

	start();
	computation(1, 0);
	begin("conv", "convolution", 1);
	shape(I_SHAPE, 11, "4", NULL);
	put_str(I_CONFIG, "{attn_heads = 16 : i64}");
	m = proto_begin(&b, I_DOT);
	put_packed(1, "1");
	proto_put_number(&b, 2, 0);
	proto_put_number(&b, 2, 3);
	proto_end(&b, m);
	m = proto_begin(&b, I_CONV);
	proto_put_number(&b, 8, 1);
	put_packed(11, "2 3");
	proto_end(&b, m);
	m = proto_begin(&b, I_WINDOW);
	size_t d = proto_begin(&b, 1);
	proto_put_number(&b, 1, 3);
	proto_put_number(&b, 3, (uint64_t)-1);
	proto_end(&b, d);
	proto_end(&b, m);
	proto_put_number(&b, I_FEATURE_GROUPS, 1);
	proto_put_number(&b, I_BATCH_GROUPS, 2);
	put_packed(I_DIMENSIONS, "0 2");
	end();
	proto_end(&b, in_comp);
	is_str(members_of("conv"),
	    ",\"config\":\"{attn_heads = 16 : i64}\","
	    "\"dot\":{\"lhs_contracting\":[1],\"rhs_contracting\":[0,3],"
	    "\"lhs_batch\":[],\"rhs_batch\":[]},"
	    "\"conv\":{\"input_batch\":0,\"input_feature\":1,"
	    "\"input_spatial\":[2,3],\"kernel_input_feature\":0,"
	    "\"kernel_output_feature\":0,\"kernel_spatial\":[],"
	    "\"output_batch\":0,\"output_feature\":0,\"output_spatial\":[]},"
	    "\"window\":[{\"size\":3,\"stride\":0,\"padding_low\":-1,"
	    "\"padding_high\":0,\"window_dilation\":0,\"base_dilation\":0,"
	    "\"reversal\":0}],\"batch_groups\":2,\"dimensions\":[0,2]",
	    "dimensions of dot and convolution, windows, a config that is no "
	    "JSON");
}

static void
iota(uint64_t groups, uint64_t size, const char *dims, const char *perm)
{
	size_t m = proto_begin(&b, I_DEVICES);
	size_t i = proto_begin(&b, 2);

	proto_put_number(&b, 1, groups);
	proto_put_number(&b, 2, size);
	put_packed(3, dims);
	put_packed(4, perm);
	proto_end(&b, i);
	proto_end(&b, m);
}

/* A collective with what put() puts into it. */
static const char *
collective(int kind)
{
	size_t m, l;

	start();
	computation(1, 0);
	begin("c", "all-reduce", 1);
	shape(I_SHAPE, 11, "4", NULL);
	switch (kind) {
	case 0:
		for (int i = 0; i < 2; i++) {
			m = proto_begin(&b, I_GROUPS);
			put_packed(1, i == 0 ? "0 1" : "2 3");
			proto_end(&b, m);
		}
		proto_put_number(&b, I_CHANNEL, 5);
		proto_put_number(&b, I_GLOBAL_IDS, 1);
		break;
	case 1:
		m = proto_begin(&b, I_DEVICES);
		l = proto_begin(&b, 1);
		put_packed(1, "3 1");
		proto_end(&b, l);
		proto_end(&b, m);
		break;
	case 2: iota(2, 4, "4 2", "1 0"); break;
	case 3: iota(2, 4, "8", ""); break;
	case 4: iota(1000000, 1000000, "1000000 1000000", ""); break;
	case 5: iota(2, 4, "4 2", "1 1"); break;
	case 6:
		for (int i = 0; i < 2; i++) {
			m = proto_begin(&b, I_PAIRS);
			proto_put_number(&b, 1, (uint64_t)i);
			proto_put_number(&b, 2, 1 - (uint64_t)i);
			proto_end(&b, m);
		}
		break;
	}
	end();
	proto_end(&b, in_comp);
	if (kind >= 7) { /* replicas and partitions */
		m = proto_begin(&b, 15);
		proto_put_number(&b, 1, kind == 8 ? 3 : 1);
		proto_put_number(&b, 2, kind == 7 ? 3 : kind == 8 ? 1 : 2);
		if (kind == 9)
			proto_put_number(&b, 1, 2);
		proto_end(&b, m);
	}
	return members_of("c");
}

static void
test_collectives(void)
{
	is_str(collective(0),
	    ",\"channel\":5,\"groups\":[[0,1],[2,3]],\"global_ids\":true",
	    "groups, channel and ids");
	is_str(collective(1), ",\"groups\":[[3,1]]", "groups in a device list");
	is_str(collective(2), ",\"groups\":[[0,2,4,6],[1,3,5,7]]",
	    "[2,4]<=[4,2]T(1,0)");
	is_str(
	    collective(3), ",\"groups\":[[0,1,2,3],[4,5,6,7]]", "[2,4]<=[8]");
	is_str(collective(4), "", "more devices than there are: no groups");
	is_str(collective(5), "", "no permutation: no groups");
	is_str(collective(7), ",\"groups\":[[0,1,2]]",
	    "no groups: all partitions");
	is_str(collective(8), ",\"groups\":[[0,1,2]]", "or all replicas");
	is_str(collective(9), "", "of both it could be either");
	is_str(collective(6), ",\"pairs\":[[0,1],[1,0]]", "pairs");
}

static void
test_body(void)
{
	uint64_t two[] = { 10, 11 }, one[] = { 12 };

	start();
	computation(2, 13);
	begin("p", "parameter", 10);
	shape(I_SHAPE, 11, "4", NULL);
	proto_put_number(&b, I_PARAMETER, 1);
	end();
	plain("c", "constant", 11, NULL, 0);
	plain("mul", "multiply", 12, two, 2);
	begin("inner", "fusion", 13);
	shape(I_SHAPE, 11, "4", NULL);
	proto_put_number(&b, I_OPERANDS, 12);
	proto_put_number(&b, I_CALLED, 3);
	proto_put_number(&b, I_CALLED, 2);
	end();
	proto_end(&b, in_comp);
	computation(3, 20);
	plain("neg", "negate", 20, one, 1);
	proto_end(&b, in_comp);
	computation(1, 30);
	begin("outer", "fusion", 30);
	shape(I_SHAPE, 11, "4", NULL);
	put_str(I_FUSION, "kLoop");
	put_packed(I_CALLED, "2 77");
	end();
	begin("red", "reduce", 31);
	shape(I_SHAPE, 11, "4", NULL);
	put_packed(I_CALLED, "3");
	end();
	proto_end(&b, in_comp);
	is_str(members_of("outer"),
	    ",\"fusion\":\"kLoop\",\"body\":["
	    "{\"opcode\":\"parameter\",\"shape\":\"f32[4]\",\"parameter\":1},"
	    "{\"opcode\":\"constant\",\"shape\":\"f32[4]\"},"
	    "{\"opcode\":\"multiply\",\"shape\":\"f32[4]\",\"operands\":[0,1]},"
	    "{\"opcode\":\"fusion\",\"shape\":\"f32[4]\",\"operands\":[2],"
	    "\"root\":true},"
	    "{\"opcode\":\"negate\",\"shape\":\"f32[4]\",\"operands\":[2]}]",
	    "a fusion's computations, each once though they call each other");
	is_str(members_of("red"), "", "what a reduction applies is no body");
}

static void
schedule(uint64_t of, const char *ids)
{
	size_t s = proto_begin(&b, 7), e = proto_begin(&b, 1), q;

	proto_put_number(&b, 1, of);
	q = proto_begin(&b, 2);
	put_packed(1, ids);
	proto_end(&b, q);
	proto_end(&b, e);
	proto_end(&b, s);
}

static void
test_calls(void)
{
	start();
	computation(2, 0);
	plain("in_loop", "fusion", 20, NULL, 0);
	begin("again", "call", 21);
	put_packed(I_CALLED, "1 2");
	end();
	proto_end(&b, in_comp);
	computation(1, 0);
	plain("last", "copy", 10, NULL, 0);
	plain("t", "tuple", 11, NULL, 0);
	begin("loop", "while", 12);
	put_packed(I_CALLED, "2");
	end();
	plain("first", "copy", 13, NULL, 0);
	proto_end(&b, in_comp);
	schedule(1, "13 12 11 10 99");
	is_str(record_of("command_buffer_1 first"),
	    "{\"module\":\"jit_f\",\"instructions\":["
	    "{\"name\":\"command_buffer_1\",\"opcode\":\"command-buffer\","
	    "\"calls\":[\"first\",\"in_loop\",\"last\"]},"
	    "{\"name\":\"first\",\"opcode\":\"copy\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"in_loop\",\"opcode\":\"fusion\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"last\",\"opcode\":\"copy\",\"shape\":\"f32[4]\"}]}",
	    "a command buffer: what the schedule runs, each of it a record");
	is_str(record_of("again"),
	    "{\"module\":\"jit_f\",\"instructions\":["
	    "{\"name\":\"again\",\"opcode\":\"call\",\"shape\":\"type0[]\","
	    "\"calls\":[\"first\",\"in_loop\",\"last\"]},"
	    "{\"name\":\"first\",\"opcode\":\"copy\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"in_loop\",\"opcode\":\"fusion\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"last\",\"opcode\":\"copy\",\"shape\":\"f32[4]\"}]}",
	    "calls that go round end");
}

static void
test_renamed(void)
{
	start();
	computation(1, 0);
	plain("all-gather-start.4", "all-gather-start", 1, NULL, 0);
	plain("all-to-all-start.9", "all-to-all-start", 2, NULL, 0);
	plain("all-to-all-start.10", "all-to-all-start", 3, NULL, 0);
	plain("reduce-scatter-done", "reduce-scatter-done", 4, NULL, 0);
	proto_end(&b, in_comp);
	is_str(record_of("all-gather.4 all-to-all.3 all-to-all.2 all-to-all.5 "
			 "reduce-scatter.1 all-gatherer"),
	    "{\"module\":\"jit_f\",\"instructions\":["
	    "{\"name\":\"all-gather.4\",\"instruction\":\"all-gather-start.4\","
	    "\"opcode\":\"all-gather-start\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"all-to-all.3\",\"instruction\":\"all-to-all-start."
	    "10\","
	    "\"guess\":true,"
	    "\"opcode\":\"all-to-all-start\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"all-to-all.2\",\"instruction\":\"all-to-all-start.9\","
	    "\"guess\":true,"
	    "\"opcode\":\"all-to-all-start\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"all-to-all.5\",\"instruction\":\"all-to-all-start."
	    "10\","
	    "\"guess\":true,"
	    "\"opcode\":\"all-to-all-start\",\"shape\":\"f32[4]\"},"
	    "{\"name\":\"reduce-scatter.1\","
	    "\"instruction\":\"reduce-scatter-done\",\"guess\":true,"
	    "\"opcode\":\"reduce-scatter-done\",\"shape\":\"f32[4]\"}],"
	    "\"missing\":[\"all-gatherer\"]}",
	    "renamed collectives: by -start, else by the order of numbers");
}

#define PROTO_HEAD 3 /* before the module: a key and two of length */

static void
test_bad(void)
{
	size_t nested[120], n = sizeof nested / sizeof *nested;

	start();
	computation(1, 0);
	begin("deep", "copy", 1);
	nested[0] = proto_begin(&b, I_SHAPE);
	for (size_t i = 1; i < n; i++)
		nested[i] = proto_begin(&b, 4);
	for (size_t i = n; i-- > 0;)
		proto_end(&b, nested[i]);
	end();
	begin("odd", "copy", 2);
	shape(I_SHAPE, 999, "9223372036854775807 18446744073709551615", "5");
	end();
	begin("list", "copy", 3);
	proto_put_fixed64(&b, I_DIMENSIONS, 1);
	end();
	proto_end(&b, in_comp);
	ok(strstr(record_of("deep"), ": tuples in tuples deeper than 100") !=
		NULL,
	    "tuples in tuples end");
	is_str(record_of("odd"),
	    "{\"module\":\"jit_f\",\"instructions\":[{\"name\":\"odd\","
	    "\"opcode\":\"copy\",\"shape\":"
	    "\"type999[9223372036854775807,-1]{5}\"}]}",
	    "a type and dimensions that nobody knows");
	ok(strstr(record_of("list"), ": a bad list of numbers") != NULL &&
		(size_t)atol(record_of("list")) == b.len + PROTO_HEAD,
	    "a list of something else, and where it ends");
	b.len -= 1;
	ok(strstr(record_of("odd"), ": the data end in a field") != NULL,
	    "a module that is cut off is an error");
}

static void
test_long(void)
{
	struct buf config = { 0 };

	while (config.len <= HLO_MAX_CONFIG)
		buf_putc(&config, 'x');
	start();
	computation(1, 0);
	begin("k", "custom-call", 1);
	shape(I_SHAPE, 11, "4", NULL);
	proto_put_bytes(&b, I_CONFIG, buf_str(&config));
	end();
	proto_end(&b, in_comp);
	is_str(members_of("k"), ",\"config_bytes\":16385",
	    "a configuration that is too long");
	buf_free(&config);
}

/*
 * Each instruction's operands are the tuple of all others. Without a bound the
 * record would have 100 times 1,000 times 20 kB.
 */
static void
test_bound(void)
{
	struct buf names = { 0 };
	const char *text;
	size_t m;

	start();
	computation(1, 0);
	begin("t", "tuple", 0);
	m = proto_begin(&b, I_SHAPE);
	proto_put_number(&b, 2, 13);
	for (int i = 0; i < 1000; i++)
		shape(4, 11, "1000000", "0");
	proto_end(&b, m);
	end();
	for (int i = 1; i <= 100; i++) {
		char name[16];

		snprintf(name, sizeof name, "k%d", i);
		buf_printf(&names, "%s%s", i > 1 ? " " : "", name);
		begin(name, "copy", (uint64_t)i);
		for (int k = 0; k < 1000; k++)
			proto_put_number(&b, I_OPERANDS, 0);
		end();
	}
	proto_end(&b, in_comp);
	buf_putc(&names, '\0');
	text = record_of(names.p);
	ok(strlen(text) <= HLO_MAX_RECORD + 4096, "a record has its bound");
	ok(strstr(text, "\"missing\":[\"k") != NULL &&
		strstr(text, "\"k100\"]}") != NULL,
	    "what is beyond is missing");
	buf_free(&names);
}

/* How a text is recorded. */
static const char *
text_of(const char *text)
{
	static struct buf out;
	struct hlo_module m = { .out = &out };

	out.len = 0;
	module_put_text(&m, STR("x"), str_of(text));
	buf_putc(&out, '\0');
	buf_free(&m.text);
	return out.p;
}

static void
test_texts(void)
{
	is_str(
	    text_of("%x = (bf16[8,16]{1,0:T(8,128)(2,1)S(1)}, "
		    "/*index=1*/f32[]{:T(128)}, u32[]{:S(2)}) "
		    "custom-call(f32[2]{0} %a.1, %b), "
		    "custom_call_target=\"a,\\\"b\", metadata={op_name=\"k\"}"),
	    "{\"name\":\"x\",\"opcode\":\"custom-call\","
	    "\"shape\":\"(bf16[8,16]{1,0:S(1)},f32[],u32[]{:S(2)})\","
	    "\"operands\":[{\"name\":\"a.1\",\"shape\":\"f32[2]{0}\"},"
	    "{\"name\":\"b\"}],\"target\":\"a,\\\\\\\"b\",\"op_name\":\"k\"}",
	    "tiles, comments, memory spaces, operands without shapes");
	is_str(text_of("%x = f32[4]{0} all-gather(f32[2]{0} %a), channel_id=3, "
		       "replica_groups={{0,1},{2,3}}, dimensions={0}, "
		       "use_global_device_ids=true"),
	    "{\"name\":\"x\",\"opcode\":\"all-gather\","
	    "\"shape\":\"f32[4]{0}\","
	    "\"operands\":[{\"name\":\"a\",\"shape\":\"f32[2]{0}\"}],"
	    "\"channel\":3,\"groups\":[[0,1],[2,3]],\"dimensions\":[0],"
	    "\"global_ids\":true}",
	    "a collective");
	is_str(text_of("%x = f32[4] all-reduce(), "
		       "replica_groups=[2,4]<=[4,2]T(1,0), channel_id=x, "
		       "dimensions={}, source_target_pairs={{0,}}"),
	    "{\"name\":\"x\",\"opcode\":\"all-reduce\","
	    "\"shape\":\"f32[4]\",\"operands\":[],"
	    "\"groups\":[[0,2,4,6],[1,3,5,7]]}",
	    "groups as a formula; what is no list or number is none");
	is_str(text_of("no text at all"),
	    "{\"name\":\"x\",\"shape\":\"\",\"operands\":[]}",
	    "what is no text says nothing");
}

/* The instructions of a dump, as events name them. */
static const char *
dump_of(const char *names)
{
	static const char dump[] =
	    "HloModule jit_f.2, is_scheduled=true, num_partitions=3\n"
	    "\n"
	    "%sum (a: f32[], b: f32[]) -> f32[] {\n"
	    "  ROOT %add = f32[] add(%a, %b)\n"
	    "}\n"
	    "ENTRY %main (p.1: (f32[2], f32[8])) -> f32[2] {\n"
	    "  p.1 = (f32[2]{0}, /*index=1*/f32[8]{0}) parameter(0)\r\n"
	    "  %ar.4 = f32[2]{0} all-reduce(/*index=0*/%p.1), "
	    "replica_groups={}, to_apply=%sum, metadata={op_name=\"a \\\"b\" "
	    "source_file=\"f g.py\" source_line=3 "
	    "scheduling_name=\"ar.9\"}\n"
	    "  ROOT %ar.5 = f32[2] all-reduce(f32[2] %ar.4), "
	    "replica_groups={{0,2},{1}}\n"
	    "  %all-gather-start.1 = (f32[2], f32[4]) all-gather-start(%none)\n"
	    "}";
	static struct buf text;
	struct hlo *h = hlo_create();
	struct str name, record;

	text.len = 0;
	while (str_next(&names, ' ', &name))
		hlo_name(h, 7, name, STR(""));
	record = hlo_dump_record(h, 7, STR(dump));
	buf_put(&text, record.p, record.len);
	buf_putc(&text, '\0');
	hlo_destroy(h);
	return text.p;
}

static void
test_dump(void)
{
	is_str(dump_of("ar.9"),
	    "{\"module\":\"jit_f.2\",\"instructions\":[{\"name\":\"ar.9\","
	    "\"instruction\":\"ar.4\",\"opcode\":\"all-reduce\","
	    "\"shape\":\"f32[2]{0}\",\"operands\":[{\"name\":\"p.1\","
	    "\"shape\":\"(f32[2]{0},f32[8]{0})\"}],\"groups\":[[0,1,2]],"
	    "\"op_name\":\"a \\\"b\",\"source\":\"f g.py:3\"}]}",
	    "a scheduler's name, an operand's shape, groups of all, metadata");
	is_str(dump_of("ar.5 sum main"),
	    "{\"module\":\"jit_f.2\",\"instructions\":[{\"name\":\"ar.5\","
	    "\"opcode\":\"all-reduce\",\"shape\":\"f32[2]\","
	    "\"operands\":[{\"name\":\"ar.4\",\"shape\":\"f32[2]\"}],"
	    "\"groups\":[[0,2],[1]]}],\"missing\":[\"sum\",\"main\"]}",
	    "a root; computations are no instructions");
	is_str(dump_of("all-gather.1"),
	    "{\"module\":\"jit_f.2\",\"instructions\":[{\"name\":"
	    "\"all-gather.1\",\"instruction\":\"all-gather-start.1\","
	    "\"opcode\":\"all-gather-start\",\"shape\":\"(f32[2],f32[4])\","
	    "\"operands\":[{\"name\":\"none\"}]}]}",
	    "the start of what events name");
}

int
main(void)
{
	test_texts();
	test_dump();
	test_gemm();
	test_numbers();
	test_collectives();
	test_body();
	test_calls();
	test_renamed();
	test_bad();
	test_long();
	test_bound();
	buf_free(&b);
	done_testing();
}
