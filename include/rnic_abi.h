/* Interface of the rnic device. Generated from package abi by go generate ./abi: do not edit. */
#ifndef RNIC_ABI_H
#define RNIC_ABI_H

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

#define RNIC_ID 0x43494e52u
#define RNIC_VERSION_MAJOR 1u
#define RNIC_VERSION_MINOR 0u
#define RNIC_BAR_SIZE 0x200000u
#define RNIC_COUNTERS_BASE 0x1000u
#define RNIC_MSIX_TABLE_BASE 0x2000u
#define RNIC_MSIX_PBA_BASE 0x3000u
#define RNIC_MSIX_COUNT 16u
#define RNIC_UAR_BASE 0x100000u
#define RNIC_UAR_PAGES 256u
#define RNIC_PAGE_SIZE 4096u
#define RNIC_PUSH_OFFSET 0x800u
#define RNIC_PUSH_SIZE 64u
#define RNIC_MAX_LOG_RING 15u
#define RNIC_UNIT_SIZE 64u
#define RNIC_MAX_UNITS 8u
#define RNIC_MAX_SGE 16u
#define RNIC_MAX_INLINE 480u
#define RNIC_MAX_FAST_REG_PAGES 32u
#define RNIC_NO_SLOT 0xffffu
#define RNIC_MAX_MESSAGE 0x80000000u
#define RNIC_SGE_SIZE 16u
#define RNIC_WQE_REMOTE_OFFSET 16u
#define RNIC_WQE_DATA_OFFSET 32u
#define RNIC_WQE_ATOMIC_OFFSET 48u
#define RNIC_RWQE_DATA_OFFSET 16u
#define RNIC_CQE_SIZE 64u
#define RNIC_EVENT_SIZE 32u
#define RNIC_ADMIN_COMMAND_SIZE 64u
#define RNIC_ADMIN_COMPLETION_SIZE 32u
#define RNIC_MAILBOX_SIZE 256u
#define RNIC_CQ_PERIOD_CYCLES 256u
#define RNIC_MAX_CQ_PERIOD 4000u
#define RNIC_NUM_GIDS 8u
#define RNIC_DOORBELL_ADDR(page) (RNIC_UAR_BASE + (page) * RNIC_PAGE_SIZE)
#define RNIC_PUSH_ADDR(page) (RNIC_DOORBELL_ADDR(page) + RNIC_PUSH_OFFSET)
#define RNIC_COUNTER_ADDR(counter) (RNIC_COUNTERS_BASE + 8u * (counter))

/* Global registers: offset in BAR0, value after reset, fields. */
#define RNIC_REG_ID 0x000u /* RO */
#define RNIC_REG_ID_RESET 0x43494e52u
#define RNIC_REG_VERSION 0x004u /* RO */
#define RNIC_REG_VERSION_RESET 0x00010000u
#define RNIC_VERSION_MINOR_SHIFT 0
#define RNIC_VERSION_MINOR_MASK 0xffffu
#define RNIC_VERSION_MAJOR_SHIFT 16
#define RNIC_VERSION_MAJOR_MASK 0xffff0000u
#define RNIC_REG_CAPS 0x008u /* RO */
#define RNIC_REG_CAPS_RESET 0x0f0a0a01u
#define RNIC_CAPS_PUSH_WQE_SHIFT 0
#define RNIC_CAPS_PUSH_WQE_MASK 0x1u
#define RNIC_CAPS_LOG_MAX_QP_SHIFT 8
#define RNIC_CAPS_LOG_MAX_QP_MASK 0x1f00u
#define RNIC_CAPS_LOG_MAX_CQ_SHIFT 16
#define RNIC_CAPS_LOG_MAX_CQ_MASK 0x1f0000u
#define RNIC_CAPS_LOG_MAX_RING_SHIFT 24
#define RNIC_CAPS_LOG_MAX_RING_MASK 0x1f000000u
#define RNIC_REG_LIMITS0 0x00cu /* RO */
#define RNIC_REG_LIMITS0_RESET 0x00401010u
#define RNIC_LIMITS0_MAX_SGE_SHIFT 0
#define RNIC_LIMITS0_MAX_SGE_MASK 0xffu
#define RNIC_LIMITS0_MSIX_SHIFT 8
#define RNIC_LIMITS0_MSIX_MASK 0xff00u
#define RNIC_LIMITS0_MAX_INLINE_SHIFT 16
#define RNIC_LIMITS0_MAX_INLINE_MASK 0xffff0000u
#define RNIC_REG_LIMITS1 0x010u /* RO */
#define RNIC_REG_LIMITS1_RESET 0x101521cau
#define RNIC_LIMITS1_LOG_KEYS_SHIFT 0
#define RNIC_LIMITS1_LOG_KEYS_MASK 0x1fu
#define RNIC_LIMITS1_LOG_PAGES_SHIFT 5
#define RNIC_LIMITS1_LOG_PAGES_MASK 0x3e0u
#define RNIC_LIMITS1_LOG_UAR_SHIFT 10
#define RNIC_LIMITS1_LOG_UAR_MASK 0x3c00u
#define RNIC_LIMITS1_LOG_MAX_EQ_SHIFT 14
#define RNIC_LIMITS1_LOG_MAX_EQ_MASK 0x3c000u
#define RNIC_LIMITS1_MAX_MTU_SHIFT 18
#define RNIC_LIMITS1_MAX_MTU_MASK 0x1c0000u
#define RNIC_LIMITS1_MAX_RD_ATOMIC_SHIFT 24
#define RNIC_LIMITS1_MAX_RD_ATOMIC_MASK 0xff000000u
#define RNIC_REG_CTRL 0x020u /* RW */
#define RNIC_REG_CTRL_RESET 0x00000000u
#define RNIC_CTRL_ENABLE_SHIFT 0
#define RNIC_CTRL_ENABLE_MASK 0x1u
#define RNIC_REG_STATUS 0x024u /* RO */
#define RNIC_REG_STATUS_RESET 0x00000001u
#define RNIC_STATUS_READY_SHIFT 0
#define RNIC_STATUS_READY_MASK 0x1u
#define RNIC_STATUS_LINK_UP_SHIFT 1
#define RNIC_STATUS_LINK_UP_MASK 0x2u
#define RNIC_STATUS_ADMIN_ENABLED_SHIFT 2
#define RNIC_STATUS_ADMIN_ENABLED_MASK 0x4u
#define RNIC_STATUS_ADMIN_ERROR_SHIFT 4
#define RNIC_STATUS_ADMIN_ERROR_MASK 0x10u
#define RNIC_REG_ADMIN_SQ_BASE_LO 0x040u /* RW */
#define RNIC_REG_ADMIN_SQ_BASE_LO_RESET 0x00000000u
#define RNIC_REG_ADMIN_SQ_BASE_HI 0x044u /* RW */
#define RNIC_REG_ADMIN_SQ_BASE_HI_RESET 0x00000000u
#define RNIC_REG_ADMIN_CQ_BASE_LO 0x048u /* RW */
#define RNIC_REG_ADMIN_CQ_BASE_LO_RESET 0x00000000u
#define RNIC_REG_ADMIN_CQ_BASE_HI 0x04cu /* RW */
#define RNIC_REG_ADMIN_CQ_BASE_HI_RESET 0x00000000u
#define RNIC_REG_ADMIN_LOG_SIZE 0x050u /* RW */
#define RNIC_REG_ADMIN_LOG_SIZE_RESET 0x00000000u
#define RNIC_ADMIN_LOG_SIZE_LOG_SIZE_SHIFT 0
#define RNIC_ADMIN_LOG_SIZE_LOG_SIZE_MASK 0xfu
#define RNIC_REG_ADMIN_VECTOR 0x054u /* RW */
#define RNIC_REG_ADMIN_VECTOR_RESET 0x00000000u
#define RNIC_ADMIN_VECTOR_VECTOR_SHIFT 0
#define RNIC_ADMIN_VECTOR_VECTOR_MASK 0xffu
#define RNIC_ADMIN_VECTOR_ENABLE_SHIFT 31
#define RNIC_ADMIN_VECTOR_ENABLE_MASK 0x80000000u
#define RNIC_REG_ADMIN_DOORBELL 0x058u /* WO */
#define RNIC_REG_ADMIN_DOORBELL_RESET 0x00000000u
#define RNIC_ADMIN_DOORBELL_INDEX_SHIFT 0
#define RNIC_ADMIN_DOORBELL_INDEX_MASK 0xffffu
#define RNIC_REG_PORT_MAC_LO 0x080u /* RW */
#define RNIC_REG_PORT_MAC_LO_RESET 0x00000000u
#define RNIC_REG_PORT_MAC_HI 0x084u /* RW */
#define RNIC_REG_PORT_MAC_HI_RESET 0x00000000u
#define RNIC_PORT_MAC_HI_MAC_HI_SHIFT 0
#define RNIC_PORT_MAC_HI_MAC_HI_MASK 0xffffu
#define RNIC_REG_PORT_IPV4 0x088u /* RW */
#define RNIC_REG_PORT_IPV4_RESET 0x00000000u
#define RNIC_REG_PORT_MTU 0x08cu /* RW */
#define RNIC_REG_PORT_MTU_RESET 0x00000003u
#define RNIC_PORT_MTU_MTU_SHIFT 0
#define RNIC_PORT_MTU_MTU_MASK 0x7u
#define RNIC_REG_PORT_GID0_0 0x090u /* RW */
#define RNIC_REG_PORT_GID0_0_RESET 0x00000000u
#define RNIC_REG_PORT_GID0_1 0x094u /* RW */
#define RNIC_REG_PORT_GID0_1_RESET 0x00000000u
#define RNIC_REG_PORT_GID0_2 0x098u /* RW */
#define RNIC_REG_PORT_GID0_2_RESET 0x00000000u
#define RNIC_REG_PORT_GID0_3 0x09cu /* RW */
#define RNIC_REG_PORT_GID0_3_RESET 0x00000000u
#define RNIC_REG_PORT_PKEY 0x0a0u /* RW */
#define RNIC_REG_PORT_PKEY_RESET 0x0000ffffu
#define RNIC_PORT_PKEY_PKEY_SHIFT 0
#define RNIC_PORT_PKEY_PKEY_MASK 0xffffu
#define RNIC_REG_LINK_CTRL 0x0a4u /* RW */
#define RNIC_REG_LINK_CTRL_RESET 0x00000001u
#define RNIC_LINK_CTRL_ENABLE_SHIFT 0
#define RNIC_LINK_CTRL_ENABLE_MASK 0x1u
#define RNIC_REG_RAW_QPN 0x0a8u /* RW */
#define RNIC_REG_RAW_QPN_RESET 0x00000000u
#define RNIC_RAW_QPN_QPN_SHIFT 0
#define RNIC_RAW_QPN_QPN_MASK 0xffffffu
#define RNIC_REG_TIME_UNIT 0x0c0u /* RW */
#define RNIC_REG_TIME_UNIT_RESET 0x00000400u
#define RNIC_TIME_UNIT_CYCLES_SHIFT 0
#define RNIC_TIME_UNIT_CYCLES_MASK 0xffffu
#define RNIC_REG_CYCLES_LO 0x0c8u /* RO */
#define RNIC_REG_CYCLES_LO_RESET 0x00000000u
#define RNIC_REG_CYCLES_HI 0x0ccu /* RO */
#define RNIC_REG_CYCLES_HI_RESET 0x00000000u
#define RNIC_REG_PORT_GID2_0 0x100u /* RW */
#define RNIC_REG_PORT_GID2_0_RESET 0x00000000u
#define RNIC_REG_PORT_GID2_1 0x104u /* RW */
#define RNIC_REG_PORT_GID2_1_RESET 0x00000000u
#define RNIC_REG_PORT_GID2_2 0x108u /* RW */
#define RNIC_REG_PORT_GID2_2_RESET 0x00000000u
#define RNIC_REG_PORT_GID2_3 0x10cu /* RW */
#define RNIC_REG_PORT_GID2_3_RESET 0x00000000u
#define RNIC_REG_PORT_GID3_0 0x110u /* RW */
#define RNIC_REG_PORT_GID3_0_RESET 0x00000000u
#define RNIC_REG_PORT_GID3_1 0x114u /* RW */
#define RNIC_REG_PORT_GID3_1_RESET 0x00000000u
#define RNIC_REG_PORT_GID3_2 0x118u /* RW */
#define RNIC_REG_PORT_GID3_2_RESET 0x00000000u
#define RNIC_REG_PORT_GID3_3 0x11cu /* RW */
#define RNIC_REG_PORT_GID3_3_RESET 0x00000000u
#define RNIC_REG_PORT_GID4_0 0x120u /* RW */
#define RNIC_REG_PORT_GID4_0_RESET 0x00000000u
#define RNIC_REG_PORT_GID4_1 0x124u /* RW */
#define RNIC_REG_PORT_GID4_1_RESET 0x00000000u
#define RNIC_REG_PORT_GID4_2 0x128u /* RW */
#define RNIC_REG_PORT_GID4_2_RESET 0x00000000u
#define RNIC_REG_PORT_GID4_3 0x12cu /* RW */
#define RNIC_REG_PORT_GID4_3_RESET 0x00000000u
#define RNIC_REG_PORT_GID5_0 0x130u /* RW */
#define RNIC_REG_PORT_GID5_0_RESET 0x00000000u
#define RNIC_REG_PORT_GID5_1 0x134u /* RW */
#define RNIC_REG_PORT_GID5_1_RESET 0x00000000u
#define RNIC_REG_PORT_GID5_2 0x138u /* RW */
#define RNIC_REG_PORT_GID5_2_RESET 0x00000000u
#define RNIC_REG_PORT_GID5_3 0x13cu /* RW */
#define RNIC_REG_PORT_GID5_3_RESET 0x00000000u
#define RNIC_REG_PORT_GID6_0 0x140u /* RW */
#define RNIC_REG_PORT_GID6_0_RESET 0x00000000u
#define RNIC_REG_PORT_GID6_1 0x144u /* RW */
#define RNIC_REG_PORT_GID6_1_RESET 0x00000000u
#define RNIC_REG_PORT_GID6_2 0x148u /* RW */
#define RNIC_REG_PORT_GID6_2_RESET 0x00000000u
#define RNIC_REG_PORT_GID6_3 0x14cu /* RW */
#define RNIC_REG_PORT_GID6_3_RESET 0x00000000u
#define RNIC_REG_PORT_GID7_0 0x150u /* RW */
#define RNIC_REG_PORT_GID7_0_RESET 0x00000000u
#define RNIC_REG_PORT_GID7_1 0x154u /* RW */
#define RNIC_REG_PORT_GID7_1_RESET 0x00000000u
#define RNIC_REG_PORT_GID7_2 0x158u /* RW */
#define RNIC_REG_PORT_GID7_2_RESET 0x00000000u
#define RNIC_REG_PORT_GID7_3 0x15cu /* RW */
#define RNIC_REG_PORT_GID7_3_RESET 0x00000000u

