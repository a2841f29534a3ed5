// The agent drives the verbs of the guest by lines, one answer each, in the
// language of package console: a verb, the number of an object, name=value. What
// it has beyond that is "sh COMMAND" (its status, and its output with blanks for ends
// of lines). It has no raw queue pairs and tells no asynchronous events.
//
// It reads standard input and writes standard output. Answers begin with "= ",
// failures with "! ".
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAXID = 256, BUFFER = 4 << 20, DEPTH = 128, ENTRIES = 4096 };

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *all, *mrs[MAXID];
static struct ibv_mw *mws[MAXID];
static struct ibv_qp *qps[MAXID];
static struct ibv_srq *srqs[MAXID];
static struct ibv_ah *ahs[MAXID];
static int gids[MAXID], qkeys[MAXID];
static uint8_t *buf;
static uint64_t addr0;

static char *words[48];
static int nwords;
static int id; // of the object; -1: none
static char out[1 << 16];
static int used;

static const int remote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

// text is the value of a field, or NULL.
static const char *text(const char *name)
{
	size_t n = strlen(name);
	for (int i = 1; i < nwords; i++)
		if (!strncmp(words[i], name, n) && words[i][n] == '=')
			return words[i] + n + 1;
	return NULL;
}

static uint64_t num(const char *name, uint64_t def)
{
	const char *s = text(name);
	return s ? strtoull(s, NULL, 0) : def;
}

#define SAY(...) (used += snprintf(out + used, sizeof out - used, __VA_ARGS__))

static int failed(const char *what, int err)
{
	used = 0;
	SAY("%s: %s", what, strerror(err));
	return -1;
}

static int address(const char *s, union ibv_gid *g)
{
	memset(g, 0, sizeof *g);
	if (!s)
		return -1;
	if (strchr(s, ':'))
		return inet_pton(AF_INET6, s, g->raw) == 1 ? 0 : -1;
	g->raw[10] = g->raw[11] = 0xff;
	return inet_pton(AF_INET, s, g->raw + 12) == 1 ? 0 : -1;
}

static int access_of(const char *letters, int def)
{
	if (!letters)
		return def;
	int f = IBV_ACCESS_LOCAL_WRITE;
	if (strchr(letters, 'r'))
		f |= IBV_ACCESS_REMOTE_READ;
	if (strchr(letters, 'w'))
		f |= IBV_ACCESS_REMOTE_WRITE;
	if (strchr(letters, 'a'))
		f |= IBV_ACCESS_REMOTE_ATOMIC;
	return f;
}

static int info(void)
{
	union ibv_gid g[2];
	char t[2][INET6_ADDRSTRLEN];
	for (int i = 0; i < 2; i++) {
		if (ibv_query_gid(ctx, 1, i, &g[i]))
			return failed("gid", errno);
		inet_ntop(AF_INET6, g[i].raw, t[i], sizeof t[i]);
	}
	SAY("addr=%#llx len=%d rkey=%#x gid0=%s gid1=%s", (unsigned long long)addr0, BUFFER, all->rkey, t[0], t[1]);
	return 0;
}

// memory executes fill, sum, put and get.
static int memory(const char *verb)
{
	size_t off = num("off", 0), n = num("len", 0);
	const char *hex = text("hex");
	if (!strcmp(verb, "put"))
		n = hex ? strlen(hex) / 2 : 0;
	if (off > BUFFER || n > BUFFER - off)
		return failed(verb, ERANGE);
	uint8_t *p = buf + off;
	if (!strcmp(verb, "fill")) {
		uint32_t seed = num("seed", 0) * 40503;
		for (uint32_t i = 0; i < n; i++)
			p[i] = (i * 2654435761u ^ seed) >> 13;
	} else if (!strcmp(verb, "put")) {
		for (size_t i = 0; i < n; i++) {
			unsigned v = 0;
			sscanf(hex + 2 * i, "%2x", &v);
			p[i] = v;
		}
	} else if (!strcmp(verb, "get")) {
		for (size_t i = 0; i < n && used < (int)sizeof out - 3; i++)
			SAY("%02x", p[i]);
	} else {
		uint64_t h = 14695981039346656037u;
		for (size_t i = 0; i < n; i++)
			h = (h ^ p[i]) * 1099511628211u;
		SAY("%016llx", (unsigned long long)h);
	}
	return 0;
}

