/* SPDX-License-Identifier: MIT */
/*
 * The same job as rocprofv3 writes it with --output-format json: an element per
 * process, with agents, kernel symbols, and an array for each kind of record.
 * Each array plays the job once more.
 */
#include "gen.h"

#include <inttypes.h>

enum {
	CPU_AGENTS = 2,
	AGENT_BASE = 37944, /* handle of the first agent */
	KIND_HIP = 5,
	KIND_COPY = 10,
	KIND_DISPATCH = 11,
	KIND_ALLOC = 16,
};

static const int64_t boot_ns = 63855948000000;

static const char *const hip_ops[] = { "hipApiName", "hipLaunchKernel",
	"hipExtLaunchKernel", "hipMemcpyWithStream", "hipMemsetAsync",
	"hipStreamSynchronize", "hipDeviceSynchronize", "hipStreamIsCapturing",
	"hipEventRecord", "hipStreamWaitEvent", "hipGraphLaunch" };

static const char *const kinds[] = { "NONE", "HSA_CORE_API", "HSA_AMD_EXT_API",
	"HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API", "HIP_RUNTIME_API",
	"HIP_COMPILER_API", "MARKER_CORE_API", "MARKER_CONTROL_API",
	"MARKER_NAME_API", "MEMORY_COPY", "KERNEL_DISPATCH", "SCRATCH_MEMORY",
	"CORRELATION_ID_RETIREMENT", "RCCL_API", "OMPT", "MEMORY_ALLOCATION",
	"RUNTIME_INITIALIZATION" };

static const char *const copy_ops[] = { "NONE", "HOST_TO_HOST",
	"HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE" };
static const char *const dispatch_ops[] = { "NONE", "ENQUEUE", "COMPLETE" };
static const char *const alloc_ops[] = { "NONE", "ALLOCATE", "VMEM_ALLOCATE",
	"FREE", "VMEM_FREE" };

enum array { ARR_DISPATCH, ARR_HIP, ARR_COPY, ARR_ALLOC };

#define LEN(a) (sizeof(a) / sizeof(a)[0])

static int64_t
gpu_agent(int64_t device)
{
	return AGENT_BASE + CPU_AGENTS + device;
}

static void
comma(struct emit *e, bool *first)
{
	if (!*first)
		PUT(e->b, ",");
	*first = false;
}

static void
metadata(struct emit *e, int64_t end)
{
	put_fmt(e->b,
	    "\"metadata\":{\"node\":{\"id\":0,\"hash\":0,\"machine_id\":"
	    "\"%016" PRIx64 "\",\"system_name\":\"Linux\",\"hostname\":"
	    "\"node-%03" PRId64
	    "\",\"hardware_name\":\"x86_64\"},\"pid\":%" PRId64
	    ",\"init_time\":%" PRId64 ",\"fini_time\":%" PRId64
	    ",\"command\":[\"python3\",\"train.py\",\"--rank\",\"%" PRId64
	    "\"],\"config\":{\"json_output\":true,\"csv_output\":false}},",
	    mix(e->cf->seed, 4), e->cf->rank / e->cf->devices, e->pid,
	    file_time(e, 0), file_time(e, end), e->cf->rank);
}

