"""pam-as-sudo.py SERVICE USER TARGET <PASSWORD: logs USER in and opens a session for TARGET on the same handle, as sudo does.

Prints what PAM says to the user, and the result of each step."""
import ctypes
import sys

pam = ctypes.CDLL("libpam.so.0")
libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
libc.calloc.restype = ctypes.c_void_p


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


Talk = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Message)), ctypes.POINTER(ctypes.POINTER(Response)), ctypes.c_void_p)


class Conversation(ctypes.Structure):
    _fields_ = [("talk", Talk), ("data", ctypes.c_void_p)]


password = sys.stdin.readline().rstrip("\n").encode()


def talk(count, messages, responses, data):
    answers = ctypes.cast(libc.calloc(count, ctypes.sizeof(Response)), ctypes.POINTER(Response))
    for index in range(count):
        if messages[index].contents.style == 1:
            answers[index].text = libc.strdup(password)
        else:
            print("said:", messages[index].contents.text.decode())
    responses[0] = answers
    return 0


service, user, target = (word.encode() for word in sys.argv[1:4])
conversation = Conversation(Talk(talk), None)
handle = ctypes.c_void_p()
print("start:", pam.pam_start(service, user, ctypes.byref(conversation), ctypes.byref(handle)))
print("authenticate:", pam.pam_authenticate(handle, 0))
print("become:", pam.pam_set_item(handle, 2, target))
print("setcred:", pam.pam_setcred(handle, 8))
print("open_session:", pam.pam_open_session(handle, 0))
print("close_session:", pam.pam_close_session(handle, 0))
pam.pam_end(handle, 0)
