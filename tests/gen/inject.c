/* SPDX-License-Identifier: MIT */
/*
 * Events that quirks add to each step, on their own threads and streams: the
 * job itself stays unchanged. A row is an event in JSON with
 *
 *   'text'   for "text"
 *   @1.500   1.5 us after the step's begin, as a ts; #2 the same in whole us
 *   ^P ^D    the process and the device
 *   ^T ^U ^V ^W   threads of this quirk; ^S its GPU stream
 *   ^0 ... ^9     ids of this quirk in this step
 *   ^!       nothing (to separate a placeholder from a digit)
 */
#include "gen.h"

enum {
	ID_BASE = 500000000, /* away from the job's own ids */
	TID_BASE = 1000,
	STREAM_BASE = 100,
	DEPTH = 500,
	LONG_NAME = 5000,
	VERY_LONG_NAME = 70000,
	LONG_LIST = 1000,
	VERY_LONG_LIST = 15000,
};

struct row {
	enum quirk quirk;
	const char *text;
};

#define EV(cat, name, thr, ts, dur, args)                                \
	"'ph':'X','cat':'" cat "','name':'" name "','pid':^P,'tid':" thr \
	",'ts':" ts ",'dur':" dur ",'args':{" args "}"
#define OP(name, ts, dur) EV("cpu_op", name, "^T", ts, dur, "'External id':^9")
#define RT(name, ts, dur, corr)                 \
	EV("cuda_runtime", name, "^T", ts, dur, \
	    "'cbid':211,'correlation':" corr)
#define GPU(cat, name, ts, dur, corr)                \
	"'ph':'X','cat':'" cat "','name':'" name     \
	"','pid':^D,'tid':^S,'ts':" ts ",'dur':" dur \
	",'args':{'device':^D,'stream':^S,'correlation':" corr "}"
#define FLOW(ph, id, pid, tid, ts)                                       \
	"'ph':'" ph "','id':" id ",'pid':" pid ",'tid':" tid ",'ts':" ts \
	",'cat':'ac2g','name':'ac2g'"
#define PY(name, thr, ts, dur)                    \
	EV("python_function", name, thr, ts, dur, \
	    "'Python parent id':null,'Python id':^9")
#define BWD(name, thr, ts, dur, fwd)     \
	EV("cpu_op", name, thr, ts, dur, \
	    "'External id':^9,'Sequence number':7,'Fwd thread id':" fwd)