static void
agents(struct emit *e)
{
	PUT(e->b, "\"agents\":[");
	for (int64_t i = 0; i < CPU_AGENTS; i++)
		put_fmt(e->b,
		    "{\"size\":312,\"id\":{\"handle\":%" PRId64
		    "},\"type\":1,\"cpu_cores_count\":96,\"num_xcc\":1,"
		    "\"cu_count\":96,\"wave_front_size\":0,\"name\":"
		    "\"AMD EPYC 9654 96-Core Processor\",\"vendor_name\":"
		    "\"CPU\",\"product_name\":\"AMD EPYC 9654 96-Core "
		    "Processor\",\"node_id\":%" PRId64
		    ",\"logical_node_id\":%" PRId64
		    ",\"logical_node_type_id\":%" PRId64
		    ",\"gpu_index\":-1,\"max_engine_clk_fcompute\":0},",
		    AGENT_BASE + i, i, i, i);
	for (int64_t i = 0; i < e->cf->devices; i++)
		put_fmt(e->b,
		    "%s{\"size\":312,\"id\":{\"handle\":%" PRId64
		    "},\"type\":2,\"cpu_cores_count\":0,\"num_xcc\":8,"
		    "\"cu_count\":304,\"wave_front_size\":64,\"name\":"
		    "\"gfx942\",\"vendor_name\":\"AMD\",\"product_name\":"
		    "\"AMD Instinct MI300X\",\"node_id\":%" PRId64
		    ",\"logical_node_id\":%" PRId64
		    ",\"logical_node_type_id\":%" PRId64
		    ",\"gpu_index\":%" PRId64
		    ",\"max_engine_clk_fcompute\":2100}",
		    i > 0 ? "," : "", gpu_agent(i), CPU_AGENTS + i,
		    CPU_AGENTS + i, i, i);
	PUT(e->b, "],\"counters\":[],");
}

static void
ops(struct emit *e, const char *prefix, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_fmt(e->b, "%s\"%s%s\"", i > 0 ? "," : "", prefix, names[i]);
}

static void
strings(struct emit *e)
{
	PUT(e->b, "\"strings\":{\"callback_records\":[],\"buffer_records\":[");
	for (size_t i = 0; i < LEN(kinds); i++) {
		put_fmt(e->b, "%s{\"kind\":\"%s\",\"operations\":[",
		    i > 0 ? "," : "", kinds[i]);
		if (i == KIND_HIP)
			ops(e, "", hip_ops, LEN(hip_ops));
		else if (i == KIND_COPY)
			ops(e, "MEMORY_COPY_", copy_ops, LEN(copy_ops));
		else if (i == KIND_DISPATCH)
			ops(e, "KERNEL_DISPATCH_", dispatch_ops,
			    LEN(dispatch_ops));
		else if (i == KIND_ALLOC)
			ops(e, "MEMORY_ALLOCATION_", alloc_ops, LEN(alloc_ops));
		PUT(e->b, "]}");
	}
	PUT(e->b,
	    "],\"marker_api\":[],\"correlation_id\":{\"external\":[]}},"
	    "\"code_objects\":[],");
}

/* The bare name inside void a::b::name<...>(...). */
static const char *
bare(const char *name, int *len)
{
	static const char anon[] = "(anonymous namespace)::";
	const char *start = strncmp(name, "void ", 5) == 0 ? name + 5 : name;
	const char *p = start;

	while (*p != '\0' && *p != '<' && *p != '(') {
		if (p[0] == ':' && p[1] == ':') {
			p += 2;
			if (strncmp(p, anon, sizeof anon - 1) == 0)
				p += sizeof anon - 1;
			start = p;
		} else {
			p++;
		}
	}
	*len = (int)(p - start);
	return start;
}

static void
symbol(struct emit *e, int64_t id)
{
	const struct kern *k = &kerns[id];
	const char *name = kern_name(e->cf, k, false);
	int len;
	const char *b = bare(name, &len);

	put_fmt(e->b,
	    "{\"size\":88,\"kernel_id\":%" PRId64
	    ",\"code_object_id\":2,\"kernel_name\":",
	    id + 1);
	if (b == name && name[len] == '\0')
		put_fmt(e->b, "\"%s.kd\"", name);
	else
		put_fmt(e->b, "\"_ZN3gen%d%.*sEv.kd\"", len, len, b);
	put_fmt(e->b,
	    ",\"group_segment_size\":%d,\"private_segment_size\":0,"
	    "\"sgpr_count\":96,\"arch_vgpr_count\":%d,\"accum_vgpr_count\":0,"
	    "\"formatted_kernel_name\":\"",
	    k->shared, k->regs);
	put_str(e->b, name);
	PUT(e->b, "\",\"demangled_kernel_name\":\"");
	put_str(e->b, name);
	put_fmt(
	    e->b, " [clone .kd]\",\"truncated_kernel_name\":\"%.*s\"}", len, b);
}

