#!/usr/bin/python3
"""A message bus with one program on it, vauban-secret-service, and simulated clients: descriptor-bus.py SOCKET PROGRAM. For some clients it passes
process descriptors, as dbus-daemon does since 1.15.8; for others only numbers. Each client searches for the item of the service "mail". At the
end the bus reports that the name was lost."""
import os, signal, subprocess, sys
import dbus, dbus.lowlevel, dbus.mainloop.glib, dbus.server
from gi.repository import GLib

path, program = sys.argv[1:]
BUS, SECRETS = "org.freedesktop.DBus", "org.freedesktop.secrets"
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()


def child():
    return subprocess.Popen(["tail", "-f", "/dev/null"])


alive, other, ended = child(), child(), child()
descriptors = {process: os.pidfd_open(process.pid) for process in (alive, other, ended)}
ended.kill()
ended.wait()
# A client, its process number, its descriptor, whether it is a program outside of sandboxes, and its number in the bus's second reply.
clients = {
    ":1.10": (alive.pid, None, True, alive.pid),
    ":1.11": (alive.pid, descriptors[alive], True, None),
    ":1.12": (alive.pid, descriptors[ended], False, None),
    ":1.13": (alive.pid, descriptors[other], False, None),
    ":1.14": (alive.pid, None, False, None),
    ":1.15": (alive.pid, None, False, other.pid),
    ":1.16": (ended.pid, None, False, ended.pid),
    ":1.3": (alive.pid, None, True, alive.pid),
}
OWN = ":1.5"
waiting, results, connections, children, exits = list(clients), {}, [], [], []


def started(process):
    return int(open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()[19])


def later():
    """A process that started in a later tick of the kernel's clock than one that is started now."""
    first = child()
    children.append(first)
    while started(children[-1]) <= started(first) + 1:
        children.append(child())
    return children[-1]


def send(connection, message, sender=BUS):
    message.set_sender(sender)
    connection.send_message(message)


def next_client(connection):
    if not waiting:
        lost = dbus.lowlevel.SignalMessage("/org/freedesktop/DBus", BUS, "NameLost")
        lost.append(SECRETS, signature="s")
        lost.set_destination(OWN)
        send(connection, lost)
        return GLib.child_watch_add(service.pid, lambda _, status: (exits.append(os.waitstatus_to_exitcode(status)), loop.quit()))
    call = dbus.lowlevel.MethodCallMessage(SECRETS, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "SearchItems")
    call.append(dbus.Dictionary({"service": "mail"}, signature="ss"), signature="a{ss}")
    send(connection, call, waiting[0])


def heard(connection, message):
    if isinstance(message, (dbus.lowlevel.MethodReturnMessage, dbus.lowlevel.ErrorMessage)):
        results[waiting.pop(0)] = message.get_args_list() if isinstance(message, dbus.lowlevel.MethodReturnMessage) else message.get_error_name()
        next_client(connection)
        return dbus.lowlevel.HANDLER_RESULT_HANDLED
    if not isinstance(message, dbus.lowlevel.MethodCallMessage):
        return dbus.lowlevel.HANDLER_RESULT_HANDLED
    member, answer = message.get_member(), dbus.lowlevel.MethodReturnMessage(message)
    if member == "Hello":
        answer.append(OWN, signature="s")
    elif member == "RequestName":
        answer.append(dbus.UInt32(1), signature="u")
    elif member == "GetConnectionCredentials":
        number, descriptor, _, _ = clients[str(message.get_args_list()[0])]
        said = {"ProcessID": dbus.UInt32(number, variant_level=1), "UnixUserID": dbus.UInt32(os.getuid(), variant_level=1)}
        if descriptor is not None:
            said["ProcessFD"] = dbus.types.UnixFd(descriptor, variant_level=1)
        answer.append(dbus.Dictionary(said, signature="sv"), signature="a{sv}")
    elif member == "GetConnectionUnixProcessID" and (again := clients[str(message.get_args_list()[0])][3]) is not None:
        answer.append(dbus.UInt32(again), signature="u")
    elif member != "AddMatch":
        answer = dbus.lowlevel.ErrorMessage(message, BUS + ".Error.NameHasNoOwner", "nobody")
    send(connection, answer)
    if member == "RequestName" and str(message.get_args_list()[0]) == SECRETS:
        # It connected to the bus before the service did, and its number is that of a process that started later.
        late = later()
        clients[":1.2"] = (late.pid, None, False, late.pid)
        waiting.append(":1.2")
        GLib.idle_add(next_client, connection)
    return dbus.lowlevel.HANDLER_RESULT_HANDLED


class Server(dbus.server.Server):
    def connection_added(self, connection):
        connections.append(connection)
        connection.add_message_filter(heard)


server = Server(f"unix:path={path}")
service = subprocess.Popen([program], env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={path}"})
GLib.timeout_add_seconds(int(os.environ.get("hang_seconds", 240)), loop.quit)
try:
    loop.run()
finally:
    for process in (service, alive, other, *children):
        process.send_signal(signal.SIGKILL)
        process.wait()
wrong = 0
if exits != [53]:
    wrong += 1
    print(f"after the name was lost: {exits}")
for name, (_, _, isUser, _) in clients.items():
    found = results.get(name)
    counts = [len(paths) for paths in found] if isinstance(found, list) else found
    if counts != ([1, 0] if isUser else [0, 1]):
        wrong += 1
        print(f"{name}: {counts}")
sys.exit(1 if wrong else 0)
