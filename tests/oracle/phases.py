# SPDX-License-Identifier: MIT
"""phases.py: fields in names of iterations, by regular expressions of the frameworks' forms."""
import re

SUMS = r"\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)"
VLLM_DETAILED = re.compile(rf"execute_\d+_context_(\d+){SUMS}_generation_(\d+){SUMS}")
VLLM_NATIVE = re.compile(r"execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)")
SGLANG_DETAILED = re.compile(r"step\[(EXTEND|DECODE|MIXED)\b([^\]]*sqsq=\d+[^\]]*)\]")
SGLANG_NATIVE = re.compile(r"step\[(EXTEND|DECODE|MIXED)\b([^\]]*)\]")
ATOM = re.compile(r"(prefill|decode)\[(.*)\]")
ATOM_PAIR = re.compile(r"(\w+)=(\[[^\]]*\](?:\.\.\.\+\d+)?|[^\s\]]+)")
DIFFUSION = re.compile(r"execute_diffusion_(\d+)_\d+x\d+")
C_G = ("c_sq", "c_sk", "c_sqsq", "c_sqsk", "g_sq", "g_sk", "g_sqsq", "g_sqsk")


def is_detailed(name):
    m = ATOM.match(name)
    return bool(VLLM_DETAILED.match(name) or SGLANG_DETAILED.match(name)
                or (m and re.search(r"sqsq=\d+", m[2])))


def is_iteration(name):
    return is_detailed(name) or any(
        r.match(name) for r in (VLLM_NATIVE, SGLANG_NATIVE, ATOM, DIFFUSION))


def sglang(word, body, detailed):
    pairs = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", body)}
    bs, toks = pairs.get("bs", 0), pairs.get("toks", 0)
    f = {k: pairs.get(k, 0) for k in C_G} if detailed else dict.fromkeys(C_G, 0)
    if not detailed:
        f["g_sq" if word == "DECODE" else "c_sq"] = bs if word == "DECODE" else toks
    mixed = detailed and word == "MIXED"
    f["context_requests"] = pairs.get("c", 0) if mixed else 0 if word == "DECODE" else bs
    f["generation_requests"] = pairs.get("g", 0) if mixed else bs if word == "DECODE" else 0
    f["context_sum"] = 0 if word == "DECODE" else f["c_sq"]
    f["generation_sum"] = 0 if word == "EXTEND" else f["g_sq"]
    f["batch_size"] = f["c_sq"] + f["g_sq"] or toks or bs
    f["phase"] = {"EXTEND": "prefill", "DECODE": "decode", "MIXED": "mixed"}[word]
    f["has_sqsk"] = detailed
    return f


def atom(word, body):
    pairs = dict(ATOM_PAIR.findall(body))

    def number(key):
        m = re.match(r"\d+", pairs.get(key, ""))
        return int(m[0]) if m else 0

    f, side = dict.fromkeys(C_G, 0), "c_" if word == "prefill" else "g_"
    for key, of in (("sq", "tok"), ("sk", "sk"), ("sqsq", "sqsq"), ("sqsk", "sqsk")):
        f[side + key] = number(of)
    requests, tokens = number("bs"), number("tok")
    is_context = word == "prefill"
    f.update(context_requests=requests if is_context else 0, generation_requests=0 if is_context else requests,
             context_sum=tokens if is_context else 0, generation_sum=0 if is_context else tokens,
             batch_size=tokens, has_sqsk="sqsq" in pairs and "sqsk" in pairs,
             phase="mixed" if word == "decode" and number("p") > 0 else word)
    return f


def fields(name):
    """fields in an iteration's name; None: no iteration"""
    m = VLLM_DETAILED.match(name) or VLLM_NATIVE.match(name)
    if m:
        n = [int(x) for x in m.groups()]
        if len(n) == 4:
            n = [n[0], n[1], 0, 0, 0, n[2], n[3], 0, 0, 0]
        f = dict(zip(C_G, n[1:5] + n[6:]), context_requests=n[0], generation_requests=n[5],
                 context_sum=n[1], generation_sum=n[6], batch_size=n[1] + n[6],
                 has_sqsk=m.re is VLLM_DETAILED)
        f["phase"] = ("mixed" if n[5] else "prefill") if n[0] else ("decode" if n[5] else "generic")
    elif m := SGLANG_DETAILED.match(name):
        f = sglang(m[1], m[2], True)
    elif m := SGLANG_NATIVE.match(name):
        f = sglang(m[1], m[2], False)
    elif m := ATOM.match(name):
        f = atom(m[1], m[2])
    elif m := DIFFUSION.match(name):
        f = dict.fromkeys((*C_G, "context_requests", "generation_requests", "context_sum",
                           "generation_sum"), 0)
        f.update(batch_size=int(m[1]), phase="generic", has_sqsk=False)
    else:
        return None
    f["num_requests"] = f["context_requests"] + f["generation_requests"]
    return f
