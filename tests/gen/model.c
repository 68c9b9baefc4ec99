/* SPDX-License-Identifier: MIT */
/*
 * One training step in terms of sim.h: which ops call which, in which Python
 * frames, and which kernels they launch, for how long.
 */
#include "gen.h"

#include <stdlib.h>

enum { BYTE_PER_NS = 3000 };

/* ---- sizes --------------------------------------------------------------- */

int64_t
tokens(const struct sim *s)
{
	return s->cf->batch * s->cf->seq_len;
}

int64_t
acts(const struct sim *s) /* elements of an activation */
{
	return tokens(s) * s->cf->hidden;
}

void
elementwise(struct sim *s, enum kid k, int64_t elems, int passes)
{
	launch(s, &kerns[k], elems, 1500 + elems * 2 * passes / BYTE_PER_NS);
}

void
gemm(struct sim *s, enum kid k, int64_t m, int64_t n, int64_t kk)
{
	launch(s, &kerns[k], m * n, 2500 + 2 * m * n / FLOP_PER_NS * kk);
}

/* ---- forward ops --------------------------------------------------------- */

static void
linear_op(struct sim *s, const char *sig, const char *addmm, const char *weight,
    int64_t out, int64_t in)
{
	py_begin(s, "torch/nn/modules/linear.py(125): forward");
	py_builtin(s, "linear", "type");
	op_begin(s, "aten::linear", sig, OP_SEQ);
	op_begin(s, "aten::t", weight, OP_SEQ);
	op_begin(s, "aten::transpose", weight, OP_PLAIN);
	op_leaf(s, "aten::as_strided", weight);
	op_end(s);
	op_end(s);
	op_begin(s, "aten::addmm", addmm, OP_NODE);
	node_add(s, N_LINEAR);
	gemm(s, K_GEMM_TN, tokens(s), out, in);
	op_end(s);
	op_leaf(s, "aten::view", "b:BS,H #[B,S,-1]");
	op_end(s);
	py_end(s);
	py_end(s);
}

static void
linear_h(struct sim *s, int64_t index)
{
	py_module(s, "nn.Module: Linear_", index);
	linear_op(s, "b:B,S,H b:H,H b:H", "b:H b:BS,H b~H,H =1 =1", "b:H,H",
	    s->cf->hidden, s->cf->hidden);
	py_end(s);
}

static void
linear_up(struct sim *s, int64_t index)
{
	py_module(s, "nn.Module: Linear_", index);
	linear_op(s, "b:B,S,H b:F,H b:F", "b:F b:BS,H b~H,F =1 =1", "b:F,H",
	    4 * s->cf->hidden, s->cf->hidden);
	py_end(s);
}

static void
linear_down(struct sim *s, int64_t index)
{
	py_module(s, "nn.Module: Linear_", index);
	linear_op(s, "b:B,S,F b:H,F b:H", "b:H b:BS,F b~F,H =1 =1", "b:H,F",
	    s->cf->hidden, 4 * s->cf->hidden);
	py_end(s);
}

static void
layer_norm(struct sim *s, int64_t index)
{
	py_module(s, "nn.Module: LayerNorm_", index);
	py_begin(s, "torch/nn/modules/normalization.py(217): forward");
	py_begin(s, "torch/nn/functional.py(2901): layer_norm");
	py_builtin(s, "layer_norm", "type");
	op_begin(s, "aten::layer_norm", "b:B,S,H #[1024] b:H b:H =1e-05 =True",
	    OP_SEQ);
	op_begin(s, "aten::native_layer_norm", "b:B,S,H #[1024] b:H b:H =1e-05",
	    OP_NODE);
	node_add(s, N_LN);
	op_alloc(
	    s, "aten::empty", "#[4,512,1024] =15 - - =False -", 2 * acts(s));
	op_alloc(s, "aten::empty", "#[2048] =6 - - - -", 4 * tokens(s));
	op_alloc(s, "aten::empty", "#[2048] =6 - - - -", 4 * tokens(s));
	elementwise(s, K_LN, acts(s), 2);
	op_leaf(s, "aten::view", "f:BS #[4,512,1]");
	op_leaf(s, "aten::view", "f:BS #[4,512,1]");
	op_end(s);
	op_end(s);
	py_end(s);
	py_end(s);
	py_end(s);
	py_end(s);
}

