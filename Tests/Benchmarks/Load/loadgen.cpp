// loadgen - bounded WebSocket pub/sub load generator (Linux, C++17, no dependencies).
//
//   g++ -O2 -std=c++17 -Wall -Wextra -o loadgen loadgen.cpp
//
// One thread, epoll, raw sockets, its own RFC 6455 client framing. It refuses to
// talk to anything but 127.0.0.0/8 and always stops by itself (--max-secs).
// See README.md for the modes, the figures and how to add a server ("dialect").
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

using std::string;
using std::string_view;

static int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}
[[noreturn]] static void die(const char *f, ...) {
  va_list a;
  va_start(a, f);
  fputs("loadgen: ", stderr);
  vfprintf(stderr, f, a);
  fputc('\n', stderr);
  va_end(a);
  exit(2);
}

// ------------------------------------------------------------------ options
struct Opt {
  string mode = "fanout", dialect = "line", host = "127.0.0.1", pids, label, name;
  std::vector<int> ports = {9001};  // connections are spread over them in turn
  int receivers = 100, publishers = 1, size = 128;
  double rate = 0;     // messages/s over all publishers; manyrooms: messages/s per room
  int window = 0;      // closed loop: messages in flight (fanout: total, manyrooms: per room)
  double duration = 5, warmup = 1, drain = 5;
  int rooms = 500, members = 4;
  int idle = 10000;
  int total = 2000, conc = 64;
  int srcaddrs = 1;
  int count = 2000;
  double gap_us = 200;
  int conn_burst = 128;
  bool poisson = false, deflate = false, spin = false, json = false, joinidle = true;
  double max_secs = 300;
  int spread = 0;      // idle mode: members per idle room (0: every idle connection alone)
} O;

// ---------------------------------------------------------------- histogram
// log-linear: 64 linear steps per power of two, ns
struct Hist {
  std::vector<uint64_t> b = std::vector<uint64_t>(64 * 48, 0);
  uint64_t n = 0;
  int64_t mx = 0;
  double sum = 0;
  static size_t idx(int64_t v) {
    if (v < 64) return v < 0 ? 0 : size_t(v);
    int e = 63 - __builtin_clzll((unsigned long long)v);
    size_t i = size_t(e - 5) * 64 + size_t((v >> (e - 6)) & 63);
    return i < 64 * 48 ? i : 64 * 48 - 1;
  }
  static double val(size_t i) {
    if (i < 64) return double(i);
    int e = int(i / 64) + 5;
    return ldexp(64 + double(i % 64) + 0.5, e - 6);
  }
  void add(int64_t v) {
    b[idx(v)]++;
    n++;
    sum += double(v);
    if (v > mx) mx = v;
  }
  double q(double p) const {
    if (!n) return 0;
    uint64_t want = uint64_t(ceil(p * double(n))), c = 0;
    for (size_t i = 0; i < b.size(); i++)
      if ((c += b[i]) >= want) return std::min(val(i), double(mx));
    return double(mx);
  }
};

// ------------------------------------------------------------ server CPU/RSS
struct Proc {
  std::vector<int> pids;
  bool on() const { return !pids.empty(); }
  static double cpu_pid_us(int pid) {
    // ns resolution from schedstat of every live thread; falls back to 10 ms ticks
    char p[96];
    snprintf(p, sizeof p, "/proc/%d/task", pid);
    double us = 0;
    bool ok = false;
    if (DIR *d = opendir(p)) {
      while (dirent *e = readdir(d)) {
        if (e->d_name[0] == '.') continue;
        char q[400];
        snprintf(q, sizeof q, "/proc/%d/task/%s/schedstat", pid, e->d_name);
        if (FILE *f = fopen(q, "r")) {
          unsigned long long v;
          if (fscanf(f, "%llu", &v) == 1) { us += double(v) / 1e3; ok = true; }
          fclose(f);
        }
      }
      closedir(d);
    }
    return ok ? us : ticks_us(pid, nullptr, nullptr);
  }
  static double ticks_us(int pid, double *u, double *s) {
    char p[64];
    snprintf(p, sizeof p, "/proc/%d/stat", pid);
    FILE *f = fopen(p, "r");
    if (!f) return 0;
    char buf[1024];
    size_t n = fread(buf, 1, sizeof buf - 1, f);
    fclose(f);
    buf[n] = 0;
    char *c = strrchr(buf, ')');
    unsigned long ut = 0, st = 0;
    if (c) sscanf(c + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &ut, &st);
    double k = 1e6 / double(sysconf(_SC_CLK_TCK));
    if (u) *u += double(ut) * k;
    if (s) *s += double(st) * k;
    return double(ut + st) * k;
  }
  double cpu_us() const { double t = 0; for (int p : pids) t += cpu_pid_us(p); return t; }
  double user_us() const { double u = 0; for (int p : pids) ticks_us(p, &u, nullptr); return u; }
  double sys_us() const { double s = 0; for (int p : pids) ticks_us(p, nullptr, &s); return s; }
  // voluntary context switches: how often the server went to sleep
  double rss_kb() const {
    double t = 0;
    for (int pid : pids) {
      char p[64];
      snprintf(p, sizeof p, "/proc/%d/statm", pid);
      if (FILE *f = fopen(p, "r")) {
        long a = 0, r = 0;
        if (fscanf(f, "%ld %ld", &a, &r) == 2) t += double(r) * double(sysconf(_SC_PAGESIZE)) / 1024;
        fclose(f);
      }
    }
    return t;
  }
} P;