/* Counters: index in the counters page. */
enum rnic_counter {
	RNIC_COUNTER_TX_PACKETS = 0, /* RoCE frames sent by the MAC */
	RNIC_COUNTER_TX_BYTES = 1, /* bytes of those frames, without FCS */
	RNIC_COUNTER_RX_PACKETS = 2, /* RoCE frames received by the MAC with a good FCS, dropped ones too */
	RNIC_COUNTER_RX_BYTES = 3, /* bytes of those frames, without FCS */
	RNIC_COUNTER_RX_DROP_OVERFLOW = 4, /* frames dropped: receive buffer full, or no gap in the wire for one that was turned round */
	RNIC_COUNTER_RX_DROP_BAD_FCS = 5, /* frames dropped: bad FCS */
	RNIC_COUNTER_RX_DROP_NOT_ROCE = 6, /* frames dropped: not UDP port 4791 */
	RNIC_COUNTER_RX_DROP_MALFORMED = 7, /* packets dropped: lengths, fragments, TVer, UDP checksum */
	RNIC_COUNTER_RX_DROP_BAD_ICRC = 8, /* packets dropped: bad ICRC */
	RNIC_COUNTER_RX_DROP_BAD_QPN = 9, /* packets dropped: no such QP */
	RNIC_COUNTER_RX_DROP_BAD_TRANSPORT = 10, /* packets dropped: opcode of another transport than the QP's */
	RNIC_COUNTER_RX_DROP_BAD_STATE = 11, /* packets dropped: QP not in a state to receive them */
	RNIC_COUNTER_RX_DROP_BAD_PKEY = 12, /* packets dropped: wrong P_Key */
	RNIC_COUNTER_RX_DROP_BAD_ADDRESS = 13, /* packets dropped: source or destination address not the QP's */
	RNIC_COUNTER_RX_DROP_BAD_QKEY = 14, /* datagrams dropped: wrong Q_Key */
	RNIC_COUNTER_RX_DROP_OTHER = 15, /* packets dropped for another reason: ghost ACKs and responses, duplicates that cannot be answered, packets behind a NAK */
	RNIC_COUNTER_DUPLICATE_REQUEST = 16, /* requests received again */
	RNIC_COUNTER_OUT_OF_SEQUENCE = 17, /* requests received beyond the expected PSN */
	RNIC_COUNTER_OUT_OF_BUFFER = 18, /* requests received without a receive WQE */
	RNIC_COUNTER_PACKET_SEQ_ERR = 19, /* NAK PSN sequence error received */
	RNIC_COUNTER_LOCAL_ACK_TIMEOUT_ERR = 20, /* local ACK timeouts */
	RNIC_COUNTER_RNR_NAK_RETRY_ERR = 21, /* RNR NAKs received */
	RNIC_COUNTER_IMPLIED_NAK_SEQ_ERR = 22, /* ACKs or responses beyond an unanswered READ or atomic */
	RNIC_COUNTER_REQ_CQE_ERROR = 23, /* send CQEs in error, flushes too */
	RNIC_COUNTER_REQ_REMOTE_ACCESS_ERRORS = 24, /* NAK remote access error received */
	RNIC_COUNTER_REQ_REMOTE_INVALID_REQUEST = 25, /* NAK invalid request received */
	RNIC_COUNTER_REQ_REMOTE_OPERATIONAL_ERRORS = 26, /* NAK remote operational error received */
	RNIC_COUNTER_RESP_CQE_ERROR = 27, /* receive CQEs in error, flushes too */
	RNIC_COUNTER_RESP_LOCAL_LENGTH_ERROR = 28, /* messages longer than their receive WQE */
	RNIC_COUNTER_RESP_LOCAL_PROTECTION_ERRORS = 29, /* messages whose receive WQE failed its local key check */
	RNIC_COUNTER_RESP_REMOTE_ACCESS_ERRORS = 30, /* requests refused with NAK remote access error */
	RNIC_COUNTER_RESP_REMOTE_INVALID_REQUEST = 31, /* requests refused with NAK invalid request */
	RNIC_COUNTER_ACKS_SENT = 32, /* positive ACK packets sent */
	RNIC_COUNTER_NAKS_SENT = 33, /* NAK packets sent, without RNR NAKs */
	RNIC_COUNTER_RNR_NAKS_SENT = 34, /* RNR NAK packets sent */
	RNIC_COUNTER_CQES_WRITTEN = 35, /* CQEs written */
	RNIC_COUNTER_EVENTS_WRITTEN = 36, /* events written */
	RNIC_COUNTER_MSIX_SENT = 37, /* interrupts sent */
	RNIC_COUNTER_CQ_OVERRUNS = 38, /* CQEs lost: CQ full */
	RNIC_COUNTER_DOORBELLS = 39, /* doorbells accepted */
	RNIC_COUNTER_DOORBELL_BAD_PAGE = 40, /* doorbells ignored: not the object's page */
	RNIC_COUNTER_DOORBELL_BAD_NUMBER = 41, /* doorbells ignored: no such object */
	RNIC_COUNTER_PUSHED_WQES = 42, /* pushed WQEs taken */
	RNIC_COUNTER_PUSHED_WQES_IGNORED = 43, /* pushed WQEs ignored: incomplete, or not the next of their QP; the WQE is then read from memory */
	RNIC_COUNTER_MMIO_WRITE_IGNORED = 44, /* writes ignored: read-only, unmapped, of a wrong size, or a doorbell of unknown kind */
	RNIC_COUNTER_MMIO_READ_UNMAPPED = 45, /* reads that hit no register: they return 0 */
	RNIC_COUNTER_DMA_READS = 46, /* read request TLPs */
	RNIC_COUNTER_DMA_READ_BYTES = 47, /* bytes asked for by them */
	RNIC_COUNTER_DMA_WRITES = 48, /* memory write TLPs */
	RNIC_COUNTER_DMA_WRITE_BYTES = 49, /* bytes of them */
	RNIC_COUNTER_DMA_READ_ERRORS = 50, /* completions with an error status, and completion timeouts */
	RNIC_COUNTER_WQE_FETCHES = 51, /* reads of send WQEs */
	RNIC_COUNTER_ADMIN_COMMANDS = 52, /* admin commands completed */
	RNIC_COUNTER_RAW_TX_FRAMES = 53, /* frames of RAW_PACKET QPs sent */
	RNIC_COUNTER_RAW_RX_FRAMES = 54, /* frames that are not RoCE, given to a RAW_PACKET QP */
};
#define RNIC_NUM_COUNTERS 55

/* MTU is a path MTU: payload bytes of a packet, coded as in verbs. */
enum rnic_mtu {
	RNIC_MTU_256 = 1,
	RNIC_MTU_512 = 2,
	RNIC_MTU_1024 = 3,
	RNIC_MTU_2048 = 4,
	RNIC_MTU_4096 = 5,
};

/* DoorbellKind says which index of which object a doorbell carries. */
enum rnic_doorbell_kind {
	RNIC_DOORBELL_SQ = 0, /* send queue producer index, in units */
	RNIC_DOORBELL_RQ = 1, /* receive queue producer index */
	RNIC_DOORBELL_CQ = 2, /* completion queue consumer index */
	RNIC_DOORBELL_CQ_ARM = 3, /* completion queue consumer index, and arm: one event for the next CQE beyond it, at once if there is one */
	RNIC_DOORBELL_EQ = 4, /* event queue consumer index, and arm: one interrupt for the next event beyond it, at once if there is one */
	RNIC_DOORBELL_SRQ = 5, /* shared receive queue: number of entries posted, modulo 2^16 */
};

/* WQEOp is the operation of a send WQE. */
enum rnic_wqe_op {
	RNIC_WQE_OP_SEND = 0,
	RNIC_WQE_OP_SEND_IMM = 1, /* SEND with immediate */
	RNIC_WQE_OP_SEND_INV = 2, /* SEND with invalidate: Imm is the remote key */
	RNIC_WQE_OP_WRITE = 3, /* RDMA WRITE */
	RNIC_WQE_OP_WRITE_IMM = 4, /* RDMA WRITE with immediate */
	RNIC_WQE_OP_READ = 5, /* RDMA READ */
	RNIC_WQE_OP_COMPARE_SWAP = 6, /* 64-bit compare and swap */
	RNIC_WQE_OP_FETCH_ADD = 7, /* 64-bit fetch and add */
	RNIC_WQE_OP_LOCAL_INV = 8, /* invalidate the local key in Imm */
	RNIC_WQE_OP_BIND_MW = 9, /* bind a memory window */
	RNIC_WQE_OP_FAST_REG = 10, /* register memory from the send queue */
	RNIC_WQE_OP_NOP = 11, /* nothing; completes in its turn */
};

/* WQEFlags are the flags of a WQE. */
#define RNIC_WQE_SIGNALLED 0x1u /* write a CQE when done; an error writes one anyway */
#define RNIC_WQE_SOLICITED 0x2u /* the receiver's CQE is a solicited one */
#define RNIC_WQE_FENCE 0x4u /* wait until all earlier READs and atomics are done */
#define RNIC_WQE_INLINE 0x8u /* the data is in the WQE */

/* WCOpcode is what a completion is about, with the values of verbs; NOP and FAST_REG, which verbs has not, are at the end of the send side. */
enum rnic_wc_opcode {
	RNIC_WC_SEND = 0, /* SEND, SEND_IMM, SEND_INV */
	RNIC_WC_RDMA_WRITE = 1, /* WRITE, WRITE_IMM */
	RNIC_WC_RDMA_READ = 2,
	RNIC_WC_COMP_SWAP = 3,
	RNIC_WC_FETCH_ADD = 4,
	RNIC_WC_BIND_MW = 5,
	RNIC_WC_LOCAL_INV = 6,
	RNIC_WC_FAST_REG = 126,
	RNIC_WC_NOP = 127,
	RNIC_WC_RECV = 128, /* receive of a SEND */
	RNIC_WC_RECV_RDMA_WITH_IMM = 129, /* receive of a WRITE_IMM */
};

