#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""idle.py: tl-idle on the real traces: gaps and causes as an independent program computed
them once, to the nanosecond, and sums that must close on all traces.

Old traces give steps the category Operator, which that program took for ops: its op may
be between_ops here, if the sum of both agrees (counted).
"""
import os
import sys

from worked import is_left, names_of, table, traces

# trace: idle ns, gaps, ns by cause, the longest gaps: (ns, prev, next, cause, its ns, call);
# the call has the most self time in the gap; for data it is the outermost one
WORKED = {
    "h100_bert_small": (3598388, 60, "python 1726476 op 1412704 launch_call 325264 "
                        "launch_latency 98290 runtime 31691 sync 3963", [
                            (247551, 2185, 2193, "python", 197793, 1042),
                            (218367, 2457, 2465, "python", 171042, 1778),
                            (153855, 2135, 2145, "python", 86361, 835)]),
    "h100_timesformer": (1559253, 533, "queue_gap 824793 python 367732 op 266760 launch_call 64111 "
                         "runtime 11640 launch_latency 11000 sync 7009 copy_block 5408 init 800", [
                             (573341, 47137, 47151, "python", 317475, 39764),
                             (79552, 47305, 47309, "python", 50257, 39960),
                             (33152, 47313, 47319, "op", 22189, 226)]),
    "mi300_ddp_resnet18": (3032409244, 2373, "alloc 3005719093 op 9270004 launch_latency 5931727 "
                           "autograd 4921213 launch_call 2544544 python 2288683 optimizer 1196975 "
                           "profiler 219680 runtime 109227 copy_block 107581 host_alloc 76710 "
                           "queue_gap 23807", [
                               (68203800, 26898, 26900, "alloc", 68152543, 26612),
                               (67996943, 23498, 23500, "alloc", 67944746, 23264),
                               (54366315, 23484, 23486, "alloc", 53997200, 23112)]),
    "mi300_resnet_ckpt": (2565652, 1746, "queued_before 2282115 queue_gap 177291 dependency 106246", [
        (2156709, 44009, 44011, "queued_before", 2156709, None),
        (18721, 45457, 45459, "queued_before", 18721, None),
        (17561, 56233, 56239, "dependency", 17561, 52341)]),
    "hta_alexnet": (12854103000, 95, "init 8592596000 module_load 3055564000 alloc 1122360000 "
                    "op 69167000 between_ops 8134000 host_alloc 3498000 launch_call 1598000 "
                    "copy_block 766000 runtime 143000 sync 131000 queue_gap 75000 "
                    "launch_latency 71000", [
                        (10033725000, 611, 669, "init", 6970494000, 619),
                        (1043841000, 695, 735, "alloc", 1041630000, 713),
                        (824572000, 683, 695, "init", 824375000, 689)]),
    "hta_nccl_parser": (503050991, 3480, "op 288502937 comm_host 69885912 optimizer 42629418 "
                        "autograd 35109792 between_ops 31151806 launch_call 25474440 "
                        "launch_latency 4906035 runtime 4029924 queue_gap 765394 init 516020 "
                        "sync 51390 poll 27923", [(15718606, 19634, 19648, "op", 15273412, 7917)]),
    "hta_ns_resolution": (7574738, 6094, "queue_gap 5484223 launch_call 769872 op 620638 "
                          "launch_latency 358126 comm_host 305010 runtime 26042 poll 9811 init 1016",
                          [(385886, 25804, 25820, "op", 300257, 13079)]),
    "inference_sglang_decode": (463977017, 556, "gpu_missing 463251758 graph_gap 274232 "
                                "python 221491 op 124162 launch_call 46536 launch_latency 19239 "
                                "copy_block 16410 runtime 14450 queue_gap 8739", [
                                    (463295405, 2055, 2056, "gpu_missing", 463251758, 887),
                                    (273690, 1537, 1538, "graph_gap", 273690, 907),
                                    (161683, 1505, 1506, "python", 126190, 487)]),
    "inference_sglang_prefilldecode": (494482010, 532, "gpu_missing 493239121 op 504807 "
                                       "python 455972 launch_call 102563 launch_latency 86134 "
                                       "copy_block 64735 runtime 18707 profiler 9458 queue_gap 513",
                                       [(493283729, 59781, 59782, "gpu_missing", 493239121, 57112),
                                        (237275, 59797, 59798, "op", 132658, 67),
                                        (180751, 59784, 59785, "python", 125328, 4172)]),
    "inference_vllm_decode_full/graph_execution": (25473, 433, "queue_gap 25053 graph_gap 420", [
        (11681, 1989, 1990, "queue_gap", 11681, 1099), (10081, 1568, 1569, "queue_gap", 10081, 1097),
        (3281, 1990, 1991, "queue_gap", 3281, 1100)]),
    "inference_xdit_sd_3_5": (459138912, 8064, "python 337055274 op 72663061 "
                              "launch_latency 27682784 launch_call 17730553 runtime 3239023 "
                              "profiler 462289 copy_block 177243 io 72948 queue_gap 32371 "
                              "comm_host 15384 wait 7982", [
                                  (16782660, 191074, 191076, "python", 16128558, 90112),
                                  (14541490, 228188, 228190, "python", 14511914, 142144),
                                  (14506718, 215768, 215770, "python", 14476391, 124804)]),
    "kineto_resnet50_w0_step1": (392919000, 8285, "data 283707000 op 51523000 optimizer 26860000 "
                                 "launch_call 14139000 queue_gap 9680000 launch_latency 2954000 "
                                 "stall 1765000 autograd 937000 copy_block 807000 runtime 442000 "
                                 "sync 54000 poll 51000", [
                                     (62339000, 62620, 62624, "data", 62036000, 16296),
                                     (60912000, 49550, 49554, "data", 60590000, 8414),
                                     (57347000, 43015, 43019, "data", 57041000, 4473)]),
    "multirank_cifar_mi300x_4r/rank0": (48852753, 1565, "op 17271412 launch_latency 7460709 "
                                        "optimizer 6806738 launch_call 5143386 comm_host 4917696 "
                                        "between_ops 4302392 autograd 1658619 copy_block 610648 "
                                        "data 277341 runtime 268377 dependency 85608 "
                                        "queue_gap 33826 sync 16001", [
                                            (1279558, 34298, 34300, "optimizer", 1058843, 6735),
                                            (1189064, 22054, 23336, "comm_host", 659121, 17),
                                            (1138349, 28198, 28200, "comm_host", 612369, 4278)]),
    "multirank_dlrm_v100_8r/worker0": (6419000, 212, "op 2032000 between_ops 1440000 "
                                       "launch_call 931000 comm_host 796000 autograd 459000 "
                                       "launch_latency 337000 optimizer 230000 queue_gap 52000 "
                                       "sync 49000 copy_block 32000 runtime 31000 poll 30000", [
                                           (320000, 2145, 2169, "between_ops", 209000, 1365),
                                           (316000, 1729, 1737, "between_ops", 170000, 1096),
                                           (256000, 2317, 2323, "between_ops", 157000, None)]),
    "multirank_hta_sampled_2of128/sampled_rank-0": (
        675191000, 930, "late_start 389044000 none 143344000 optimizer 77781000 "
        "between_ops 35488000 op 17398000 data 3807000 queue_gap 2613000 autograd 2288000 "
        "launch_call 1887000 comm_host 918000 launch_latency 373000 copy_block 140000 "
        "dependency 110000", [(58862000, 4414, 4404, "late_start", 58862000, 4405)]),
    "norm_layer_test": (1067761200, 172, "module_load 981818144 op 35285728 stall 28493482 "
                        "autograd 11881540 python 5409430 profiler 2477489 launch_latency 1052537 "
                        "launch_call 860604 alloc 421019 runtime 32183 copy_block 29044",
                        [(331737885, 8087, 8089, "module_load", 331626739, 7657)]),
    "param_linear": (637587000, 10314, "op 222162000 launch_call 125239000 between_ops 94323000 "
                     "autograd 88372000 optimizer 84611000 stall 5848000 launch_latency 5423000 "
                     "runtime 4218000 queue_gap 2530000 alloc 2404000 module_load 1337000 "
                     "none 1120000", [(6199000, 63404, 63408, "optimizer", 6019000, 31339)]),
    "tpt_transformer_step1": (2112000, 47, "op 929000 python 516000 launch_call 269000 "
                              "profiler 251000 launch_latency 114000 runtime 33000", [
                                  (227000, 1269, 1281, "python", 90000, 699),
                                  (187000, 1373, 1385, "python", 78000, 929),
                                  (135000, 1233, 1245, "python", 57000, 568)])}


def sums(rows, by, value="time_ns"):
    out = {}
    for r in rows:
        out[r.get(by)] = out.get(r.get(by), 0) + r[value]
    return out


def check_worked(trace, want):
    """differences; whether ops were steps"""
    idle, ngaps, causes, longest = want
    words = causes.split()
    causes = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
    rows, gaps = table(["tl-idle", trace]), table(["tl-idle", "--table", "idle_gaps", trace])
    got = sums(rows, "cause")
    bad, excused = [], False
    if (sum(got.values()), len(gaps)) != (idle, ngaps):
        bad.append("idle %d in %d gaps, not %d in %d" % (sum(got.values()), len(gaps), idle, ngaps))
    if got != causes:
        both = ("op", "between_ops")
        excused = (sum(got.get(k, 0) for k in both) == sum(causes.get(k, 0) for k in both)
                   and all(got.get(k) == causes.get(k) for k in {*got, *causes} - {*both}))
        if not excused:
            bad.append("causes: %s, not %s" % (got, causes))
    gaps.sort(key=lambda g: -g["gap_ns"])
    for g, w in zip(gaps, longest):
        mine = (g["gap_ns"], g["prev_uid"], g["next_uid"], g["cause"], g["cause_ns"],
                g.get("call_uid"))
        if mine != w:
            bad.append("gap %s, not %s" % (mine, w))
    return bad, excused


def check_steps(trace):
    """each step has one idle time, with its head and tail"""
    def idle(rows, value):
        out = {}
        for r in rows or []:
            key = r.get("src"), r.get("step")
            out[key] = out.get(key, 0) + (r[value] or 0)
        return {k: v for k, v in out.items() if v}
    want = idle([r for r in table(["tl-timeline", "--by", "step", trace]) if r["type"] == "idle_time"],
                "time_ns")
    bad = []
    for by in ("step", "step,cause,call"):
        got = idle(table(["tl-idle", "--by", by, trace]), "time_ns")
        # of time in no step the timeline counts only that between two GPU events
        outside = [k for k in {*got, *want} if k[1] is None]
        if any(got.get(k, 0) < want.get(k, 0) for k in outside) or any(
                got.get(k) != want.get(k) for k in {*got, *want} - {*outside}):
            bad.append("--by %s: %s, not the timeline's %s" % (by, got, want))
    steps = idle([r for r in table(["tl-steps", trace]) or [] if r["what"] == "step"], "idle_ns")
    steps = {k: v for k, v in steps.items() if k[1] is not None}
    numbered = {k: v for k, v in want.items() if isinstance(k[1], int)}
    if steps and steps != numbered:
        bad.append("tl-steps: %s, not the timeline's %s" % (steps, numbered))
    return bad


def check_sums(trace):
    """the sum of causes is the timeline's idle time, however they are grouped"""
    rows = table(["tl-timeline", trace])
    if rows is None or not any(r["type"] == "idle_time" for r in rows):
        return []
    want = {r.get("src"): r["time_ns"] for r in rows if r["type"] == "idle_time"}
    bad = []
    for by in ("cause", "call,op", "module,thread", "opened_by"):
        got = sums(table(["tl-idle", "--by", by, trace]) or [], "src")
        for src, ns in want.items():
            if got.get(src, 0) != ns:
                bad.append("--by %s: %d, not the timeline's %d" % (by, got.get(src, 0), ns))
    bad += check_steps(trace)
    bad += ["%s has gaps of a graph" % r.get("call")
            for r in table(["tl-idle", "--by", "cause,call", trace]) or []
            if r["cause"] == "graph_gap" and "graphlaunch" not in (r.get("call") or "").lower()]
    gaps = sum(g["gap_ns"] for g in table(["tl-idle", "--table", "idle_gaps", trace]) or [])
    if gaps != sum(want.values()):
        bad.append("gaps: %d, not %d" % (gaps, sum(want.values())))
    return bad


def main():
    root = os.environ["TL_DATA"]
    n = excused_n = 0
    seen, failed = set(), False
    for trace in traces(root):
        rest = os.path.relpath(trace, root)
        names = names_of(WORKED, seen, rest)
        if is_left(trace):
            seen.update(names)
            continue
        try:
            bad = check_sums(trace)
            for w in names:
                seen.add(w)
                more, excused = check_worked(trace, WORKED[w])
                bad += more
                excused_n += excused
        except ValueError as e:
            if not names:  # another test has traces that no program reads
                continue
            bad = [str(e)]
        n += 1
        failed |= bool(bad)
        print("%sok %d - %s" % ("not " if bad else "", n, rest))
        for line in bad:
            print("# " + line)
    missing = sorted(set(WORKED) - seen)
    n += 1
    print("%sok %d - all worked numbers were looked at; steps taken for ops in %d" % (
        "not " if missing else "", n, excused_n))
    for w in missing:
        print("# " + w)
    print("1..%d" % n)
    return failed or bool(missing)


sys.exit(main())
