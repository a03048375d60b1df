#!/usr/bin/python3
"""Simulates a user at the desktop application's window under Wayland: the steps of wayland.py, and `start`, `rows` and `ends` of window.py."""
import sys

sys.dont_write_bytecode = True
import desktop  # noqa: E402
from wayland import Wayland  # noqa: E402
from window import Application  # noqa: E402


class WaylandWindow(Application, Wayland):
    verbs = [verb for verb in Wayland.verbs if verb != "says"] + Application.verbs


desktop.play(WaylandWindow)