/* WCStatus is how a work request ended, with the values of verbs. */
enum rnic_wc_status {
	RNIC_WC_STATUS_SUCCESS = 0,
	RNIC_WC_STATUS_LOC_LEN_ERR = 1, /* message too long for the receive WQE, or of a wrong length */
	RNIC_WC_STATUS_LOC_QP_OP_ERR = 2, /* malformed WQE, or one that the QP cannot do */
	RNIC_WC_STATUS_LOC_PROT_ERR = 4, /* local key, bounds or access */
	RNIC_WC_STATUS_WR_FLUSH_ERR = 5, /* the QP was in ERR */
	RNIC_WC_STATUS_MW_BIND_ERR = 6, /* bind or invalidate refused */
	RNIC_WC_STATUS_BAD_RESP_ERR = 7, /* response of an unexpected opcode */
	RNIC_WC_STATUS_LOC_ACCESS_ERR = 8, /* incoming access refused while a receive WQE was held */
	RNIC_WC_STATUS_REM_INV_REQ_ERR = 9, /* NAK invalid request */
	RNIC_WC_STATUS_REM_ACCESS_ERR = 10, /* NAK remote access error */
	RNIC_WC_STATUS_REM_OP_ERR = 11, /* NAK remote operational error */
	RNIC_WC_STATUS_RETRY_EXC_ERR = 12, /* no answer within all retries */
	RNIC_WC_STATUS_RNR_RETRY_EXC_ERR = 13, /* receiver not ready within all retries */
	RNIC_WC_STATUS_FATAL_ERR = 19, /* the device failed */
	RNIC_WC_STATUS_GENERAL_ERR = 21, /* none of the others */
};

/* CQEFlags are the flags of a CQE, with the values of verbs. */
#define RNIC_CQE_GRH 0x1u /* UD receive: 40 bytes of header come before the data */
#define RNIC_CQE_WITH_IMM 0x2u /* Imm is an immediate */
#define RNIC_CQE_WITH_INV 0x8u /* Imm is the key that was invalidated */
#define RNIC_CQE_VLAN 0x10u /* RAW_PACKET: Imm is the 802.1Q tag control that was taken out of the frame */

/* VendorErr says where in the device, and why, a work request failed. */
enum rnic_vendor_err {
	RNIC_VENDOR_ERR_NONE = 0,
	RNIC_VENDOR_ERR_FLUSH = 1, /* never started: the QP was in ERR */
	RNIC_VENDOR_ERR_WQE_READ = 2, /* the WQE could not be read */
	RNIC_VENDOR_ERR_WQE_STALE = 3, /* the slot holds another index */
	RNIC_VENDOR_ERR_WQE_FORMAT = 4, /* units, SGEs and inline length disagree, or exceed the QP's */
	RNIC_VENDOR_ERR_WQE_OP = 5, /* an operation that does not exist or is not supported here */
	RNIC_VENDOR_ERR_WQE_LENGTH = 6, /* longer than 2^31 bytes, or an atomic not of 8 */
	RNIC_VENDOR_ERR_LKEY_UNKNOWN = 7, /* no such local key */
	RNIC_VENDOR_ERR_LKEY_PD = 8, /* local key of another protection domain */
	RNIC_VENDOR_ERR_LKEY_BOUNDS = 9, /* SGE reaches outside its region */
	RNIC_VENDOR_ERR_LKEY_ACCESS = 10, /* no local write permission */
	RNIC_VENDOR_ERR_RKEY_UNKNOWN = 11, /* no such remote key */
	RNIC_VENDOR_ERR_RKEY_PD = 12, /* remote key of another protection domain */
	RNIC_VENDOR_ERR_RKEY_BOUNDS = 13, /* access reaches outside its region */
	RNIC_VENDOR_ERR_RKEY_ACCESS = 14, /* no permission for this access */
	RNIC_VENDOR_ERR_DMA_READ = 15, /* host memory could not be read */
	RNIC_VENDOR_ERR_DMA_WRITE = 16, /* host memory could not be written */
	RNIC_VENDOR_ERR_RECV_TOO_LONG = 17, /* message longer than the receive WQE */
	RNIC_VENDOR_ERR_RECV_SEQUENCE = 18, /* first, middle, last out of sequence */
	RNIC_VENDOR_ERR_RECV_LENGTH = 19, /* payload of a wrong length for its opcode */
	RNIC_VENDOR_ERR_RECV_OP = 20, /* request that is not supported or not enabled */
	RNIC_VENDOR_ERR_NAK_SEQUENCE = 21, /* PSN sequence error, and no retry left */
	RNIC_VENDOR_ERR_NAK_INVALID = 22, /* the peer sent NAK invalid request */
	RNIC_VENDOR_ERR_NAK_ACCESS = 23, /* the peer sent NAK remote access error */
	RNIC_VENDOR_ERR_NAK_OPERATIONAL = 24, /* the peer sent NAK remote operational error */
	RNIC_VENDOR_ERR_RNR_NAK = 25, /* receiver not ready, and no retry left */
	RNIC_VENDOR_ERR_TIMEOUT = 26, /* no answer, and no retry left */
	RNIC_VENDOR_ERR_RESP_OP = 27, /* response of an unexpected opcode */
	RNIC_VENDOR_ERR_RESP_LENGTH = 28, /* response of a wrong length */
	RNIC_VENDOR_ERR_INVALIDATE = 29, /* key that cannot be invalidated */
	RNIC_VENDOR_ERR_BIND = 30, /* window that cannot be bound */
	RNIC_VENDOR_ERR_CQ_OVERRUN = 31, /* the completion queue was full */
	RNIC_VENDOR_ERR_AH = 33, /* no such address handle, or one of another protection domain */
	RNIC_VENDOR_ERR_ATOMIC_ALIGN = 32, /* remote address of an atomic not a multiple of 8 */
};

/* EventType is what an event tells: the asynchronous events with the values of verbs, and COMPLETION. */
enum rnic_event_type {
	RNIC_EVENT_CQ_ERR = 0, /* CQ overrun or unwritable; number: CQN */
	RNIC_EVENT_QP_FATAL = 1, /* the QP failed and no completion can tell; number: QPN; syndrome: VendorErr */
	RNIC_EVENT_QP_REQ_ERR = 2, /* NAK invalid request was sent; number: QPN; syndrome: VendorErr */
	RNIC_EVENT_QP_ACCESS_ERR = 3, /* NAK remote access error was sent; number: QPN; syndrome: VendorErr */
	RNIC_EVENT_COMM_EST = 4, /* first good packet in RTR; number: QPN */
	RNIC_EVENT_SQ_DRAINED = 5, /* SQD reached, all begun WQEs are done; number: QPN */
	RNIC_EVENT_DEVICE_FATAL = 8, /* the device has stopped */
	RNIC_EVENT_PORT_ACTIVE = 9, /* link up; number: port, 1 */
	RNIC_EVENT_PORT_ERR = 10, /* link down; number: port, 1 */
	RNIC_EVENT_SRQ_ERR = 14, /* SRQ unreadable; number: SRQN */
	RNIC_EVENT_SRQ_LIMIT_REACHED = 15, /* fewer WQEs than the armed limit; number: SRQN */
	RNIC_EVENT_QP_LAST_WQE_REACHED = 16, /* QP with SRQ in ERR, its last WQE is done; number: QPN */
	RNIC_EVENT_COMPLETION = 128, /* an armed CQ has a CQE; number: CQN */
};

/* AdminOp is an admin command. */
enum rnic_admin_op {
	RNIC_ADMIN_NOP = 0, /* does nothing */
	RNIC_ADMIN_QUERY_DEVICE = 1, /* writes a DeviceMailbox */
	RNIC_ADMIN_CREATE_EQ = 2, /* object: EQN; reads an EQMailbox */
	RNIC_ADMIN_DESTROY_EQ = 3, /* object: EQN; BUSY while a CQ uses it */
	RNIC_ADMIN_CREATE_CQ = 4, /* object: CQN; reads a CQMailbox */
	RNIC_ADMIN_DESTROY_CQ = 5, /* object: CQN; BUSY while a QP uses it */
	RNIC_ADMIN_CREATE_QP = 6, /* object: QPN, not 0; reads the first part of a QPMailbox; the QP is in RESET */
	RNIC_ADMIN_MODIFY_QP = 7, /* object: QPN; reads the attributes of a QPMailbox that AttrMask names; to RESET it completes when nothing of the QP is in flight */
	RNIC_ADMIN_QUERY_QP = 8, /* object: QPN; writes a QPMailbox */
	RNIC_ADMIN_DESTROY_QP = 9, /* object: QPN; completes when nothing of the QP is in flight */
	RNIC_ADMIN_REG_MR = 10, /* object: key index; reads an MRMailbox: a region, room for one that FAST_REG fills, or a memory window */
	RNIC_ADMIN_DEREG_MR = 11, /* object: key index; completes when no access to it is in flight; BUSY while windows are bound to the region */
	RNIC_ADMIN_MODIFY_CQ = 12, /* object: CQN; reads Count and Period of a CQMailbox; an event that is held back comes at once */
	RNIC_ADMIN_RESIZE_CQ = 13, /* object: CQN; reads Base, LogSize and CI of a CQMailbox; result: index of the first CQE in the new ring */
	RNIC_ADMIN_CREATE_AH = 14, /* object: AHN; reads an AHMailbox */
	RNIC_ADMIN_DESTROY_AH = 15, /* object: AHN; a WQE that names it later fails */
	RNIC_ADMIN_CREATE_SRQ = 16, /* object: SRQN; reads an SRQMailbox */
	RNIC_ADMIN_MODIFY_SRQ = 17, /* object: SRQN; reads Mask and what it names of an SRQMailbox */
	RNIC_ADMIN_QUERY_SRQ = 18, /* object: SRQN; writes an SRQMailbox */
	RNIC_ADMIN_DESTROY_SRQ = 19, /* object: SRQN; BUSY while a QP uses it */
};

/* AdminStatus is how a command ended. */
enum rnic_admin_status {
	RNIC_ADMIN_STATUS_OK = 0,
	RNIC_ADMIN_STATUS_BAD_OPCODE = 1, /* ENOSYS: no such command */
	RNIC_ADMIN_STATUS_NOT_SUPPORTED = 2, /* EOPNOTSUPP: a legal request that this device does not do */
	RNIC_ADMIN_STATUS_BAD_PARAM = 3, /* EINVAL: see the syndrome */
	RNIC_ADMIN_STATUS_BAD_STATE = 4, /* EINVAL: not allowed in the object's state */
	RNIC_ADMIN_STATUS_NO_RESOURCE = 5, /* ENOMEM: a table of the device is full */
	RNIC_ADMIN_STATUS_BUSY = 6, /* EBUSY: the object is in use by another */
	RNIC_ADMIN_STATUS_BAD_OBJECT = 7, /* ENOENT: no such object, or its number is out of range */
	RNIC_ADMIN_STATUS_EXISTS = 8, /* EEXIST: an object of this number exists */
	RNIC_ADMIN_STATUS_DMA_ERROR = 9, /* EIO: mailbox or page list could not be read or written */
};