static int region(void)
{
	if (mrs[id])
		ibv_dereg_mr(mrs[id]);
	mrs[id] = ibv_reg_mr(pd, buf + num("off", 0), num("len", BUFFER), access_of(text("access"), remote));
	if (!mrs[id])
		return failed("register", errno);
	SAY("addr=%#llx rkey=%#x", (unsigned long long)(addr0 + num("off", 0)), mrs[id]->rkey);
	return 0;
}

static int window(void)
{
	struct ibv_send_wr w = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED, .wr_id = num("wr", 0)}, *bad;
	struct ibv_qp *q = qps[num("qp", 0) % MAXID];
	mws[id] = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	if (!mws[id] || !q)
		return failed("window", q ? errno : ENOENT);
	w.bind_mw.mw = mws[id];
	w.bind_mw.rkey = ibv_inc_rkey(mws[id]->rkey);
	w.bind_mw.bind_info.mr = all;
	w.bind_mw.bind_info.addr = addr0 + num("off", 0);
	w.bind_mw.bind_info.length = num("len", 0);
	w.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	int e = ibv_post_send(q, &w, &bad);
	if (e)
		return failed("bind", e);
	SAY("rkey=%#x", w.bind_mw.rkey);
	return 0;
}

// to_init takes a queue pair to INIT.
static int to_init(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = remote & ~IBV_ACCESS_MW_BIND, .qkey = qkeys[id]};
	int own = qps[id]->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	int e = ibv_modify_qp(qps[id], &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | own);
	return e ? failed("init", e) : 0;
}

// type_of is the type of a queue pair by its name.
static enum ibv_qp_type type_of(const char *name)
{
	if (name && !strcmp(name, "uc"))
		return IBV_QPT_UC;
	if (name && !strcmp(name, "ud"))
		return IBV_QPT_UD;
	return IBV_QPT_RC;
}

static int create(void)
{
	struct ibv_qp_init_attr a = {.send_cq = cq, .recv_cq = cq, .qp_type = type_of(text("type")),
		.srq = text("srq") ? srqs[num("srq", 0) % MAXID] : NULL,
		.cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 4, .max_recv_sge = 4}};
	qps[id] = ibv_create_qp(pd, &a);
	if (!qps[id])
		return failed("queue pair", errno);
	gids[id] = num("gid", 1);
	qkeys[id] = num("qkey", 0);
	SAY("qpn=%u", qps[id]->qp_num);
	return to_init();
}

static int set_state(enum ibv_qp_state s)
{
	struct ibv_qp_attr a = {.qp_state = s};
	int e = ibv_modify_qp(qps[id], &a, IBV_QP_STATE);
	return e ? failed("modify", e) : 0;
}

static int state(void)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr i;
	int e = ibv_query_qp(qps[id], &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN, &i);
	if (e)
		return failed("query", e);
	SAY("%s psn=%u rpsn=%u", a.qp_state < 7 ? names[a.qp_state] : "?", a.sq_psn, a.rq_psn);
	return 0;
}

// way fills in the address of a peer.
static int way(struct ibv_ah_attr *a, int gid)
{
	*a = (struct ibv_ah_attr){.is_global = 1, .port_num = 1};
	a->grh.sgid_index = gid;
	a->grh.hop_limit = 64;
	a->grh.traffic_class = num("tc", 0);
	return address(text("gid"), &a->grh.dgid) ? failed("gid", EINVAL) : 0;
}

// start takes a queue pair of UD to RTS.
static int start(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .sq_psn = num("psn", 0)};
	int e = ibv_modify_qp(qps[id], &a, IBV_QP_STATE);
	if (e)
		return failed("ready to receive", e);
	a.qp_state = IBV_QPS_RTS;
	e = ibv_modify_qp(qps[id], &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return e ? failed("ready to send", e) : 0;
}