static void
symbols(struct emit *e)
{
	PUT(e->b, "\"kernel_symbols\":[");
	for (int64_t i = 0; i < K_COUNT; i++) {
		if (i > 0)
			PUT(e->b, ",");
		symbol(e, i);
	}
	PUT(e->b, "]");
}

/* The common beginning of all records. */
static void
record(struct emit *e, const struct ev *ev, int size, int kind, int op)
{
	struct buf *b = e->b;
	int64_t t0, t1;

	e->hash = mix(e->cf->seed ^ 0x726f63u, ++e->nevents);
	times(e, ev, &t0, &t1);
	if (quirk_some(e, Q_NEG_DUR, 40))
		t1 = t0 - 17;
	else if (quirk_some(e, Q_ZERO_DUR, 40))
		t1 = t0;
	PUT(b, "{\"size\":");
	put_i64(b, size);
	PUT(b, ",\"kind\":");
	put_i64(b, kind);
	PUT(b, ",\"operation\":");
	put_i64(b, op);
	PUT(b, ",\"thread_id\":");
	put_i64(b, e->tid[ev->thr]);
	PUT(b, ",\"correlation_id\":{\"internal\":");
	put_i64(b, ev->corr);
	PUT(b, ",\"external\":0},\"start_timestamp\":");
	put_i64(b, t0);
	PUT(b, ",\"end_timestamp\":");
	put_i64(b, t1);
}

/* More compute streams stand for more GPUs of the process. */
static int64_t
agent_of(const struct emit *e, const struct ev *ev)
{
	int64_t more = ev->stream < 3 ? 0 : ev->stream - 2;

	return gpu_agent((e->device + more) % e->cf->devices);
}

static void
dispatch(struct emit *e, const struct ev *ev)
{
	struct buf *b = e->b;
	const struct kern *k =
	    ev->kind == EV_MEMSET ? &kerns[K_FILL] : ev->u.kern;
	int64_t grid = ev->grid > 0 ? ev->grid : 1 + ev->a / 4096;

	record(e, ev, 184, KIND_DISPATCH, 2);
	PUT(b, ",\"dispatch_info\":{\"size\":72,\"agent_id\":{\"handle\":");
	put_i64(b, agent_of(e, ev));
	PUT(b, "},\"queue_id\":{\"handle\":");
	put_i64(b, 16 + ev->stream);
	PUT(b, "},\"kernel_id\":");
	put_i64(b, k - kerns + 1);
	PUT(b, ",\"dispatch_id\":");
	put_i64(b, ++e->evidx);
	PUT(b, ",\"private_segment_size\":0,\"group_segment_size\":");
	put_i64(b, k->shared);
	PUT(b, ",\"workgroup_size\":{\"x\":");
	put_i64(b, k->block);
	PUT(b, ",\"y\":1,\"z\":1},\"grid_size\":{\"x\":");
	put_i64(b, grid * k->block);
	PUT(b, ",\"y\":1,\"z\":1}},\"stream_id\":{\"handle\":");
	put_i64(b, stream_id(e->cf, ev->stream));
	PUT(b, "}}");
}

static void
hip_call(struct emit *e, const struct ev *ev)
{
	int op = 0;

	for (size_t i = 0; i < LEN(hip_ops); i++) {
		if (strcmp(hip_ops[i], ev->name) == 0)
			op = (int)i;
	}
	record(e, ev, 72, KIND_HIP, op);
	PUT(e->b, "}");
}

static void
copy_record(struct emit *e, const struct ev *ev)
{
	bool to_device = ev->b != 0;
	int64_t gpu = agent_of(e, ev);

	record(e, ev, 112, KIND_COPY, to_device ? 2 : 3);
	put_fmt(e->b,
	    ",\"dst_agent_id\":{\"handle\":%" PRId64
	    "},\"src_agent_id\":{\"handle\":%" PRId64 "},\"bytes\":%" PRId64
	    ",\"stream_id\":{\"handle\":%" PRId64 "}}",
	    to_device ? gpu : AGENT_BASE, to_device ? AGENT_BASE : gpu, ev->a,
	    stream_id(e->cf, ev->stream));
}

