# SPDX-License-Identifier: MIT
# Any process of a pipe, or below a program, is killed at any moment: every file
# left is whole, no process remains, and survivors report it.
. tests/cli/lib.sh
sanitized && skip_all 'processes are killed alike under sanitizers'

tl-gen -s 3 -n 30 --layers 4 -o t.json
gzip -1 <t.json >t.json.gz
cp t.json.gz u.json.gz
tl-tree t.json.gz -o t.tl
mkdir ranks
tl-gen -s 7 -n 8 --layers 4 --ranks 4 -d ranks

cat >kill.py <<'END_PY'
"""kill.py RUNS SEED: that many runs, each with one process killed."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

RUNS, random_of = int(sys.argv[1]), random.Random(int(sys.argv[2]))
MARK = f"TL_KILLED={os.getpid()}"
# stages of a pipe; NEW/ is a new folder, for its files
SCENES = [
    ["tl-decode t.json.gz", "tl-tree", "tl-timeline -o NEW/out.tsv"],
    ["tl-decode t.json.gz", "tl-tree -z -o NEW/out.tl"],
    ["tl-cat t.tl", "tl-filter --kind kernel,runtime", "tl-kernels"],
    ["tl-decode t.json", "tl-tree", "tl-export -o NEW/out.json.gz"],
    ["tl-cat -o - t.tl", "tl-html -o NEW/page.html -"],
    ["tl-timeline -o NEW/out.tsv t.json.gz"],
    ["gzip -dc t.json.gz", "tl-kernels -o NEW/out.tsv"],
    ["tl-tree --mem 4M t.json.gz -o NEW/out.tl"],
    ["tl-decode -d NEW/d t.json.gz u.json.gz t.json"],
    ["tl-cat --check t.tl t.tl t.tl"],
    ["tl-collective -d NEW/d ranks"],
    ["tl-split --to chrome --by step -d NEW/d t.tl"],
    ["tl-report t.json.gz"],
    ["tl-report -d NEW/d --html NEW/page.html t.json.gz"],
    ["tl-report -d NEW/d --vs u.json.gz t.tl"],
]
SCENES = [s for s in SCENES if all(shutil.which(p.split()[0]) for p in s)]
# some of these remain if a process is killed outright
TEMPORARY = r"\.tmp\w{6}$|/\.tl-report\.\w{6}/|\.tl-split$"


def ours():
    """Processes of this run that live, by number, and their programs."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                is_ours = MARK.encode() in f.read().split(b"\0")
            program = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            continue
        if is_ours and program.startswith("tl-"):
            found[int(pid)] = program
    return found


class Run:
    """A scene in folders of its own."""

    def __init__(self, stages):
        for folder in "new", "tmp":
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
        key, value = MARK.split("=")
        env = dict(os.environ, TMPDIR=os.path.abspath("tmp"))
        env[key] = value
        self.jobs = []
        feed = subprocess.DEVNULL
        for i, stage in enumerate(stages):
            is_last = i == len(stages) - 1
            with open(f"err{i}", "wb") as err, open("out", "wb") as out:
                job = subprocess.Popen(
                    stage.replace("NEW", "new").split(), stdin=feed,
                    stdout=out if is_last else subprocess.PIPE, stderr=err,
                    env=env)
            if feed != subprocess.DEVNULL:
                feed.close()
            feed = job.stdout
            self.jobs.append(job)

    def wait(self):
        self.status = [job.wait(timeout=60) for job in self.jobs]
        for _ in range(100):  # the kernel ends those that a victim had
            self.stays = ours()
            if not self.stays:
                break
            time.sleep(0.1)
        self.said = []
        for i in range(len(self.jobs)):
            with open(f"err{i}", encoding="utf-8") as f:
                self.said.append(f.read())
        self.files = {}
        for folder, _, names in os.walk("new"):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    self.files[path] = f.read()
        with open("out", "rb") as f:
            self.out = f.read()
        self.left = [p for p in self.files if re.search(TEMPORARY, p)]
        self.left += os.listdir("tmp")
        for path in self.left:
            self.files.pop(path, None)
        return self


