"""large-stream.py FILE: reads the stream Large of a compound file of version 4 by its FAT, sector by sector, and checks its content."""

import struct
import sys

MIB, SECTOR, LOCK, END, FREE = 1 << 20, 4096, 0x7FFFFF00, 0xFFFFFFFE, 0xFFFFFFFF
file = open(sys.argv[1], "rb")


def sector(number):
    file.seek((number + 1) * SECTOR)
    return file.read(SECTOR)


def words(data):
    return struct.unpack("<%dI" % (len(data) // 4), data)


header = file.read(512)
assert header[26:28] == b"\4\0" and struct.unpack("<I", header[40:44])[0] > 0
count, directory, difat, difats = (struct.unpack("<I", header[at : at + 4])[0] for at in (44, 48, 68, 72))
fat_sectors = list(words(header[76:512]))
for _ in range(difats):
    *more, difat = words(sector(difat))
    fat_sectors += more
assert difat == END and all(number == FREE for number in fat_sectors[count:])
fat = [word for number in fat_sectors[:count] for word in words(sector(number))]

entries = b""
while directory != END:
    entries += sector(directory)
    directory = fat[directory]
name = "Large".encode("utf-16-le") + b"\0\0"
at = next(at for at in range(0, len(entries), 128) if entries[at:].startswith(name))
start, size = struct.unpack("<IQ", entries[at + 116 : at + 128])

lock = LOCK // SECTOR - 1
assert fat[lock] == END and not any(sector(lock)), "the range lock is in use"
position = 0
while start != END:
    assert start != lock and position < size
    near = abs(position // MIB - LOCK / MIB) < 2
    if near or position % MIB == 0:
        data = sector(start)
        for offset in range(0, SECTOR if near else 8, 8):
            assert struct.unpack_from("<d", data, offset)[0] == position + offset + 1, position + offset
    position += SECTOR
    start = fat[start]
assert position == size
print(size, "bytes in the stream, all at their places; the range lock is empty")
