/* SPDX-License-Identifier: MIT */
/* trace/bucket.c */
#include "tests/unit/tap.h"
#include "trace/bucket.h"

#define K KIND_KERNEL
#define S KIND_MEMSET
#define COMPUTE BUCKET_COMPUTE
#define COMM BUCKET_COMM
#define COPY BUCKET_MEMCPY

static const struct {
	enum kind kind;
	struct str name;
	enum bucket want;
} cases[] = {
	{ KIND_MEMCPY, STR_INIT("Memcpy HtoD (Pageable -> Device)"), COPY },
	{ KIND_MEMCPY, STR_INIT("ncclCopy"), COPY },
	{ KIND_MEMCPY, STR_INIT(""), COPY },
	{ S, STR_INIT("Memset (Device)"), COMPUTE },
	{ S, STR_INIT("nccl memset"), COMM },
	/* R1 is about kernels */
	{ K, STR_INIT("MEMORY_COPY_HOST_TO_DEVICE"), COPY },
	{ K, STR_INIT("MEMORY_COPY_DEVICE_TO_HOST.kd"), COPY },
	{ K, STR_INIT("MEMORY_COPY_DEVICE_TO_DEVICE"), COPY },
	{ S, STR_INIT("MEMORY_COPY_DEVICE_TO_DEVICE"), COMPUTE },
	{ K, STR_INIT("MEMORY_COPY_HOST_TO_HOST"), COMPUTE },
	{ K, STR_INIT("MEMORY_COPY_DEVICE_TO_DEVICE_"), COMPUTE },
	{ K, STR_INIT("__amd_rocclr_copyBuffer"), COPY },
	{ K, STR_INIT("__amd_rocclr_copyBuffer.kd"), COPY },
	{ K, STR_INIT("__amd_rocclr_copyBufferAligned"), COPY },
	{ K, STR_INIT("__amd_rocclr_copyBufferRect.kd"), COPY },
	{ K, STR_INIT("__amd_rocclr_copyBufferRectAligned.kd"), COPY },
	{ K, STR_INIT("__amd_rocclr_copyBufferAlignedRect"), COMPUTE },
	{ K, STR_INIT("__amd_rocclr_copyBuffer.kdx"), COMPUTE },
	{ K, STR_INIT("x__amd_rocclr_copyBuffer"), COMPUTE },
	{ K, STR_INIT("__amd_rocclr_copyImage"), COMPUTE },
	{ K, STR_INIT("__amd_rocclr_fillBuffer"), COMPUTE },
	{ K, STR_INIT("__amd_rocclr_fillBufferAligned.kd"), COMPUTE },
	{ K, STR_INIT("ncclDevKernel_AllReduce_Sum_f32"), COMM },
	{ K, STR_INIT("void RCCL_kernel<int>"), COMM },
	{ K, STR_INIT("all-reduce"), COMM },
	{ K, STR_INIT("all-gather-start.3"), COMM },
	{ K, STR_INIT("async-all-gather"), COMM },
	{ K, STR_INIT("async-copy"), COMPUTE },
	{ K, STR_INIT("collective-permute-done"), COMM },
	{ K, STR_INIT("all-reduce-fusion"), COMPUTE },
	{ K, STR_INIT("all-reduced"), COMPUTE },
	{ K, STR_INIT("mscclKernel_Sum"), COMPUTE },
	{ K, STR_INIT("void vllm::Cross_Device_Reduce_1stage<float>"), COMM },
	{ K, STR_INIT("multimem_all_reduce_kernel"), COMPUTE },
	{ K, STR_INIT("aiter::allgather_lastdim"), COMPUTE },
	{ K, STR_INIT("ncc"), COMPUTE },
	{ K, STR_INIT(""), COMPUTE },
	{ K, STR_INIT("a\0nccl"), COMM },
	{ KIND_GPU_ANNOTATION, STR_INIT("nccl:all_reduce"), BUCKET_NONE },
	{ KIND_SYNC, STR_INIT("Stream Sync"), BUCKET_NONE },
	{ KIND_OP, STR_INIT("nccl:all_reduce"), BUCKET_NONE },
};

static const char *const words[] = { "none", "compute", "comm", "copy" };

static void
test_names(void)
{
	struct bucket_rules r = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		is_str(words[bucket_of(&r, cases[i].kind, cases[i].name)],
		    words[cases[i].want], "%s '%.*s'",
		    kind_words[cases[i].kind], (int)cases[i].name.len,
		    cases[i].name.p);
}