static const struct row rows[] = {
	{ Q_INT_TS, OP("quirk::int_ts", "#10", "40") },
	{ Q_INT_TS, OP("quirk::int_ts_child", "#20", "30") },
	{ Q_SUBNS,
	    EV("cpu_op", "quirk::subns", "^T", "@10.000^!4999", "5.0005001",
		"") },
	{ Q_SUBNS,
	    EV("cpu_op", "quirk::subns_up", "^T", "@20.000^!5", "0.0004", "") },
	{ Q_NO_DUR,
	    "'ph':'X','cat':'cpu_op','name':'quirk::no_dur','pid':^P,"
	    "'tid':^T,'ts':@12.000,'args':{'External id':^1}" },
	{ Q_NO_DUR, OP("quirk::no_dur_around", "@10.000", "20.000") },
	{ Q_NEG_DUR, OP("quirk::neg_dur", "@10.000", "-3.250") },
	{ Q_NEG_DUR,
	    GPU("kernel", "quirk_neg_dur_kernel(int)", "@10.000", "-0.001",
		"^1") },
	{ Q_ZERO_DUR, OP("quirk::zero_around", "@10.000", "20.000") },
	{ Q_ZERO_DUR, OP("quirk::zero_at_start", "@10.000", "0.000") },
	{ Q_ZERO_DUR, OP("quirk::zero_inside", "@15.000", "0") },
	{ Q_ZERO_DUR, OP("quirk::zero_at_end", "@30.000", "0.000") },
	{ Q_ZERO_DUR, RT("cudaLaunchKernel", "@16.000", "0.000", "^1") },
	{ Q_ZERO_DUR,
	    GPU("kernel", "quirk_zero_kernel(int)", "@18.000", "0.000", "^1") },
	{ Q_EQUAL_START, OP("quirk::equal_child", "@10.000", "5.000") },
	{ Q_EQUAL_START, OP("quirk::equal_parent", "@10.000", "8.000") },
	{ Q_EQUAL_START, OP("quirk::equal_twin", "@30.000", "8.000") },
	{ Q_EQUAL_START, OP("quirk::equal_twin", "@30.000", "8.000") },
	{ Q_BLEED_SMALL, OP("quirk::small_root", "@10.000", "50.000") },
	{ Q_BLEED_SMALL, OP("quirk::small_first", "@20.000", "10.000") },
	{ Q_BLEED_SMALL, OP("quirk::small_bleeds", "@29.500", "5.000") },
	{ Q_BLEED_SMALL, OP("quirk::small_edge", "@33.501", "6.000") },
	{ Q_BLEED_LARGE, OP("quirk::large_root", "@10.000", "50.000") },
	{ Q_BLEED_LARGE, OP("quirk::large_first", "@20.000", "10.000") },
	{ Q_BLEED_LARGE, OP("quirk::large_bleeds", "@26.000", "8.000") },
	{ Q_BLEED_LARGE, RT("cudaLaunchKernel", "@27.000", "5.000", "^1") },
	{ Q_BLEED_LARGE,
	    GPU("kernel", "quirk_bleed_kernel(int)", "@40.000", "3.000",
		"^1") },
	{ Q_BLEED_LARGE, OP("quirk::one_us_first", "@40.000", "5.000") },
	{ Q_BLEED_LARGE, OP("quirk::one_us_exactly", "@44.000", "5.000") },
	{ Q_BLEED_ROOT, OP("quirk::root_a", "@10.000", "10.000") },
	{ Q_BLEED_ROOT, OP("quirk::root_b", "@19.500", "10.000") },
	{ Q_BLEED_ROOT, OP("quirk::root_c", "@26.500", "10.000") },
	{ Q_PY_CROSS, OP("quirk::crossed", "@20.000", "20.000") },
	{ Q_PY_CROSS, OP("quirk::crossed_child", "@30.000", "5.000") },
	{ Q_PY_CROSS, PY("quirk.py(10): into_op", "^T", "@10.000", "15.000") },
	{ Q_PY_CROSS,
	    PY("quirk.py(20): out_of_op", "^T", "@33.000", "15.000") },
	{ Q_PY_CROSS,
	    PY("quirk.py(30): off_by_one", "^T", "@20.000", "20.001") },
	{ Q_PY_WORKER,
	    "'ph':'X','cat':'python_function','name':'threading.py(1002): "
	    "_bootstrap','pid':0,'tid':0,'ts':@5.000,'dur':700.000,'args':{"
	    "'Python parent id':null,'Python id':^0,'Python thread':1}" },
	{ Q_PY_WORKER,
	    "'ph':'X','cat':'python_function','name':'<built-in method "
	    "acquire of _thread.lock object at 0x7f0011223344>','pid':0,"
	    "'tid':0,'ts':@9.000,'dur':690.500,'args':{'Python parent id':^0,"
	    "'Python id':^1,'Python thread':1}" },
	{ Q_NO_CAT,
	    "'ph':'X','name':'quirk::no_cat','pid':^P,'tid':^T,"
	    "'ts':@10.000,'dur':1.500" },
	{ Q_NO_CAT,
	    "'ph':'i','s':'g','name':'quirk no cat','pid':^P,'tid':^T,"
	    "'ts':@11.000" },
	{ Q_NO_PH,
	    "'cat':'cpu_op','name':'quirk::no_ph','pid':^P,'tid':^T,"
	    "'ts':@10.000,'dur':1.000" },
	{ Q_NO_PH, "'schemaVersion':1" },
	{ Q_UNKNOWN_META,
	    "'ph':'M','name':'num_cpus','pid':^P,'tid':0,'args':{"
	    "'number':128}" },
	{ Q_UNKNOWN_META,
	    "'ph':'M','name':'process_uptime_seconds','ts':@0.000,'pid':^P,"
	    "'tid':0,'args':{'uptime':[1,{'a':null}]}" },
	{ Q_UNKNOWN_META,
	    "'ph':'M','name':'thread_name','ts':@0.000,'pid':^P,'tid':^T" },
	{ Q_NAN_ARGS,
	    EV("cpu_op", "quirk::nan", "^T", "@10.000", "2.000",
		"'External id':^1,'a':NaN,'b':Infinity,'c':-Infinity,"
		"'d':[NaN,1.5]") },
	{ Q_DUP_KEYS,
	    "'ph':'X','cat':'wrong','cat':'cpu_op','name':'quirk::first',"
	    "'name':'quirk::dup_keys','pid':^P,'tid':^T,'ts':@99.000,"
	    "'ts':@10.000,'dur':3.000,'args':{'x':1},'args':{"
	    "'External id':^1,'External id':^2,'y':1,'y':2}" },
	{ Q_UINT64,
	    EV("cpu_op", "quirk::uint64", "^T", "@10.000", "2.000",
		"'External id':^1,'Comms Id':18446744073709551615,"
		"'Addr':9223372036854775808,'min':-9223372036854775808,"
		"'exact':9007199254740993") },
	{ Q_UINT64,
	    "'ph':'X','cat':'kernel','name':'quirk_queued(long)','pid':^D,"
	    "'tid':^S,'ts':@20.000,'dur':2.000,'args':{'queued':"
	    "17000000000000000000,'device':^D,'stream':^S,"
	    "'correlation':^3}" },
	{ Q_UNLINKED,
	    GPU("kernel", "quirk_before_window(float*)", "@-90.000", "30.000",
		"^1") },
	{ Q_UNLINKED,
	    GPU("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "@-50.000",
		"4.000", "^2") },
	{ Q_UNLINKED,
	    GPU("gpu_memset", "Memset (Device)", "@-40.000", "2.000", "^3") },
	{ Q_MEMSET_NOFLOW, RT("hipMemset", "@10.000", "6.000", "^1") },
	{ Q_MEMSET_NOFLOW, FLOW("f", "^1", "^P", "^T", "@10.000") ",'bp':'e'" },
	{ Q_MEMSET_NOFLOW,
	    GPU("gpu_memset", "Memset (Device)", "@14.000", "2.000", "^1") },
	{ Q_MEMSET_NOFLOW, FLOW("f", "^1", "^D", "^S", "@14.000") ",'bp':'e'" },
	{ Q_SELF_FLOW, RT("hipEventQuery", "@10.000", "1.000", "^1") },
	{ Q_SELF_FLOW, FLOW("f", "^1", "^P", "^T", "@10.000") ",'bp':'e'" },
	{ Q_SELF_FLOW, RT("cudaMalloc", "@20.000", "9.000", "^2") },
	{ Q_SELF_FLOW, FLOW("s", "^2", "^P", "^T", "@20.000") },
	{ Q_SELF_FLOW, FLOW("f", "^2", "^P", "^T", "@20.000") ",'bp':'e'" },
	{ Q_TRITON,
	    EV("cpu_op", "triton_poi_fused_add_gelu_0", "^T", "@10.000",
		"20.000",
		"'External id':^1,'Record function id':0,'Concrete Inputs':['"
		"','','8192'],'Input type':['c10::BFloat16','c10::BFloat16',"
		"'Scalar'],'Input Strides':[[1024,1],[1024,1],[]],"
		"'Input Dims':[[2048,1024],[2048,1024],[]],"
		"'kernel_backend':'triton','kernel_name':"
		"'triton_poi_fused_add_gelu_0','kernel_kwargs':"
		"'XBLOCK=1024,YBLOCK=1','kernel_file':'/tmp/torchinductor/ab/"
		"cabc.py','kernel_hash':'cabc','num_warps':8,'num_stages':1,"
		"'grid':'grid(8192,)','stream':0,'Ev Idx':0") },
	{ Q_TRITON,
	    EV("cuda_driver", "cuLaunchKernelEx", "^T", "@14.000", "6.000",
		"'External id':^1,'cbid':652,'correlation':^2") },
	{ Q_TRITON, FLOW("s", "^2", "^P", "^T", "@14.000") },
	{ Q_TRITON,
	    GPU("kernel", "triton_poi_fused_add_gelu_0", "@25.000", "7.000",
		"^2") },
	{ Q_TRITON, FLOW("f", "^2", "^D", "^S", "@25.000") ",'bp':'e'" },
	{ Q_DRIVER_NESTED, RT("cudaLaunchKernel", "@10.000", "12.000", "^1") },
	{ Q_DRIVER_NESTED,
	    EV("cuda_driver", "cuLaunchKernel", "^T", "@12.000", "8.000",
		"'cbid':307,'correlation':^2") },
	{ Q_DRIVER_NESTED, FLOW("s", "^2", "^P", "^T", "@12.000") },
	{ Q_DRIVER_NESTED,
	    GPU("kernel", "quirk_driver_kernel(int)", "@25.000", "3.000",
		"^2") },
	{ Q_DRIVER_NESTED, FLOW("f", "^2", "^D", "^S", "@25.000") ",'bp':'e'" },
	{ Q_SYNC_TARGET,
	    RT("cudaStreamSynchronize", "@10.000", "30.000", "^1") },
	{ Q_SYNC_TARGET, FLOW("s", "^1", "^P", "^T", "@10.000") },
	{ Q_SYNC_TARGET,
	    GPU("cuda_sync", "Stream Sync", "@12.000", "27.000", "^1") },
	{ Q_SYNC_TARGET, FLOW("f", "^1", "^D", "^S", "@12.000") ",'bp':'e'" },
	{ Q_ESCAPES,
	    OP("quirk::\\u00e9\\u4e2d\\ud83d\\ude00 raw \xc3\xa9 "
	       "\xe4\xb8\xad\xf0\x9f\x98\x80",
		"@10.000", "1.000") },
	{ Q_ESCAPES,
	    OP("quirk::\\\"quoted\\\" back\\\\slash \\/ \\b\\f\\n\\r\\t "
	       "\\u0000 \\u001b[31m \\u007f",
		"@20.000", "1.000") },
	{ Q_ESCAPES,
	    OP("quirk::lone \\ud800 and \\udc00\\ud800", "@30.000", "1.000") },
	{ Q_ESCAPES,
	    EV("cpu_op", "quirk::esc\\u0061pe", "^T", "@40.000", "1.000",
		"'\\u0045xternal id':^1,'k\\u0065y \\\"q\\\"':'\\u2028'") },
	{ Q_HOSTILE,
	    OP("<script>alert(1)</script>&amp;\\\"]]>", "@10.000", "1.000") },
	{ Q_HOSTILE, OP("=HYPERLINK(0)+1", "@20.000", "1.000") },
	{ Q_HOSTILE, OP("@SUM(A1:A9)", "@22.000", "1.000") },
	{ Q_HOSTILE, OP("-2+3,\\\"a\\\";b", "@24.000", "1.000") },
	{ Q_HOSTILE, OP("a\\tb\\nc\\r\\nd", "@26.000", "1.000") },
	{ Q_HOSTILE, OP("%s%n%1000000d ${x} $(id) `id`", "@28.000", "1.000") },
	{ Q_HOSTILE,
	    OP("\\u001b]0;title\\u0007\\u001b[2J\\u202eevil", "@30.000",
		"1.000") },
	{ Q_HOSTILE, OP("__proto__", "@32.000", "1.000") },
	{ Q_HOSTILE, OP("", "@34.000", "1.000") },
	{ Q_HOSTILE, OP("../../etc/passwd\\u0000.csv", "@36.000", "1.000") },
	{ Q_BEGIN_END,
	    "'ph':'B','cat':'cpu_op','name':'quirk::begin','pid':^P,'tid':^T,"
	    "'ts':@10.000,'args':{'External id':^1}" },
	{ Q_BEGIN_END,
	    "'ph':'B','cat':'cpu_op','name':'quirk::inner','pid':^P,'tid':^T,"
	    "'ts':@12.000" },
	{ Q_BEGIN_END,
	    "'ph':'E','pid':^P,'tid':^T,'ts':@15.000,'args':{'late':1}" },
	{ Q_BEGIN_END,
	    "'ph':'E','cat':'cpu_op','name':'quirk::begin','pid':^P,'tid':^T,"
	    "'ts':@20.000" },
	{ Q_BEGIN_END, "'ph':'E','pid':^P,'tid':^T,'ts':@21.000" },
	{ Q_BEGIN_END,
	    "'ph':'B','cat':'cpu_op','name':'quirk::never_ends','pid':^P,"
	    "'tid':^U,'ts':@30.000" },
	{ Q_COUNTERS,
	    "'ph':'C','cat':'hardware_counters','name':'GPU 0 Counters',"
	    "'pid':'GPU 0 Counters','tid':0,'ts':@10.000,'args':{"
	    "'smsp__inst_executed.sum':123456,'dram__bytes.sum':1.5e9}" },
	{ Q_COUNTERS,
	    "'ph':'C','name':'memory','id':'a','pid':^P,'ts':@11.000,'args':{"
	    "'used':1048576,'free':0}" },
	{ Q_PHASES,
	    "'ph':'b','cat':'async','name':'quirk async','id':'0x1f','pid':^P,"
	    "'tid':^T,'ts':@10.000,'args':{}" },
	{ Q_PHASES,
	    "'ph':'n','cat':'async','name':'quirk async','id':'0x1f','pid':^P,"
	    "'tid':^T,'ts':@12.000" },
	{ Q_PHASES,
	    "'ph':'e','cat':'async','name':'quirk async','id':'0x1f','pid':^P,"
	    "'tid':^T,'ts':@14.000" },
	{ Q_PHASES,
	    "'ph':'N','cat':'obj','name':'quirk object','id':^1,'pid':^P,"
	    "'tid':^T,'ts':@15.000" },
	{ Q_PHASES,
	    "'ph':'t','cat':'ac2g','name':'ac2g','id':^2,'pid':^P,'tid':^T,"
	    "'ts':@16.000" },
	{ Q_PHASES,
	    "'ph':'I','s':'p','cat':'cpu_op','name':'old instant','pid':^P,"
	    "'tid':^T,'ts':@17.000" },
	{ Q_PHASES, "'ph':'R','name':'mark','pid':^P,'tid':^T,'ts':@18.000" },
	{ Q_PHASES,
	    "'ph':'?','name':'unknown phase','pid':^P,'tid':^T,"
	    "'ts':@19.000" },
	{ Q_MTIA,
	    EV("mtia_runtime", "runFunction", "^T", "@10.000", "9.000",
		"'correlation':^1,'device':17,'stream_id':'3'") },
	{ Q_MTIA, FLOW("s", "^1", "^P", "^T", "@10.000") },
	{ Q_MTIA,
	    "'ph':'X','cat':'mtia_ccp_events','name':'quirk_mtia_kernel',"
	    "'pid':17,'tid':3003,'ts':@22.000,'dur':30.000,'args':{'stream':3,"
	    "'correlation':^1,'seq_num':1,'sqid':11}" },
	{ Q_MTIA, FLOW("f", "^1", "17", "3003", "@22.000") ",'bp':'e'" },
	{ Q_OTHER_CATS,
	    EV("overhead", "Activity Buffer Request", "^T", "@10.000", "80.000",
		"") },
	{ Q_OTHER_CATS,
	    GPU("cuda_event", "cudaEventRecord", "@12.000", "1.000", "^1") },
	{ Q_OTHER_CATS,
	    EV("hpu_op", "hpu::mm", "^T", "@100.000", "3.000",
		"'correlation':^2") },
	{ Q_OTHER_CATS,
	    EV("collective_comm", "xccl::all_reduce", "^T", "@110.000", "3.000",
		"") },
	{ Q_OTHER_CATS,
	    EV("privateuse1_runtime", "npuLaunch", "^T", "@120.000", "3.000",
		"'correlation':^3") },
	{ Q_OTHER_CATS,
	    EV("some_new_category", "quirk new", "^T", "@130.000", "3.000",
		"") },
	{ Q_FWD_COLLISION,
	    BWD("aten::linear", "^T", "@10.000", "20.000", "0") },
	{ Q_FWD_COLLISION, BWD("aten::addmm", "^T", "@12.000", "9.000", "0") },
	{ Q_FWD_COLLISION, BWD("aten::gelu", "^U", "@14.000", "9.000", "0") },
	{ Q_FWD_COLLISION,
	    BWD("autograd::engine::evaluate_function: AddmmBackward0", "^V",
		"@60.000", "20.000", "2") },
	{ Q_FWD_COLLISION,
	    BWD("AddmmBackward0", "^V", "@62.000", "15.000", "2") },
	{ Q_FWD_COLLISION,
	    BWD("autograd::engine::evaluate_function: GeluBackward0", "^W",
		"@61.000", "20.000", "3") },
	{ Q_FWD_COLLISION,
	    BWD("GeluBackward0", "^W", "@63.000", "15.000", "3") },
	{ Q_NEG_TID,
	    EV("cpu_op", "quirk::neg_tid", "-42", "@10.000", "2.000", "") },
	{ Q_NEG_TID,
	    "'ph':'X','cat':'cuda_sync','name':'Context Sync','pid':^D,"
	    "'tid':-1,'ts':@10.000,'dur':5.000,'args':{'cuda_sync_kind':"
	    "'Context Sync','stream':4294967295,'correlation':^1,"
	    "'device':^D,'context':1}" },
	{ Q_GRAPH_NOFLOW, RT("hipGraphLaunch", "@10.000", "60.000", "^1") },
	{ Q_GRAPH_NOFLOW, FLOW("f", "^1", "^P", "^T", "@10.000") ",'bp':'e'" },
	{ Q_GRAPH_NOFLOW,
	    GPU("kernel", "quirk_graph_a(int)", "@40.000", "5.000", "^1") },
	{ Q_GRAPH_NOFLOW, FLOW("f", "^1", "^D", "^S", "@40.000") ",'bp':'e'" },
	{ Q_GRAPH_NOFLOW,
	    GPU("kernel", "quirk_graph_b(int)", "@46.000", "5.000", "^1") },
	{ Q_GRAPH_NOFLOW, FLOW("f", "^1", "^D", "^S", "@46.000") ",'bp':'e'" },
	{ Q_DUP_CORR, RT("hipLaunchKernel", "@10.000", "5.000", "^1") },
	{ Q_DUP_CORR, RT("hipLaunchKernel", "@20.000", "5.000", "^1") },
	{ Q_DUP_CORR,
	    GPU("kernel", "quirk_dup_corr(int)", "@30.000", "5.000", "^1") },
	{ Q_ODD_ARGS,
	    "'ph':'X','cat':'cpu_op','name':'quirk::args_null','pid':^P,"
	    "'tid':^T,'ts':@10.000,'dur':1.000,'args':null" },
	{ Q_ODD_ARGS,
	    EV("cpu_op", "quirk::args_empty", "^T", "@12.000", "1.000", "") },
	{ Q_ODD_ARGS,
	    "'ph':'X','cat':'cpu_op','name':'quirk::args_text','pid':^P,"
	    "'tid':^T,'ts':@14.000,'dur':1.000,'args':'text'" },
	{ Q_ODD_ARGS,
	    "'ph':'X','cat':'cpu_op','name':'quirk::args_list','pid':^P,"
	    "'tid':^T,'ts':@16.000,'dur':1.000,'args':[1,'two']" },
	{ Q_ODD_ARGS,
	    "'args':{'External id':^1,'deep':{'a':{'b':[[],{},[[[1]]]]}},'':"
	    "'','Input Dims':'none','correlation':null,'stream':'7'},"
	    "'dur':1.000,'ts':@18.000,'tid':^T,'pid':^P,'name':"
	    "'quirk::args_first','cat':'cpu_op','ph':'X'" },
	{ Q_ODD_NUMBERS,
	    EV("cpu_op", "quirk::numbers", "^T", "@10.000", "2.000",
		"'a':-0,'b':-0.0,'c':1e400,'d':1E-400,'e':"
		"123456789012345678901234567890,'f':1.0,'g':1.10,'h':10e-1,"
		"'i':0.1000000000000000055511151231257827,'j':5e-324") },
	{ Q_ODD_NUMBERS,
	    EV("cpu_op", "quirk::dur_exp", "^T", "@20.000", "2.5e+1", "") },
	{ Q_EXTRA_KEYS,
	    "'ph':'X','cat':'cpu_op','name':'quirk::extra_keys','pid':^P,"
	    "'tid':^T,'ts':@10.000,'dur':1.000,'tts':5,'tdur':1,'cname':"
	    "'good','sf':7,'id':'x','stack':['a','b'],'v':true,'args':{}" },
	{ Q_BAD_UTF8,
	    OP("quirk::bad \xff\xfe \xc3( \xed\xa0\x80 \xf4\x90\x80\x80",
		"@10.000", "1.000") },
	{ Q_RAW_QUOTE,
	    OP("quirk::raw \x01quote\x01 inside", "@10.000", "1.000") },
};