static void
binary(struct sim *s, const char *name, enum kid k, enum node_type type,
    const char *sig)
{
	py_builtin(s, name + strlen("aten::"), "Tensor");
	op_begin(s, name, sig, OP_NODE);
	node_add(s, type);
	elementwise(s, k, acts(s), 3);
	op_end(s);
	py_end(s);
}

static void
dropout(struct sim *s, int64_t index)
{
	py_module(s, "nn.Module: Dropout_", index);
	py_begin(s, "torch/nn/modules/dropout.py(70): forward");
	op_begin(
	    s, "aten::dropout", "b:B,S,H =0.10000000000000001 =True", OP_SEQ);
	op_begin(s, "aten::native_dropout",
	    "b:B,S,H =0.10000000000000001 =True", OP_NODE);
	node_add(s, N_DROPOUT);
	op_alloc(s, "aten::empty_like", "b:B,S,H - - - - -", 2 * acts(s));
	op_alloc(s, "aten::empty_like", "b:B,S,H =11 - - - -", acts(s));
	elementwise(s, K_DROPOUT, acts(s), 2);
	op_end(s);
	op_end(s);
	py_end(s);
	py_end(s);
}

/* dropout(x) + residual, or one fused op for both under --plant fuse */
static void
dropout_add(struct sim *s, int64_t index)
{
	if (planted(s, CHANGE_FUSE, NULL) == NULL) {
		dropout(s, index);
		binary(s, "aten::add", K_ADD, N_ADD, "b:B,S,H b:B,S,H =1");
		return;
	}
	op_begin(s, "custom::fused_dropout_add",
	    "b:B,S,H b:B,S,H =0.10000000000000001", OP_NODE);
	node_add(s, N_DROPOUT);
	elementwise(s, K_FUSED, acts(s), 3);
	op_end(s);
}

static void
trig(struct sim *s, bool sine)
{
	op_begin(s, sine ? "aten::sin" : "aten::cos", "f:S,D", OP_PLAIN);
	op_alloc(s, "aten::empty", "#[512,64] =6 =0 - =False -", 131072);
	elementwise(s, sine ? K_SIN : K_COS, 32768, 2);
	op_end(s);
}

static void
rotary(struct sim *s, int64_t l)
{
	bool swap = planted(s, CHANGE_SWAP, NULL) != NULL;

	py_module(s, "nn.Module: RotaryEmbedding_", l);
	py_begin(s, "model/layers.py(88): forward");
	trig(s, swap);
	trig(s, !swap);
	py_end(s);
	py_end(s);
}

static void
sdpa(struct sim *s)
{
	int64_t flop = 4 * tokens(s) * s->cf->seq_len * s->cf->hidden;

	py_builtin(s, "scaled_dot_product_attention", "type");
	op_begin(s, "aten::scaled_dot_product_attention",
	    "b:B,N,S,D b:B,N,S,D b:B,N,S,D - =0. =True - =False", OP_SEQ);
	op_begin(s, "aten::_scaled_dot_product_flash_attention",
	    "b:B,N,S,D b:B,N,S,D b:B,N,S,D =0. =True =False -", OP_NODE);
	node_add(s, N_SDPA);
	op_leaf(s, "aten::transpose", "b:B,N,S,D =1 =2");
	op_begin(s, "aten::_flash_attention_forward",
	    "b:B,S,N,D b:B,S,N,D b:B,S,N,D - - =512 =512 =0. =True =False - "
	    "- - - -",
	    OP_PLAIN);
	op_alloc(s, "aten::empty_like", "b:B,S,N,D - - - - -", 2 * acts(s));
	op_alloc(s, "aten::empty", "#[4,16,512] =6 - =0 - -", 4 * tokens(s));
	launch(s, &kerns[K_ATTN], acts(s), 4000 + flop / FLOP_PER_NS);
	op_end(s);
	op_end(s);
	op_end(s);
	py_end(s);
}

