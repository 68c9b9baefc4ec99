#!/bin/sh
# SPDX-License-Identifier: MIT
# Databases of each schema with bad intent: views for tables, more strings than
# fit into memory. And memory that does not grow with the input, for databases
# and for Perfetto's protobuf.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

# peak COMMAND: MiB of tl-decode, which writes OUT.tl
peak() {
	sh -c "$1 | tl-decode -v -o out.tl" 2>err
	sed -n 's/.*peak memory \([0-9]*\)\..*/\1/p' err
}
# constant WHAT SMALL LARGE MORE: both are measured, and differ by at most MORE
# MiB
constant() {
	case $B in
	*san*) skip "$1" 'sanitizers need more' ;;
	*) is "$1: $2, $3 MiB" "$([ -n "$2" ] && [ "$3" -le $(($2 + $4)) ] && echo yes)" yes ;;
	esac
}

# ---- protobuf: concatenated files are a trace, too ----

times=10
! slow || times=30
! everything || times=100
tl-gen --seed 1 --events 6000 | tl-export --to perfetto >once.pftrace
small=$(peak 'cat once.pftrace')
once=$(tl-cat --tsv -F kind --no-header out.tl | grep -c kernel)
large=$(peak "for i in \$(seq $times); do cat once.pftrace; done")
is "all of $times times" "$(tl-cat --tsv -F kind --no-header out.tl | grep -c kernel)" $((times * once))
constant 'memory of .pftrace' "$small" "$large" 1

# ---- databases ----

printf 'SQLite format 3\000' >none
if tl-decode none 2>&1 | grep -q libsqlite3; then
	skip 'databases' 'a build without libsqlite3'
	done_testing
	exit
fi
cat >make.py <<'EOP'
"""make.py views DIR | rows SCHEMA N FILE | strings SCHEMA N FILE"""
import os, sqlite3, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["ROOT"] + "/tests/oracle")
from semantic_sqlite import SCHEMAS, write
# the tables of kernels and of strings; what differs between rows of kernels
BIG = {"nsys": ("CUPTI_ACTIVITY_KIND_KERNEL", "StringIds", "value"),
       "rpd": ("rocpd_op", "rocpd_string", "string"),
       "rocpd": ("rocpd_kernel_dispatch_f0", "rocpd_string_f0", "string")}

def views(folder):
    """each table a view on itself, and each left out"""
    for schema, tables in SCHEMAS.items():
        for n, name in enumerate(tables()):
            path = "%s/%s%d" % (folder, schema, n)
            write({k: v for k, v in tables().items() if k != name}, path + ".without")
            write(tables(), path + ".view")
            db = sqlite3.connect(path + ".view")
            db.execute('ALTER TABLE "%s" RENAME TO hidden' % name)
            db.execute('CREATE VIEW "%s" AS SELECT * FROM hidden' % name)
            db.commit()
    print(sum(len(tables()) for tables in SCHEMAS.values()))

def rows(schema, n, path):
    """n kernels, one after another"""
    tables = SCHEMAS[schema]()
    name = BIG[schema][0]
    columns, old = tables[name]
    start, end, own = columns.index("start"), columns.index("end"), []
    for i in range(n):
        row = list(old[i % 3])
        row[start], row[end] = 10000 + 20 * i, 10010 + 20 * i
        if "id" in columns:
            row[columns.index("id")] = 100 + i
        own.append(row)
    tables[name] = (columns, own)
    write(tables, path)

def strings(schema, n, path):
    """n names, and the last one is that of all kernels"""
    write(SCHEMAS[schema](), path)
    db = sqlite3.connect(path)
    _, table, value = BIG[schema]
    db.execute("INSERT INTO %s (id, %s) WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL "
               "SELECT i + 1 FROM n WHERE i < %d) SELECT i, 'hostile_name_of_a_kernel_' || i FROM n"
               % (table, value, 999 + n))
    if schema == "nsys":
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = %d" % (999 + n))
    elif schema == "rpd":
        db.execute("UPDATE rocpd_op SET description_id = %d WHERE opType_id = 7" % (999 + n))
    else:
        db.execute("UPDATE rocpd_region_f0 SET name_id = %d" % (999 + n))
    db.commit()

what, *argv = sys.argv[1:]
if what == "views":
    views(*argv)
else:
    (rows if what == "rows" else strings)(argv[0], int(argv[1]), argv[2])
EOP

# A view is a program of the file's author: it is not read.
mkdir views
tables=$(python3 make.py views views)
n=0
rm -f out.tl
for view in views/*.view; do
	n=$((n + 1))
	for form in view without; do
		tl-decode -o out.tl "${view%.view}.$form" >$form.err 2>&1
		echo "status $?" >$form.out
		[ ! -e out.tl ] || tl-cat --tsv -F kind,name,ts,dur,corr,args out.tl >>$form.out
		sed "s,views/[a-z0-9]*\.$form,FILE,;s/its tables are .*//" $form.err >>$form.out
		rm -f out.tl
	done
	cmp -s view.out without.out || echo "$view: $(diff view.out without.out | head -n 3)" >>differ
done
is 'there are as many views as tables' "$n" "$tables"
is 'a view for a table is as if it were not there' "$(cat differ 2>/dev/null)" ''

rows=20000 strings=100000
! slow || rows=60000 strings=300000
! everything || rows=200000 strings=1000000
for schema in rpd rocpd nsys; do
	python3 make.py rows $schema 2000 small.db
	python3 make.py rows $schema $rows large.db
	small=$(peak 'cat small.db')
	large=$(peak 'cat large.db')
	is "$schema: all of $rows kernels" "$(tl-cat --tsv -F kind --no-header out.tl | grep -c kernel)" $rows
	constant "$schema: memory of rows" "$small" "$large" 8 # what is sorted
	rm -f small.db large.db
	[ $schema$strings != nsys1000000 ] || strings=10000000
	python3 make.py strings $schema 10 few.db
	python3 make.py strings $schema $strings many.db
	few=$(peak 'cat few.db')
	many=$(peak 'cat many.db')
	is "$schema: the last name of $strings" "$(tl-cat --tsv -F name --no-header out.tl |
		grep -c "^hostile_name_of_a_kernel_$((strings + 999))$")" "$(case $schema in rocpd) echo 6 ;; *) echo 4 ;; esac)"
	constant "$schema: memory of strings" "$few" "$many" 18 # 16 MiB are kept
	rm -f few.db many.db
done
done_testing