/* The value of a placeholder. */
static void
placeholder(struct emit *e, enum quirk q, char c)
{
	int64_t tid = e->pid + TID_BASE + 4 * (int64_t)q;

	switch (c) {
	case 'P': put_i64(e->b, e->pid); break;
	case 'D': put_i64(e->b, e->device); break;
	case 'S': put_i64(e->b, STREAM_BASE + (int64_t)q); break;
	case 'T': put_i64(e->b, tid); break;
	case 'U': put_i64(e->b, tid + 1); break;
	case 'V': put_i64(e->b, tid + 2); break;
	case 'W': put_i64(e->b, tid + 3); break;
	case '!': break;
	default:
		put_i64(e->b,
		    ID_BASE + (e->s->step * Q_COUNT + (int64_t)q) * 10 + c -
			'0');
	}
}

/* @TIME or #TIME: returns the rest after it. */
static const char *
moment(struct emit *e, const char *p, int64_t t0)
{
	bool whole_us = *p == '#', negative = p[1] == '-';
	int64_t v = 0;

	for (p += negative ? 2 : 1; (*p >= '0' && *p <= '9') || *p == '.'; p++)
		v = *p == '.' ? v : v * 10 + (*p - '0');
	v = negative ? -v : v;
	if (whole_us)
		put_i64(e->b, t0 / 1000 + v);
	else
		put_us(e->b, t0 + v);
	return p;
}

