#!/usr/bin/env python3
"""check-catalog.py CATALOG FILE...: whether the catalog lists each file by its flat SHA-256 and SHA-1 digests.

Shares nothing with the program: the DER is read here. Exits with 1 and names the first file that is not listed.
The signature of the catalog is for openssl to check.
"""
import hashlib
import sys


def element(data, at):
    """Tag, start of the contents, end."""
    tag, length, start = data[at], data[at + 1], at + 2
    if length >= 0x80:
        count = length & 0x7F
        length, start = int.from_bytes(data[start : start + count], "big"), start + count
    return tag, start, start + length


def parts(data, start, end):
    while start < end:
        tag, first, after = element(data, start)
        yield tag, first, after
        start = after


def entries(data):
    """Tag of each member, with its SpcIndirectData digest if it has one."""
    tagged = list(parts(data, *element(data, 0)[1:]))[1]
    signed = list(parts(data, tagged[1], tagged[2]))[0]
    content = [part for part in parts(data, signed[1], signed[2])][2]
    holder = list(parts(data, content[1], content[2]))[1]
    listing = list(parts(data, holder[1], holder[2]))[0]
    fields = list(parts(data, listing[1], listing[2]))
    members = fields[4]
    before = b""
    for _, first, after in parts(data, members[1], members[2]):
        (_, tag_first, tag_after), (_, set_first, set_after) = parts(data, first, after)
        tag = data[tag_first:tag_after]
        assert before < tag, "the members are not sorted, or one is there twice"
        before = tag
        digest = None
        for _, a, b in parts(data, set_first, set_after):
            oid, values = parts(data, a, b)
            if data[oid[1] : oid[2]].hex() == "2b060104018237020104":
                value = list(parts(data, values[1], values[2]))[0]
                _, info = parts(data, value[1], value[2])
                _, octets = parts(data, info[1], info[2])
                digest = data[octets[1] : octets[2]]
        yield tag, digest


listed = dict(entries(open(sys.argv[1], "rb").read()))
for name in sys.argv[2:]:
    content = open(name, "rb").read()
    sha256, sha1 = hashlib.sha256(content).digest(), hashlib.sha1(content).digest()
    if listed.get(sha256) != sha256 or sha1 not in listed:
        sys.exit(f"not listed: {name}")