/* AdminSyndrome says what was wrong with a command. For an attribute of a QP it is 1 + the number of its bit in QPAttr. */
enum rnic_admin_syndrome {
	RNIC_SYN_NONE = 0,
	RNIC_SYN_STATE = 1, /* attribute missing, not allowed here, or out of range; so for all up to DEST_QPN */
	RNIC_SYN_CUR_STATE = 2, /* also: not the QP's state */
	RNIC_SYN_EN_SQD_ASYNC_NOTIFY = 3,
	RNIC_SYN_ACCESS_FLAGS = 4, /* REG_MR: remote write or atomic without local write */
	RNIC_SYN_PKEY_INDEX = 5,
	RNIC_SYN_PORT = 6,
	RNIC_SYN_QKEY = 7,
	RNIC_SYN_AV = 8,
	RNIC_SYN_PATH_MTU = 9,
	RNIC_SYN_TIMEOUT = 10,
	RNIC_SYN_RETRY_CNT = 11,
	RNIC_SYN_RNR_RETRY = 12,
	RNIC_SYN_RQ_PSN = 13,
	RNIC_SYN_MAX_RD_ATOMIC = 14,
	RNIC_SYN_MIN_RNR_TIMER = 16,
	RNIC_SYN_SQ_PSN = 17,
	RNIC_SYN_MAX_DEST_RD_ATOMIC = 18,
	RNIC_SYN_DEST_QPN = 21,
	RNIC_SYN_MAILBOX = 64, /* mailbox address missing or not aligned, or the mailbox could not be read or written */
	RNIC_SYN_BASE = 65, /* ring address not aligned */
	RNIC_SYN_LOG_SIZE = 66, /* ring too large; SRQ: or of one slot, or smaller than before; RESIZE_CQ: or too small for the CQEs that are not consumed */
	RNIC_SYN_VECTOR = 67, /* no such MSI-X vector */
	RNIC_SYN_EQN = 68, /* no such event queue */
	RNIC_SYN_UAR_PAGE = 69, /* no such doorbell page */
	RNIC_SYN_QP_TYPE = 70,
	RNIC_SYN_PD = 71,
	RNIC_SYN_SEND_CQN = 72, /* no such completion queue */
	RNIC_SYN_RECV_CQN = 73, /* no such completion queue */
	RNIC_SYN_SQ = 74, /* send queue: base not aligned, or too large */
	RNIC_SYN_RQ = 75, /* receive queue: base not aligned, too large, or stride too small; SRQ: stride */
	RNIC_SYN_MAX_SGE = 76, /* more elements than the device does */
	RNIC_SYN_MAX_INLINE = 77, /* more inline bytes than the device does */
	RNIC_SYN_SRQ = 78, /* no such shared receive queue; MODIFY_SRQ: an attribute that there is not */
	RNIC_SYN_TRANSITION = 79, /* no such transition from the QP's state */
	RNIC_SYN_DRAINING = 80, /* the send queue is not yet drained */
	RNIC_SYN_ADDR = 81, /* address range wraps */
	RNIC_SYN_LENGTH = 82,
	RNIC_SYN_PAGE_SIZE = 83,
	RNIC_SYN_NUM_PAGES = 84, /* not as many pages as address and length need, or no room for them */
	RNIC_SYN_PAGE_LIST = 85, /* list not aligned, unreadable, or a page in it not aligned */
	RNIC_SYN_OBJECT = 86, /* object number */
	RNIC_SYN_KEY_KIND = 88, /* no such kind of key */
	RNIC_SYN_LIMIT = 89, /* limit above the WQEs of the queue */
	RNIC_SYN_MODERATION = 87, /* period too long, or a count above 1 without a period */
};

/* QPType is a transport, with the values of verbs. */
enum rnic_qp_type {
	RNIC_QPT_RC = 2, /* reliable connection */
	RNIC_QPT_UC = 3, /* unreliable connection */
	RNIC_QPT_UD = 4, /* unreliable datagram */
	RNIC_QPT_RAW_PACKET = 5, /* Ethernet frames as they are; the QP that RAW_QPN names receives those that are not RoCE */
};

/* QPState is a state of a QP, with the values of verbs. */
enum rnic_qp_state {
	RNIC_QPS_RESET = 0,
	RNIC_QPS_INIT = 1, /* receives may be posted */
	RNIC_QPS_RTR = 2, /* ready to receive */
	RNIC_QPS_RTS = 3, /* ready to send */
	RNIC_QPS_SQD = 4, /* send queue drained */
	RNIC_QPS_SQE = 5, /* send queue error (UC, UD) */
	RNIC_QPS_ERR = 6, /* all WQEs are flushed */
};

/* QPAttr is a set of QP attributes, with the bits of verbs. */
#define RNIC_ATTR_STATE 0x1u
#define RNIC_ATTR_CUR_STATE 0x2u
#define RNIC_ATTR_EN_SQD_ASYNC_NOTIFY 0x4u
#define RNIC_ATTR_ACCESS_FLAGS 0x8u
#define RNIC_ATTR_PKEY_INDEX 0x10u
#define RNIC_ATTR_PORT 0x20u
#define RNIC_ATTR_QKEY 0x40u
#define RNIC_ATTR_AV 0x80u
#define RNIC_ATTR_PATH_MTU 0x100u
#define RNIC_ATTR_TIMEOUT 0x200u
#define RNIC_ATTR_RETRY_CNT 0x400u
#define RNIC_ATTR_RNR_RETRY 0x800u
#define RNIC_ATTR_RQ_PSN 0x1000u
#define RNIC_ATTR_MAX_RD_ATOMIC 0x2000u /* depth as initiator */
#define RNIC_ATTR_MIN_RNR_TIMER 0x8000u
#define RNIC_ATTR_SQ_PSN 0x10000u
#define RNIC_ATTR_MAX_DEST_RD_ATOMIC 0x20000u /* depth as responder */
#define RNIC_ATTR_DEST_QPN 0x100000u

/* AccessFlags are permissions of a memory region, or of a QP towards its peer, with the values of verbs. */
#define RNIC_ACCESS_LOCAL_WRITE 0x1u
#define RNIC_ACCESS_REMOTE_WRITE 0x2u
#define RNIC_ACCESS_REMOTE_READ 0x4u
#define RNIC_ACCESS_REMOTE_ATOMIC 0x8u
#define RNIC_ACCESS_MW_BIND 0x10u /* memory windows may be bound to the region */

/* QPFlags are flags of a QP that are fixed at creation. */
#define RNIC_QP_HAS_SRQ 0x1u /* receive WQEs come from the SRQ */
#define RNIC_QP_SIG_ALL 0x2u /* every send WQE writes a CQE, SIGNALLED or not */

/* KeyKind is what a key is of. */
enum rnic_key_kind {
	RNIC_KEY_REGION = 0, /* memory region, valid at once */
	RNIC_KEY_FAST_REG = 1, /* memory region that is valid from a FAST_REG WQE to an invalidation */
	RNIC_KEY_WINDOW_1 = 2, /* memory window type 1: of a protection domain; bound by BIND_MW, again and again */
	RNIC_KEY_WINDOW_2 = 3, /* memory window type 2: of the QP that binds it, until it is invalidated */
};

/* SRQAttr is a set of attributes of an SRQ. */
#define RNIC_SRQ_RING 0x1u /* Base and LogSize */
#define RNIC_SRQ_LIMIT 0x2u

/* MSIXEntry is one entry of the MSI-X table, as PCI has it. */
struct rnic_msix_entry {
	rnic_le32 addr_lo; /* bus address of the interrupt write, bits 31:0 */
	rnic_le32 addr_hi; /* bits 63:32 */
	rnic_le32 data; /* the word that is written */
	rnic_le32 masked; /* 0: 1: the interrupt is held as a pending bit; 1 after reset */
};
#define RNIC_MSIX_ENTRY_MASKED_SHIFT 0
#define RNIC_MSIX_ENTRY_MASKED_MASK 0x1u
_Static_assert(sizeof(struct rnic_msix_entry) == 16, "size of msix_entry");
_Static_assert(offsetof(struct rnic_msix_entry, addr_lo) == 0, "offset of msix_entry.addr_lo");
_Static_assert(offsetof(struct rnic_msix_entry, addr_hi) == 4, "offset of msix_entry.addr_hi");
_Static_assert(offsetof(struct rnic_msix_entry, data) == 8, "offset of msix_entry.data");
_Static_assert(offsetof(struct rnic_msix_entry, masked) == 12, "offset of msix_entry.masked");

/* Doorbell is one aligned 8-byte write to offset 0 of a doorbell page. A write to another page than the one bound to the object at its creation is counted (doorbell_bad_page) and ignored, as is an unknown number (doorbell_bad_number). */
struct rnic_doorbell {
	uint8_t number[3]; /* QPN, CQN, EQN or SRQN */
	uint8_t kind_solicited_only; /* 3:0: what the index is; 4: CQ_ARM: only a solicited completion or an error raises the event */
	rnic_le16 index; /* free-running producer or consumer index */
	uint8_t reserved6[2];
};
#define RNIC_DOORBELL_KIND_SHIFT 0
#define RNIC_DOORBELL_KIND_MASK 0xfu
#define RNIC_DOORBELL_SOLICITED_ONLY_SHIFT 4
#define RNIC_DOORBELL_SOLICITED_ONLY_MASK 0x10u
_Static_assert(sizeof(struct rnic_doorbell) == 8, "size of doorbell");
_Static_assert(offsetof(struct rnic_doorbell, number) == 0, "offset of doorbell.number");
_Static_assert(offsetof(struct rnic_doorbell, kind_solicited_only) == 3, "offset of doorbell.kind_solicited_only");
_Static_assert(offsetof(struct rnic_doorbell, index) == 4, "offset of doorbell.index");
_Static_assert(offsetof(struct rnic_doorbell, reserved6) == 6, "offset of doorbell.reserved6");

/* WQEControl begins every WQE of a send queue. A complete unit in the window of a doorbell page (see PushOffset) acts as a send queue doorbell of QPN with producer index Index+Units. The WQE must be in the ring before: the device may forget the pushed copy and read it there. */
struct rnic_wqe_control {
	uint8_t op; /* operation */
	uint8_t flags; /* see WQEFlags */
	uint8_t units; /* units of 64 bytes that the WQE takes, 1..8 */
	uint8_t num_sge; /* elements of the gather list; with INLINE ignored */
	rnic_le16 inline_len; /* bytes of inline data; without INLINE ignored */
	rnic_le16 index; /* index of this WQE's first unit: a slot that holds another is stale */
	rnic_le32 imm; /* immediate, or the key to invalidate; BIND_MW, FAST_REG: the key as it is to be from now on */
	uint8_t qpn[3]; /* QP that the queue belongs to: tells whose WQE a pushed unit is */
	uint8_t reserved15;
};
_Static_assert(sizeof(struct rnic_wqe_control) == 16, "size of wqe_control");
_Static_assert(offsetof(struct rnic_wqe_control, op) == 0, "offset of wqe_control.op");
_Static_assert(offsetof(struct rnic_wqe_control, flags) == 1, "offset of wqe_control.flags");
_Static_assert(offsetof(struct rnic_wqe_control, units) == 2, "offset of wqe_control.units");
_Static_assert(offsetof(struct rnic_wqe_control, num_sge) == 3, "offset of wqe_control.num_sge");
_Static_assert(offsetof(struct rnic_wqe_control, inline_len) == 4, "offset of wqe_control.inline_len");
_Static_assert(offsetof(struct rnic_wqe_control, index) == 6, "offset of wqe_control.index");
_Static_assert(offsetof(struct rnic_wqe_control, imm) == 8, "offset of wqe_control.imm");
_Static_assert(offsetof(struct rnic_wqe_control, qpn) == 12, "offset of wqe_control.qpn");
_Static_assert(offsetof(struct rnic_wqe_control, reserved15) == 15, "offset of wqe_control.reserved15");

/* RemoteSegment follows the control segment in every WQE; it is ignored where the operation has no remote address. */
struct rnic_remote_segment {
	rnic_le64 addr; /* virtual address in the remote region */
	rnic_le32 rkey; /* remote key */
	uint8_t reserved12[4];
};
_Static_assert(sizeof(struct rnic_remote_segment) == 16, "size of remote_segment");
_Static_assert(offsetof(struct rnic_remote_segment, addr) == 0, "offset of remote_segment.addr");
_Static_assert(offsetof(struct rnic_remote_segment, rkey) == 8, "offset of remote_segment.rkey");
_Static_assert(offsetof(struct rnic_remote_segment, reserved12) == 12, "offset of remote_segment.reserved12");

/* SGE is a scatter/gather element. */
struct rnic_sge {
	rnic_le64 addr; /* virtual address in the local region */
	rnic_le32 length; /* bytes; with 0 address and key are not looked at */
	rnic_le32 lkey; /* local key */
};
_Static_assert(sizeof(struct rnic_sge) == 16, "size of sge");
_Static_assert(offsetof(struct rnic_sge, addr) == 0, "offset of sge.addr");
_Static_assert(offsetof(struct rnic_sge, length) == 8, "offset of sge.length");
_Static_assert(offsetof(struct rnic_sge, lkey) == 12, "offset of sge.lkey");

