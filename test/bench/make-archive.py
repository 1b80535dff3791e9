"""make-archive.py OUT ENTRIES BYTES: writes a JAR of about this many bytes, always the same. Its contents deflate about as well
as classes, and their sizes have the long tail of those of classes: a median of a third of the mean, and one in a hundred above 9 times the mean."""

import math
import random
import sys
import zipfile

path, entries, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
numbers = random.Random(entries)
# Deflates to 45 %.
POOL = bytes(int(39 * numbers.random() ** 7) for _ in range(2**23))
NAME = "org/example/part{}/layer{}/Thing{}.class"
# Two records without and two with the name.
RECORDS = 30 + 46 + 2 * len(NAME.format(50, 5, entries // 2))
mean = (size / entries - RECORDS) / 0.45


def write(archive, name, content):
    archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED, 6)


with zipfile.ZipFile(path, "w") as jar:
    write(jar, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nMain-Class: A0\r\n\r\n")
    for number in range(1, entries):
        length = int(mean * (0.1 + 0.45 * math.log(1 - numbers.random()) ** 2))
        at = numbers.randrange(len(POOL) - length)
        write(jar, NAME.format(number % 97, number % 11, number), POOL[at : at + length])
