# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# tl-report among programs that give it hand-made tables, sourced after lib.sh:
#
#	. "$ROOT"/tests/cli/report-fakes.sh
#	timeline 1000 0 0 9000
#	idle host op aten::mm 9000 100 0
#	report --width 99
#
# The tables are files in d/; t.tl is a small trace. Screens are kept, see
# keep_screens.

mkdir fake xl
cp "$B/bin/tl-report" fake
ln -s "$B/bin/tl-tree" "$B/bin/tl-advise" fake
for p in ops kernels roofline collective diff idle steps; do
	printf '#!/bin/sh\n' >fake/tl-$p
done
cat >fake/tl-timeline <<'END'
#!/bin/sh
while [ "$1" != -d ]; do shift; done
cp "$TMP"/d/*.ndjson "$2"
END
cat >fake/tl-xlsx <<'END'
#!/bin/sh
for f do
	case $f in
	--front=*) cp "${f#*=}" "$TMP/xl/front" ;;
	*.ndjson) cp "$f" "$TMP/xl" ;;
	esac
done
END
chmod +x fake/*
export TMP
# an op and two kernels
cat >t.json <<'END'
{"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":0,"dur":500000,"pid":1,"tid":1},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","ts":1,"dur":5,"pid":1,"tid":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","ts":10,"dur":90,"pid":0,"tid":7,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","ts":493050,"dur":5,"pid":1,"tid":1,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","ts":493100,"dur":90,"pid":0,"tid":7,"args":{"device":0,"stream":7,"correlation":2}}]}
END
with_members() { # with_members MEMBERS: that trace with these too
	sed "1s/^{/&$1,/" t.json
}
tl-tree t.json -o t.tl
for r in 0 1; do
	with_members "\"distributedInfo\":{\"rank\":$r,\"world_size\":2}" >"r$r.json"
done
tl-merge r0.json r1.json -o r2.tl 2>err
trace=t.tl
# report OPTION...: without its title
report() {
	# shellcheck disable=SC2086 # several words
	PATH=$TMP/fake:/usr/bin:/bin fake/tl-report "$@" $trace >screen.r || return
	cat screen.r >>"$SCREENS"
	tail -n +3 screen.r
}
book() { # the tables of a workbook, into xl/
	PATH=$TMP/fake:/usr/bin:/bin fake/tl-report -o x.xlsx "$@" $trace
}

# schema TABLE COLUMN:TYPE...
schema() {
	printf '{"table":"%s","columns":[' "$1"
	shift
	for column do
		printf '{"id":"%s","type":"%s"}%s' "${column%:*}" "${column#*:}" ,
	done | sed 's/,$//'
	echo ']}'
}
# timeline COMPUTE COMM COPY IDLE: in ns, into d/
timeline() {
	rm -rf d
	mkdir d
	{
		schema gpu_timeline type:text time_ns:int percent:real
		printf '{"type":"%s","time_ns":%s,"percent":1}\n' \
			computation_time "$1" exposed_comm_time "$2" \
			exposed_memcpy_time "$3" busy_time $(($1 + $2 + $3)) \
			idle_time "$4" total_time $(($1 + $2 + $3 + $4))
		echo '{"end":{"rows":6}}'
	} >d/gpu_timeline.ndjson
}

# idle CLASS CAUSE CALL NS LONGEST INFERRED...: why the GPU was idle, into d/, and
# the window: the last timeline, and MEMBERS of it; BEHIND each call
MEMBERS='' BEHIND=0
idle() {
	schema idle class:text cause:text call:text time_ns:int percent:real \
		count:int calls:int call_ns_max:int longest_uid:int inferred_ns:int \
		behind_ns:int \
		>d/idle.ndjson
	printf '{"class":"%s","cause":"%s","call":"%s","time_ns":%s,"call_ns_max":%s,"inferred_ns":%s,"percent":1,"count":1,"calls":2000,"longest_uid":77,"behind_ns":'"$BEHIND"'}\n' \
		"$@" >>d/idle.ndjson
	echo '{"end":{}}' >>d/idle.ndjson
	{
		sed -n -e 's/^{"type":"computation_time","time_ns":\([0-9]*\).*/gpu \1/p' \
			-e 's/^{"type":"exposed_comm_time","time_ns":\([0-9]*\).*/communication \1/p' \
			-e 's/^{"type":"exposed_memcpy_time","time_ns":\([0-9]*\).*/copy \1/p' \
			-e 's/^{"type":"total_time","time_ns":\([0-9]*\).*/window \1/p' d/gpu_timeline.ndjson
		sed -n 's/^{"class":"\([a-z_]*\)".*"time_ns":\([0-9]*\).*/\1 \2/p' d/idle.ndjson
	} | MEMBERS=$MEMBERS awk '
		function put(id, value) {
			if (!(id in values))
				ids[++n] = id
			values[id] = value
		}
		{ ns[$1] += $2 }
		END {
			nall = split("host sync data compile start_up allocation missing gpu communication copy window", all, " ")
			for (i = 1; i <= nall; i++)
				put(all[i] "_ns", sprintf("%.0f", ns[all[i]]))
			put("graph_ns", 0)
			put("has_ops", "true")
			nmore = split(ENVIRON["MEMBERS"], more, ",")
			for (i = 1; i <= nmore; i++) {
				at = index(more[i], ":")
				put(substr(more[i], 2, at - 3), substr(more[i], at + 1))
			}
			for (i = 1; i <= n; i++) {
				v = values[ids[i]]
				type = v ~ /^"/ ? "text" : v ~ /^[tf]/ ? "bool" : "int"
				columns = columns between "{\"id\":\"" ids[i] "\",\"type\":\"" type "\"}"
				row = row between "\"" ids[i] "\":" v
				between = ","
			}
			printf "{\"table\":\"idle_window\",\"columns\":[%s]}\n{%s}\n{\"end\":{}}\n", columns, row
		}' \
		>d/idle_window.ndjson
}