static int handle(void)
{
	struct ibv_ah_attr a;
	if (way(&a, num("sgid", 1)))
		return -1;
	ahs[id] = ibv_create_ah(pd, &a);
	return ahs[id] ? 0 : failed("address handle", errno);
}

static int shared(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = num("max", DEPTH), .max_sge = 4, .srq_limit = 0}};
	srqs[id] = ibv_create_srq(pd, &a);
	if (!srqs[id])
		return failed("shared receive queue", errno);
	SAY("max=%u", a.attr.max_wr);
	return 0;
}

static int connect_qp(void)
{
	int rc = qps[id]->qp_type == IBV_QPT_RC;
	struct ibv_qp_attr r = {.qp_state = IBV_QPS_RTR, .dest_qp_num = num("qpn", 0), .rq_psn = num("rpsn", 0),
		.max_dest_rd_atomic = num("rd", 4), .min_rnr_timer = num("minrnr", 12),
		.qp_access_flags = access_of(text("access"), remote & ~IBV_ACCESS_MW_BIND)};
	int depth = rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
	int mtu = num("mtu", 1024), code = IBV_MTU_256;
	while (code < IBV_MTU_4096 && 128 << code < mtu)
		code++;
	r.path_mtu = code;
	if (way(&r.ah_attr, gids[id]))
		return -1;
	int e = ibv_modify_qp(qps[id], &r, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		depth | IBV_QP_ACCESS_FLAGS);
	if (e)
		return failed("ready to receive", e);
	struct ibv_qp_attr s = {.qp_state = IBV_QPS_RTS, .sq_psn = num("psn", 0), .timeout = num("timeout", 0),
		.retry_cnt = num("retry", 7), .rnr_retry = num("rnr", 7), .max_rd_atomic = num("rd", 4)};
	int retries = rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0;
	e = ibv_modify_qp(qps[id], &s, IBV_QP_STATE | IBV_QP_SQ_PSN | retries);
	return e ? failed("ready to send", e) : 0;
}

// recv_wr posts receives, to a shared queue or that of a queue pair.
static int recv_wr(struct ibv_srq *srq)
{
	size_t off = num("off", 0), len = num("len", 0);
	for (uint64_t i = 0; i < num("n", 1); i++) {
		struct ibv_sge s = {addr0 + off + i * len, len, num("lkey", all->lkey)};
		struct ibv_recv_wr w = {.wr_id = num("id", 0) + i, .sg_list = &s, .num_sge = len ? 1 : 0}, *bad;
		int e = srq ? ibv_post_srq_recv(srq, &w, &bad) : ibv_post_recv(qps[id], &w, &bad);
		if (e)
			return failed("receive", e);
	}
	return 0;
}