/* AtomicSegment stands in place of the second SGE of COMPARE_SWAP and FETCH_ADD. */
struct rnic_atomic_segment {
	rnic_le64 swap_add; /* value to store, or to add */
	rnic_le64 compare; /* value to compare with; FETCH_ADD: ignored */
};
_Static_assert(sizeof(struct rnic_atomic_segment) == 16, "size of atomic_segment");
_Static_assert(offsetof(struct rnic_atomic_segment, swap_add) == 0, "offset of atomic_segment.swap_add");
_Static_assert(offsetof(struct rnic_atomic_segment, compare) == 8, "offset of atomic_segment.compare");

/* AHSegment stands in place of the remote segment in a WQE of a UD QP. */
struct rnic_ah_segment {
	uint8_t a_h_n[3]; /* address handle */
	uint8_t reserved3;
	uint8_t dest_qpn[3]; /* the peer's QPN */
	uint8_t reserved7;
	rnic_le32 qkey; /* Q_Key that the datagram carries; with the top bit set the QP's own */
	uint8_t reserved12[4];
};
_Static_assert(sizeof(struct rnic_ah_segment) == 16, "size of ah_segment");
_Static_assert(offsetof(struct rnic_ah_segment, a_h_n) == 0, "offset of ah_segment.a_h_n");
_Static_assert(offsetof(struct rnic_ah_segment, reserved3) == 3, "offset of ah_segment.reserved3");
_Static_assert(offsetof(struct rnic_ah_segment, dest_qpn) == 4, "offset of ah_segment.dest_qpn");
_Static_assert(offsetof(struct rnic_ah_segment, reserved7) == 7, "offset of ah_segment.reserved7");
_Static_assert(offsetof(struct rnic_ah_segment, qkey) == 8, "offset of ah_segment.qkey");
_Static_assert(offsetof(struct rnic_ah_segment, reserved12) == 12, "offset of ah_segment.reserved12");

/* BindSegment stands in place of the gather list of BIND_MW, whose remote segment has the window's first address and the L_Key of the region. */
struct rnic_bind_segment {
	rnic_le64 length; /* bytes; 0 unbinds a window of type 1 */
	uint8_t access; /* what the window allows: REMOTE_* */
	uint8_t reserved9[23];
};
_Static_assert(sizeof(struct rnic_bind_segment) == 32, "size of bind_segment");
_Static_assert(offsetof(struct rnic_bind_segment, length) == 0, "offset of bind_segment.length");
_Static_assert(offsetof(struct rnic_bind_segment, access) == 8, "offset of bind_segment.access");
_Static_assert(offsetof(struct rnic_bind_segment, reserved9) == 9, "offset of bind_segment.reserved9");

/* FastRegSegment stands in place of the gather list of FAST_REG, whose remote segment has the region's first address. The bus addresses of its pages follow, 8 a unit, 64 bits each; the region begins at byte Addr modulo the page size of the first. */
struct rnic_fast_reg_segment {
	rnic_le64 length; /* bytes */
	rnic_le16 num_pages; /* 1 to MaxFastRegPages */
	uint8_t log_page_size; /* log2 of the bytes of a page, 12..30 */
	uint8_t access; /* what is allowed; local read always is */
	uint8_t reserved12[20];
};
_Static_assert(sizeof(struct rnic_fast_reg_segment) == 32, "size of fast_reg_segment");
_Static_assert(offsetof(struct rnic_fast_reg_segment, length) == 0, "offset of fast_reg_segment.length");
_Static_assert(offsetof(struct rnic_fast_reg_segment, num_pages) == 8, "offset of fast_reg_segment.num_pages");
_Static_assert(offsetof(struct rnic_fast_reg_segment, log_page_size) == 10, "offset of fast_reg_segment.log_page_size");
_Static_assert(offsetof(struct rnic_fast_reg_segment, access) == 11, "offset of fast_reg_segment.access");
_Static_assert(offsetof(struct rnic_fast_reg_segment, reserved12) == 12, "offset of fast_reg_segment.reserved12");

/* WQE is the first unit of a WQE with a gather list. */
struct rnic_wqe {
	struct rnic_wqe_control ctrl;
	struct rnic_remote_segment remote;
	struct rnic_sge sge[2];
};
_Static_assert(sizeof(struct rnic_wqe) == 64, "size of wqe");
_Static_assert(offsetof(struct rnic_wqe, ctrl) == 0, "offset of wqe.ctrl");
_Static_assert(offsetof(struct rnic_wqe, remote) == 16, "offset of wqe.remote");
_Static_assert(offsetof(struct rnic_wqe, sge) == 32, "offset of wqe.sge");

/* WQEInline is the first unit of a WQE with inline data. */
struct rnic_wqe_inline {
	struct rnic_wqe_control ctrl;
	struct rnic_remote_segment remote;
	uint8_t data[32]; /* inline data, continued in the further units */
};
_Static_assert(sizeof(struct rnic_wqe_inline) == 64, "size of wqe_inline");
_Static_assert(offsetof(struct rnic_wqe_inline, ctrl) == 0, "offset of wqe_inline.ctrl");
_Static_assert(offsetof(struct rnic_wqe_inline, remote) == 16, "offset of wqe_inline.remote");
_Static_assert(offsetof(struct rnic_wqe_inline, data) == 32, "offset of wqe_inline.data");

/* WQEAtomic is an atomic WQE: always one unit. */
struct rnic_wqe_atomic {
	struct rnic_wqe_control ctrl;
	struct rnic_remote_segment remote;
	struct rnic_sge sge;
	struct rnic_atomic_segment atomic;
};
_Static_assert(sizeof(struct rnic_wqe_atomic) == 64, "size of wqe_atomic");
_Static_assert(offsetof(struct rnic_wqe_atomic, ctrl) == 0, "offset of wqe_atomic.ctrl");
_Static_assert(offsetof(struct rnic_wqe_atomic, remote) == 16, "offset of wqe_atomic.remote");
_Static_assert(offsetof(struct rnic_wqe_atomic, sge) == 32, "offset of wqe_atomic.sge");
_Static_assert(offsetof(struct rnic_wqe_atomic, atomic) == 48, "offset of wqe_atomic.atomic");

/* WQESGEs is a further unit of a WQE with a gather list. */
struct rnic_wqe_sges {
	struct rnic_sge sge[4];
};
_Static_assert(sizeof(struct rnic_wqe_sges) == 64, "size of wqe_sges");
_Static_assert(offsetof(struct rnic_wqe_sges, sge) == 0, "offset of wqe_sges.sge");

/* WQEUD is the first unit of a WQE of a UD QP with a gather list. */
struct rnic_wqe_ud {
	struct rnic_wqe_control ctrl;
	struct rnic_ah_segment a_h;
	struct rnic_sge sge[2];
};
_Static_assert(sizeof(struct rnic_wqe_ud) == 64, "size of wqe_ud");
_Static_assert(offsetof(struct rnic_wqe_ud, ctrl) == 0, "offset of wqe_ud.ctrl");
_Static_assert(offsetof(struct rnic_wqe_ud, a_h) == 16, "offset of wqe_ud.a_h");
_Static_assert(offsetof(struct rnic_wqe_ud, sge) == 32, "offset of wqe_ud.sge");

/* WQEBind is a BIND_MW WQE: always one unit. */
struct rnic_wqe_bind {
	struct rnic_wqe_control ctrl;
	struct rnic_remote_segment remote;
	struct rnic_bind_segment bind;
};
_Static_assert(sizeof(struct rnic_wqe_bind) == 64, "size of wqe_bind");
_Static_assert(offsetof(struct rnic_wqe_bind, ctrl) == 0, "offset of wqe_bind.ctrl");
_Static_assert(offsetof(struct rnic_wqe_bind, remote) == 16, "offset of wqe_bind.remote");
_Static_assert(offsetof(struct rnic_wqe_bind, bind) == 32, "offset of wqe_bind.bind");

/* WQEFastReg is the first unit of a FAST_REG WQE. */
struct rnic_wqe_fast_reg {
	struct rnic_wqe_control ctrl;
	struct rnic_remote_segment remote;
	struct rnic_fast_reg_segment fast_reg;
};
_Static_assert(sizeof(struct rnic_wqe_fast_reg) == 64, "size of wqe_fast_reg");
_Static_assert(offsetof(struct rnic_wqe_fast_reg, ctrl) == 0, "offset of wqe_fast_reg.ctrl");
_Static_assert(offsetof(struct rnic_wqe_fast_reg, remote) == 16, "offset of wqe_fast_reg.remote");
_Static_assert(offsetof(struct rnic_wqe_fast_reg, fast_reg) == 32, "offset of wqe_fast_reg.fast_reg");

/* RWQEControl begins every entry of a receive queue; the scatter list follows at RWQEDataOffset. */
struct rnic_rwqe_control {
	uint8_t num_sge; /* elements of the scatter list */
	uint8_t reserved1;
	rnic_le16 index; /* index of this entry, or of a shared receive queue its number in the order of posting, modulo 2^16: a slot that holds another is stale */
	rnic_le16 next; /* shared receive queue: slot of the entry posted next; else 0 */
	uint8_t reserved6[10];
};
_Static_assert(sizeof(struct rnic_rwqe_control) == 16, "size of rwqe_control");
_Static_assert(offsetof(struct rnic_rwqe_control, num_sge) == 0, "offset of rwqe_control.num_sge");
_Static_assert(offsetof(struct rnic_rwqe_control, reserved1) == 1, "offset of rwqe_control.reserved1");
_Static_assert(offsetof(struct rnic_rwqe_control, index) == 2, "offset of rwqe_control.index");
_Static_assert(offsetof(struct rnic_rwqe_control, next) == 4, "offset of rwqe_control.next");
_Static_assert(offsetof(struct rnic_rwqe_control, reserved6) == 6, "offset of rwqe_control.reserved6");

/* CQE is an entry of a completion queue. With another status than SUCCESS, byte length, immediate, source QPN and flags say nothing; the opcode's bit 7 still tells which queue the WQE was on. */
struct rnic_cqe {
	rnic_le16 index; /* index of the WQE that is done: its first unit, or its receive queue entry; receive WQEs of an SRQ: the slot, or NoSlot */
	uint8_t opcode; /* what is done */
	uint8_t status; /* how it ended */
	uint8_t qpn[3]; /* local QP */
	uint8_t flags; /* see CQEFlags */
	uint8_t src_qpn[3]; /* remote QP of a receive */
	uint8_t vendor_err; /* where and why it failed */
	rnic_le32 byte_len; /* bytes received (UD: and 40), written, or read */
	rnic_le32 imm; /* immediate, or the key that was invalidated */
	uint8_t reserved20[4];
	rnic_le64 timestamp; /* clock cycles when the CQE was made */
	uint8_t reserved32[31];
	uint8_t phase; /* 0: see RingPhase */
};
#define RNIC_CQE_PHASE_SHIFT 0
#define RNIC_CQE_PHASE_MASK 0x1u
_Static_assert(sizeof(struct rnic_cqe) == 64, "size of cqe");
_Static_assert(offsetof(struct rnic_cqe, index) == 0, "offset of cqe.index");
_Static_assert(offsetof(struct rnic_cqe, opcode) == 2, "offset of cqe.opcode");
_Static_assert(offsetof(struct rnic_cqe, status) == 3, "offset of cqe.status");
_Static_assert(offsetof(struct rnic_cqe, qpn) == 4, "offset of cqe.qpn");
_Static_assert(offsetof(struct rnic_cqe, flags) == 7, "offset of cqe.flags");
_Static_assert(offsetof(struct rnic_cqe, src_qpn) == 8, "offset of cqe.src_qpn");
_Static_assert(offsetof(struct rnic_cqe, vendor_err) == 11, "offset of cqe.vendor_err");
_Static_assert(offsetof(struct rnic_cqe, byte_len) == 12, "offset of cqe.byte_len");
_Static_assert(offsetof(struct rnic_cqe, imm) == 16, "offset of cqe.imm");
_Static_assert(offsetof(struct rnic_cqe, reserved20) == 20, "offset of cqe.reserved20");
_Static_assert(offsetof(struct rnic_cqe, timestamp) == 24, "offset of cqe.timestamp");
_Static_assert(offsetof(struct rnic_cqe, reserved32) == 32, "offset of cqe.reserved32");
_Static_assert(offsetof(struct rnic_cqe, phase) == 63, "offset of cqe.phase");