/* q, k and v on as many compute streams as there are */
static void
project(struct sim *s, int64_t l)
{
	for (int64_t i = 0; i < 3; i++) {
		int64_t st = i % s->cf->streams;

		s->cstream = st == 0 ? 0 : (int)(2 + st);
		if (st > 0)
			api(s, "hipStreamWaitEvent", "cudaStreamWaitEvent", 200,
			    147);
		linear_h(s, 6 * l + i);
		op_leaf(s, "aten::view", "b:B,S,H #[4,512,16,64]");
		op_leaf(s, "aten::transpose", "b:B,S,N,D =1 =2");
	}
	s->cstream = 0;
	for (int64_t i = 1; i < s->cf->streams && i < 3; i++) {
		int64_t t = s->gs[2 + i].ready;

		api(s, "hipStreamWaitEvent", "cudaStreamWaitEvent", 200, 147);
		s->gs[0].ready = t > s->gs[0].ready ? t : s->gs[0].ready;
	}
}

static void
attention(struct sim *s, int64_t l)
{
	py_module(s, "nn.Module: Attention_", l);
	py_begin(s, "model/layers.py(131): forward");
	project(s, l);
	rotary(s, l);
	binary(s, "aten::mul", K_MUL, N_MUL, "b:B,N,S,D =0.125");
	sdpa(s);
	op_leaf(s, "aten::transpose", "b:B,N,S,D =1 =2");
	op_begin(s, "aten::reshape", "b:B,S,N,D #[4,512,1024]", OP_PLAIN);
	op_leaf(s, "aten::view", "b:B,S,N,D #[4,512,1024]");
	op_end(s);
	linear_h(s, 6 * l + 3);
	collective(s, COLL_ALLREDUCE, PG_TP, acts(s), true);
	py_end(s);
	py_end(s);
}

static void
mlp(struct sim *s, int64_t l)
{
	py_module(s, "nn.Module: MLP_", l);
	py_begin(s, "model/layers.py(172): forward");
	if (s->cf->moe)
		collective(s, COLL_ALLTOALLV, PG_DP, acts(s), true);
	linear_up(s, 6 * l + 4);
	py_module(s, "nn.Module: GELU_", l);
	py_begin(s, "torch/nn/modules/activation.py(734): forward");
	py_builtin(s, "gelu", "type");
	op_begin(s, "aten::gelu", "b:B,S,F =none", OP_NODE);
	node_add(s, N_GELU);
	elementwise(s, K_GELU, 4 * acts(s), 2);
	op_end(s);
	py_end(s);
	py_end(s);
	py_end(s);
	linear_down(s, 6 * l + 5);
	collective(s, COLL_ALLREDUCE, PG_TP, acts(s), true);
	py_end(s);
	py_end(s);
}

void
added_op(struct sim *s)
{
	op_begin(s, "planted::op", "b:B,S,H =0", OP_PLAIN);
	op_alloc(s, "aten::empty_like", "b:B,S,H - - - - =0", 2 * acts(s));
	elementwise(s, K_COPY, acts(s), 2);
	op_end(s);
}

static void
conv_block(struct sim *s, int64_t l)
{
	static const char sig[] =
	    "b:B,64,56,56 b:64,64,3,3 - #[1,1] #[1,1] #[1,1] =1";
	static const char act[] = "b:B,64,56,56";
	const struct conf *cf = s->cf;
	int64_t elems = cf->batch * 64 * 56 * 56;

	py_module(s, "nn.Module: Conv2d_", l);
	py_begin(s, "torch/nn/modules/conv.py(553): forward");
	op_begin(s, "aten::conv2d", sig, OP_SEQ);
	op_begin(s, "aten::convolution", sig, OP_NODE);
	node_add(s, N_CONV);
	op_begin(s, "aten::_convolution", sig, OP_PLAIN);
	op_begin(s,
	    cf->cuda ? "aten::cudnn_convolution" : "aten::miopen_convolution",
	    sig, OP_PLAIN);
	launch(s, &kerns[K_CONV], elems, 5000 + elems * 1152 / FLOP_PER_NS);
	op_end(s);
	op_end(s);
	op_end(s);
	op_end(s);
	py_end(s);
	py_end(s);
	py_module(s, "nn.Module: BatchNorm2d_", l);
	op_begin(s, "aten::batch_norm",
	    "b:B,64,56,56 f:64 f:64 f:64 f:64 =True =0.10000000000000001 "
	    "=1.0000000000000001e-05 =True",
	    OP_NODE);
	node_add(s, N_BN);
	elementwise(s, K_BN, elems, 3);
	op_end(s);
	py_end(s);
	py_module(s, "nn.Module: ReLU_", l);
	op_begin(s, "aten::relu_", act, OP_NODE);
	node_add(s, N_RELU);
	op_begin(s, "aten::clamp_min_", "b:B,64,56,56 =0", OP_PLAIN);
	elementwise(s, K_RELU, elems, 2);
	op_end(s);
	op_end(s);
	py_end(s);
}