static int send_wr(void)
{
	static const struct { const char *name; enum ibv_wr_opcode op; } ops[] = {
		{"send", IBV_WR_SEND}, {"send_imm", IBV_WR_SEND_WITH_IMM}, {"send_inv", IBV_WR_SEND_WITH_INV},
		{"write", IBV_WR_RDMA_WRITE}, {"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM}, {"read", IBV_WR_RDMA_READ},
		{"local_inv", IBV_WR_LOCAL_INV},
		{"cas", IBV_WR_ATOMIC_CMP_AND_SWP}, {"faa", IBV_WR_ATOMIC_FETCH_AND_ADD}};
	const char *name = text("op"), *flags = text("flags");
	size_t off = num("off", 0), len = num("len", 0), o = 0;
	while (o < sizeof ops / sizeof *ops && (!name || strcmp(name, ops[o].name)))
		o++;
	if (o == sizeof ops / sizeof *ops)
		return failed("op", EINVAL);
	for (uint64_t i = 0; i < num("n", 1); i++) {
		struct ibv_sge s = {addr0 + off + i * len, len, num("lkey", all->lkey)};
		struct ibv_send_wr w = {.wr_id = num("id", 0) + i, .opcode = ops[o].op, .sg_list = &s, .num_sge = len ? 1 : 0}, *bad;
		uint64_t raddr = num("addr", 0) ? num("addr", 0) + i * len : 0;
		if (!flags || !strchr(flags, 'q'))
			w.send_flags |= IBV_SEND_SIGNALED;
		if (flags && strchr(flags, 's'))
			w.send_flags |= IBV_SEND_SOLICITED;
		if (flags && strchr(flags, 'f'))
			w.send_flags |= IBV_SEND_FENCE;
		if (ops[o].op == IBV_WR_ATOMIC_CMP_AND_SWP || ops[o].op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			w.wr.atomic.remote_addr = raddr;
			w.wr.atomic.rkey = num("rkey", 0);
			w.wr.atomic.compare_add = num("cmp", 0) + num("add", 0);
			w.wr.atomic.swap = num("swap", 0);
		} else if (ops[o].op == IBV_WR_LOCAL_INV) {
			w.invalidate_rkey = num("imm", 0);
		} else if (qps[id]->qp_type == IBV_QPT_UD) {
			w.wr.ud.ah = ahs[num("ah", 0) % MAXID];
			w.wr.ud.remote_qpn = num("qpn", 0);
			w.wr.ud.remote_qkey = num("qkey", qkeys[id]);
			w.imm_data = htonl(num("imm", 0));
			if (!w.wr.ud.ah)
				return failed("ah", ENOENT);
		} else {
			w.wr.rdma.remote_addr = raddr;
			w.wr.rdma.rkey = num("rkey", 0);
			if (ops[o].op == IBV_WR_SEND_WITH_INV)
				w.invalidate_rkey = num("imm", 0);
			else
				w.imm_data = htonl(num("imm", 0));
		}
		int e = ibv_post_send(qps[id], &w, &bad);
		if (e)
			return failed("send", e);
	}
	return 0;
}

static long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// poll waits for completions. Soft-RoCE tells an invalidated key by the kernel's
// flag (4), not by that of verbs, and sets the flag of an immediate on the sender's
// completion too.
static int poll(void)
{
	static struct ibv_wc wc[ENTRIES];
	int n = 0;
	long end = now_ms() + num("ms", 1000);
	while (n < id) {
		int k = ibv_poll_cq(cq, 1, &wc[n]);
		if (k < 0)
			return failed("poll", EIO);
		n += k;
		if (k == 0 && now_ms() >= end)
			break;
		if (k == 0)
			usleep(300);
	}
	SAY("%d", n);
	for (int i = 0; i < n && used < (int)sizeof out - 100; i++) {
		struct ibv_wc *w = &wc[i];
		SAY(" | id=%llu status=%d", (unsigned long long)w->wr_id, w->status);
		if (w->status != IBV_WC_SUCCESS)
			continue;
		if (!(w->opcode & IBV_WC_RECV))
			continue;
		SAY(" recv=%u", w->byte_len);
		if (w->wc_flags & IBV_WC_WITH_IMM)
			SAY(" imm=%#x", ntohl(w->imm_data));
		else if (w->wc_flags & (IBV_WC_WITH_INV | 4))
			SAY(" inv=%#x", w->invalidated_rkey);
		for (int q = 0; q < MAXID; q++) // the flag of a header is set on RC too
			if (qps[q] && qps[q]->qp_num == w->qp_num && qps[q]->qp_type == IBV_QPT_UD && w->wc_flags & IBV_WC_GRH)
				SAY(" src=%u", w->src_qp);
	}
	return 0;
}

// shell runs a command.
static int shell(const char *command)
{
	FILE *f = popen(command, "r");
	if (!f)
		return failed("sh", errno);
	int c, head = used;
	SAY("%10s ", "");
	while ((c = getc(f)) != EOF)
		if (used < (int)sizeof out - 2)
			out[used++] = c == '\n' || c == '\r' ? ' ' : c;
	out[used] = 0;
	int n = snprintf(out + head, 11, "%d", pclose(f));
	out[head + n] = ' ';
	return 0;
}

static int del(void)
{
	int e = ibv_destroy_qp(qps[id]);
	qps[id] = NULL;
	return e ? failed("destroy", e) : 0;
}

static int run(const char *verb)
{
	if (!strcmp(verb, "info"))
		return info();
	if (!strcmp(verb, "fill") || !strcmp(verb, "sum") || !strcmp(verb, "put") || !strcmp(verb, "get"))
		return memory(verb);
	if (!strcmp(verb, "poll"))
		return id < 0 || id > ENTRIES ? failed(verb, EINVAL) : poll();
	if (id < 0 || id >= MAXID)
		return failed(verb, EINVAL);
	if (!strcmp(verb, "mr"))
		return region();
	if (!strcmp(verb, "mw"))
		return window();
	if (!strcmp(verb, "qp"))
		return create();
	if (!strcmp(verb, "ah"))
		return handle();
	if (!strcmp(verb, "ahdel")) {
		int e = ahs[id] ? ibv_destroy_ah(ahs[id]) : ENOENT;
		ahs[id] = NULL;
		return e ? failed(verb, e) : 0;
	}
	if (!strcmp(verb, "srq"))
		return shared();
	if (!strcmp(verb, "srecv"))
		return srqs[id] ? recv_wr(srqs[id]) : failed(verb, ENOENT);
	if (!strcmp(verb, "sdel")) {
		int e = srqs[id] ? ibv_destroy_srq(srqs[id]) : ENOENT;
		srqs[id] = NULL;
		return e ? failed(verb, e) : 0;
	}
	if (!strcmp(verb, "mwdel")) {
		int e = mws[id] ? ibv_dealloc_mw(mws[id]) : ENOENT;
		mws[id] = NULL;
		return e ? failed(verb, e) : 0;
	}
	if (!strcmp(verb, "dereg")) {
		int e = mrs[id] ? ibv_dereg_mr(mrs[id]) : ENOENT;
		mrs[id] = NULL;
		return e ? failed(verb, e) : 0;
	}
	if (!qps[id])
		return failed(verb, ENOENT);
	if (!strcmp(verb, "conn"))
		return connect_qp();
	if (!strcmp(verb, "recv"))
		return recv_wr(NULL);
	if (!strcmp(verb, "start"))
		return start();
	if (!strcmp(verb, "send"))
		return send_wr();
	if (!strcmp(verb, "state"))
		return state();
	if (!strcmp(verb, "err"))
		return set_state(IBV_QPS_ERR);
	if (!strcmp(verb, "reset"))
		return set_state(IBV_QPS_RESET) ? -1 : to_init();
	if (!strcmp(verb, "del"))
		return del();
	return failed(verb, ENOSYS);
}

static int open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	if (!list || !*list)
		return failed("no RDMA device", errno);
	ctx = ibv_open_device(*list);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	cq = pd ? ibv_create_cq(ctx, ENTRIES, NULL, NULL, 0) : NULL;
	if (!cq || posix_memalign((void **)&buf, 4096, BUFFER))
		return failed("open", errno);
	memset(buf, 0, BUFFER);
	addr0 = (uintptr_t)buf;
	all = ibv_reg_mr(pd, buf, BUFFER, remote);
	return all ? 0 : failed("register", errno);
}

int main(void)
{
	static char line[1 << 16];
	int r = open_device();
	do {
		printf("%c %s\n", r ? '!' : '=', used ? out : "ok");
		fflush(stdout);
		used = nwords = 0;
		out[0] = 0;
		if (!fgets(line, sizeof line, stdin))
			return 0;
		if (!strncmp(line, "sh ", 3)) {
			r = shell(line + 3);
			continue;
		}
		for (char *p = strtok(line, " \r\n"); p && nwords < 48; p = strtok(NULL, " \r\n"))
			words[nwords++] = p;
		if (nwords && !strcmp(words[0], "quit"))
			return 0;
		id = nwords > 1 && !strchr(words[1], '=') ? atoi(words[1]) : -1;
		r = nwords ? run(words[0]) : failed("line", EINVAL);
	} while (1);
}