/* Event is an entry of an event queue. COMPLETION and CQ_ERR go to the CQ's event queue, all others to event queue 0. */
struct rnic_event {
	uint8_t type; /* what happened */
	uint8_t reserved1;
	rnic_le16 syndrome; /* more about it; 0 where the type says nothing */
	rnic_le32 number; /* CQN, QPN, SRQN or port, by type */
	rnic_le64 timestamp; /* clock cycles when the event was made */
	uint8_t reserved16[15];
	uint8_t phase; /* 0: see RingPhase */
};
#define RNIC_EVENT_PHASE_SHIFT 0
#define RNIC_EVENT_PHASE_MASK 0x1u
_Static_assert(sizeof(struct rnic_event) == 32, "size of event");
_Static_assert(offsetof(struct rnic_event, type) == 0, "offset of event.type");
_Static_assert(offsetof(struct rnic_event, reserved1) == 1, "offset of event.reserved1");
_Static_assert(offsetof(struct rnic_event, syndrome) == 2, "offset of event.syndrome");
_Static_assert(offsetof(struct rnic_event, number) == 4, "offset of event.number");
_Static_assert(offsetof(struct rnic_event, timestamp) == 8, "offset of event.timestamp");
_Static_assert(offsetof(struct rnic_event, reserved16) == 16, "offset of event.reserved16");
_Static_assert(offsetof(struct rnic_event, phase) == 31, "offset of event.phase");

/* AdminCommand is an entry of the admin command ring. Commands are executed one at a time and complete in order. */
struct rnic_admin_command {
	uint8_t op; /* what to do */
	uint8_t flags; /* none defined: 0 */
	rnic_le16 id; /* returned in the completion */
	rnic_le32 object; /* EQN, CQN, QPN, SRQN, AHN or key index, chosen by the driver */
	rnic_le64 mailbox; /* bus address of a 256-byte mailbox, 256-byte aligned; 0 where the command has none */
	rnic_le32 param0; /* none defined: 0 */
	rnic_le32 param1; /* none defined: 0 */
	rnic_le64 param2; /* none defined: 0 */
	rnic_le64 param3; /* none defined: 0 */
	uint8_t reserved40[24];
};
_Static_assert(sizeof(struct rnic_admin_command) == 64, "size of admin_command");
_Static_assert(offsetof(struct rnic_admin_command, op) == 0, "offset of admin_command.op");
_Static_assert(offsetof(struct rnic_admin_command, flags) == 1, "offset of admin_command.flags");
_Static_assert(offsetof(struct rnic_admin_command, id) == 2, "offset of admin_command.id");
_Static_assert(offsetof(struct rnic_admin_command, object) == 4, "offset of admin_command.object");
_Static_assert(offsetof(struct rnic_admin_command, mailbox) == 8, "offset of admin_command.mailbox");
_Static_assert(offsetof(struct rnic_admin_command, param0) == 16, "offset of admin_command.param0");
_Static_assert(offsetof(struct rnic_admin_command, param1) == 20, "offset of admin_command.param1");
_Static_assert(offsetof(struct rnic_admin_command, param2) == 24, "offset of admin_command.param2");
_Static_assert(offsetof(struct rnic_admin_command, param3) == 32, "offset of admin_command.param3");
_Static_assert(offsetof(struct rnic_admin_command, reserved40) == 40, "offset of admin_command.reserved40");

/* AdminCompletion is an entry of the admin completion ring. */
struct rnic_admin_completion {
	rnic_le16 id; /* of the command */
	uint8_t status; /* how it ended; with another than OK nothing has changed */
	uint8_t syndrome; /* what was wrong */
	rnic_le32 object; /* of the command */
	rnic_le64 result; /* RESIZE_CQ: index of the first CQE in the new ring; of other commands 0 */
	uint8_t reserved16[15];
	uint8_t phase; /* 0: see RingPhase */
};
#define RNIC_ADMIN_COMPLETION_PHASE_SHIFT 0
#define RNIC_ADMIN_COMPLETION_PHASE_MASK 0x1u
_Static_assert(sizeof(struct rnic_admin_completion) == 32, "size of admin_completion");
_Static_assert(offsetof(struct rnic_admin_completion, id) == 0, "offset of admin_completion.id");
_Static_assert(offsetof(struct rnic_admin_completion, status) == 2, "offset of admin_completion.status");
_Static_assert(offsetof(struct rnic_admin_completion, syndrome) == 3, "offset of admin_completion.syndrome");
_Static_assert(offsetof(struct rnic_admin_completion, object) == 4, "offset of admin_completion.object");
_Static_assert(offsetof(struct rnic_admin_completion, result) == 8, "offset of admin_completion.result");
_Static_assert(offsetof(struct rnic_admin_completion, reserved16) == 16, "offset of admin_completion.reserved16");
_Static_assert(offsetof(struct rnic_admin_completion, phase) == 31, "offset of admin_completion.phase");

/* DeviceMailbox is written by QUERY_DEVICE. */
struct rnic_device_mailbox {
	rnic_le32 max_qp; /* queue pairs; QPNs are below it */
	rnic_le32 max_cq; /* completion queues */
	rnic_le32 max_eq; /* event queues */
	rnic_le32 max_mr; /* memory regions; key indices are below it */
	rnic_le32 max_srq; /* shared receive queues */
	rnic_le32 max_pages; /* page entries that all memory regions share */
	rnic_le32 max_sq_units; /* units of a send queue */
	rnic_le32 max_rq_entries; /* entries of a receive queue */
	rnic_le32 max_cqe; /* entries of a completion queue */
	rnic_le16 max_sge; /* elements of a work request */
	rnic_le16 max_inline; /* bytes of inline data */
	rnic_le64 max_mr_size; /* bytes of a memory region */
	rnic_le64 page_sizes; /* bit n: pages of 2^n bytes are supported */
	rnic_le32 wqe_ops; /* bit n: operation n of WQEOp is supported */
	uint8_t qp_types; /* bit n: type n of QPType is supported */
	uint8_t access; /* access flags that are supported */
	uint8_t max_rd_atomic; /* largest initiator depth of a QP */
	uint8_t max_dest_rd_atomic; /* largest responder depth of a QP */
	uint8_t max_mtu; /* 2:0: largest path MTU */
	uint8_t ports; /* physical ports */
	uint8_t gids; /* entries of the GID table */
	uint8_t pkeys; /* entries of the P_Key table */
	uint8_t max_retry; /* largest retry_cnt that is supported */
	uint8_t max_rnr_retry; /* largest rnr_retry that is supported */
	uint8_t reserved70[2];
	rnic_le32 max_a_h; /* address handles; AHNs are below it */
	rnic_le32 max_srq_entries; /* slots of a shared receive queue, one of which stays free */
	rnic_le16 max_fast_reg_pages; /* pages of a FAST_REG WQE */
	rnic_le16 max_raw_frame; /* bytes of a frame of a RAW_PACKET QP */
	uint8_t reserved84[172];
};
#define RNIC_DEVICE_MAILBOX_MAX_MTU_SHIFT 0
#define RNIC_DEVICE_MAILBOX_MAX_MTU_MASK 0x7u
_Static_assert(sizeof(struct rnic_device_mailbox) == 256, "size of device_mailbox");
_Static_assert(offsetof(struct rnic_device_mailbox, max_qp) == 0, "offset of device_mailbox.max_qp");
_Static_assert(offsetof(struct rnic_device_mailbox, max_cq) == 4, "offset of device_mailbox.max_cq");
_Static_assert(offsetof(struct rnic_device_mailbox, max_eq) == 8, "offset of device_mailbox.max_eq");
_Static_assert(offsetof(struct rnic_device_mailbox, max_mr) == 12, "offset of device_mailbox.max_mr");
_Static_assert(offsetof(struct rnic_device_mailbox, max_srq) == 16, "offset of device_mailbox.max_srq");
_Static_assert(offsetof(struct rnic_device_mailbox, max_pages) == 20, "offset of device_mailbox.max_pages");
_Static_assert(offsetof(struct rnic_device_mailbox, max_sq_units) == 24, "offset of device_mailbox.max_sq_units");
_Static_assert(offsetof(struct rnic_device_mailbox, max_rq_entries) == 28, "offset of device_mailbox.max_rq_entries");
_Static_assert(offsetof(struct rnic_device_mailbox, max_cqe) == 32, "offset of device_mailbox.max_cqe");
_Static_assert(offsetof(struct rnic_device_mailbox, max_sge) == 36, "offset of device_mailbox.max_sge");
_Static_assert(offsetof(struct rnic_device_mailbox, max_inline) == 38, "offset of device_mailbox.max_inline");
_Static_assert(offsetof(struct rnic_device_mailbox, max_mr_size) == 40, "offset of device_mailbox.max_mr_size");
_Static_assert(offsetof(struct rnic_device_mailbox, page_sizes) == 48, "offset of device_mailbox.page_sizes");
_Static_assert(offsetof(struct rnic_device_mailbox, wqe_ops) == 56, "offset of device_mailbox.wqe_ops");
_Static_assert(offsetof(struct rnic_device_mailbox, qp_types) == 60, "offset of device_mailbox.qp_types");
_Static_assert(offsetof(struct rnic_device_mailbox, access) == 61, "offset of device_mailbox.access");
_Static_assert(offsetof(struct rnic_device_mailbox, max_rd_atomic) == 62, "offset of device_mailbox.max_rd_atomic");
_Static_assert(offsetof(struct rnic_device_mailbox, max_dest_rd_atomic) == 63, "offset of device_mailbox.max_dest_rd_atomic");
_Static_assert(offsetof(struct rnic_device_mailbox, max_mtu) == 64, "offset of device_mailbox.max_mtu");
_Static_assert(offsetof(struct rnic_device_mailbox, ports) == 65, "offset of device_mailbox.ports");
_Static_assert(offsetof(struct rnic_device_mailbox, gids) == 66, "offset of device_mailbox.gids");
_Static_assert(offsetof(struct rnic_device_mailbox, pkeys) == 67, "offset of device_mailbox.pkeys");
_Static_assert(offsetof(struct rnic_device_mailbox, max_retry) == 68, "offset of device_mailbox.max_retry");
_Static_assert(offsetof(struct rnic_device_mailbox, max_rnr_retry) == 69, "offset of device_mailbox.max_rnr_retry");
_Static_assert(offsetof(struct rnic_device_mailbox, reserved70) == 70, "offset of device_mailbox.reserved70");
_Static_assert(offsetof(struct rnic_device_mailbox, max_a_h) == 72, "offset of device_mailbox.max_a_h");
_Static_assert(offsetof(struct rnic_device_mailbox, max_srq_entries) == 76, "offset of device_mailbox.max_srq_entries");
_Static_assert(offsetof(struct rnic_device_mailbox, max_fast_reg_pages) == 80, "offset of device_mailbox.max_fast_reg_pages");
_Static_assert(offsetof(struct rnic_device_mailbox, max_raw_frame) == 82, "offset of device_mailbox.max_raw_frame");
_Static_assert(offsetof(struct rnic_device_mailbox, reserved84) == 84, "offset of device_mailbox.reserved84");

/* EQMailbox is read by CREATE_EQ. */
struct rnic_eq_mailbox {
	rnic_le64 base; /* bus address of the ring, aligned to 32 bytes */
	uint8_t log_size; /* log2 of the events of the ring */
	uint8_t vector; /* MSI-X vector */
	rnic_le16 uar_page; /* doorbell page that the queue is bound to */
	uint8_t reserved12[244];
};
_Static_assert(sizeof(struct rnic_eq_mailbox) == 256, "size of eq_mailbox");
_Static_assert(offsetof(struct rnic_eq_mailbox, base) == 0, "offset of eq_mailbox.base");
_Static_assert(offsetof(struct rnic_eq_mailbox, log_size) == 8, "offset of eq_mailbox.log_size");
_Static_assert(offsetof(struct rnic_eq_mailbox, vector) == 9, "offset of eq_mailbox.vector");
_Static_assert(offsetof(struct rnic_eq_mailbox, uar_page) == 10, "offset of eq_mailbox.uar_page");
_Static_assert(offsetof(struct rnic_eq_mailbox, reserved12) == 12, "offset of eq_mailbox.reserved12");