static void
inject_row(struct emit *e, const struct row *r, int64_t t0)
{
	const char *p = r->text;
	bool in_string = false;

	if (e->cf->no_flows && strstr(p, "ac2g") != NULL)
		return;
	event_open(e);
	while (*p != '\0') {
		char c = *p++;

		if (c == '\'') {
			in_string = !in_string;
			PUT(e->b, "\"");
		} else if (c == 1) { /* quirk raw-quote */
			PUT(e->b, "\"");
		} else if (in_string) {
			put_mem(e->b, &c, 1);
		} else if (c == '^') {
			placeholder(e, r->quirk, *p++);
		} else if (c == '@' || c == '#') {
			p = moment(e, p - 1, t0);
		} else {
			put_mem(e->b, &c, 1);
			if (c == ',' || c == ':')
				PUT(e->b, " ");
		}
	}
	event_close(e);
}

/* An op whose name and argument text are made here. */
static void
op_open(struct emit *e, enum quirk q, int64_t t0, int64_t t1)
{
	event_open(e);
	PUT(e->b, "\"ph\": \"X\", \"cat\": \"cpu_op\", \"pid\": ");
	placeholder(e, q, 'P');
	PUT(e->b, ", \"tid\": ");
	placeholder(e, q, 'T');
	PUT(e->b, ",\n    \"ts\": ");
	put_us(e->b, t0);
	PUT(e->b, ", \"dur\": ");
	put_us(e->b, t1 - t0);
	PUT(e->b, ", \"name\": \"");
}

