# In the clean root.
say() { echo "-- $*"; }
export DEBIAN_FRONTEND=noninteractive

say "install"
apt-get -qq update
apt-get -qq install --yes --no-install-recommends /ebb.deb xvfb xauth dbus-x11 desktop-file-utils >/tmp/install.log 2>&1 ||
    { cat /tmp/install.log; exit 1; }
dpkg --verify ebb
desktop-file-validate /usr/share/applications/ebb-desktop.desktop

say "every library that the programs need is there"
for program in ebb ebb-desktop ebb-worker; do
    ! ldd "/usr/lib/ebb/$program" | grep 'not found'
done

say "the command line finds the worker, ONNX Runtime and the plugins"
ebb --version
ebb doctor --json >/tmp/doctor.json || true
grep -q '/usr/lib/ebb/libonnxruntime' /tmp/doctor.json || { cat /tmp/doctor.json; exit 1; }
ebb plugin list --json >/tmp/plugins.json
grep -q '"slack"' /tmp/plugins.json || { cat /tmp/plugins.json; exit 1; }
ebb server stop
test -s /usr/share/man/man1/ebb.1.gz
test -s /usr/share/bash-completion/completions/ebb

say "the app opens, and is the host"
dbus-run-session -- xvfb-run -a ebb-desktop >/tmp/app.log 2>&1 &
app=$!
host=
for _ in $(seq 300); do
    if [ -s ~root/.local/share/ebb/run/host.json ]; then host=there; break; fi
    sleep 0.1
done
[ -n "$host" ] || { cat /tmp/app.log; exit 1; }
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' ~root/.local/share/ebb/run/host.json)
readlink "/proc/$pid/exe" | grep -qx /usr/lib/ebb/ebb-desktop
# Its web view is a process of its own, which is there once the window is.
for _ in $(seq 300); do
    if grep -qs WebKitWebProcess /proc/[0-9]*/cmdline; then web=there; break; fi
    sleep 0.1
done
[ -n "${web:-}" ] || { cat /tmp/app.log; exit 1; }
ebb server status --json | grep -Eq '"running": ?true'

say "it ends when it is asked to"
ebb server stop
wait "$app"

say "remove"
apt-get -qq purge --yes ebb >/dev/null
left=$(find / -xdev -path /proc -prune -o -path /root -prune -o -path /tmp -prune -o -iname '*ebb*' -print | grep -v -e '^/ebb.deb$' || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
say "done"