static double ksoftirq_us() {  // CPU of the ksoftirqd threads: loopback work not billed to anyone
  static std::vector<int> ks;
  static bool init = false;
  if (!init) {
    init = true;
    for (int p = 1; p < 200; p++) {
      char b[64], c[64] = "";
      snprintf(b, sizeof b, "/proc/%d/comm", p);
      if (FILE *f = fopen(b, "r")) {
        if (fgets(c, sizeof c, f) && !strncmp(c, "ksoftirqd", 9)) ks.push_back(p);
        fclose(f);
      }
    }
  }
  double t = 0;
  for (int p : ks) t += Proc::cpu_pid_us(p);
  return t;
}
static double tcp_mem_kb() {  // kernel socket buffer pages in use
  FILE *f = fopen("/proc/net/sockstat", "r");
  if (!f) return 0;
  char l[256];
  double r = 0;
  while (fgets(l, sizeof l, f)) {
    long m;
    if (sscanf(l, "TCP: inuse %*d orphan %*d tw %*d alloc %*d mem %ld", &m) == 1) r = double(m) * 4;
  }
  fclose(f);
  return r;
}
static double slab_kb() {
  FILE *f = fopen("/proc/meminfo", "r");
  if (!f) return 0;
  char l[256];
  double r = 0;
  long m;
  while (fgets(l, sizeof l, f))
    if (sscanf(l, "Slab: %ld", &m) == 1) r = double(m);
  fclose(f);
  return r;
}

// --------------------------------------------------------------- connection
struct Dialect;
struct Conn {
  int fd = -1;
  enum St : uint8_t { IDLE, CONNECTING, UPGRADE, JOINING, READY, CLOSING, DEAD } st = IDLE;
  bool publisher = false, member = true, want_out = false;
  int id = 0, room = 0, slot = 0, step = 0;
  int64_t t0 = 0;
  string in, out, frag;      // unparsed input, unsent output, fragments of a message
  size_t outpos = 0;
  std::vector<uint32_t> last; // last sequence number seen, per publisher slot
  void *tag = nullptr;
};

// ------------------------------------------------------------------ framing
static const unsigned char MASK[4] = {0x5a, 0xc3, 0x17, 0x9e};
static void ws_frame(string &o, int op, string_view p) {
  unsigned char h[14];
  size_t n = p.size(), k = 2;
  h[0] = (unsigned char)(0x80 | op);
  if (n < 126) h[1] = (unsigned char)(0x80 | n);
  else if (n < 65536) { h[1] = 0x80 | 126; h[2] = (unsigned char)(n >> 8); h[3] = (unsigned char)n; k = 4; }
  else { h[1] = 0x80 | 127; for (int i = 0; i < 8; i++) h[2 + i] = (unsigned char)(uint64_t(n) >> (56 - 8 * i)); k = 10; }
  memcpy(h + k, MASK, 4);
  k += 4;
  size_t at = o.size();
  o.resize(at + k + n);
  memcpy(&o[at], h, k);
  for (size_t i = 0; i < n; i++) o[at + k + i] = char((unsigned char)p[i] ^ MASK[i & 3]);
}

// ----------------------------------------------------------------- dialects
// --room-vars FILE: line i holds "key=value key=value ..." for room i; a dialect may then say {key}.
static std::vector<std::map<string, string, std::less<>>> ROOM_VARS;
static void read_room_vars(const string &file) {
  std::ifstream f(file);
  if (!f) die("cannot read room variables %s", file.c_str());
  string l;
  while (std::getline(f, l)) {
    std::map<string, string, std::less<>> m;
    for (size_t i = 0; i < l.size();) {
      size_t e = l.find(' ', i);
      if (e == string::npos) e = l.size();
      size_t q = l.find('=', i);
      if (q != string::npos && q < e) m[l.substr(i, q - i)] = l.substr(q + 1, e - q - 1);
      i = e + 1;
    }
    ROOM_VARS.push_back(std::move(m));
  }
  if (ROOM_VARS.empty()) die("no room variables in %s", file.c_str());
}

// A dialect says how to talk to one server. Either write a text file (see
// dialects/*.dialect and README.md; use --dialect file:PATH) or a struct here.
static string subst(const string &t, const Conn &c, string_view payload = {}, uint64_t n = 0) {
  string o;
  o.reserve(t.size() + payload.size() + 16);
  for (size_t i = 0; i < t.size();) {
    if (t[i] == '{') {
      size_t e = t.find('}', i);
      if (e != string::npos) {
        string_view k(&t[i + 1], e - i - 1);
        char b[32];
        if (k == "room") { snprintf(b, sizeof b, "r%d", c.room); o += b; i = e + 1; continue; }
        if (k == "user") { snprintf(b, sizeof b, "u%d", c.id); o += b; i = e + 1; continue; }
        if (k == "n") { snprintf(b, sizeof b, "%llu", (unsigned long long)n); o += b; i = e + 1; continue; }
        if (k == "len") { snprintf(b, sizeof b, "%zu", payload.size()); o += b; i = e + 1; continue; }
        if (k == "payload") { o += payload; i = e + 1; continue; }
        if (k == "crlf") { o += "\r\n"; i = e + 1; continue; }
        if (!ROOM_VARS.empty()) {
          auto &m = ROOM_VARS[size_t(c.room) % ROOM_VARS.size()];
          auto f = m.find(k);
          if (f != m.end()) { o += f->second; i = e + 1; continue; }
        }
      }
    }
    o += t[i++];
  }
  return o;
}

struct Dialect {
  string subproto, headers;
  bool binary = false;    // frames we send are binary
  bool selfecho = true;   // a member gets its own message back
  bool pubjoin = false;   // a fan-out publisher has to join the room to send
  virtual ~Dialect() {}
  virtual string path(const Conn &) { return "/"; }
  // Called once when the WebSocket is open. Append messages with send(). Return true if already joined.
  virtual bool opened(Conn &, const std::function<void(string_view)> &send) = 0;
  // Called for every message until it returns true (= joined).
  virtual bool step(Conn &, string_view msg, const std::function<void(string_view)> &send) = 0;
  // The message that publishes payload to the connection's room.
  virtual void publish(Conn &, string_view payload, uint64_t n, string &msg) = 0;
  // Called for messages without any marker after joining (server pings and the like).
  virtual void other(Conn &, string_view, const std::function<void(string_view)> &) {}
};

