# SPDX-License-Identifier: MIT
# The tarball of make static: its programs in a folder with nothing else.
. tests/cli/lib.sh

tarball=$(find "$ROOT/build" "$B" -maxdepth 1 -name 'tl-*-static-*.tar.gz' |
	head -n 1)
[ -n "$tarball" ] || skip_all 'no tarball: make static first'
PATH=$PATH:/usr/sbin:/sbin
chroot=$(command -v chroot) || skip_all 'no chroot here'
if [ "$(id -u)" = 0 ] && chroot / true 2>/dev/null; then
	in_root=
elif unshare -r true 2>/dev/null; then
	in_root='unshare -r'
else
	skip_all 'chroot is not possible here'
fi

gzip -dc "$tarball" | tar -xf -
name=$(basename "$tarball" .tar.gz)
ok 'the batch scripts' test -x "$name/share/tl/slurm/submit"
ok 'a README and pages' test -s "$name/README.md" -a -s "$name/share/man/man1/tl-cat.1"
mv "$name" there # no /proc, no /dev, no libraries
cp "$SAMPLE" there/trace.json.gz
there() { # there COMMAND...
	# shellcheck disable=SC2086 # words
	$in_root $chroot there "$@"
}
tl-timeline "$SAMPLE" >want
there /bin/tl-timeline trace.json.gz >got 2>err
is 'it is quiet' "$(cat err)" ''
same 'helpers are found by how it was called' got want
(PATH=/bin && there tl-timeline /trace.json.gz) >got
same 'helpers are found in PATH' got want
there /bin/tl-decode trace.json.gz | there /bin/tl-tree |
	there /bin/tl-timeline >got
same 'a pipe' got want
there /bin/tl-tree trace.json.gz -o t.tl
ok 'a file is made' there /bin/tl-cat --check t.tl
for program in there/bin/*; do
	case $(head -c 2 "$program") in '#!') continue ;; esac
	there "/bin/$(basename "$program")" --version >/dev/null ||
		echo "$program"
done >bad
is 'each one starts' "$(cat bad)" ''
done_testing
