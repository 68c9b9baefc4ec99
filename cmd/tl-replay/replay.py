# SPDX-License-Identifier: MIT
"""Run recorded ops again and time them; ops.py makes the calls.

Needs only PyTorch, 1.13 or newer, and the libraries of ops that are not
PyTorch's own (--import).
"""
import argparse
import fnmatch
import importlib
import json
import signal
import sys
import time
import traceback

import torch


def time_call(call, device, options, flush=None):
    """Mean us of a call on the device, and of issuing it on the host. With a
    buffer to flush the cache, each call is timed alone behind a write to it."""
    for _ in range(options.warmup):
        call()
    device.sync()
    issue, pairs = 0.0, []
    rounds = options.iters if flush is not None else 1
    for _ in range(rounds):
        if flush is not None:
            flush.zero_()
        start, before = device.clock(), time.perf_counter()
        for _ in range(options.iters // rounds):
            call()
        issue += time.perf_counter() - before
        pairs.append((start, device.clock()))
    device.sync()
    total = sum(device.elapsed_us(start, end) for start, end in pairs)
    return (round(total / options.iters, 3),
            round(issue * 1e6 / options.iters, 3))


def kernels_of(call, device, flush=None, calls=10):
    """The kernels of a call: us and launches of one call. Each is recorded
    alone if the cache is flushed, so that the flush is not among them."""
    from torch.profiler import ProfilerActivity, profile
    kernels = {}
    rounds = calls if flush is not None else 1
    for _ in range(rounds):
        if flush is not None:
            flush.zero_()
        device.sync()
        with profile(activities=[ProfilerActivity.CUDA]) as recording:
            for _ in range(calls // rounds):
                call()
            device.sync()
        for event in recording.events():
            if (event.device_type == torch.autograd.DeviceType.CUDA
                    and not getattr(event, "is_user_annotation", False)):
                entry = kernels.setdefault(event.name, [0, 0])
                entry[0] += event.time_range.elapsed_us()
                entry[1] += 1
    return [{"name": name, "us": round(us / calls, 3), "calls": n / calls}
            for name, (us, n) in sorted(kernels.items())]


def graph_of(call):
    """The call as a CUDA or HIP graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # what is allocated once must be before
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def counted(n, noun):
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def change(replayed, recorded):
    return (f" ({100 * (replayed - recorded) / recorded:+.1f} %)"
            if recorded else "")


class Runner:
    """Runs ops one by one, says what came out, and keeps it."""

    def __init__(self, options, device):
        self.options, self.device = options, device
        self.builder = Builder(device, options.init)
        self.flush = torch.empty(options.flush_mb << 20, dtype=torch.uint8,
                                 device=device.torch
                                 ) if options.flush_mb else None
        self.out = sys.stderr if options.json == "-" else sys.stdout

    def say(self, text):
        print(shown(text), file=self.out, flush=True)

    def prepared(self, index, op):
        """With the same data whichever other ops are run."""
        torch.manual_seed(self.options.seed + index)
        return prepare(op, self.builder, self.options.kernel_dir)

    def attempt(self, result, measure, *args):
        """Measure, and note how that ended."""
        try:
            measure(result, *args)
            result["status"] = "ok"
        except (Missing, NotImplementedError) as reason:  # not on this device
            result.update(status="skipped", reason=str(reason).split("\n")[0])
        except Exception as error:  # the op's own; the next one may run
            lines = str(error).strip().splitlines() or [type(error).__name__]
            result.update(status="failed", reason=lines[0])
            if self.options.verbose:
                traceback.print_exc(file=self.out)
        return result

    def op(self, index, op):
        result = {key: op.get(key)
                  for key in ("op_name", "overload", "uid", "count")}
        result["recorded_us"] = op.get("profile_us")
        return self.attempt(result, self.measure_op, index, op)

    def measure_op(self, result, index, op):
        options = self.options
        call = self.prepared(index, op)
        if options.verbose:
            for a in arguments_of(op.get("replay_ir")
                                  or op["backward_of"]["replay_ir"]):
                self.say(f"  {a['arg_name']} {a['arg_type']}: "
                         f"{json.dumps(a['value'])}")
        result["defaults"] = list(call.defaults)
        result["replayed_us"], result["host_us"] = time_call(
            call, self.device, options, self.flush)
        if self.device.is_gpu and (options.check or options.json):
            result["kernels"] = kernels_of(
                call, self.device, self.flush)

    def say_op(self, place, op, result):
        head = f"{place} {op['op_name']}"
        if result["status"] != "ok":
            self.say(f"{head}: {result['status']}: {result['reason']}")
            return
        recorded, replayed = result["recorded_us"], result["replayed_us"]
        words = [counted(op["count"], "call")] if op.get("count") else []
        if recorded is not None:
            words.append(f"recorded {recorded:.2f} us of GPU time")
        if self.device.is_gpu:
            words.append(f"replayed {replayed:.2f} us" +
                         change(replayed, recorded))
            words.append(f"launched in {result['host_us']:.2f} us")
        else:
            words.append(f"{replayed:.2f} us on the CPU")
        if result["defaults"]:
            words.append("not recorded, assumed: " +
                         ", ".join(result["defaults"]))
        self.say(f"{head}: " + ", ".join(words))
        if self.options.check and self.device.is_gpu:
            self.say_kernels(op, result)

    def say_kernels(self, op, result):
        before, after = ({k["name"]: k["us"] for k in kernels or ()} for kernels
                         in (op.get("kernels"), result["kernels"]))
        for name in sorted(before.keys() | after.keys()):
            words = [f"{us[name]:.2f} us {what}" if name in us
                     else f"not {what}" for us, what in
                     ((before, "recorded"), (after, "replayed"))]
            both = name in before and name in after
            self.say(f"  {name[:70]}: " + ", ".join(words) + (
                change(after[name], before[name]) if both else ""))

    def segment(self, segment, ops):
        result = {"name": segment.get("name")}
        return self.attempt(result, self.measure_segment, segment, ops)

    def measure_segment(self, result, segment, ops):
        """The ops of a module or annotation in their order, on one stream:
        one by one, and as a graph, which has no launch overhead."""
        calls = {}
        for index in sorted(set(segment["order"])):
            try:
                call = self.prepared(index, ops[index])
                call()
                calls[index] = call
            except Exception:
                pass  # said of the op itself
        order = [index for index in segment["order"] if index in calls]
        steps = [calls[index] for index in order]
        recorded = [ops[index].get("profile_us") for index in order]
        result.update(ops=len(steps),
                      left_out=len(segment["order"]) - len(steps),
                      recorded_us=None if None in recorded else sum(recorded))
        if not steps:
            raise Missing("none of its ops can be run")

        def chain():
            for call in steps:
                call()
        result["eager_us"], result["host_us"] = time_call(
            chain, self.device, self.options)
        if self.device.is_gpu:
            try:
                result["graph_us"], _ = time_call(
                    graph_of(chain), self.device, self.options)
            except RuntimeError as error:
                result["no_graph"] = str(error).splitlines()[0]

    def say_segment(self, result):
        head = f"segment {result['name'] or ''}".rstrip()
        if result["status"] != "ok":
            self.say(f"{head}: {result['status']}: {result['reason']}")
            return
        eager = result["eager_us"]
        words = [counted(result["ops"], "op")]
        if result["recorded_us"] is not None:
            words.append(f"recorded {result['recorded_us']:.2f} us of GPU time")
        words.append(f"{eager:.2f} us eager")
        if "graph_us" in result:
            words.append(f"{result['graph_us']:.2f} us as a graph, launch "
                         f"overhead {eager - result['graph_us']:.2f} us")
        if "no_graph" in result:
            words.append(f"no graph ({result['no_graph']})")
        if result["left_out"]:
            words.append(counted(result["left_out"], "op") + " left out")
        self.say(f"{head}: " + ", ".join(words))


# --- Command line -------------------------------------------------------------

def parse_options():
    parser = argparse.ArgumentParser(
        description="Run ops of a trace again and time them.")
    add = parser.add_argument
    add("ir", nargs="?", help="IR to run (default: the one in this script)")
    add("--check", action="store_true",
        help="compare kernels with the recorded ones, by name and time")
    add("--device", help="cuda (default where there is one), cuda:1, cpu")
    add("--dump-schemas", action="store_true",
        help="print the schemas of all operators, for tl-replay --schema")
    add("--flush-mb", type=int, default=0, metavar="MB",
        help="write MB before each call, so that the L2 cache is cold")
    add("--import", action="append", default=[], dest="imports",
        metavar="MODULE", help="import MODULE, which registers ops")
    add("--init", choices=("normal", "uniform", "zeros", "ones"),
        help="fill floating tensors so (default: normal)")
    add("--iters", type=int, default=100, help="timed calls (default: 100)")
    add("--json", metavar="FILE", help="write results to FILE, - is stdout")
    add("--kernel-dir", metavar="DIR",
        help="run Triton kernels from their files in DIR, which are code")
    add("--list", action="store_true", help="print the ops, run none")
    add("--op-filter", metavar="GLOB", help="run ops of such names")
    add("--op-limit", type=int, metavar="N", help="run the first N of them")
    add("--seed", type=int, default=0, help="of random data (default: 0)")
    add("--stop-on-error", action="store_true", help="end at the first failure")
    add("--verbose", action="store_true", help="print arguments, tracebacks")
    add("--warmup", type=int, default=50, help="calls before (default: 50)")
    options = parser.parse_args()
    if options.iters < 1 or min(options.warmup, options.flush_mb) < 0:
        parser.error("--iters is 1 or more, --warmup and --flush-mb 0 or more")
    if not (options.ir or options.dump_schemas or "IR" in globals()):
        parser.error("no IR to run")
    return options


def load(options):
    """The IR; version 1 is a list of ops alone."""
    text = globals().get("IR", "[]")
    if options.ir:
        with open(options.ir, encoding="utf-8") as file:
            text = file.read()
    ir = json.loads(text)
    return {"ops": ir} if isinstance(ir, list) else ir


def run(ir, ops, runner):
    options, device = runner.options, runner.device
    recorded = f", recorded on {ir['device']}" if ir.get("device") else ""
    runner.say(f"PyTorch {torch.__version__} on {device.name}{recorded}")
    results = []
    for place, (index, op) in enumerate(ops, 1):
        results.append(runner.op(index, op))
        runner.say_op(f"[{place}/{len(ops)}]", op, results[-1])
        if options.stop_on_error and results[-1]["status"] == "failed":
            break
    count = {status: sum(r["status"] == status for r in results)
             for status in ("ok", "skipped", "failed")}
    runner.say(f"{counted(len(ops), 'op')}: {count['ok']} replayed, "
               f"{count['skipped']} skipped, {count['failed']} failed")
    document = {
        "version": 2, "source": ir.get("source"), "device": device.name,
        "torch": torch.__version__, "recorded_device": ir.get("device"),
        "warmup": options.warmup, "iters": options.iters,
        "flush_mb": options.flush_mb, "seed": options.seed, "ops": results}
    if ir.get("segment"):
        document["segment"] = runner.segment(ir["segment"], ir["ops"])
        runner.say_segment(document["segment"])
    if options.json:
        with (open(options.json, "w", encoding="utf-8")
              if options.json != "-" else sys.stdout) as file:
            file.write(json.dumps(document, indent=1) + "\n")
    return 1 if count["failed"] or (ops and not count["ok"]) else 0


def main():
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader may leave
    options = parse_options()
    ir = load(options)
    for module in (ir.get("imports") or []) + options.imports:
        importlib.import_module(module)
    if options.dump_schemas:
        print("\n".join(sorted(map(str, torch._C._jit_get_all_schemas()))))
        return 0
    pattern = options.op_filter or "*"
    ops = [(i, op) for i, op in enumerate(ir["ops"])
           if fnmatch.fnmatchcase(op["op_name"], pattern)][:options.op_limit]
    if options.list:
        for i, op in ops:
            print(shown(f"{i} {op['op_name']} uid {op.get('uid')}" + (
                f": {op['missing']}" if op.get("missing") else "")))
        return 0
    device = Device(options.device or
                    ("cuda" if torch.cuda.is_available() else "cpu"))
    with torch.no_grad():
        return run(ir, ops, Runner(options, device))


if __name__ == "__main__":
    sys.exit(main())