// Text file: a list of send/expect steps plus a publish template.
struct FileDialect : Dialect {
  string path_ = "/", pub, pubpath;
  struct S { bool send; string t; bool pubonly, subonly; };
  std::vector<S> steps;
  std::vector<std::pair<string, string>> replies;  // when a message contains first, answer second
  explicit FileDialect(const string &file) {
    std::ifstream f(file);
    if (!f) die("cannot read dialect file %s", file.c_str());
    string l;
    auto yes = [](const string &v) { return v == "yes" || v == "true" || v == "1"; };
    while (std::getline(f, l)) {
      size_t a = l.find_first_not_of(" \t");
      if (a == string::npos || l[a] == '#') continue;
      size_t e = l.find('=', a);
      if (e == string::npos) die("%s: no '=' in: %s", file.c_str(), l.c_str());
      string k = l.substr(a, e - a), v = l.substr(e + 1);
      k.erase(k.find_last_not_of(" \t") + 1);
      size_t b = v.find_first_not_of(" \t");
      v = b == string::npos ? "" : v.substr(b);
      if (k == "path") path_ = v;
      else if (k == "pubpath") pubpath = v;
      else if (k == "subprotocol") subproto = v;
      else if (k == "header") headers += v + "\r\n";
      else if (k == "binary") binary = yes(v);
      else if (k == "selfecho") selfecho = yes(v);
      else if (k == "pubjoin") pubjoin = yes(v);
      else if (k == "send") steps.push_back({true, v, false, false});
      else if (k == "expect") steps.push_back({false, v, false, false});
      else if (k == "member-send") steps.push_back({true, v, false, true});
      else if (k == "member-expect") steps.push_back({false, v, false, true});
      else if (k == "publish") pub = v;
      else if (k == "reply") {
        size_t m = v.find(" => ");
        if (m == string::npos) die("%s: reply needs 'TEXT => ANSWER'", file.c_str());
        replies.push_back({v.substr(0, m), v.substr(m + 4)});
      } else die("%s: unknown key %s", file.c_str(), k.c_str());
    }
  }
  string path(const Conn &c) override { return subst(!c.member && !pubpath.empty() ? pubpath : path_, c); }
  bool advance(Conn &c, const std::function<void(string_view)> &send) {
    while (c.step < int(steps.size())) {
      S &s = steps[size_t(c.step)];
      if (s.subonly && !c.member) { c.step++; continue; }
      if (!s.send) return false;
      send(subst(s.t, c));
      c.step++;
    }
    return true;
  }
  bool opened(Conn &c, const std::function<void(string_view)> &send) override { return advance(c, send); }
  bool step(Conn &c, string_view m, const std::function<void(string_view)> &send) override {
    if (c.step < int(steps.size()) && m.find(subst(steps[size_t(c.step)].t, c)) != string_view::npos) {
      c.step++;
      return advance(c, send);
    }
    other(c, m, send);
    return false;
  }
  void publish(Conn &c, string_view p, uint64_t n, string &m) override { m = subst(pub, c, p, n); }
  void other(Conn &c, string_view m, const std::function<void(string_view)> &send) override {
    for (auto &r : replies)
      if (m.find(r.first) != string_view::npos) send(subst(r.second, c));
  }
};

// "line": the protocol of our own little peers. join <room> -> joined ; pub <room> <payload>
struct LineDialect : Dialect {
  bool opened(Conn &c, const std::function<void(string_view)> &send) override {
    if (!c.member) return true;
    char b[48];
    snprintf(b, sizeof b, "join r%d", c.room);
    send(b);
    return false;
  }
  bool step(Conn &, string_view m, const std::function<void(string_view)> &) override { return m.substr(0, 6) == "joined"; }
  void publish(Conn &c, string_view p, uint64_t, string &m) override {
    char b[48];
    snprintf(b, sizeof b, "pub r%d ", c.room);
    m.assign(b);
    m += p;
  }
};

// nchan: the room is in the URL; subscribed as soon as the upgrade is answered
struct NchanDialect : Dialect {
  NchanDialect() { selfecho = true; }
  string path(const Conn &c) override {
    char b[48];
    snprintf(b, sizeof b, c.member ? (c.publisher ? "/ps/r%d" : "/sub/r%d") : "/pub/r%d", c.room);
    return b;
  }
  bool opened(Conn &, const std::function<void(string_view)> &) override { return true; }
  bool step(Conn &, string_view, const std::function<void(string_view)> &) override { return true; }
  void publish(Conn &, string_view p, uint64_t, string &m) override { m.assign(p); }
};

// ------------------------------------------------------------------- engine
static std::unique_ptr<Dialect> D;
static int EP = -1;
static std::vector<std::unique_ptr<Conn>> C;
static uint64_t n_recv, n_pub, n_dup, n_ooo, n_gap, n_frames, n_bytes, n_zframes, n_dead, n_failed;
static Hist H;
static bool measuring = false;
static int64_t DEADLINE;
static std::function<void(Conn &)> on_ready, on_dead;
static std::function<void(Conn &, int64_t)> on_delivery;

