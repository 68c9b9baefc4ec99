#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tl-summary: what the tables of a report say together.
#
# Reads tables that the sinks wrote into a folder as NDJSON, and says in one
# screen what the time went on, what bounds it and what to mind. Figures are
# the sinks' own: here they are only added up over sources and compared.

set -u
LC_ALL=C
export LC_ALL

synopsis='[--roofs FILE] [--table FILE] [--width N] DIR'

options() {
	cat <<'END'
--roofs||FILE|the lines of a roofline chart, as a table (NDJSON)
--table||FILE|the summary as a table (NDJSON)
--width||N|columns of the screen
--help|||this text
--version|||the program's and the stream's version
END
}

die_usage() {
	printf 'tl-summary: %s\n' "$1" >&2
	printf "usage: tl-summary %s\ntry 'tl-summary --help'\n" "$synopsis" >&2
	exit 2
}

die() {
	printf 'tl-summary: %s\n' "$1" >&2
	exit 1
}

help() {
	printf 'usage: tl-summary %s\n' "$synopsis"
	printf 'what the tables of a report say together\n\noptions:\n'
	options | awk -F'|' '{ printf "      %-14s %s\n", $1 " " $3, $4 }'
	printf '\nexample:\n  tl-ops -d tables --format ndjson t.tl; '
	printf 'tl-summary tables\n\nSee tl-summary(1).\n'
}

roofs=/dev/null table=/dev/null width=${COLUMNS:-80} dir=''
while [ $# -gt 0 ]; do
	case $1 in
	--help) help || exit 1; exit 0 ;;
	--version) echo 'tl-summary (tl) @VERSION@, stream 1' || exit 1; exit 0 ;;
	--complete)
		options | awk -F'|' '{ print $1 "\t" $2 "\t" $3 "\t" $4 }'
		exit 0 ;;
	--roofs=* | --table=* | --width=*)
		name=${1%%=*} value=${1#*=}
		shift
		set -- "$name" "$value" "$@"
		continue ;;
	--roofs | --table | --width)
		[ $# -gt 1 ] || die_usage "option '$1' needs an argument"
		case $1 in
		--roofs) roofs=$2 ;;
		--table) table=$2 ;;
		*) width=$2 ;;
		esac
		shift ;;
	--) shift; break ;;
	-?*) die_usage "unknown option '$1'" ;;
	*)
		[ -z "$dir" ] || die_usage "one folder, not '$1' too"
		dir=$1 ;;
	esac
	shift
done
[ -n "$dir" ] || dir=${1-}
[ -n "$dir" ] || die_usage 'no folder of tables'
case $width in
*[!0-9]* | '' | ??????*) die_usage "option '--width': '$width' is no number of columns" ;;
esac
case $dir in [!/]*) dir=./$dir ;; esac
[ -d "$dir" ] || die "$dir: no folder"
[ -f "$dir/gpu_timeline.ndjson" ] ||
	die "$dir: no table gpu_timeline.ndjson: see tl-timeline -d DIR --format ndjson"

set --
for name in notes.txt header.ndjson gpu_timeline.ndjson ops_summary.ndjson \
	ops_summary_by_category.ndjson ops_unique_args.ndjson \
	unified_perf_summary.ndjson by_name.ndjson \
	kernel_summary_by_category.ndjson; do
	file=$dir/$name
	[ -f "$file" ] || file=$dir/more/$name
	[ ! -f "$file" ] || set -- "$@" "$file"
done
has_ops=''
[ ! -f "$dir/ops_summary.ndjson" ] || has_ops=y

# Rows are read as our programs write them: the keys that are looked for come
# before anything nested that may hold the same.
awk -v width="$width" -v has_ops="$has_ops" -v table="$table" \
	-v roofs="$roofs" '
