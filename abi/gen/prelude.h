#include <stddef.h>
#include <stdint.h>

/*
 * Values in memory are little-endian whatever the host is. A member of these
 * types goes through rnic_cpu_to_le* and rnic_le*_to_cpu; a 24-bit number is
 * three bytes and goes through rnic_put24 and rnic_get24.
 */
typedef uint16_t rnic_le16;
typedef uint32_t rnic_le32;
typedef uint64_t rnic_le64;

#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static inline rnic_le16 rnic_cpu_to_le16(uint16_t v) { return (uint16_t)(v << 8 | v >> 8); }
static inline rnic_le32 rnic_cpu_to_le32(uint32_t v)
{
	return v << 24 | (v & 0xff00u) << 8 | (v >> 8 & 0xff00u) | v >> 24;
}
static inline rnic_le64 rnic_cpu_to_le64(uint64_t v)
{
	return (uint64_t)rnic_cpu_to_le32((uint32_t)v) << 32 | rnic_cpu_to_le32((uint32_t)(v >> 32));
}
#else
static inline rnic_le16 rnic_cpu_to_le16(uint16_t v) { return v; }
static inline rnic_le32 rnic_cpu_to_le32(uint32_t v) { return v; }
static inline rnic_le64 rnic_cpu_to_le64(uint64_t v) { return v; }
#endif
static inline uint16_t rnic_le16_to_cpu(rnic_le16 v) { return rnic_cpu_to_le16(v); }
static inline uint32_t rnic_le32_to_cpu(rnic_le32 v) { return rnic_cpu_to_le32(v); }
static inline uint64_t rnic_le64_to_cpu(rnic_le64 v) { return rnic_cpu_to_le64(v); }

static inline void rnic_put24(uint8_t b[3], uint32_t v)
{
	b[0] = (uint8_t)v;
	b[1] = (uint8_t)(v >> 8);
	b[2] = (uint8_t)(v >> 16);
}
static inline uint32_t rnic_get24(const uint8_t b[3])
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;
}

/*
 * Fields that are not whole members have NAME_SHIFT and NAME_MASK, the mask in
 * place: RNIC_GET(word, NAME) reads one, RNIC_PUT(NAME, value) places one.
 */
#define RNIC_GET(word, name) (((word) & name##_MASK) >> name##_SHIFT)
#define RNIC_PUT(name, value) ((uint32_t)(value) << name##_SHIFT & name##_MASK)