/* CQMailbox is read by CREATE_CQ (all but CI), MODIFY_CQ (Count and Period) and RESIZE_CQ (Base, LogSize and CI). */
struct rnic_cq_mailbox {
	rnic_le64 base; /* bus address of the ring, aligned to 64 bytes */
	uint8_t log_size; /* log2 of the CQEs of the ring */
	uint8_t eqn; /* event queue of its completion and error events */
	rnic_le16 uar_page; /* doorbell page that the queue is bound to */
	rnic_le16 count; /* moderation: CQEs not consumed that end the wait of an event; 0: time alone does */
	rnic_le16 period; /* moderation: longest wait of an event in units of 256 clock cycles (1.024 us), up to 4,000; 0: none waits, then Count is 0 or 1 */
	rnic_le16 c_i; /* RESIZE_CQ: consumer index, taken as from a doorbell; one behind the device's is ignored */
	uint8_t reserved18[238];
};
_Static_assert(sizeof(struct rnic_cq_mailbox) == 256, "size of cq_mailbox");
_Static_assert(offsetof(struct rnic_cq_mailbox, base) == 0, "offset of cq_mailbox.base");
_Static_assert(offsetof(struct rnic_cq_mailbox, log_size) == 8, "offset of cq_mailbox.log_size");
_Static_assert(offsetof(struct rnic_cq_mailbox, eqn) == 9, "offset of cq_mailbox.eqn");
_Static_assert(offsetof(struct rnic_cq_mailbox, uar_page) == 10, "offset of cq_mailbox.uar_page");
_Static_assert(offsetof(struct rnic_cq_mailbox, count) == 12, "offset of cq_mailbox.count");
_Static_assert(offsetof(struct rnic_cq_mailbox, period) == 14, "offset of cq_mailbox.period");
_Static_assert(offsetof(struct rnic_cq_mailbox, c_i) == 16, "offset of cq_mailbox.c_i");
_Static_assert(offsetof(struct rnic_cq_mailbox, reserved18) == 18, "offset of cq_mailbox.reserved18");

/* MRMailbox is read by REG_MR. The region begins at byte Addr modulo the page size of the first page. For room that FAST_REG fills (Kind FAST_REG) Addr, Length, Access, KeyLow, LogPageSize and PageList are not used: NumPages entries from FirstPage on are the key's. A memory window has none of these and no pages. */
struct rnic_mr_mailbox {
	rnic_le64 addr; /* virtual address of the first byte */
	rnic_le64 length; /* bytes */
	uint8_t pd[3]; /* protection domain */
	uint8_t access; /* what is allowed; local read always is */
	uint8_t key_low; /* low byte of the key */
	uint8_t log_page_size; /* log2 of the bytes of a page, 12..31 */
	uint8_t reserved22[2];
	rnic_le64 page_list; /* bus address of an array of 64-bit bus addresses of the pages, 8-byte aligned */
	rnic_le32 num_pages; /* entries of the array */
	rnic_le32 first_page; /* first of the device's page entries that the region uses, chosen by the driver; regions must not share any */
	uint8_t kind; /* 1:0: what the key is of */
	uint8_t reserved41[215];
};
#define RNIC_MR_MAILBOX_KIND_SHIFT 0
#define RNIC_MR_MAILBOX_KIND_MASK 0x3u
_Static_assert(sizeof(struct rnic_mr_mailbox) == 256, "size of mr_mailbox");
_Static_assert(offsetof(struct rnic_mr_mailbox, addr) == 0, "offset of mr_mailbox.addr");
_Static_assert(offsetof(struct rnic_mr_mailbox, length) == 8, "offset of mr_mailbox.length");
_Static_assert(offsetof(struct rnic_mr_mailbox, pd) == 16, "offset of mr_mailbox.pd");
_Static_assert(offsetof(struct rnic_mr_mailbox, access) == 19, "offset of mr_mailbox.access");
_Static_assert(offsetof(struct rnic_mr_mailbox, key_low) == 20, "offset of mr_mailbox.key_low");
_Static_assert(offsetof(struct rnic_mr_mailbox, log_page_size) == 21, "offset of mr_mailbox.log_page_size");
_Static_assert(offsetof(struct rnic_mr_mailbox, reserved22) == 22, "offset of mr_mailbox.reserved22");
_Static_assert(offsetof(struct rnic_mr_mailbox, page_list) == 24, "offset of mr_mailbox.page_list");
_Static_assert(offsetof(struct rnic_mr_mailbox, num_pages) == 32, "offset of mr_mailbox.num_pages");
_Static_assert(offsetof(struct rnic_mr_mailbox, first_page) == 36, "offset of mr_mailbox.first_page");
_Static_assert(offsetof(struct rnic_mr_mailbox, kind) == 40, "offset of mr_mailbox.kind");
_Static_assert(offsetof(struct rnic_mr_mailbox, reserved41) == 41, "offset of mr_mailbox.reserved41");

/* AV is an address vector: the way to the peer. The packet is IPv4 when DGID is an IPv4-mapped address, ::ffff:a.b.c.d, else IPv6. */
struct rnic_av {
	uint8_t dmac[6]; /* destination MAC, in the order of the wire */
	uint8_t sgid_index; /* own address: entry of the GID table, of the family of DGID */
	uint8_t hop_limit; /* TTL or hop limit */
	uint8_t dgid[16]; /* destination address, in the order of the wire */
	uint8_t flow_label_vlan_valid[3]; /* 19:0: IPv6 flow label; 20: 1: packets carry an 802.1Q tag */
	uint8_t traffic_class; /* TOS or traffic class; the two low bits are ECN */
	rnic_le16 udp_sport; /* UDP source port, 0xc000..0xffff */
	rnic_le16 vlan; /* 802.1Q tag control: priority 15:13, VLAN 11:0 */
	uint8_t reserved32[8];
};
#define RNIC_AV_FLOW_LABEL_SHIFT 0
#define RNIC_AV_FLOW_LABEL_MASK 0xfffffu
#define RNIC_AV_VLAN_VALID_SHIFT 20
#define RNIC_AV_VLAN_VALID_MASK 0x100000u
_Static_assert(sizeof(struct rnic_av) == 40, "size of av");
_Static_assert(offsetof(struct rnic_av, dmac) == 0, "offset of av.dmac");
_Static_assert(offsetof(struct rnic_av, sgid_index) == 6, "offset of av.sgid_index");
_Static_assert(offsetof(struct rnic_av, hop_limit) == 7, "offset of av.hop_limit");
_Static_assert(offsetof(struct rnic_av, dgid) == 8, "offset of av.dgid");
_Static_assert(offsetof(struct rnic_av, flow_label_vlan_valid) == 24, "offset of av.flow_label_vlan_valid");
_Static_assert(offsetof(struct rnic_av, traffic_class) == 27, "offset of av.traffic_class");
_Static_assert(offsetof(struct rnic_av, udp_sport) == 28, "offset of av.udp_sport");
_Static_assert(offsetof(struct rnic_av, vlan) == 30, "offset of av.vlan");
_Static_assert(offsetof(struct rnic_av, reserved32) == 32, "offset of av.reserved32");