static void mod(Conn &c, bool out) {
  if (c.want_out == out) return;
  c.want_out = out;
  epoll_event e{};
  e.events = EPOLLIN | (out ? uint32_t(EPOLLOUT) : 0u);
  e.data.ptr = &c;
  epoll_ctl(EP, EPOLL_CTL_MOD, c.fd, &e);
}
static void dead(Conn &c) {
  if (c.st == Conn::DEAD) return;
  bool was_closing = c.st == Conn::CLOSING;
  if (c.fd >= 0) close(c.fd);
  c.fd = -1;
  c.st = Conn::DEAD;
  if (!was_closing) n_dead++;
  string().swap(c.in);
  string().swap(c.out);
  string().swap(c.frag);
  if (on_dead) on_dead(c);
}
static void flush(Conn &c) {
  while (c.outpos < c.out.size()) {
    ssize_t n = send(c.fd, c.out.data() + c.outpos, c.out.size() - c.outpos, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EAGAIN) { mod(c, true); return; }
      if (errno == EINTR) continue;
      dead(c);
      return;
    }
    c.outpos += size_t(n);
  }
  c.out.clear();
  c.outpos = 0;
  if (c.want_out) mod(c, false);
}
static void send_msg(Conn &c, string_view m) {
  ws_frame(c.out, D->binary ? 2 : 1, m);
}

static sockaddr_in addr_of(const char *h, int port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(uint16_t(port));
  if (inet_pton(AF_INET, h, &a.sin_addr) != 1 || (ntohl(a.sin_addr.s_addr) >> 24) != 127)
    die("only 127.0.0.0/8 addresses are allowed, not %s", h);
  return a;
}
static void start_connect(Conn &c) {
  static uint32_t rr = 0;
  c.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c.fd < 0) die("socket: %s (raise ulimit -n?)", strerror(errno));
  int one = 1;
  setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (O.srcaddrs > 1) {
    sockaddr_in s{};
    s.sin_family = AF_INET;
    s.sin_addr.s_addr = htonl(0x7f000001u + (rr++ % uint32_t(O.srcaddrs)));
    setsockopt(c.fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (bind(c.fd, (sockaddr *)&s, sizeof s)) die("bind source address: %s", strerror(errno));
  }
  int port = O.ports[size_t(c.id) % O.ports.size()];
  sockaddr_in a = addr_of(O.host.c_str(), port);
  c.t0 = now_ns();
  c.st = Conn::CONNECTING;
  int r = connect(c.fd, (sockaddr *)&a, sizeof a);
  if (r && errno != EINPROGRESS) { n_failed++; dead(c); return; }
  string p = D->path(c), h;
  h = "GET " + p + " HTTP/1.1\r\nHost: " + O.host + ":" + std::to_string(port) +
      "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Version: 13\r\nOrigin: http://127.0.0.1\r\n";
  if (!D->subproto.empty()) h += "Sec-WebSocket-Protocol: " + D->subproto + "\r\n";
  if (O.deflate && c.member) h += "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
  h += D->headers + "\r\n";
  c.out = h;
  epoll_event e{};
  e.events = EPOLLIN | EPOLLOUT;
  e.data.ptr = &c;
  c.want_out = true;
  if (epoll_ctl(EP, EPOLL_CTL_ADD, c.fd, &e)) die("epoll_ctl: %s", strerror(errno));
}