def wrong(run, want, victim, program, sig):
    """What is not as it should be."""
    numbers = [job.pid for job in run.jobs]
    at = numbers.index(victim) if victim in numbers else -1
    bad = []
    for i, (status, said) in enumerate(zip(run.status, run.said)):
        name = os.path.basename(run.jobs[i].args[0])
        if i == at:
            if status not in (-sig, 128 + sig, want.status[i]):
                bad.append(f"{name}, killed: {status}")
        elif status == -signal.SIGPIPE and i < len(run.jobs) - 1:
            pass  # who read it has left
        elif name == "gzip" and status != 0:
            pass
        elif status == want.status[i]:
            continue
        elif status not in (1, 3) or not re.search("^tl-", said, re.M):
            bad.append(f"{name}: exit status {status}, {said!r}")
        elif at < 0 and f"signal {int(sig)}" not in said:
            bad.append(f"{name} does not say that {program} was killed: {said}")
    last = run.status[-1]
    differ = [p for p in run.files if run.files[p] != want.files.get(p)]
    if last == want.status[-1] and (run.out != want.out or
                                    run.files != want.files):
        bad.append(f"exit status {last} with less: {differ}")
    # without a part, what is made of all says so; its last line is there, too
    if last == 3:
        differ = [p for p in differ if not run.files[p].endswith(b"\n") or
                  (not run.jobs[-1].args[0].endswith("tl-collective") and
                   not re.search(r"page\.html|summary|_vs_|coll", p))]
    if differ:
        bad.append(f"not whole: {differ}")
    is_check = "--check" in run.jobs[-1].args  # a line for each that is whole
    if last == 1 and run.out != b"" and not is_check:
        bad.append(f"no answer, but output: {run.out[:200]}")
    if run.left and sig != signal.SIGKILL:
        bad.append(f"left behind: {run.left}")
    return bad


wants, spans = [], []
for stages in SCENES:
    began = time.monotonic()
    wants.append(Run(stages).wait())
    spans.append(time.monotonic() - began)
    if wants[-1].left or any(s not in (0, 3) for s in wants[-1].status):
        print(stages, wants[-1].status, wants[-1].said, wants[-1].left)
        sys.exit(1)
failed, killed = 0, {}
for n in range(RUNS):
    i = n % len(SCENES)
    sig = random_of.choice((signal.SIGKILL, signal.SIGTERM))
    run = Run(SCENES[i])
    time.sleep(random_of.random() * spans[i])
    victims = ours()
    if not victims:
        run.wait()
        continue
    victim = random_of.choice(sorted(victims))
    try:
        os.kill(victim, sig)
    except ProcessLookupError:
        pass
    run.wait()
    why = wrong(run, wants[i], victim, victims[victim], sig)
    if run.stays:
        why.append(f"still there: {run.stays}")
        for pid in run.stays:
            os.kill(pid, signal.SIGKILL)
    killed[victims[victim]] = killed.get(victims[victim], 0) + 1
    if why:
        failed += 1
        print(f"run {n}: {' | '.join(SCENES[i])}: signal {int(sig)} to "
              f"{victims[victim]} of {sorted(victims.values())}: "
              f"{run.status}: {'; '.join(why)}")
with open("killed", "w", encoding="utf-8") as f:
    f.write("".join(f"{k} {killed[k]}\n" for k in sorted(killed)))
sys.exit(failed > 0)
END_PY

# a program whose reader takes nothing ends all the same
cat >stuck.py <<'END_PY'
"""stuck.py COMMAND...: its output is a full pipe that nobody reads; SIGTERM then."""
import fcntl
import os
import signal
import subprocess
import sys
import time

_, to = os.pipe()
fcntl.fcntl(to, fcntl.F_SETPIPE_SZ, 4096)
os.write(to, b"x" * 4096)
job = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=to)


def is_stuck():
    with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as f:
        if f.read():
            return False
    with open(f"/proc/{job.pid}/wchan", encoding="ascii") as f:
        return "pipe" in f.read()


for _ in range(1000):
    if job.poll() is not None or is_stuck():
        break
    time.sleep(0.01)
print("stuck" if job.poll() is None and is_stuck() else "not stuck")
job.send_signal(signal.SIGTERM)
try:
    print(job.wait(timeout=20))
except subprocess.TimeoutExpired:
    job.kill()
    print("lives on")
END_PY
mkdir kept
while read -r status program; do
	if ! command -v "${program%% *}" >/dev/null; then
		skip "stuck: $program" 'not built'
		continue
	fi
	case $(cat /proc/self/wchan 2>/dev/null) in
	'') skip "stuck: $program" 'nobody says what a process waits for' ;;
	*) # shellcheck disable=SC2086 # words
		is "stuck: $program" "$(TMPDIR=$PWD/kept python3 stuck.py $program t.tl 2>&1)" \
			"stuck
$status" ;;
	esac
done <<'END'
143 tl-report
143 tl-report --format ndjson
-15 tl-advise
-15 tl-timeline
-15 tl-collective
END
is 'nothing is left behind' "$(ls kept)" ''

runs=30
! slow || runs=60
! everything || runs=120
ok "$runs processes killed, each at a random moment" python3 kill.py $runs "${TL_SEED:-1}"
diag "$(tr '\n' ' ' <killed)"
ok 'most of them while they ran' awk -v runs=$runs '{ n += $2 }
	END { exit n < runs / 2 }' killed
done_testing
