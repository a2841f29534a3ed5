# Counts the frames on standard input, each behind its length of 32 bits, whose
# invariant CRC is wrong.
import struct, sys, zlib

data, at, wrong = sys.stdin.buffer.read(), 0, 0
while at < len(data):
    size, = struct.unpack_from(">I", data, at)
    frame = data[at + 4:at + 4 + size]
    at += 4 + size
    if frame[12:14] == b"\x08\x00":
        ip = bytearray(frame[14:14 + struct.unpack_from(">H", frame, 16)[0]])
        ones = (1, 8, 10, 11, 26, 27, 32)  # TOS, TTL, checksums, BTH's FECN and BECN
    else:
        ip = bytearray(frame[14:54 + struct.unpack_from(">H", frame, 18)[0]])
        ones = (1, 2, 3, 7, 46, 47, 52)  # class, label, hop limit, checksum, BTH
        ip[0] |= 0x0F
    for i in ones:
        ip[i] = 0xFF
    wrong += zlib.crc32(b"\xff" * 8 + ip[:-4]) != struct.unpack("<I", ip[-4:])[0]
print(wrong)