static void
deep(struct emit *e, int64_t t0)
{
	for (int64_t i = 0; i < DEPTH; i++) {
		op_open(e, Q_DEEP, t0 + i, t0 + 1 + 2 * DEPTH - i);
		put_fmt(e->b, "quirk::deep_%lld\"", (long long)i);
		event_close(e);
	}
}

static void
long_name(struct emit *e, int64_t t0, int64_t len)
{
	op_open(e, Q_LONG_NAMES, t0, t0 + 1000);
	for (int64_t i = 0; i < len; i += 16)
		put_fmt(e->b, "long_name<%06lld>", (long long)i);
	PUT(e->b, "\"");
	event_close(e);
}

static void
long_list(struct emit *e, int64_t t0, int64_t len)
{
	op_open(e, Q_LONG_LISTS, t0, t0 + 1000);
	PUT(e->b,
	    "quirk::long_list\",\n    \"args\": {\n      "
	    "\"Input type\": [\"TensorList\"], \"Input Dims\": [[");
	for (int64_t i = 0; i < len; i++) {
		if (i > 0)
			PUT(e->b, ", ");
		PUT(e->b, "[");
		put_i64(e->b, i % 97);
		PUT(e->b, "]");
	}
	PUT(e->b, "]]\n    }");
	event_close(e);
}

/* t0: the nominal begin of the step just played. */
void
inject_step(struct emit *e, int64_t t0)
{
	const struct conf *cf = e->cf;
	int64_t t = file_time(e, t0);

	if ((cf->quirks[0] | cf->quirks[1]) == 0)
		return;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (quirk_on(cf, rows[i].quirk))
			inject_row(e, &rows[i], t);
	}
	if (quirk_on(cf, Q_DEEP))
		deep(e, t);
	if (quirk_on(cf, Q_LONG_NAMES)) {
		long_name(e, t, LONG_NAME);
		long_name(e, t + 2000, VERY_LONG_NAME);
	}
	if (quirk_on(cf, Q_LONG_LISTS)) {
		long_list(e, t, LONG_LIST);
		long_list(e, t + 2000, VERY_LONG_LIST);
	}
}
