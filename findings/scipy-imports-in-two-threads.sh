#!/bin/sh
# scipy 1.17.1: two threads that import different parts of it at once can fail. Python's import lock is one module's, so
# a thread may begin `scipy.spatial.distance` (as `scipy.cluster.hierarchy` does) while another stands within
# `scipy.spatial` (as `scipy.optimize` does), whose own modules then read a partial one.
# Seen, with the first thread held at an extension module of scipy.spatial: ImportError, cannot import name 'euclidean'
# from partially initialized module 'scipy.spatial.distance'. No error if the second thread starts after the first, or
# asks for scipy.spatial first.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" scipy==1.17.1 numpy==2.4.6
cat > "$folder/meet.py" <<'PROGRAM'
import importlib
import sys
from importlib.machinery import ExtensionFileLoader
from threading import Event, Thread

within, go_on, failures = Event(), Event(), []
run_module = ExtensionFileLoader.exec_module


def run_and_stop(loader, module):
    if module.__name__ == "scipy.spatial._ckdtree":
        within.set()
        go_on.wait()
    return run_module(loader, module)


def load(*names):
    try:
        for name in names:
            importlib.import_module(name)
    except ImportError as error:
        failures.append(str(error))


ExtensionFileLoader.exec_module = run_and_stop
first = Thread(target=load, args=("scipy.optimize",))
second = Thread(target=load, args=sys.argv[2:])
if sys.argv[1] == "after":
    go_on.set()
first.start()
within.wait()
if sys.argv[1] == "after":
    first.join()
second.start()
second.join(10)  # it fails, or waits for the first thread
go_on.set()
first.join()
second.join()
print(failures[0].split(" (")[0] if failures else "no error")
PROGRAM
run() { PYTHONPATH="$folder" python3 "$folder/meet.py" "$@"; }
at_once=$(run at-once scipy.cluster.hierarchy)
after=$(run after scipy.cluster.hierarchy)
whole=$(run at-once scipy.spatial scipy.cluster.hierarchy)
printf '%s\n' "at once: $at_once" "one after the other: $after" "scipy.spatial first: $whole"
case "$at_once" in *"partially initialized module 'scipy.spatial"*) ;; *) exit 1 ;; esac
[ "$after" = "no error" ] && [ "$whole" = "no error" ]