# A member of the row as it stands, "" when it is null or not there.
function raw(key,    s, i) {
	i = index($0, "\"" key "\":")
	if (!i)
		return ""
	s = substr($0, i + length(key) + 3)
	if (s ~ /^"/)
		match(s, /^"([^"\\]|\\.)*"/)
	else if (s ~ /^\[/)
		RLENGTH = (i = index(s, "],\"")) ? i : length(s) - 1
	else
		match(s, /^[^,}]*/)
	s = substr(s, 1, RLENGTH)
	return s == "null" ? "" : s
}
# JSON text for people; control characters stay escaped.
function plain(s) {
	if (s ~ /^"/)
		s = substr(s, 2, length(s) - 2)
	gsub(/\\"/, "\"", s)
	gsub(/\\\\/, "\\", s)
	gsub(/\302[\200-\237]|\177/, "?", s)
	return s
}
function quote(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/[\001-\037]/, " ", s)
	return "\"" s "\""
}
# At most n characters, the middle left out.
function cut(s, n,    half) {
	if (length(s) <= n)
		return s
	half = int((n - 3) / 2)
	s = substr(s, 1, n - 3 - half) "..." substr(s, length(s) - half + 1)
	sub(/[\300-\377][\200-\277]*\.\.\./, "...", s)
	sub(/\.\.\.[\200-\277]+/, "...", s)
	return s
}
# A kernel without its arguments and templates, where it is too long.
function fold(s, n) {
	if (length(s) <= n)
		return s
	gsub(/\(anonymous namespace\)/, "anonymous", s)
	while (gsub(/<[^<>]*>/, "", s))
		;
	sub(/^void /, "", s)
	if (match(s, /.\(/))
		s = substr(s, 1, RSTART)
	return cut(s, n)
}
function time(ns) {
	return ns >= 1e9 ? sprintf("%.3f s", ns / 1e9) : \
	    ns >= 1e6 ? sprintf("%.3f ms", ns / 1e6) : \
	    sprintf("%.1f us", ns / 1e3)
}
function share(part, whole) {
	return whole > 0 ? sprintf("%.1f %%", 100 * part / whole) : ""
}
function row(part, name, ns, percent, note) {
	printf "{\"part\":\"%s\",\"name\":%s,\"time_ns\":%s,\"percent\":%s,\"note\":%s}\n", \
	    part, name, ns == "" ? "null" : sprintf("%.0f", ns), \
	    percent == "" ? "null" : sprintf("%.4f", percent), \
	    note == "" ? "null" : quote(note) >table
	rows++
}
function wrap(text, first, indent,    n, i, w, line) {
	n = split(text, w, " ")
	w[1] = first w[1]
	for (i = 1; i <= n; i++) {
		if (line != "" && length(line) + length(w[i]) + 1 > width) {
			print line
			line = indent w[i]
		} else
			line = line == "" ? w[i] : line " " w[i]
	}
	print line
}
function warn(text) {
	warnings[++nwarnings] = text
}
# The keys of the n largest values into best[]; how many there are.
function largest(values, n,    key, found, top) {
	split("", taken)
	for (found = 0; found < n; found++) {
		top = ""
		for (key in values)
			if (!(key in taken) && (top == "" ||
			    values[key] > values[top] ||
			    (values[key] == values[top] && key < top)))
				top = key
		if (top == "")
			break
		taken[top] = 1
		best[found + 1] = top
	}
	return found
}

FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.[a-z]*$/, "", file)
}
file == "notes" {
	if (!(("n", $0) in once))
		warn($0)
	once["n", $0] = 1
	next
}
file == "header" {
	if ($0 !~ /^\{"source":/ || $0 !~ /"final":true/)
		next
	nsources++
	name = plain(raw("name"))
	sub(/.*\//, "", name)
	title = name == "" ? "standard input" : name
	rank = raw("rank")
	world = raw("world_size")
	if (i = index($0, "\"devices\":[")) {
		rest = substr($0, i)
		$0 = rest
		while (raw("name") ~ /Processor|CPU|EPYC|Xeon/) {
			rest = substr(rest, index(rest, "\"name\":") + 8)
			$0 = rest
		}
		device = plain(raw("name"))
	}
	next
}
FNR == 1 || /^\{"end":/ { next }
file == "gpu_timeline" {
	source = raw("rank")
	if (source == "")
		source = raw("src")
	if (!(source in seen))
		order[++norder] = source
	seen[source] = 1
	type = plain(raw("type"))
	if (type == "kernel")
		is_rocprof = 1
	ns[source, type] += raw("time_ns")
	all[type] += raw("time_ns")
}
file == "ops_summary" || file == "by_name" {
	spent = raw(file == "by_name" ? "dur_ns_sum" : "direct_ns_sum")
	if (file == "by_name" && has_ops)
		next
	name = raw("name")
	op_ns[name] += spent
	op_count[name] += raw("count")
	ops_ns += spent
	if (name ~ /GraphLaunch"$/)
		graph_ns += spent
	what = raw("categories")
	if (what == "")
		what = "[" raw("category") "]"
	gsub(/[]["]/, "", what)
	gsub(/,/, ", ", what)
	op_what[name] = what
}
file == "ops_summary_by_category" || file == "kernel_summary_by_category" {
	what = plain(raw("op_category"))
	cat_ns[what] += raw(file ~ /^o/ ? "direct_ns" : "dur_ns_sum")
}
file == "ops_unique_args" {
	spent = raw("direct_ns_sum")
	if (raw("name") !~ /^"(hip|cuda|cu)[A-Z]/) {
		args_ns += spent
		if (raw("input_dims") !~ /^\[./ || raw("input_dims") == "[]")
			shapeless_ns += spent
	}
}
file == "unified_perf_summary" {
	spent = raw("kernel_ns_sum")
	unified_ns += spent
	lost = raw("lost_ns")
	bound = raw("roofline_bound")
	if (lost == "" || bound == "") {
		if (raw("gflop") == "")
			unmodelled_ns += spent
		next
	}
	bound = bound ~ /^"COMPUTE/ ? "compute" : "memory"
	bound_ns[bound] += spent
	modelled_ns += spent
	lost_all += lost
	key = raw("name") SUBSEP raw("input_dims")
	lost_ns[key] += lost
	lost_of[key] += spent
	lost_by[key] = bound
	roof = plain(raw("roof"))
	spec = plain(raw("compute_spec"))
	limit = raw("roofline_ns")
	if (limit > 0 && bound == "compute") {
		peak[spec] = raw("gflop") / limit * 1e6
		peak_ns[spec] += spent
	}
	if (limit > 0 && bound == "memory")
		tb_s = raw("moved_mib") * 1048576 / limit / 1000
}

function verdict(    text, top) {
	text = "Of " time(total) (norder > 1 ? " of " norder " ranks together" : "") \
	    " the GPU computed " share(compute, total)
	if (largest(cat_ns, 1))
		top = best[1]
	if (top != "" && cat_ns[top] > 0) {
		sum = 0
		for (c in cat_ns)
			sum += cat_ns[c]
		text = text " (mostly " (top == "other" ? "other ops" : top) ", " share(cat_ns[top], sum) \
		    (has_ops ? " of the time of ops)" : " of the kernels)")
	}
	if (comm * 200 >= total)
		text = text ", communicated with nothing beside " share(comm, total)
	if (copy * 200 >= total)
		text = text ", copied " share(copy, total)
	text = text " and was idle " share(idle, total) ": "
	if (idle * 100 >= total * 35 && idle >= comm)
		return text "the host bounds it, which does not launch fast enough."
	if (comm * 5 >= total || comm > compute)
		return text "communication bounds it."
	if (copy * 5 >= total)
		return text "copies bound it."
	if (modelled_ns * 2 < unified_ns || modelled_ns == 0)
		return text "computation bounds it."
	return text (bound_ns["compute"] >= bound_ns["memory"] ? \
	    "arithmetic" : "memory bandwidth") " bounds it, at " \
	    share(modelled_ns - lost_all, modelled_ns) " of the roofline."
}
function put_bar(source, label,    n, parts, t, i, line, used, want, c, v) {
	t = ns[source, "total_time"]
	n = width - length(label) - 2
	if (n > 72)
		n = 72
	split("# = + .", c, " ")
	v[1] = ns[source, "computation_time"] + ns[source, "kernel"]
	v[2] = ns[source, "exposed_comm_time"]
	v[3] = ns[source, "exposed_memcpy_time"] + (is_rocprof ? \
	    ns[source, "busy_time"] - ns[source, "kernel"] : 0)
	line = ""
	used = 0
	for (i = 1; i <= 3; i++) {
		used += v[i]
		want = t > 0 ? int(n * used / t + 0.5) : 0
		while (length(line) < want)
			line = line c[i]
	}
	while (length(line) < n)
		line = line c[4]
	print label "[" line "]"
}
function put_timeline(    i, names, values, n) {
	print ""
	if (norder == 1)
		put_bar(order[1], "")
	else
		for (i = 1; i <= norder && i <= 16; i++)
			put_bar(order[i], sprintf("%4s ", order[i]))
	if (norder > 16)
		print "     ... " norder - 16 " more"
	line = "# computation " share(compute, total) \
	    (comm * 2000 >= total ? "  = communication " share(comm, total) : "")
	rest = (copy * 2000 >= total ? "  + copies " share(copy, total) : "") \
	    "  . idle " share(idle, total)
	if (length(line rest) > width) {
		print line
		line = ""
		rest = substr(rest, 3)
	}
	print line rest
	row("timeline", "\"computation\"", compute, 100 * compute / total)
	row("timeline", "\"exposed communication\"", comm, 100 * comm / total)
	row("timeline", "\"exposed copies\"", copy, 100 * copy / total)
	row("timeline", "\"idle\"", idle, 100 * idle / total)
	row("timeline", "\"total\"", total, 100)
}
function put_top(    i, n, room, name) {
	n = largest(op_ns, 10)
	if (!n)
		return
	wide = has_ops && width >= 74
	room = width - (wide ? 53 : 33)
	if (room < 20)
		room = 20
	printf "\n%-*s %12s %8s %8s%s\n", room + 2, \
	    has_ops ? "top ops" : "top kernels", "time", "share", "count", \
	    wide ? "  category" : ""
	for (i = 1; i <= n; i++) {
		name = best[i]
		line = sprintf("  %-*s %12s %8s %8d  %s", room, \
		    fold(plain(name), room), time(op_ns[name]), \
		    share(op_ns[name], ops_ns), op_count[name], \
		    wide ? cut(op_what[name], 18) : "")
		sub(/ +$/, "", line)
		print line
		row("op", name, op_ns[name], 100 * op_ns[name] / ops_ns, op_what[name])
	}
}
function put_lost(    i, n, room, pair, label, head) {
	n = largest(lost_ns, 5)
	if (!n || lost_all <= 0)
		return
	room = width > 56 ? width - 36 : 20
	head = "lost to the roofline (" roof ")"
	printf "\n%-*s %12s %8s  bound\n", room + 2, cut(head, room), \
	    "time lost", "of roof"
	for (i = 1; i <= n && lost_ns[best[i]] > 0; i++) {
		split(best[i], pair, SUBSEP)
		label = plain(pair[1]) " " pair[2]
		printf "  %-*s %12s %8s  %s\n", room, cut(label, room), \
		    time(lost_ns[best[i]]), \
		    share(lost_of[best[i]] - lost_ns[best[i]], lost_of[best[i]]), \
		    lost_by[best[i]]
		row("roofline", quote(label), lost_ns[best[i]], \
		    100 * (lost_of[best[i]] - lost_ns[best[i]]) / lost_of[best[i]], \
		    lost_by[best[i]] " bound")
	}
}
function find_warnings() {
	if (busy * 2 < total)
		warn("the GPU was busy only " share(busy, total) " of the time")
	if (all["unlinked_time"] * 100 >= total)
		warn("GPU work of " share(all["unlinked_time"], total) \
		    " of the time has no launch in the trace: tables of ops do not count it")
	if (!has_ops)
		warn("the trace holds no ops of the host: there are no tables of ops")
	if (graph_ns * 100 >= ops_ns && graph_ns > 0)
		warn("graph launches hide the ops of " share(graph_ns, ops_ns) \
		    " of the time: see tl-record(7)")
	if (shapeless_ns * 20 >= args_ns && shapeless_ns > 0)
		warn("ops of " share(shapeless_ns, args_ns) \
		    " of the time have no shapes: record_shapes was off, see tl-record(7)")
	if (unmodelled_ns * 10 >= unified_ns && unmodelled_ns > 0)
		warn("ops of " share(unmodelled_ns, unified_ns) \
		    " of the time have no roofline: no model knows them")
}
# Lines of the three specs that ran longest, at their bends.
function put_roofs(    n, i, k, x, top, nx) {
	n = largest(peak_ns, 3)
	if (!n || tb_s <= 0)
		return
	printf "{\"table\":\"roofs\",\"columns\":[{\"id\":\"flop_per_byte\",\"label\":\"FLOPS/Byte\",\"type\":\"real\",\"unit\":null}" >roofs
	for (i = 1; i <= n; i++) {
		top[i] = best[i]
		printf ",{\"id\":%s,\"label\":%s,\"type\":\"real\",\"unit\":null}", quote(top[i]), \
		    quote(top[i] " roof") >roofs
		x[i + 1] = peak[top[i]] / tb_s
	}
	print "]}" >roofs
	x[1] = 0.05
	x[n + 2] = 20000
	nx = n + 2
	for (i = 1; i <= nx; i++)
		for (k = i + 1; k <= nx; k++)
			if (x[k] < x[i]) {
				swap = x[i]; x[i] = x[k]; x[k] = swap
			}
	for (i = 1; i <= nx; i++) {
		printf "{\"flop_per_byte\":%.6g", x[i] >roofs
		for (k = 1; k <= n; k++)
			printf ",%s:%.6g", quote(top[k]), \
			    x[i] * tb_s < peak[top[k]] ? x[i] * tb_s : peak[top[k]] >roofs
		print "}" >roofs
	}
	printf "{\"end\":{\"rows\":%d}}\n", nx >roofs
}
END {
	printf "{\"table\":\"summary\",\"columns\":[{\"id\":\"part\",\"label\":\"part\",\"type\":\"text\",\"unit\":null},{\"id\":\"name\",\"label\":\"name\",\"type\":\"text\",\"unit\":null},{\"id\":\"time_ns\",\"label\":\"time ms\",\"type\":\"int\",\"unit\":\"ns\",\"label_div\":1000000.0},{\"id\":\"percent\",\"label\":\"percent\",\"type\":\"real\",\"unit\":\"percent\"},{\"id\":\"note\",\"label\":\"note\",\"type\":\"text\",\"unit\":null}]}\n" >table
	total = all["total_time"]
	busy = all["busy_time"]
	compute = all["computation_time"] + all["kernel"]
	comm = all["exposed_comm_time"]
	copy = all["exposed_memcpy_time"]
	if (is_rocprof)
		copy += busy - all["kernel"]
	idle = all["idle_time"] + all["idle"] + all["micro_idle_time"] + \
	    all["macro_idle_time"]
	if (total <= 0)
		total = 1
	if (nsources > 1)
		title = nsources " traces"
	else {
		if (rank != "")
			title = title ", rank " rank (world != "" ? " of " world : "")
	}
	if (device != "")
		title = title ", " device
	print cut(title, width)
	print ""
	row("trace", quote(title))
	text = verdict()
	wrap(text, "", "")
	row("verdict", quote(text))
	put_timeline()
	put_top()
	put_lost()
	find_warnings()
	if (nwarnings) {
		print "\nwarnings"
		for (i = 1; i <= nwarnings; i++) {
	wrap(warnings[i], "  - ", "    ")
			row("warning", quote(warnings[i]))
		}
	}
	put_roofs()
	printf "{\"end\":{\"rows\":%d}}\n", rows >table
}' "$@" || die 'the summary could not be written'
