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