// marker: bench:<publisher slot>:<sequence>:<ns>;   counted wherever it appears
static inline void marker(Conn &c, const char *p, const char *end) {
  const char *q = p;
  auto num = [&]() {
    uint64_t v = 0;
    while (q < end && *q >= '0' && *q <= '9') v = v * 10 + uint64_t(*q++ - '0');
    if (q < end) q++;
    return v;
  };
  uint32_t slot = uint32_t(num()), seq = uint32_t(num());
  int64_t t = int64_t(num());
  n_recv++;
  if (slot >= c.last.size()) c.last.resize(slot + 1, 0);
  uint32_t &l = c.last[slot];
  if (seq == l + 1) l = seq;
  else if (seq > l) { n_gap += seq - l - 1; l = seq; }
  else if (seq == l) n_dup++;
  else n_ooo++;
  int64_t now = now_ns();
  if (measuring) H.add(now - t);
  if (on_delivery) on_delivery(c, now - t);
}
static inline size_t scan(Conn &c, const char *p, size_t n) {
  const char *end = p + n;
  size_t k = 0;
  while (p < end) {
    const char *m = (const char *)memmem(p, size_t(end - p), "bench:", 6);
    if (!m) break;
    marker(c, m + 6, end);
    k++;
    p = m + 6;
  }
  return k;
}
static void message(Conn &c, string_view m) {
  if (c.st == Conn::READY) {
    if (!scan(c, m.data(), m.size())) {
      auto send = [&](string_view x) { send_msg(c, x); };
      D->other(c, m, send);
      if (!c.out.empty()) flush(c);
    }
    return;
  }
  if (c.st == Conn::JOINING) {
    scan(c, m.data(), m.size());
    auto send = [&](string_view x) { send_msg(c, x); };
    if (D->step(c, m, send)) {
      c.st = Conn::READY;
      if (on_ready) on_ready(c);
    }
    if (!c.out.empty() && c.fd >= 0) flush(c);
  }
}
// returns bytes consumed
static size_t parse(Conn &c, const char *b, size_t n) {
  size_t at = 0;
  while (c.st == Conn::JOINING || c.st == Conn::READY || c.st == Conn::CLOSING) {
    if (n - at < 2) break;
    unsigned char h0 = (unsigned char)b[at], h1 = (unsigned char)b[at + 1];
    uint64_t len = h1 & 127;
    size_t k = 2;
    if (len == 126) {
      if (n - at < 4) break;
      len = uint64_t((unsigned char)b[at + 2]) << 8 | (unsigned char)b[at + 3];
      k = 4;
    } else if (len == 127) {
      if (n - at < 10) break;
      len = 0;
      for (int i = 0; i < 8; i++) len = len << 8 | (unsigned char)b[at + 2 + size_t(i)];
      k = 10;
    }
    if (h1 & 128) { fprintf(stderr, "loadgen: masked frame from server\n"); dead(c); return n; }
    if (n - at - k < len) break;
    const char *pl = b + at + k;
    int op = h0 & 15;
    n_frames++;
    if (op >= 8) {
      if (op == 9) { ws_frame(c.out, 10, string_view(pl, len)); flush(c); if (c.fd < 0) return n; }
      else if (op == 8) {
        if (c.st != Conn::CLOSING) { ws_frame(c.out, 8, string_view(pl, std::min<uint64_t>(len, 2))); flush(c); }
        if (c.fd >= 0) dead(c);
        return n;
      }
    } else if (h0 & 0x40) {  // compressed: not inflated, each final frame counts as one delivery
      n_zframes++;
      if (h0 & 0x80) { n_recv++; if (on_delivery) on_delivery(c, 0); if (c.st == Conn::JOINING) { c.st = Conn::READY; n_recv--; if (on_ready) on_ready(c); } }
    } else if ((h0 & 0x80) && op != 0) {
      message(c, string_view(pl, len));
    } else {
      c.frag.append(pl, len);
      if (h0 & 0x80) { string f; f.swap(c.frag); message(c, f); }
    }
    if (c.fd < 0) return n;
    at += k + len;
  }
  return at;
}
static char RB[1 << 18];
static void readable(Conn &c) {
  ssize_t n = recv(c.fd, RB, sizeof RB, 0);
  if (n <= 0) {
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    dead(c);
    return;
  }
  n_bytes += uint64_t(n);
  const char *b = RB;
  size_t len = size_t(n);
  string tmp;
  if (!c.in.empty()) {
    tmp.swap(c.in);
    tmp.append(RB, size_t(n));
    b = tmp.data();
    len = tmp.size();
  }
  size_t at = 0;
  if (c.st == Conn::UPGRADE) {
    const char *e = (const char *)memmem(b, len, "\r\n\r\n", 4);
    if (!e) { c.in.assign(b, len); return; }
    if (len < 12 || memcmp(b + 9, "101", 3)) {
      static int told = 0;
      if (told++ < 3) fprintf(stderr, "loadgen: upgrade refused: %.*s\n", int(std::min<size_t>(len, 60)), b);
      n_failed++;
      dead(c);
      return;
    }
    at = size_t(e - b) + 4;
    c.st = Conn::JOINING;
    auto send = [&](string_view x) { send_msg(c, x); };
    if (D->opened(c, send)) { c.st = Conn::READY; if (on_ready) on_ready(c); }
    if (c.fd >= 0 && !c.out.empty()) flush(c);
    if (c.fd < 0) return;
  }
  if (at < len) at += parse(c, b + at, len - at);
  if (c.fd >= 0 && at < len) c.in.assign(b + at, len - at);
}
// one epoll round; wait_ns < 0 = up to 100 ms
static void pump(int64_t wait_ns) {
  static epoll_event ev[512];
  if (now_ns() > DEADLINE) die("--max-secs reached, giving up (received %llu, published %llu)", (unsigned long long)n_recv, (unsigned long long)n_pub);
  if (wait_ns < 0 || wait_ns > 100000000) wait_ns = 100000000;
  if (O.spin) wait_ns = 0;
  timespec ts{time_t(wait_ns / 1000000000), long(wait_ns % 1000000000)};
  int n = epoll_pwait2(EP, ev, 512, &ts, nullptr);
  for (int i = 0; i < n; i++) {
    Conn &c = *(Conn *)ev[i].data.ptr;
    if (c.fd < 0) continue;
    if (c.st == Conn::CONNECTING) {
      int e = 0;
      socklen_t l = sizeof e;
      getsockopt(c.fd, SOL_SOCKET, SO_ERROR, &e, &l);
      if (e) { static int told = 0; if (told++ < 3) fprintf(stderr, "loadgen: connect: %s\n", strerror(e)); n_failed++; dead(c); continue; }
      c.st = Conn::UPGRADE;
      flush(c);
      continue;
    }
    if (ev[i].events & EPOLLOUT) flush(c);
    if (c.fd >= 0 && (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) readable(c);
  }
}
static Conn &add_conn(int room, bool member, bool publisher, int slot) {
  C.emplace_back(new Conn);
  Conn &c = *C.back();
  c.id = int(C.size()) - 1;
  c.room = room;
  c.member = member;
  c.publisher = publisher;
  c.slot = slot;
  return c;
}
static size_t connect_from = 0;
static double connect_all() {  // connects every Conn not yet started; returns seconds
  size_t from = connect_from, ready = 0, next = from, want = C.size() - from, lost = 0;
  connect_from = C.size();
  auto old_r = on_ready;
  auto old_d = on_dead;
  on_ready = [&](Conn &) { ready++; };
  on_dead = [&](Conn &) { lost++; };
  int64_t t = now_ns(), last = t;
  while (ready + lost < want) {
    while (next < C.size() && next - from - ready - lost < size_t(O.conn_burst)) start_connect(*C[next++]);
    size_t before = ready + lost;
    pump(20000000);
    if (ready + lost != before) last = now_ns();
    if (now_ns() - last > 20000000000LL) die("stuck connecting: %zu of %zu ready", ready, want);
  }
  on_ready = old_r;
  on_dead = old_d;
  if (lost) die("%zu of %zu connections failed", lost, want);
  return double(now_ns() - t) / 1e9;
}
static std::vector<uint32_t> seqs;  // by connection id
static string PAY;
static void publish(Conn &c, int64_t stamp) {
  if (size_t(c.id) >= seqs.size()) seqs.resize(C.size(), 0);
  char b[80];
  int k = snprintf(b, sizeof b, "bench:%04d:%010u:%015lld;", c.slot, ++seqs[size_t(c.id)], (long long)stamp);
  PAY.assign(size_t(std::max(O.size, k)), 'x');
  memcpy(&PAY[0], b, size_t(k));
  static string m;
  D->publish(c, PAY, n_pub, m);
  ws_frame(c.out, D->binary ? 2 : 1, m);
  n_pub++;
  if (!c.want_out) flush(c);
}

struct Mark { int64_t t; double cpu, u, s, ks, self; uint64_t recv, pub, bytes, frames; };
static Mark mark() {
  Mark m{};
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  m.t = now_ns();
  m.cpu = P.cpu_us();
  m.u = P.user_us();
  m.s = P.sys_us();
  m.ks = ksoftirq_us();
  m.self = double(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 + double(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
  m.recv = n_recv; m.pub = n_pub; m.bytes = n_bytes; m.frames = n_frames;
  return m;
}
static string J;
static void jadd(const char *k, double v) { char b[96]; snprintf(b, sizeof b, "%s\"%s\":%.6g", J.empty() ? "" : ",", k, v); J += b; }
static void jstr(const char *k, const string &v) { J += string(J.empty() ? "" : ",") + "\"" + k + "\":\"" + v + "\""; }
static void report_run(const Mark &a, const Mark &b, double expect) {
  double s = double(b.t - a.t) / 1e9, n = double(b.recv - a.recv), cpu = b.cpu - a.cpu;
  jadd("secs", s);
  jadd("published", double(b.pub - a.pub));
  jadd("deliveries", n);
  jadd("deliv_per_s", n / s);
  jadd("lost", expect - double(n_recv - n_dup));
  jadd("gaps", double(n_gap)); jadd("dup", double(n_dup)); jadd("ooo", double(n_ooo)); jadd("dead", double(n_dead));
  jadd("lat_p50_us", H.q(.5) / 1e3); jadd("lat_p99_us", H.q(.99) / 1e3); jadd("lat_p999_us", H.q(.999) / 1e3); jadd("lat_max_us", double(H.mx) / 1e3);
  jadd("msgs_per_frame", n / std::max(1.0, double(b.frames - a.frames)));
  jadd("bytes_per_delivery", double(b.bytes - a.bytes) / std::max(1.0, n));
  jadd("lg_cpu_us_per_deliv", (b.self - a.self) / std::max(1.0, n));
  jadd("lg_cpu_share", (b.self - a.self) / 1e6 / s);
  if (P.on()) {
    jadd("srv_cpu_us_per_deliv", cpu / std::max(1.0, n));
    jadd("srv_user_us_per_deliv", (b.u - a.u) / std::max(1.0, n));
    jadd("srv_sys_us_per_deliv", (b.s - a.s) / std::max(1.0, n));
    jadd("srv_cpu_share", cpu / 1e6 / s);
    jadd("srv_rss_kb", P.rss_kb());
  }
  jadd("ksoftirqd_us_per_deliv", (b.ks - a.ks) / std::max(1.0, n));
}

static uint64_t xs = 88172645463325252ull;
static double rnd() { xs ^= xs << 13; xs ^= xs >> 7; xs ^= xs << 17; return double(xs >> 11) / 9007199254740992.0; }

// drives the load: pick() gives the next publisher; per_msg deliveries are expected for each message
static void drive(const std::function<Conn &()> &pick, double per_msg, double rate, int window, Mark &a, Mark &b, double &expect) {
  uint64_t r0 = n_recv, p0 = n_pub;
  int64_t t0 = now_ns(), tm = t0 + int64_t(O.warmup * 1e9), te = tm + int64_t(O.duration * 1e9);
  bool marked = false;
  auto maybe_mark = [&](int64_t t) {
    if (!marked && t >= tm) { marked = true; a = mark(); measuring = true; }
  };
  if (rate > 0) {
    double gap = 1e9 / rate, next = double(t0) + gap;
    for (;;) {
      int64_t t = now_ns();
      maybe_mark(t);
      if (t >= te) break;
      int burst = 0;
      while (double(t) >= next && burst++ < 256) {
        publish(pick(), int64_t(next));  // stamped with the time it was due: no coordinated omission
        next += O.poisson ? -log(1 - rnd()) * gap : gap;
      }
      t = now_ns();
      pump(double(t) >= next ? 0 : std::min<int64_t>(int64_t(next) - t, te - t));
    }
  } else {
    double lim = double(window) * per_msg;
    for (;;) {
      int64_t t = now_ns();
      maybe_mark(t);
      if (t >= te) break;
      int burst = 0;
      while (double(n_pub - p0) * per_msg - double(n_recv - r0) <= lim - per_msg && burst++ < 1024) publish(pick(), now_ns());
      pump(te - t);
    }
  }
  if (!marked) { a = mark(); measuring = true; }
  // drain
  expect = double(n_pub - p0) * per_msg + double(r0);
  int64_t td = now_ns() + int64_t(O.drain * 1e9), quiet = now_ns();
  uint64_t seen = n_recv;
  while (double(n_recv) < expect && now_ns() < td) {
    pump(50000000);
    if (n_recv != seen) { seen = n_recv; quiet = now_ns(); }
    if (now_ns() - quiet > 1500000000) break;
  }
  b = mark();
}

static void mode_fanout(int room = 0) {
  bool pj = D->pubjoin;
  for (int i = 0; i < O.receivers; i++) add_conn(room, true, false, 0);
  size_t first = C.size();
  for (int i = 0; i < O.publishers; i++) add_conn(room, pj, true, i);
  double cs = connect_all();
  jadd("connect_secs", cs);
  double per = O.receivers;
  if (pj) per += O.publishers - (D->selfecho ? 0 : 1);
  size_t k = 0;
  Mark a{}, b{};
  double expect = 0;
  drive([&]() -> Conn & { return *C[first + (k++ % size_t(O.publishers))]; }, per, O.rate, O.window ? O.window : 1, a, b, expect);
  jadd("fanout", per);
  report_run(a, b, expect);
}
static void mode_manyrooms() {
  for (int r = 0; r < O.rooms; r++)
    for (int m = 0; m < O.members; m++) add_conn(r, true, true, m);
  jadd("rooms", O.rooms); jadd("members", O.members);
  double rss0 = P.rss_kb();
  jadd("connect_secs", connect_all());
  jadd("rss_kb_per_conn", (P.rss_kb() - rss0) / double(C.size()));
  double per = O.members - (D->selfecho ? 0 : 1);
  // a different room every time (stride coprime to the room count), a random member of it
  size_t k = 0, stride = 1;
  for (size_t s = size_t(O.rooms) * 7 / 11 + 1;; s++) { size_t x = s, y = size_t(O.rooms); while (y) { size_t t = x % y; x = y; y = t; } if (x == 1) { stride = s; break; } }
  Mark a{}, b{};
  double expect = 0;
  drive([&]() -> Conn & { k += stride; return *C[(k % size_t(O.rooms)) * size_t(O.members) + size_t(rnd() * O.members)]; },
        per, O.rate * O.rooms, (O.window ? O.window : 1) * (O.rate > 0 ? 1 : O.rooms), a, b, expect);
  report_run(a, b, expect);
}
static void settle(double s) { int64_t t = now_ns() + int64_t(s * 1e9); while (now_ns() < t) pump(50000000); }
static void mode_idle() {
  double rss0 = P.rss_kb(), tcp0 = tcp_mem_kb(), slab0 = slab_kb(), cpu0 = P.cpu_us();
  for (int i = 0; i < O.idle; i++) add_conn(1000 + (O.spread ? i / O.spread : i), O.joinidle, false, 0);
  double cs = connect_all();
  settle(1.5);
  double rss1 = P.rss_kb();
  jadd("idle", O.idle); jadd("connect_secs", cs);
  jadd("connect_cpu_us", (P.cpu_us() - cpu0) / O.idle);
  jadd("rss0_kb", rss0); jadd("rss1_kb", rss1);
  jadd("rss_bytes_per_conn", (rss1 - rss0) * 1024 / O.idle);
  jadd("kernel_slab_bytes_per_conn_both_ends", (slab_kb() - slab0) * 1024 / O.idle);
  jadd("kernel_tcpmem_kb", tcp_mem_kb() - tcp0);
  double c0 = P.cpu_us();
  int64_t t0 = now_ns();
  settle(3);
  jadd("idle_cpu_ms_per_s", (P.cpu_us() - c0) / 1e3 / (double(now_ns() - t0) / 1e9));
  if (O.receivers > 0) {
    int fo = O.receivers;
    size_t base = C.size();
    bool pj = D->pubjoin;
    for (int i = 0; i < fo; i++) add_conn(0, true, false, 0);
    size_t first = C.size();
    add_conn(0, pj, true, 0);
    connect_all();
    (void)base;
    Mark a{}, b{};
    double expect = 0, per = fo + (pj ? (D->selfecho ? 1 : 0) : 0);
    drive([&]() -> Conn & { return *C[first]; }, per, O.rate, O.window ? O.window : 1, a, b, expect);
    report_run(a, b, expect);
  }
  jadd("dead_total", double(n_dead));
}
static void mode_storm() {
  Hist cj;
  int started = 0, joined = 0, gone = 0;
  std::vector<Conn *> freelist;
  on_ready = [&](Conn &c) {
    joined++;
    cj.add(now_ns() - c.t0);
    c.st = Conn::CLOSING;
    ws_frame(c.out, 8, string_view("\x03\xe8", 2));
  };
  on_dead = [&](Conn &c) { gone++; freelist.push_back(&c); };
  for (int i = 0; i < O.conc; i++) { freelist.push_back(&add_conn(i, true, false, 0)); }
  Mark a = mark();
  int64_t last = now_ns();
  while (gone < O.total) {
    while (started < O.total && !freelist.empty()) {
      Conn *c = freelist.back();
      freelist.pop_back();
      *c = Conn();
      c->id = started;
      c->room = O.spread ? started / O.spread : started % 1000;
      started++;
      start_connect(*c);
    }
    int g = gone;
    pump(20000000);
    // flush the close frames queued in on_ready
    for (auto &c : C) if (c->fd >= 0 && c->st == Conn::CLOSING && !c->out.empty() && !c->want_out) flush(*c);
    if (gone != g) last = now_ns();
    if (now_ns() - last > 10000000000LL) { fprintf(stderr, "loadgen: storm stuck: %d closed of %d\n", gone, O.total); break; }
  }
  Mark b = mark();
  double s = double(b.t - a.t) / 1e9;
  jadd("connects", joined); jadd("failed", double(n_failed)); jadd("secs", s);
  jadd("connects_per_s", joined / s);
  jadd("join_p50_us", cj.q(.5) / 1e3); jadd("join_p99_us", cj.q(.99) / 1e3); jadd("join_max_us", double(cj.mx) / 1e3);
  if (P.on()) {
    jadd("srv_cpu_us_per_connect", (b.cpu - a.cpu) / std::max(1, joined));
    jadd("srv_cpu_share", (b.cpu - a.cpu) / 1e6 / s);
    jadd("srv_rss_kb", P.rss_kb());
  }
  jadd("lg_cpu_share", (b.self - a.self) / 1e6 / s);
}
static void mode_rtt() {
  Conn *pub, *rcv;
  rcv = &add_conn(0, true, true, 0);
  pub = rcv;
  if (!D->selfecho) pub = &add_conn(0, D->pubjoin, true, 0);
  connect_all();
  int warm = std::max(50, O.count / 10);
  Mark a = mark();
  for (int i = 0; i < O.count + warm; i++) {
    if (i == warm) { measuring = true; a = mark(); }
    uint64_t r = n_recv;
    publish(*pub, now_ns());
    int64_t t = now_ns();
    while (n_recv == r) { pump(1000000000); if (now_ns() - t > 5000000000LL) die("no echo"); }
    if (O.gap_us > 0) { int64_t u = now_ns() + int64_t(O.gap_us * 1e3); while (now_ns() < u) pump(u - now_ns()); }
  }
  Mark b = mark();
  jadd("rtts", double(H.n));
  jadd("rtt_p50_us", H.q(.5) / 1e3); jadd("rtt_p90_us", H.q(.9) / 1e3); jadd("rtt_p99_us", H.q(.99) / 1e3); jadd("rtt_p999_us", H.q(.999) / 1e3); jadd("rtt_max_us", double(H.mx) / 1e3);
  if (P.on()) jadd("srv_cpu_us_per_rtt", (b.cpu - a.cpu) / O.count);
  (void)rcv;
}

static void usage() {
  puts(
      "loadgen --mode fanout|manyrooms|idle|storm|rtt --dialect NAME|file:PATH --port N [options]\n"
      "  --host A (127.x only)   --pid P[,P..] server processes to account   --label TEXT (copied to the output)\n"
      "  --size BYTES  --rate MSG/S (manyrooms: per room)  |  --window W (closed loop; manyrooms: per room)\n"
      "  --duration S --warmup S --drain S --max-secs S  --poisson  --spin\n"
      "  fanout:    --receivers N --publishers P\n"
      "  manyrooms: --rooms R --members K\n"
      "  idle:      --idle N --spread K (members per idle room) --nojoin  and an active room of --receivers N (0: none)\n"
      "  storm:     --total N --conc C\n"
      "  rtt:       --count N --gap-us U\n"
      "  --room-vars F  line i: key=value pairs of room i, for {key} in a dialect (session ids, tokens)\n"
      "  --src-addrs K  use K source addresses 127.0.0.1..  (needed past ~28k connections)\n"
      "  --deflate      offer permessage-deflate (compressed frames are counted, not inflated)\n"
      "  --conn-burst N connects in flight while setting up\n"
      "dialects: line nchan file:PATH");
  exit(1);
}
int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  for (int i = 1; i < argc; i++) {
    string a = argv[i];
    auto v = [&]() -> string { if (i + 1 >= argc) usage(); return argv[++i]; };
    if (a == "--mode") O.mode = v();
    else if (a == "--dialect") O.dialect = v();
    else if (a == "--host") O.host = v();
    else if (a == "--port") {
      O.ports.clear();
      for (string l = v(), p; !l.empty(); l = l.find(',') == string::npos ? "" : l.substr(l.find(',') + 1)) O.ports.push_back(stoi(l));
    }
    else if (a == "--pid") O.pids = v();
    else if (a == "--label") O.label = v();
    else if (a == "--receivers") O.receivers = stoi(v());
    else if (a == "--publishers") O.publishers = stoi(v());
    else if (a == "--size") O.size = stoi(v());
    else if (a == "--rate") O.rate = stod(v());
    else if (a == "--window") O.window = stoi(v());
    else if (a == "--duration") O.duration = stod(v());
    else if (a == "--warmup") O.warmup = stod(v());
    else if (a == "--drain") O.drain = stod(v());
    else if (a == "--rooms") O.rooms = stoi(v());
    else if (a == "--members") O.members = stoi(v());
    else if (a == "--idle") O.idle = stoi(v());
    else if (a == "--spread") O.spread = stoi(v());
    else if (a == "--nojoin") O.joinidle = false;
    else if (a == "--total") O.total = stoi(v());
    else if (a == "--conc") O.conc = stoi(v());
    else if (a == "--count") O.count = stoi(v());
    else if (a == "--gap-us") O.gap_us = stod(v());
    else if (a == "--src-addrs") O.srcaddrs = stoi(v());
    else if (a == "--room-vars") read_room_vars(v());
    else if (a == "--conn-burst") O.conn_burst = stoi(v());
    else if (a == "--poisson") O.poisson = true;
    else if (a == "--spin") O.spin = true;
    else if (a == "--deflate") O.deflate = true;
    else if (a == "--max-secs") O.max_secs = stod(v());
    else if (a == "--json") O.json = true;
    else usage();
  }
  DEADLINE = now_ns() + int64_t(O.max_secs * 1e9);
  addr_of(O.host.c_str(), O.ports[0]);
  const string &d = O.dialect;
  if (d == "line") D.reset(new LineDialect);
  else if (d == "nchan") D.reset(new NchanDialect);
  else if (d.rfind("file:", 0) == 0) D.reset(new FileDialect(d.substr(5)));
  else usage();
  for (size_t i = 0; i < O.pids.size();) {
    size_t e = O.pids.find(',', i);
    if (e == string::npos) e = O.pids.size();
    int pid = atoi(O.pids.substr(i, e - i).c_str());
    if (pid > 0) P.pids.push_back(pid);
    i = e + 1;
  }
  EP = epoll_create1(EPOLL_CLOEXEC);
  jstr("label", O.label);
  jstr("mode", O.mode);
  jstr("dialect", d);
  jadd("size", O.size); jadd("rate", O.rate); jadd("window", O.window);
  if (O.mode == "fanout") mode_fanout();
  else if (O.mode == "manyrooms") mode_manyrooms();
  else if (O.mode == "idle") mode_idle();
  else if (O.mode == "storm") mode_storm();
  else if (O.mode == "rtt") mode_rtt();
  else usage();
  if (O.json) printf("{%s}\n", J.c_str());
  else {
    string o = J;
    bool q = false;
    for (char &ch : o) { if (ch == '"') q = !q; if (ch == ',' && !q) ch = '\n'; }
    o.erase(std::remove(o.begin(), o.end(), '"'), o.end());
    puts(o.c_str());
  }
  return 0;
}