static void
test_ways(void)
{
	static const struct {
		const char *names;
		enum copy_way want;
	} ways[] = {
		{ "Memcpy HtoD (Pageable -> Device)|MemcpyH2D|"
		  "[CUDA memcpy Host-to-Device]|CopyHostToDevice|"
		  "MEMORY_COPY_HOST_TO_DEVICE|Memcpy HtoA",
		    COPY_H2D },
		{ "Memcpy DtoH|MemcpyD2H|[CUDA memcpy Device-to-Host]|"
		  "CopyDeviceToHost|MEMORY_COPY_DEVICE_TO_HOST|Memcpy AtoH",
		    COPY_D2H },
		{ "Memcpy DtoD|MemcpyD2D|MemcpyP2P|Memcpy PtoP|"
		  "[CUDA memcpy Device-to-Device]|CopyDeviceToDevice|"
		  "MEMORY_COPY_DEVICE_TO_DEVICE|Memcpy AtoA|Memcpy AtoD|"
		  "Memcpy DtoA",
		    COPY_D2D },
		{ "Memcpy HtoH|hipMemcpyAsync|Memcpy2D|copy", COPY_OTHER },
	};

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		const char *list = ways[i].names;
		struct str name;

		while (str_next(&list, '|', &name))
			is_int(copy_way(name), ways[i].want,
			    "the way of '%.*s'", (int)name.len, name.p);
	}
}

/* Twice: first it is decided, then remembered. */
static void
test_events(void)
{
	struct dict *st = dict_create();
	struct bucket_rules r = { 0 };
	size_t n = sizeof cases / sizeof *cases, good;

	for (int round = 0; round < 2; round++) {
		good = 0;
		for (size_t i = n; i-- > 0;) {
			struct shape shape = { .kind = (uint8_t)cases[i].kind };
			struct event ev = {
				.shape = &shape,
				.name = intern_put(st->text, cases[i].name),
			};

			good += bucket_of_event(&r, st, &ev) == cases[i].want;
		}
		is_uint(good, n, "by the number of the name, round %d", round);
	}
	ok(bucket_of_event(&r, st,
	       &(struct event){ .shape = &(struct shape){ .kind = K },
		   .name = INTERN_NONE }) == COMPUTE,
	    "a kernel without a name computes");
	bucket_free(&r);
	dict_destroy(st);
}

static void
take(struct bucket_rules *r, const char *re)
{
	struct optparse op = { .name = "--comm-pattern", .arg = re };

	ok(bucket_opt(r, &op, OPT_BUCKET_COMM), "--comm-pattern '%s'", re);
}

static void
test_patterns(void)
{
	struct bucket_rules r = { 0 };

	take(&r, "all_?(reduce|gather)");
	take(&r, "^quickreduce$");
	ok(!bucket_opt(&r, &(struct optparse){ .name = "-v" }, 'v'),
	    "another option is none of its");
	is_int(bucket_of(&r, K, STR("aiter::allGather_lastdim")), COMM,
	    "anywhere, in any case");
	is_int(bucket_of(&r, K, STR("quickreduce")), COMM, "the second");
	is_int(bucket_of(&r, K, STR("quickreduce2")), COMPUTE, "anchored");
	is_int(bucket_of(&r, K, STR("cross_device_reduce")), COMPUTE,
	    "the default's last word is replaced");
	is_int(bucket_of(&r, K, STR("ncclKernel")), COMM, "nccl stays");
	is_int(bucket_of(&r, K, STR("x\0allreduce")), COMM, "behind a NUL");
	bucket_free(&r);
}

static void
test_types(void)
{
	struct bucket_rules r = { 0 };

	is_str(bucket_comm_type(&r, STR("xcross_device_reduce_2")).p,
	    "allreduce", "the default's type");
	ok(bucket_comm_type(&r, STR("ncclKernel")).p == NULL, "others: none");
	take(&r, "my_sum=all_reduce");
	take(&r, "a=B");
	take(&r, "sum");
	is_str(bucket_comm_type(&r, STR("my_sum")).p, "all_reduce",
	    "RE=TYPE, the first that matches");
	ok(bucket_comm_type(&r, STR("a=b")).p == NULL, "a B is no type");
	is_int(bucket_of(&r, K, STR("xa=bx")), COMM, "but a part of the RE");
	ok(bucket_comm_type(&r, STR("sum")).p == NULL, "an RE without");
	bucket_free(&r);
}

int
main(void)
{
	test_names();
	test_ways();
	test_events();
	test_patterns();
	test_types();
	done_testing();
}