static void
alloc_record(struct emit *e, const struct ev *ev)
{
	record(e, ev, 88, KIND_ALLOC, ev->a < 0 ? 3 : 1);
	put_fmt(e->b,
	    ",\"agent_id\":{\"handle\":%" PRId64 "},\"address\":\"0x%" PRIx64
	    "\",\"allocation_size\":%" PRId64 "}",
	    gpu_agent(e->device), (uint64_t)ev->b, ev->a < 0 ? 0 : ev->a);
}

static bool
belongs(enum array a, const struct ev *ev)
{
	switch (a) {
	case ARR_DISPATCH:
		return ev->kind == EV_KERNEL || ev->kind == EV_MEMSET;
	case ARR_HIP: return ev->kind == EV_RT;
	case ARR_COPY: return ev->kind == EV_MEMCPY;
	case ARR_ALLOC: return ev->kind == EV_MEM;
	}
	return false;
}

static void
array(struct emit *e, enum array a)
{
	static void (*const put[])(struct emit *, const struct ev *) = {
		dispatch, hip_call, copy_record, alloc_record
	};
	bool first = true;

	sim_rank(e->s, e->cf);
	e->s->want_gpu = true;
	for (int64_t n = 0; n < e->cf->steps; n++) {
		model_step(e->s);
		for (size_t i = 0; i < e->s->nev; i++) {
			if (!belongs(a, &e->s->ev[i]))
				continue;
			comma(e, &first);
			put[a](e, &e->s->ev[i]);
		}
	}
}

static void
records(struct emit *e)
{
	PUT(e->b,
	    "\"summary\":[],\"callback_records\":{\"counter_collection\":"
	    "[]},\"buffer_records\":{\"kernel_dispatch\":[");
	array(e, ARR_DISPATCH);
	PUT(e->b, "],\"hip_api\":[");
	array(e, ARR_HIP);
	PUT(e->b,
	    "],\"hsa_api\":[],\"marker_api\":[],\"rccl_api\":[],"
	    "\"memory_copy\":[");
	array(e, ARR_COPY);
	PUT(e->b, "],\"memory_allocation\":[");
	array(e, ARR_ALLOC);
	PUT(e->b, "],\"scratch_memory\":[],\"rocdecode_api\":[]}");
}

static void
process(struct emit *e)
{
	bool last = quirk_on(e->cf, Q_SYMBOLS_LAST);

	for (int64_t n = 0; n < e->cf->steps; n++)
		model_step(e->s);
	PUT(e->b, "{");
	metadata(e, e->s->now);
	agents(e);
	strings(e);
	if (!last) {
		symbols(e);
		PUT(e->b, ",\"host_functions\":[],");
	}
	records(e);
	if (last) {
		PUT(e->b, ",\"host_functions\":[],");
		symbols(e);
	}
	PUT(e->b, "}");
}

/* Processes are the ranks from --rank on. */
uint64_t
rocprof_write(const struct conf *conf, struct buf *b)
{
	struct conf cf = *conf;
	uint64_t n = 0;
	bool first = true;

	cf.cuda = false;
	cf.fp_epoch = cf.int_us = false;
	if (cf.ranks < cf.rank + cf.processes)
		cf.ranks = cf.rank + cf.processes;
	PUT(b, "{\"rocprofiler-sdk-tool\":[");
	for (int64_t p = 0; p < cf.processes; p++) {
		struct sim s;
		struct emit e;

		sim_init(&s, &cf);
		emit_init(&e, &cf, b, &s);
		e.base = boot_ns;
		comma(&e, &first);
		process(&e);
		sim_free(&s);
		n += e.nevents;
		cf.rank++;
	}
	PUT(b, "]}\n");
	return n;
}