/* QPMailbox describes a queue pair. CREATE_QP reads the first part, MODIFY_QP the attributes that AttrMask names, QUERY_QP writes all of it. */
struct rnic_qp_mailbox {
	rnic_le32 attr_mask; /* MODIFY: attributes that are meant */
	uint8_t type; /* 2:0: transport */
	uint8_t sq_log_units; /* log2 of the units of the send queue */
	uint8_t rq_log_entries; /* log2 of the entries of the receive queue */
	uint8_t rq_log_stride; /* log2 of the bytes of a receive queue entry */
	rnic_le64 sq_base; /* bus address of the send queue, aligned to 64 bytes */
	rnic_le64 rq_base; /* bus address of the receive queue, aligned to 64 bytes */
	uint8_t pd[3]; /* protection domain */
	uint8_t sq_max_sge; /* elements of a send WQE */
	uint8_t send_cqn[3]; /* completion queue of sends */
	uint8_t rq_max_sge; /* elements of a receive WQE */
	uint8_t recv_cqn[3]; /* completion queue of receives */
	uint8_t reserved35;
	uint8_t srqn[3]; /* shared receive queue, with flag HAS_SRQ */
	uint8_t flags; /* see QPFlags */
	rnic_le16 uar_page; /* doorbell page that the QP is bound to */
	rnic_le16 sq_max_inline; /* bytes of inline data of a send WQE */
	uint8_t reserved44[4];
	uint8_t state; /* 2:0: the next state, or with QUERY the state */
	uint8_t cur_state; /* 2:0: the state that the caller believes the QP is in */
	uint8_t port; /* 1 */
	uint8_t access_flags; /* what the peer may do */
	rnic_le16 pkey_index; /* index in the P_Key table */
	uint8_t path_mtu; /* 2:0: payload of a full packet */
	uint8_t max_rd_atomic; /* READs and atomics in flight as initiator */
	rnic_le32 qkey; /* UD: key that a datagram must carry */
	uint8_t dest_qpn[3]; /* the peer's QPN */
	uint8_t max_dest_rd_atomic; /* READs and atomics in flight as responder */
	uint8_t rq_psn[3]; /* first PSN expected */
	uint8_t timeout; /* 4:0: local ACK timeout, 4.096 us * 2^n; 0: none */
	uint8_t sq_psn[3]; /* first PSN sent */
	uint8_t min_rnr_timer; /* 4:0: code of the delay that RNR NAKs ask for */
	uint8_t retry_cnt; /* 2:0: retries after a timeout or a sequence error */
	uint8_t rnr_retry; /* 2:0: retries after an RNR NAK; 7: no limit */
	rnic_le16 sqd_async_notify; /* 0: to SQD: tell by event when drained */
	struct rnic_av av;
	uint8_t sq_draining; /* 0: SQD: begun WQEs are not all done */
	uint8_t retry_left_rnr_retry_left; /* 2:0: retries left; 6:4: RNR retries left */
	uint8_t last_status; /* status that took the QP to ERR */
	uint8_t last_vendor; /* vendor error that took the QP to ERR */
	rnic_le16 sq_producer; /* index announced by the last doorbell */
	rnic_le16 sq_next; /* index of the next WQE to start */
	rnic_le16 sq_consumer; /* index of the oldest WQE that is not done */
	rnic_le16 rq_producer; /* index announced by the last doorbell */
	rnic_le16 rq_consumer; /* index of the next receive WQE to take */
	uint8_t reserved130[2];
	uint8_t next_psn[3]; /* PSN of the next new request */
	uint8_t reserved135;
	uint8_t unacked_psn[3]; /* oldest PSN not acknowledged */
	uint8_t reserved139;
	uint8_t expected_psn[3]; /* PSN expected from the peer */
	uint8_t reserved143;
	uint8_t msn[3]; /* messages completed as responder */
	uint8_t reserved147;
	uint8_t reserved148[108];
};
#define RNIC_QP_MAILBOX_TYPE_SHIFT 0
#define RNIC_QP_MAILBOX_TYPE_MASK 0x7u
#define RNIC_QP_MAILBOX_STATE_SHIFT 0
#define RNIC_QP_MAILBOX_STATE_MASK 0x7u
#define RNIC_QP_MAILBOX_CUR_STATE_SHIFT 0
#define RNIC_QP_MAILBOX_CUR_STATE_MASK 0x7u
#define RNIC_QP_MAILBOX_PATH_MTU_SHIFT 0
#define RNIC_QP_MAILBOX_PATH_MTU_MASK 0x7u
#define RNIC_QP_MAILBOX_TIMEOUT_SHIFT 0
#define RNIC_QP_MAILBOX_TIMEOUT_MASK 0x1fu
#define RNIC_QP_MAILBOX_MIN_RNR_TIMER_SHIFT 0
#define RNIC_QP_MAILBOX_MIN_RNR_TIMER_MASK 0x1fu
#define RNIC_QP_MAILBOX_RETRY_CNT_SHIFT 0
#define RNIC_QP_MAILBOX_RETRY_CNT_MASK 0x7u
#define RNIC_QP_MAILBOX_RNR_RETRY_SHIFT 0
#define RNIC_QP_MAILBOX_RNR_RETRY_MASK 0x7u
#define RNIC_QP_MAILBOX_SQD_ASYNC_NOTIFY_SHIFT 0
#define RNIC_QP_MAILBOX_SQD_ASYNC_NOTIFY_MASK 0x1u
#define RNIC_QP_MAILBOX_SQ_DRAINING_SHIFT 0
#define RNIC_QP_MAILBOX_SQ_DRAINING_MASK 0x1u
#define RNIC_QP_MAILBOX_RETRY_LEFT_SHIFT 0
#define RNIC_QP_MAILBOX_RETRY_LEFT_MASK 0x7u
#define RNIC_QP_MAILBOX_RNR_RETRY_LEFT_SHIFT 4
#define RNIC_QP_MAILBOX_RNR_RETRY_LEFT_MASK 0x70u
_Static_assert(sizeof(struct rnic_qp_mailbox) == 256, "size of qp_mailbox");
_Static_assert(offsetof(struct rnic_qp_mailbox, attr_mask) == 0, "offset of qp_mailbox.attr_mask");
_Static_assert(offsetof(struct rnic_qp_mailbox, type) == 4, "offset of qp_mailbox.type");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_log_units) == 5, "offset of qp_mailbox.sq_log_units");
_Static_assert(offsetof(struct rnic_qp_mailbox, rq_log_entries) == 6, "offset of qp_mailbox.rq_log_entries");
_Static_assert(offsetof(struct rnic_qp_mailbox, rq_log_stride) == 7, "offset of qp_mailbox.rq_log_stride");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_base) == 8, "offset of qp_mailbox.sq_base");
_Static_assert(offsetof(struct rnic_qp_mailbox, rq_base) == 16, "offset of qp_mailbox.rq_base");
_Static_assert(offsetof(struct rnic_qp_mailbox, pd) == 24, "offset of qp_mailbox.pd");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_max_sge) == 27, "offset of qp_mailbox.sq_max_sge");
_Static_assert(offsetof(struct rnic_qp_mailbox, send_cqn) == 28, "offset of qp_mailbox.send_cqn");
_Static_assert(offsetof(struct rnic_qp_mailbox, rq_max_sge) == 31, "offset of qp_mailbox.rq_max_sge");
_Static_assert(offsetof(struct rnic_qp_mailbox, recv_cqn) == 32, "offset of qp_mailbox.recv_cqn");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved35) == 35, "offset of qp_mailbox.reserved35");
_Static_assert(offsetof(struct rnic_qp_mailbox, srqn) == 36, "offset of qp_mailbox.srqn");
_Static_assert(offsetof(struct rnic_qp_mailbox, flags) == 39, "offset of qp_mailbox.flags");
_Static_assert(offsetof(struct rnic_qp_mailbox, uar_page) == 40, "offset of qp_mailbox.uar_page");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_max_inline) == 42, "offset of qp_mailbox.sq_max_inline");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved44) == 44, "offset of qp_mailbox.reserved44");
_Static_assert(offsetof(struct rnic_qp_mailbox, state) == 48, "offset of qp_mailbox.state");
_Static_assert(offsetof(struct rnic_qp_mailbox, cur_state) == 49, "offset of qp_mailbox.cur_state");
_Static_assert(offsetof(struct rnic_qp_mailbox, port) == 50, "offset of qp_mailbox.port");
_Static_assert(offsetof(struct rnic_qp_mailbox, access_flags) == 51, "offset of qp_mailbox.access_flags");
_Static_assert(offsetof(struct rnic_qp_mailbox, pkey_index) == 52, "offset of qp_mailbox.pkey_index");
_Static_assert(offsetof(struct rnic_qp_mailbox, path_mtu) == 54, "offset of qp_mailbox.path_mtu");
_Static_assert(offsetof(struct rnic_qp_mailbox, max_rd_atomic) == 55, "offset of qp_mailbox.max_rd_atomic");
_Static_assert(offsetof(struct rnic_qp_mailbox, qkey) == 56, "offset of qp_mailbox.qkey");
_Static_assert(offsetof(struct rnic_qp_mailbox, dest_qpn) == 60, "offset of qp_mailbox.dest_qpn");
_Static_assert(offsetof(struct rnic_qp_mailbox, max_dest_rd_atomic) == 63, "offset of qp_mailbox.max_dest_rd_atomic");
_Static_assert(offsetof(struct rnic_qp_mailbox, rq_psn) == 64, "offset of qp_mailbox.rq_psn");
_Static_assert(offsetof(struct rnic_qp_mailbox, timeout) == 67, "offset of qp_mailbox.timeout");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_psn) == 68, "offset of qp_mailbox.sq_psn");
_Static_assert(offsetof(struct rnic_qp_mailbox, min_rnr_timer) == 71, "offset of qp_mailbox.min_rnr_timer");
_Static_assert(offsetof(struct rnic_qp_mailbox, retry_cnt) == 72, "offset of qp_mailbox.retry_cnt");
_Static_assert(offsetof(struct rnic_qp_mailbox, rnr_retry) == 73, "offset of qp_mailbox.rnr_retry");
_Static_assert(offsetof(struct rnic_qp_mailbox, sqd_async_notify) == 74, "offset of qp_mailbox.sqd_async_notify");
_Static_assert(offsetof(struct rnic_qp_mailbox, av) == 76, "offset of qp_mailbox.av");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_draining) == 116, "offset of qp_mailbox.sq_draining");
_Static_assert(offsetof(struct rnic_qp_mailbox, retry_left_rnr_retry_left) == 117, "offset of qp_mailbox.retry_left_rnr_retry_left");
_Static_assert(offsetof(struct rnic_qp_mailbox, last_status) == 118, "offset of qp_mailbox.last_status");
_Static_assert(offsetof(struct rnic_qp_mailbox, last_vendor) == 119, "offset of qp_mailbox.last_vendor");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_producer) == 120, "offset of qp_mailbox.sq_producer");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_next) == 122, "offset of qp_mailbox.sq_next");
_Static_assert(offsetof(struct rnic_qp_mailbox, sq_consumer) == 124, "offset of qp_mailbox.sq_consumer");
_Static_assert(offsetof(struct rnic_qp_mailbox, rq_producer) == 126, "offset of qp_mailbox.rq_producer");
_Static_assert(offsetof(struct rnic_qp_mailbox, rq_consumer) == 128, "offset of qp_mailbox.rq_consumer");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved130) == 130, "offset of qp_mailbox.reserved130");
_Static_assert(offsetof(struct rnic_qp_mailbox, next_psn) == 132, "offset of qp_mailbox.next_psn");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved135) == 135, "offset of qp_mailbox.reserved135");
_Static_assert(offsetof(struct rnic_qp_mailbox, unacked_psn) == 136, "offset of qp_mailbox.unacked_psn");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved139) == 139, "offset of qp_mailbox.reserved139");
_Static_assert(offsetof(struct rnic_qp_mailbox, expected_psn) == 140, "offset of qp_mailbox.expected_psn");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved143) == 143, "offset of qp_mailbox.reserved143");
_Static_assert(offsetof(struct rnic_qp_mailbox, msn) == 144, "offset of qp_mailbox.msn");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved147) == 147, "offset of qp_mailbox.reserved147");
_Static_assert(offsetof(struct rnic_qp_mailbox, reserved148) == 148, "offset of qp_mailbox.reserved148");

/* AHMailbox is read by CREATE_AH: an address handle of UD. */
struct rnic_ah_mailbox {
	uint8_t pd[3]; /* protection domain */
	uint8_t reserved3[5];
	struct rnic_av av;
	uint8_t reserved48[208];
};
_Static_assert(sizeof(struct rnic_ah_mailbox) == 256, "size of ah_mailbox");
_Static_assert(offsetof(struct rnic_ah_mailbox, pd) == 0, "offset of ah_mailbox.pd");
_Static_assert(offsetof(struct rnic_ah_mailbox, reserved3) == 3, "offset of ah_mailbox.reserved3");
_Static_assert(offsetof(struct rnic_ah_mailbox, av) == 8, "offset of ah_mailbox.av");
_Static_assert(offsetof(struct rnic_ah_mailbox, reserved48) == 48, "offset of ah_mailbox.reserved48");

/* SRQMailbox describes a shared receive queue. CREATE_SRQ reads all but Mask and the counters, MODIFY_SRQ what Mask names, QUERY_SRQ writes all of it but Mask. */
struct rnic_srq_mailbox {
	rnic_le64 base; /* bus address of the ring, aligned to 64 bytes; MODIFY: of a larger one, in which each slot of the old one has been copied to the slot of the same number */
	uint8_t log_size; /* log2 of the slots of the ring; with MODIFY not smaller than before */
	uint8_t log_stride; /* log2 of the bytes of a slot */
	uint8_t max_sge; /* elements of a receive WQE */
	uint8_t mask; /* MODIFY: what is meant */
	uint8_t pd[3]; /* protection domain: that of the elements of its WQEs */
	uint8_t reserved15;
	rnic_le16 uar_page; /* doorbell page that the queue is bound to */
	rnic_le16 limit; /* SRQ_LIMIT_REACHED when fewer WQEs are left, once; 0: never */
	rnic_le16 producer; /* QUERY: number of WQEs posted, modulo 2^16, as of the last doorbell */
	rnic_le16 consumer; /* QUERY: number of WQEs taken, modulo 2^16 */
	uint8_t reserved24[232];
};
_Static_assert(sizeof(struct rnic_srq_mailbox) == 256, "size of srq_mailbox");
_Static_assert(offsetof(struct rnic_srq_mailbox, base) == 0, "offset of srq_mailbox.base");
_Static_assert(offsetof(struct rnic_srq_mailbox, log_size) == 8, "offset of srq_mailbox.log_size");
_Static_assert(offsetof(struct rnic_srq_mailbox, log_stride) == 9, "offset of srq_mailbox.log_stride");
_Static_assert(offsetof(struct rnic_srq_mailbox, max_sge) == 10, "offset of srq_mailbox.max_sge");
_Static_assert(offsetof(struct rnic_srq_mailbox, mask) == 11, "offset of srq_mailbox.mask");
_Static_assert(offsetof(struct rnic_srq_mailbox, pd) == 12, "offset of srq_mailbox.pd");
_Static_assert(offsetof(struct rnic_srq_mailbox, reserved15) == 15, "offset of srq_mailbox.reserved15");
_Static_assert(offsetof(struct rnic_srq_mailbox, uar_page) == 16, "offset of srq_mailbox.uar_page");
_Static_assert(offsetof(struct rnic_srq_mailbox, limit) == 18, "offset of srq_mailbox.limit");
_Static_assert(offsetof(struct rnic_srq_mailbox, producer) == 20, "offset of srq_mailbox.producer");
_Static_assert(offsetof(struct rnic_srq_mailbox, consumer) == 22, "offset of srq_mailbox.consumer");
_Static_assert(offsetof(struct rnic_srq_mailbox, reserved24) == 24, "offset of srq_mailbox.reserved24");

/* The 64 bits of a doorbell; write them to RNIC_DOORBELL_ADDR(page) at once. */
static inline uint64_t rnic_doorbell_pack(uint32_t number, uint32_t kind, int solicited_only, uint16_t index)
{
	return (number & 0xffffffu) | (uint64_t)(kind & 0xfu) << 24 | (uint64_t)(solicited_only != 0) << 28 |
	       (uint64_t)index << 32;
}

/* Units of a send WQE with num_sge elements or, if not 0, inline_len bytes. */
static inline uint32_t rnic_wqe_units(uint32_t num_sge, uint32_t inline_len)
{
	uint32_t n = inline_len ? inline_len : num_sge * RNIC_SGE_SIZE;

	return (RNIC_WQE_DATA_OFFSET + (n ? n : 1) + RNIC_UNIT_SIZE - 1) / RNIC_UNIT_SIZE;
}

/* Bytes of a receive queue's entry with room for max_sge elements. */
static inline uint32_t rnic_rq_stride(uint32_t max_sge)
{
	uint32_t stride = 16;

	while (stride < RNIC_RWQE_DATA_OFFSET + RNIC_SGE_SIZE * max_sge)
		stride <<= 1;
	return stride;
}

/* Slot and phase of a free-running index in a ring of 2^log entries. */
static inline uint16_t rnic_ring_slot(uint16_t index, uint8_t log) { return (uint16_t)(index & ((1u << log) - 1)); }
static inline uint8_t rnic_ring_phase(uint16_t index, uint8_t log) { return !(index >> log & 1); }

/* Memory keys: 24 bits of index, 8 bits that the consumer chooses. */
static inline uint32_t rnic_key(uint32_t index, uint8_t low) { return index << 8 | low; }
static inline uint32_t rnic_key_index(uint32_t key) { return key >> 8; }

#endif
