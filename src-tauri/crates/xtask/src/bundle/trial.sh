# In the clean root.
say() { echo "-- $*"; }
export DEBIAN_FRONTEND=noninteractive
host=~root/.local/share/ebb/run/host.json

# Waits half a minute at most.
until_there() {
    for _ in $(seq 300); do
        if "$@"; then return; fi
        sleep 0.1
    done
    cat /tmp/app.log
    exit 1
}

works() {
    say "every library that the programs need is there"
    for program in ebb ebb-desktop ebb-worker; do
        if ldd "/usr/lib/ebb/$program" | grep 'not found'; then exit 1; fi
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
    desktop-file-validate /usr/share/applications/ebb-desktop.desktop

    say "it brings the licences of what others wrote"
    zcat /usr/share/doc/ebb/third-party-licences.txt.gz >/tmp/licences.txt
    grep -q '^ONNX Runtime (.*): MIT$' /tmp/licences.txt
    grep -Eq '^tauri [0-9.]+: ' /tmp/licences.txt
    grep -Eq '^svelte [0-9.]+: ' /tmp/licences.txt

    say "the app opens, and is the host"
    dbus-run-session -- xvfb-run -a ebb-desktop >/tmp/app.log 2>&1 &
    app=$!
    until_there test -s "$host"
    pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$host")
    readlink "/proc/$pid/exe" | grep -qx /usr/lib/ebb/ebb-desktop
    # Its web view is a process of its own, which is there once the window is.
    until_there grep -qs WebKitWebProcess /proc/[0-9]*/cmdline
    ebb server status --json | grep -Eq '"running": ?true'

    say "it ends when it is asked to"
    ebb server stop
    wait "$app"
}

nothing_is_left() {
    left=$(find / -xdev -path /proc -prune -o -path /root -prune -o -path /tmp -prune -o -iname '*ebb*' -print |
        grep -v -x -e /ebb.deb -e /ebb.rpm || true)
    [ -z "$left" ] || { echo "left behind: $left"; exit 1; }
}

say "install the .deb"
apt-get -qq update
apt-get -qq install --yes --no-install-recommends /ebb.deb xvfb xauth dbus-x11 desktop-file-utils >/tmp/install.log 2>&1 ||
    { cat /tmp/install.log; exit 1; }
dpkg --verify ebb
works
say "remove it"
apt-get -qq purge --yes ebb >/dev/null
nothing_is_left

if [ -e /ebb.rpm ]; then
    # What it asks for has names here that rpm does not know; the libraries themselves are still there.
    say "install the .rpm"
    apt-get -qq install --yes --no-install-recommends rpm >/tmp/install.log 2>&1 || { cat /tmp/install.log; exit 1; }
    rpm --install --nodeps /ebb.rpm
    rpm --verify --nodeps ebb
    works
    say "remove it"
    rpm --erase ebb
    nothing_is_left
fi
say "done"
