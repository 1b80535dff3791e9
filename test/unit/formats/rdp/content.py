"""content.py FILE: writes what the signature of a connection file covers to FILE.content, and its CMS to FILE.cms."""

import base64
import struct
import sys

data = open(sys.argv[1], "rb").read()
if data.startswith(b"\xff\xfe"):
    text = data.decode("utf-16")
elif data.startswith(b"\xef\xbb\xbf"):
    text = data.decode("utf-8-sig")
else:
    text = data.decode("latin-1")

lines = {}
for line in text.replace("\r\n", "\n").split("\n"):
    name = line.split(":")[0].lower()
    assert name not in lines or name == "", "twice: " + name
    lines[name] = line

scope = lines["signscope"].split(":", 2)[2].split(",")
covered = [lines[name.lower()] for name in scope] + [lines["signscope"]]
content = "".join(line + "\r\n" for line in covered) + "\0"
value = base64.b64decode(lines["signature"].split(":", 2)[2])
version, one, length = struct.unpack("<III", value[:12])
assert (version, one, length) == (0x10001, 1, len(value) - 12)
open(sys.argv[1] + ".content", "wb").write(content.encode("utf-16-le"))
open(sys.argv[1] + ".cms", "wb").write(value[12:])
