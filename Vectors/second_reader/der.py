"""DER (ITU-T X.690), as far as the formats use it (Specs/enclave-wire.md)."""
from . import Refused, require


def element(data, position):
    """Returns the tag, the content and the end of the element that begins at the position."""
    require(position + 2 <= len(data), 'DER: an element is cut off')
    tag, length = data[position], data[position + 1]
    require(tag & 0x1F != 0x1F, 'DER: a tag of several bytes')
    start = position + 2
    require(length != 0x80, 'DER: a length without end')
    if length > 0x80:
        count = length & 0x7F
        digits = data[start:start + count]
        require(count <= 4 and len(digits) == count, 'DER: a length of too many bytes')
        length = int.from_bytes(digits, 'big')
        require(length >= 0x80 and digits[0], 'DER: a length in a longer form than needed')
        start += count
    require(start + length <= len(data), 'DER: the last byte is missing')
    return tag, data[start:start + length], start + length


def check_content(tag, content):
    if tag == 0x02:
        is_long = len(content) > 1 and (content[0] == 0 and content[1] < 0x80 or content[0] == 0xFF and content[1] >= 0x80)
        require(content and not is_long, 'DER: an INTEGER in a longer form than needed')
    elif tag == 0x01:
        require(content in (b'\x00', b'\xff'), 'DER: a BOOLEAN that is neither 00 nor FF')
    elif tag == 0x0C:
        try:
            content.decode('utf-8')
        except UnicodeDecodeError:
            raise Refused('DER: a text that is not UTF-8')
    elif tag & 0x20:
        position = 0
        while position < len(content):
            inner, part, position = element(content, position)
            check_content(inner, part)


def read_message(data):
    """Returns the content of one SEQUENCE, all of it strict DER."""
    tag, content, end = element(data, 0)
    require(tag == 0x30, 'DER: a SET in place of the SEQUENCE')
    require(end == len(data), 'DER: a byte after the message')
    check_content(tag, content)
    return content


class Fields:
    """The fields of a SEQUENCE in order. Each failure names its field."""

    def __init__(self, content):
        self.content, self.position = content, 0

    def next(self, tag, name):
        require(self.position < len(self.content), f'{name} is missing')
        found, content, self.position = element(self.content, self.position)
        require(found == tag, f'{name} has another type')
        return content

    def integer(self, name, low=0, high=1 << 32):
        number = int.from_bytes(self.next(0x02, name), 'big', signed=True)
        require(low <= number <= high, name)
        return number

    def octets(self, name, *sizes):
        content = self.next(0x04, name)
        require(not sizes or len(content) in sizes, name)
        return content

    def text(self, name, high):
        content = self.next(0x0C, name)
        require(len(content) <= high, name)
        return content.decode()

    def sequence(self, name):
        return Fields(self.next(0x30, name))

    @property
    def is_at_end(self):
        return self.position == len(self.content)

    def end(self):
        require(self.is_at_end, 'a field that the type does not have')
