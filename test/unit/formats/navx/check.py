"""check.py FILE: the digest in the signature of a Business Central extension against the file; the CMS goes to FILE.cms."""

import hashlib
import struct
import sys

data = open(sys.argv[1], "rb").read()
mark, length, _, _, content, again = struct.unpack("<4sII16sQ4s", data[:40])
assert (mark, length, again) == (b"NAVX", 40, b"NAVX")
start = 40 + content
offset, end = struct.unpack("<I4s", data[-8:])
assert (data[start : start + 4], offset, end) == (b"NXSB", start, b"NXSB")
cms = data[start + 4 : -8]
open(sys.argv[1] + ".cms", "wb").write(cms)
# DigestInfo: SEQUENCE of the algorithm and an OCTET STRING, behind SpcSipInfo.
sha256 = bytes.fromhex("30 31 30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00 04 20")
at = cms.index(sha256) + len(sha256)
assert cms[at : at + 32] == hashlib.sha256(data[:start]).digest(), "the digest differs"
assert bytes.fromhex("3ea0ff3624f8e7488e074a2dcb034cc7") in cms, "another GUID"