void
block(struct sim *s, int64_t l)
{
	sim_region(s, 1000 + (uint64_t)l);
	s->layer = s->place = l;
	py_module(s, "nn.Module: Block_", l);
	py_begin(s, "model/layers.py(214): forward");
	if (s->cf->conv)
		conv_block(s, l);
	layer_norm(s, 2 * l);
	attention(s, l);
	dropout_add(s, 2 * l);
	layer_norm(s, 2 * l + 1);
	mlp(s, l);
	dropout_add(s, 2 * l + 1);
	py_end(s);
	py_end(s);
	s->place = -1;
}

static void
checkpointed(struct sim *s, int64_t l)
{
	bool was = s->no_grad;

	py_begin(s, "torch/utils/checkpoint.py(343): checkpoint");
	py_begin(s, "model/layers.py(230): run_block");
	s->no_grad = false; /* the graph is built, its tensors are not kept */
	block(s, l);
	s->no_grad = was;
	py_end(s);
	py_end(s);
}

static void
loss(struct sim *s)
{
	int64_t elems = tokens(s) * s->cf->vocab;

	py_begin(s, "torch/nn/functional.py(3440): cross_entropy");
	op_begin(s, "aten::cross_entropy_loss", "b:BS,V l:BS - =1 =-100 =0.",
	    OP_SEQ);
	op_begin(s, "aten::log_softmax", "b:BS,V =1 -", OP_SEQ);
	op_begin(s, "aten::_log_softmax", "b:BS,V =1 =False", OP_NODE);
	node_add(s, N_LOGSOFTMAX);
	elementwise(s, K_SOFTMAX, elems, 2);
	op_end(s);
	op_end(s);
	op_begin(s, "aten::nll_loss_nd", "b:BS,V l:BS - =1 =-100", OP_SEQ);
	op_begin(
	    s, "aten::nll_loss_forward", "b:BS,V l:BS - =1 =-100", OP_NODE);
	node_add(s, N_NLL);
	elementwise(s, K_NLL, tokens(s), 1);
	op_end(s);
	op_end(s);
	op_end(s);
	py_end(s);
}

static void
embedding(struct sim *s)
{
	py_module(s, "nn.Module: Embedding_", 0);
	py_begin(s, "torch/nn/functional.py(2437): embedding");
	op_begin(
	    s, "aten::embedding", "b:V,H l:B,S =-1 =False =False", OP_NODE);
	node_add(s, N_EMBED);
	op_leaf(s, "aten::reshape", "l:B,S #[-1]");
	op_begin(s, "aten::index_select", "b:V,H =0 l:BS", OP_PLAIN);
	op_alloc(s, "aten::empty", "#[0] =15 =0 - - -", 0);
	elementwise(s, K_EMBED, acts(s), 2);
	op_end(s);
	op_end(s);
	py_end(s);
	py_end(s);
}

void
forward(struct sim *s)
{
	py_module(s, "nn.Module: GPT_", 0);
	py_begin(s, "model/gpt.py(57): forward");
	embedding(s);
	for (int64_t l = 0; l < s->cf->layers; l++) {
		if (s->cf->recompute)
			checkpointed(s, l);
		else
			block(s, l);
	}
	sim_region(s, 2);
	layer_norm(s, 2 * s->cf->layers);
	py_module(s, "nn.Module: Linear_", 6 * s->cf->layers);
	linear_op(s, "b:B,S,H b:V,H -", "b:V b:BS,H b~H,V =1 =1", "b:V,H",
	    s->cf->vocab, s->cf->hidden);
	py_end(s);
	py_end(s);
	py_end(s);
	loss(s);
}
