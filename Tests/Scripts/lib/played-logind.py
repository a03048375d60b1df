#!/usr/bin/python3
"""A simulated login manager on a separate bus, since the real one runs only under systemd.

played-logind.py ADDRESS UID: owns org.freedesktop.login1 on the bus at ADDRESS, with one session, of the user UID. It prints
the requests that it gets (`inhibit WHAT WHO MODE`, `asked whose session it is`) and performs the commands on its standard
input, each answered by one line:

  sleep     announces sleep; answers `released` when no inhibitor delays it any more
  wake      announces that the machine is awake; answers `awake`
  held      answers `held N`, the number of inhibitors that delay sleep
  lock, unlock       asks the session's screen to lock or unlock; answers `asked the screen`
  hint 1, hint 0     reports the screen as locked or not; answers `hinted`
  session STATE [remote]   the session is `active`, `online` behind another, `closing`, or `none`, and is told of; answers `told`
  forge [PID]   another client, who is nobody, announces sleep to each who ever held it up, or to this process; answers `forged`
"""
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = 'org.freedesktop.login1'
MANAGER = NAME + '.Manager'
SESSION = NAME + '.Session'
SESSION_PATH = '/org/freedesktop/login1/session/_31'

address, uid = sys.argv[1], int(sys.argv[2])


def say(text):
    print(text, flush=True)


class Manager(dbus.service.Object):
    def __init__(self, bus):
        super().__init__(bus, '/org/freedesktop/login1')
        self.held = {}
        self.holders = set()
        self.preparing = False

    @dbus.service.method(MANAGER, in_signature='ssss', out_signature='h', sender_keyword='sender')
    def Inhibit(self, what, who, why, mode, sender):
        reading, writing = os.pipe()
        self.held[reading] = GLib.io_add_watch(reading, GLib.IO_HUP, self.released)
        self.holders.add(sender)
        say(f'inhibit {what} {who} {mode}')
        lent = dbus.types.UnixFd(writing)
        os.close(writing)
        return lent

    def released(self, reading, _):
        del self.held[reading]
        os.close(reading)
        self.tell_release()
        return False

    def tell_release(self):
        if self.preparing and not self.held:
            say('released')

    @dbus.service.method(MANAGER, in_signature='s', out_signature='o')
    def GetSession(self, name):
        if session.state == 'none':
            raise dbus.exceptions.DBusException(f"there is no session '{name}'", name=NAME + '.NoSuchSession')
        return SESSION_PATH

    @dbus.service.signal(MANAGER, signature='so')
    def SessionRemoved(self, name, path):
        pass

    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
    def Get(self, interface, name):
        return dbus.Boolean(self.preparing, variant_level=1)

    @dbus.service.signal(MANAGER, signature='b')
    def PrepareForSleep(self, start):
        pass


class Session(dbus.service.Object):
    def __init__(self, bus):
        super().__init__(bus, SESSION_PATH)
        self.state = 'active'
        self.remote = False
        self.locked = False

    def become(self, state, remote):
        self.state, self.remote = state, remote
        if state == 'none':
            manager.SessionRemoved('1', SESSION_PATH)
        else:
            self.PropertiesChanged(SESSION, dbus.Dictionary({'Active': dbus.Boolean(state == 'active')}, signature='sv'), [])

    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='s', out_signature='a{sv}')
    def GetAll(self, interface):
        active = dbus.Boolean(self.state == 'active')
        words = {'State': dbus.String(self.state), 'Remote': dbus.Boolean(self.remote), 'LockedHint': dbus.Boolean(self.locked)}
        return dict(words, Active=active)

    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
    def Get(self, interface, name):
        say('asked whose session it is')
        return dbus.Struct((dbus.UInt32(uid), dbus.ObjectPath('/org/freedesktop/login1/user/_31')), signature='uo', variant_level=1)

    @dbus.service.signal(SESSION, signature='')
    def Lock(self):
        pass

    @dbus.service.signal(SESSION, signature='')
    def Unlock(self):
        pass

    @dbus.service.signal('org.freedesktop.DBus.Properties', signature='sa{sv}as')
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


def process_of(name):
    try:
        daemon = 'org.freedesktop.DBus'
        return bus.call_blocking(daemon, '/org/freedesktop/DBus', daemon, 'GetConnectionUnixProcessID', 's', (name,))
    except dbus.exceptions.DBusException:
        # It has gone meanwhile.
        return None


def forge(process):
    nobody = dbus.bus.BusConnection(address)
    found = manager.holders if process is None else [name for name in nobody.list_names() if process_of(name) == process]
    if not found:
        sys.exit(f'played-logind: to whom? {process}')
    for holder in found:
        message = dbus.lowlevel.SignalMessage('/org/freedesktop/login1', MANAGER, 'PrepareForSleep')
        message.append(True, signature='b')
        message.set_destination(holder)
        nobody.send_message(message)
    # The bus keeps the order of one client, so after this reply it has delivered the signals.
    nobody.get_name_owner(NAME)
    nobody.close()


def command(channel, _):
    line = channel.readline()
    if not line:
        loop.quit()
        return False
    words = line.decode().split()
    if words == ['sleep']:
        manager.preparing = True
        manager.PrepareForSleep(True)
        manager.tell_release()
    elif words == ['wake']:
        manager.preparing = False
        manager.PrepareForSleep(False)
        say('awake')
    elif words == ['held']:
        say(f'held {len(manager.held)}')
    elif words == ['lock'] or words == ['unlock']:
        session.Lock() if words == ['lock'] else session.Unlock()
        say('asked the screen')
    elif words[:1] == ['hint']:
        session.locked = words[1] == '1'
        changed = {'IdleHint': dbus.Boolean(False), 'LockedHint': dbus.Boolean(session.locked)}
        session.PropertiesChanged(SESSION, dbus.Dictionary(changed, signature='sv'), [])
        say('hinted')
    elif words[:1] == ['session']:
        session.become(words[1], words[2:] == ['remote'])
        say('told')
    elif words[:1] == ['forge']:
        forge(int(words[1]) if words[1:] else None)
        say('forged')
    else:
        sys.exit(f'played-logind: what is {words}?')
    return True


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(address)
manager = Manager(bus)
session = Session(bus)
bus.request_name(NAME, dbus.bus.NAME_FLAG_DO_NOT_QUEUE)
bus.set_exit_on_disconnect(False)
loop = GLib.MainLoop()
bus.call_on_disconnection(lambda _: loop.quit())
# Unbuffered, so that no line stays in a buffer that the loop does not poll.
GLib.io_add_watch(os.fdopen(0, 'rb', buffering=0), GLib.IO_IN | GLib.IO_HUP, lambda channel, condition: command(channel, condition))
say('playing')
loop.run()
