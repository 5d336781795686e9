// loadgen: a bounded load over WebSockets, on servers of the loopback interface.
//
//   loadgen MODE [--dialect FILE --port PORT[,PORT…] --pid PID[,PID…] --room-vars FILE] [--OPTION NUMBER]…
//
//   rooms         --rooms, --members of each, --senders of these (0: all), --rate a second in each room, or --window
//                 messages on their way in each room; --warmup and --duration in seconds
//   idle          --connections, each alone in its room
//   connects      --connections, at most --concurrent at a time: connect, join, close
//   round-trips   --count, --gap-us between two
//   send          no server: what one send() of --bytes on a loopback socket costs the sender
//
// A dialect file says how to talk to a server: lines KEY = VALUE with path, subprotocol, binary, publish, and any number
// of send, expect (a part of the answer to wait for) and reply (TEXT => ANSWER). {room}, {n}, {len}, {payload}, {crlf}
// and the names of the room's line in --room-vars (KEY=VALUE…) are replaced.
//
// One thread with raw sockets, so that it costs little beside the server. It prints one JSON object with the figures;
// the CPU time is that of the processes of --pid. It ends by itself after --max-secs.
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using std::string;
using std::string_view;

static std::map<string, double> options = {
    {"rooms", 1}, {"members", 1}, {"senders", 0}, {"rate", 0}, {"window", 1}, {"warmup", 1}, {"duration", 5},
    {"connections", 1000}, {"concurrent", 64}, {"count", 1000}, {"gap-us", 0}, {"bytes", 128}, {"max-secs", 60}};
static int number(const char *name) { return int(options.at(name)); }

template <typename... Values> [[noreturn]] static void fail(const char *format, Values... values) {
  fprintf(stderr, ("loadgen: " + string(format) + "\n").c_str(), values...);
  exit(2);
}

static int64_t nanoseconds(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}
static int64_t deadline;

static std::vector<string> split(const string &text, char separator) {
  std::vector<string> parts;
  std::istringstream stream(text);
  for (string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// ---------------------------------------------------------------- figures

static void report(const char *name, double value) {
  static bool isFirst = true;
  printf("%s\"%s\":%.6g", isFirst ? "{" : ",", name, value);
  isFirst = false;
}

// 64 linear steps for each power of two of a nanosecond.
struct Histogram {
  std::vector<uint64_t> counts = std::vector<uint64_t>(64 * 48);
  uint64_t count = 0;
  void add(int64_t value) {
    size_t index = size_t(std::max<int64_t>(value, 0));
    if (index >= 64) {
      int exponent = 63 - __builtin_clzll(index);
      index = size_t(exponent - 5) * 64 + ((index >> (exponent - 6)) & 63);
    }
    counts[std::min(index, counts.size() - 1)]++;
    count++;
  }
  double microseconds(double share) const {
    uint64_t seen = 0;
    for (size_t index = 0; index < counts.size(); index++)
      if (count > 0 && double(seen += counts[index]) >= share * double(count))
        return (index < 64 ? double(index) : ldexp(64.5 + double(index % 64), int(index / 64) - 1)) / 1e3;
    return 0;
  }
};

// The processes of the server.
static std::vector<string> pids;

static double cpuMicroseconds() {
  double sum = 0;
  for (auto &pid : pids) {
    DIR *folder = opendir(("/proc/" + pid + "/task").c_str());
    while (dirent *entry = folder ? readdir(folder) : nullptr) {
      if (entry->d_name[0] == '.') continue;
      double time = 0;
      std::ifstream("/proc/" + pid + "/task/" + entry->d_name + "/schedstat") >> time;
      sum += time / 1e3;
    }
    if (folder) closedir(folder);
  }
  return sum;
}
// Field 14 of /proc/PID/stat is the time in user mode, field 15 that in the kernel.
static double tickMicroseconds(int field) {
  double sum = 0;
  for (auto &pid : pids) {
    std::ifstream file("/proc/" + pid + "/stat");
    string text((std::istreambuf_iterator<char>(file)), {});
    auto fields = split(text.substr(text.rfind(')') + 2), ' ');
    sum += stod(fields.at(size_t(field) - 3)) * 1e6 / double(sysconf(_SC_CLK_TCK));
  }
  return sum;
}
static double residentBytes() {
  double sum = 0;
  for (auto &pid : pids) {
    double all = 0, resident = 0;
    std::ifstream("/proc/" + pid + "/statm") >> all >> resident;
    sum += resident * double(sysconf(_SC_PAGESIZE));
  }
  return sum;
}

// ---------------------------------------------------------------- dialect

struct Connection {
  enum State : uint8_t { connecting, upgrading, joining, ready, closing, gone } state = gone;
  int fd = -1, id = 0, room = 0, slot = 0;
  bool waitsToWrite = false;
  size_t step = 0, written = 0;
  int64_t begunAt = 0;
  uint32_t published = 0;
  string in, out, fragments;
  std::vector<uint32_t> last;  // the last number of each sender of the room
};

static std::vector<std::map<string, string, std::less<>>> roomVariables;

static struct Dialect {
  struct Step { bool isSend; string text; };
  string path = "/", subprotocol, publish;
  bool isBinary = false;
  std::vector<Step> steps;
  std::vector<std::pair<string, string>> replies;

  void read(const string &file) {
    std::ifstream lines(file);
    if (!lines) fail("cannot read %s", file.c_str());
    for (string line; std::getline(lines, line);) {
      size_t equals = line.find('='), start = equals + 1;
      if (line.empty() || line[0] == '#') continue;
      if (equals == string::npos) fail("%s: there is no '=' in %s", file.c_str(), line.c_str());
      string key = line.substr(0, line.find_first_of(" =")), value = line.substr(line.find_first_not_of(' ', start));
      if (key == "path") path = value;
      else if (key == "subprotocol") subprotocol = value;
      else if (key == "binary") isBinary = value == "yes";
      else if (key == "send" || key == "expect") steps.push_back({key == "send", value});
      else if (key == "publish") publish = value;
      else if (key == "reply") replies.push_back({value.substr(0, value.find(" => ")), value.substr(value.find(" => ") + 4)});
      else fail("%s: %s is unknown", file.c_str(), key.c_str());
    }
  }

  static string filled(const string &text, const Connection &connection, string_view payload = {}, uint64_t n = 0) {
    string result;
    for (size_t at = 0; at < text.size();) {
      size_t end = text[at] == '{' ? text.find('}', at) : string::npos;
      string_view name = end == string::npos ? string_view() : string_view(text).substr(at + 1, end - at - 1);
      bool isKnown = true;
      if (name == "room") result += "r" + std::to_string(connection.room);
      else if (name == "n") result += std::to_string(n);
      else if (name == "len") result += std::to_string(payload.size());
      else if (name == "payload") result += payload;
      else if (name == "crlf") result += "\r\n";
      else {
        isKnown = false;
        if (!roomVariables.empty() && !name.empty()) {
          auto &variables = roomVariables[size_t(connection.room) % roomVariables.size()];
          auto found = variables.find(name);
          if ((isKnown = found != variables.end())) result += found->second;
        }
      }
      if (isKnown) at = end + 1;
      else result += text[at++];
    }
    return result;
  }
} dialect;

// ---------------------------------------------------------------- connections

static int poll;
static std::vector<int> ports;
static std::vector<std::unique_ptr<Connection>> connections;
static uint64_t receivedCount, publishedCount, repeatedCount, gapCount, lostConnections;
static Histogram latencies;
static bool isMeasuring;
static std::function<void(Connection &)> onReady = [](Connection &) {};
static std::function<void(Connection &)> onGone = [](Connection &) {};

static void appendFrame(string &out, int opcode, string_view payload) {
  static const unsigned char mask[4] = {0x5a, 0xc3, 0x17, 0x9e};
  size_t count = payload.size();
  out += char(0x80 | opcode);
  if (count < 126) {
    out += char(0x80 | count);
  } else {
    if (count >= 65536) fail("a message of %zu bytes is too long", count);
    out += {char(0x80 | 126), char(count >> 8), char(count)};
  }
  out.append(reinterpret_cast<const char *>(mask), 4);
  for (size_t index = 0; index < count; index++) out += char((unsigned char)payload[index] ^ mask[index & 3]);
}

static void setWaits(Connection &connection, bool waits) {
  if (connection.waitsToWrite == waits) return;
  connection.waitsToWrite = waits;
  epoll_event event{EPOLLIN | (waits ? uint32_t(EPOLLOUT) : 0u), {.ptr = &connection}};
  epoll_ctl(poll, EPOLL_CTL_MOD, connection.fd, &event);
}

static void end(Connection &connection) {
  if (connection.state == Connection::gone) return;
  if (connection.state != Connection::closing) lostConnections++;
  close(connection.fd);
  connection.fd = -1;
  connection.state = Connection::gone;
  onGone(connection);
}

static void flush(Connection &connection) {
  while (connection.written < connection.out.size()) {
    ssize_t count = send(
        connection.fd, connection.out.data() + connection.written, connection.out.size() - connection.written, MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) return setWaits(connection, true);
    if (count < 0) return end(connection);
    connection.written += size_t(count);
  }
  connection.out.clear();
  connection.written = 0;
  setWaits(connection, false);
}

static void sendText(Connection &connection, const string &text) {
  appendFrame(connection.out, dialect.isBinary ? 2 : 1, text);
}

static Connection &add(int room, int slot) {
  connections.emplace_back(new Connection);
  Connection &connection = *connections.back();
  connection.id = int(connections.size()) - 1;
  connection.room = room;
  connection.slot = slot;
  return connection;
}

static void begin(Connection &connection) {
  int one = 1, port = ports[size_t(connection.id) % ports.size()];
  connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection.fd < 0) fail("socket: %s (raise ulimit -n?)", strerror(errno));
  setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(uint16_t(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connection.begunAt = nanoseconds();
  connection.state = Connection::connecting;
  if (connect(connection.fd, reinterpret_cast<sockaddr *>(&address), sizeof address) && errno != EINPROGRESS)
    fail("connect: %s", strerror(errno));
  connection.out = "GET " + Dialect::filled(dialect.path, connection) + " HTTP/1.1\r\nHost: 127.0.0.1:" +
      std::to_string(port) + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://127.0.0.1\r\n";
  if (!dialect.subprotocol.empty()) connection.out += "Sec-WebSocket-Protocol: " + dialect.subprotocol + "\r\n";
  connection.out += "\r\n";
  epoll_event event{EPOLLIN | EPOLLOUT, {.ptr = &connection}};
  connection.waitsToWrite = true;
  if (epoll_ctl(poll, EPOLL_CTL_ADD, connection.fd, &event)) fail("epoll_ctl: %s", strerror(errno));
}

// Sends what the dialect says, up to the next answer that it expects.
static void advance(Connection &connection) {
  while (connection.step < dialect.steps.size() && dialect.steps[connection.step].isSend)
    sendText(connection, Dialect::filled(dialect.steps[connection.step++].text, connection));
  if (connection.step == dialect.steps.size()) {
    connection.state = Connection::ready;
    onReady(connection);
  }
}

// Each payload begins with bench:SLOT:NUMBER:NANOSECONDS; and is counted wherever it appears.
static bool countDeliveries(Connection &connection, string_view text) {
  bool isAny = false;
  const char *at = text.data(), *end = at + text.size();
  while ((at = static_cast<const char *>(memmem(at, size_t(end - at), "bench:", 6)))) {
    at += 6;
    uint64_t fields[3] = {};
    for (auto &field : fields) {
      while (at < end && *at >= '0' && *at <= '9') field = field * 10 + uint64_t(*at++ - '0');
      if (at < end) at++;
    }
    if (fields[0] >= connection.last.size()) connection.last.resize(fields[0] + 1);
    uint32_t &last = connection.last[fields[0]];
    receivedCount++;
    if (fields[1] <= last) repeatedCount++;
    else gapCount += fields[1] - last - 1;
    last = std::max(last, uint32_t(fields[1]));
    if (isMeasuring) latencies.add(nanoseconds() - int64_t(fields[2]));
    isAny = true;
  }
  return isAny;
}

static void received(Connection &connection, string_view text) {
  bool isDelivery = countDeliveries(connection, text);
  if (connection.state == Connection::joining &&
      text.find(Dialect::filled(dialect.steps[connection.step].text, connection)) != string_view::npos) {
    connection.step++;
    advance(connection);
  } else if (!isDelivery) {
    for (auto &[question, answer] : dialect.replies)
      if (text.find(question) != string_view::npos) sendText(connection, Dialect::filled(answer, connection));
  }
  if (!connection.out.empty()) flush(connection);
}

// Handles the complete frames, and returns their length.
static size_t parse(Connection &connection, string_view bytes) {
  size_t at = 0;
  while (connection.fd >= 0 && bytes.size() - at >= 2) {
    auto byte = [&](size_t index) { return uint64_t((unsigned char)bytes[at + index]); };
    size_t head = byte(1) == 126 ? 4 : byte(1) == 127 ? 10 : 2, count = byte(1);
    if (bytes.size() - at < head) break;
    if (head > 2) count = 0;
    for (size_t index = 2; index < head; index++) count = count << 8 | byte(index);
    if (bytes.size() - at - head < count) break;
    string_view payload = bytes.substr(at + head, count);
    bool isLast = byte(0) & 0x80;
    int opcode = byte(0) & 15;
    at += head + count;
    if (opcode == 9) {
      appendFrame(connection.out, 10, payload);
      flush(connection);
    } else if (opcode == 8) {
      end(connection);
    } else if (opcode == 10) {
    } else if (isLast && connection.fragments.empty()) {
      received(connection, payload);
    } else {
      connection.fragments += payload;
      string whole;
      if (isLast) {
        whole.swap(connection.fragments);
        received(connection, whole);
      }
    }
  }
  return at;
}

static void readable(Connection &connection) {
  static char buffer[1 << 18];
  ssize_t count = recv(connection.fd, buffer, sizeof buffer, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return end(connection);
  string joined;
  string_view bytes(buffer, size_t(count));
  if (!connection.in.empty()) {
    joined.swap(connection.in);
    joined += bytes;
    bytes = joined;
  }
  if (connection.state == Connection::upgrading) {
    size_t end = bytes.find("\r\n\r\n");
    if (end == string_view::npos) {
      connection.in = bytes;
      return;
    }
    if (bytes.substr(9, 3) != "101") fail("the upgrade was refused: %s", string(bytes.substr(0, 60)).c_str());
    bytes.remove_prefix(end + 4);
    connection.state = Connection::joining;
    advance(connection);
    flush(connection);
  }
  size_t parsed = parse(connection, bytes);
  if (connection.fd >= 0) connection.in = bytes.substr(parsed);
}

// Handles what is ready, and waits for at most so long.
static void turn(int64_t wait) {
  static epoll_event events[512];
  if (nanoseconds() > deadline) fail("--max-secs is over: %zu received", size_t(receivedCount));
  wait = std::clamp<int64_t>(wait, 0, 100000000);
  timespec time{0, long(wait)};
  int count = epoll_pwait2(poll, events, 512, &time, nullptr);
  for (int index = 0; index < count; index++) {
    Connection &connection = *static_cast<Connection *>(events[index].data.ptr);
    if (connection.fd < 0) continue;
    if (connection.state == Connection::connecting) {
      int error = 0;
      socklen_t length = sizeof error;
      getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &length);
      if (error) fail("connect: %s", strerror(error));
      connection.state = Connection::upgrading;
      flush(connection);
      continue;
    }
    if (events[index].events & EPOLLOUT) flush(connection);
    if (connection.fd >= 0 && events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) readable(connection);
  }
}

static void rest(double seconds) {
  for (int64_t until = nanoseconds() + int64_t(seconds * 1e9), now; (now = nanoseconds()) < until;) turn(until - now);
}

static void connectAll() {
  size_t begun = 0, readyCount = 0;
  onReady = [&](Connection &) { readyCount++; };
  while (readyCount < connections.size()) {
    while (begun < connections.size() && begun - readyCount < 128) begin(*connections[begun++]);
    turn(20000000);
    if (lostConnections) fail("the server has closed a connection");
  }
  onReady = [](Connection &) {};
}

static void publish(Connection &connection, int64_t stamp) {
  char mark[80];
  int count = snprintf(
      mark, sizeof mark, "bench:%04d:%010u:%015lld;", connection.slot, ++connection.published, (long long)stamp);
  string payload(mark, size_t(count));
  payload.resize(size_t(number("bytes")), 'x');
  sendText(connection, Dialect::filled(dialect.publish, connection, payload, publishedCount++));
  if (!connection.waitsToWrite) flush(connection);
}

// ---------------------------------------------------------------- modes

struct Mark {
  int64_t time = nanoseconds();
  double cpu = cpuMicroseconds(), user = tickMicroseconds(14), kernel = tickMicroseconds(15);
  uint64_t received = receivedCount, published = publishedCount;
};

static void rooms() {
  int roomCount = number("rooms"), members = number("members"), senders = number("senders");
  if (senders == 0) senders = members;
  for (int room = 0; room < roomCount; room++)
    for (int member = 0; member < members; member++) add(room, member);
  connectAll();
  // Another room each time, and another sender.
  size_t chosen = 0, stride = size_t(roomCount) * 7 / 11 + 1;
  while (std::__gcd(stride, size_t(roomCount)) > 1) stride++;
  uint64_t randomness = 88172645463325252u;
  auto next = [&]() -> Connection & {
    randomness ^= randomness << 13, randomness ^= randomness >> 7, randomness ^= randomness << 17;
    chosen += stride;
    return *connections[chosen % size_t(roomCount) * size_t(members) + randomness % uint64_t(senders)];
  };
  int64_t start = nanoseconds(), measured = start + int64_t(options["warmup"] * 1e9);
  int64_t end = measured + int64_t(options["duration"] * 1e9);
  double gap = 1e9 / (options["rate"] * roomCount), due = double(start) + gap;
  double most = options["window"] * roomCount * members;
  Mark first;
  for (int64_t now; (now = nanoseconds()) < end;) {
    if (!isMeasuring && now >= measured) {
      isMeasuring = true;
      first = Mark();
    }
    int64_t wait = end - now;
    if (options["rate"] > 0) {
      // Stamped with the time at which it is due, so that a stall counts for every message that it delays.
      for (int burst = 0; double(now) >= due && burst < 256; burst++, due += gap) publish(next(), int64_t(due));
      wait = std::min(wait, int64_t(due) - nanoseconds());
    } else {
      for (int burst = 0; burst < 1024; burst++) {
        if (double(publishedCount) * members - double(receivedCount) > most - members) break;
        publish(next(), nanoseconds());
      }
    }
    turn(wait);
  }
  double expected = double(publishedCount) * members;
  for (int64_t until = nanoseconds() + 5000000000; double(receivedCount) < expected && nanoseconds() < until;)
    turn(50000000);
  Mark last;
  double deliveries = double(last.received - first.received), count = std::max(1.0, deliveries);
  report("published", double(last.published - first.published));
  report("deliv_per_s", deliveries * 1e9 / double(last.time - first.time));
  report("lost", expected - double(receivedCount - repeatedCount));
  report("gaps", double(gapCount));
  report("dup", double(repeatedCount));
  report("lat_p50_us", latencies.microseconds(.5));
  report("lat_p99_us", latencies.microseconds(.99));
  report("srv_cpu_us_per_deliv", (last.cpu - first.cpu) / count);
  report("srv_user_us_per_deliv", (last.user - first.user) / count);
  report("srv_sys_us_per_deliv", (last.kernel - first.kernel) / count);
}

static void idle() {
  int count = number("connections");
  double resident = residentBytes(), cpu = cpuMicroseconds();
  for (int room = 0; room < count; room++) add(room, 0);
  connectAll();
  rest(1.5);
  report("connect_cpu_us", (cpuMicroseconds() - cpu) / count);
  report("rss_bytes_per_conn", (residentBytes() - resident) / count);
}

static void connects() {
  int total = number("connections"), begun = 0, goneCount = 0;
  Histogram joins;
  std::vector<Connection *> free;
  for (int index = 0; index < number("concurrent"); index++) free.push_back(&add(0, 0));
  onReady = [&](Connection &connection) {
    joins.add(nanoseconds() - connection.begunAt);
    connection.state = Connection::closing;
    appendFrame(connection.out, 8, string_view("\x03\xe8", 2));
  };
  onGone = [&](Connection &connection) {
    goneCount++;
    free.push_back(&connection);
  };
  Mark first;
  while (goneCount < total) {
    for (; begun < total && !free.empty(); free.pop_back()) {
      *free.back() = Connection();
      free.back()->id = begun;
      free.back()->room = begun++ % 1000;
      begin(*free.back());
    }
    turn(20000000);
  }
  Mark last;
  report("connects_per_s", total * 1e9 / double(last.time - first.time));
  report("join_p99_us", joins.microseconds(.99));
  report("srv_cpu_us_per_connect", (last.cpu - first.cpu) / total);
}

static void roundTrips() {
  Connection &connection = add(0, 0);
  connectAll();
  int count = number("count"), warmUp = std::max(50, count / 10);
  Mark first;
  for (int index = -warmUp; index < count; index++) {
    if (index == 0) {
      isMeasuring = true;
      first = Mark();
    }
    uint64_t before = receivedCount;
    publish(connection, nanoseconds());
    while (receivedCount == before) turn(1000000000);
    rest(options["gap-us"] / 1e6);
  }
  report("rtt_p50_us", latencies.microseconds(.5));
  report("rtt_p99_us", latencies.microseconds(.99));
  report("srv_cpu_us_per_rtt", (cpuMicroseconds() - first.cpu) / count);
}

static void runOn(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// One sender writes to many sockets in turn, as a fan-out does. A thread on another processor reads.
static void bareSend() {
  const int socketCount = 100, rounds = 300;
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto *name = reinterpret_cast<sockaddr *>(&address);
  if (bind(listener, name, length) || listen(listener, socketCount) || getsockname(listener, name, &length))
    fail("listen: %s", strerror(errno));
  std::vector<int> senders;
  for (int index = 0; index < socketCount; index++) {
    int receiver = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(receiver, name, length) && errno != EINPROGRESS) fail("connect: %s", strerror(errno));
    senders.push_back(accept(listener, nullptr, nullptr));
    setsockopt(senders.back(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    epoll_event event{EPOLLIN, {.fd = receiver}};
    epoll_ctl(poll, EPOLL_CTL_ADD, receiver, &event);
  }
  std::atomic<int64_t> readCount = 0;
  std::atomic<bool> isOver = false;
  std::thread reader([&] {
    runOn(1);
    static char buffer[65536];
    epoll_event events[512];
    while (!isOver)
      for (int left = epoll_wait(poll, events, 512, 20); left > 0; left--)
        readCount += std::max<ssize_t>(0, recv(events[left - 1].data.fd, buffer, sizeof buffer, 0));
  });
  runOn(0);
  string message(size_t(number("bytes")), 'x');
  int64_t sent = 0;
  std::vector<double> costs;
  for (int round = 0; round < rounds; round++) {
    int64_t before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    for (int sender : senders) sent += std::max<ssize_t>(0, send(sender, message.data(), message.size(), MSG_NOSIGNAL));
    costs.push_back(double(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before) / 1e3 / socketCount);
    // No backlog.
    while (readCount < sent && nanoseconds() < deadline) usleep(50);
  }
  isOver = true;
  reader.join();
  std::sort(costs.begin(), costs.end());
  report("us_per_send", costs[costs.size() / 2]);
}

int main(int count, char **words) {
  std::map<string, void (*)()> modes = {
      {"rooms", rooms}, {"idle", idle}, {"connects", connects}, {"round-trips", roundTrips}, {"send", bareSend}};
  auto mode = modes.find(count > 1 ? words[1] : "");
  if (mode == modes.end() || count % 2) fail("give a mode and options with values; the source says which");
  for (int index = 2; index < count; index += 2) {
    string name = string(words[index]).substr(2), value = words[index + 1];
    if (name == "dialect") dialect.read(value);
    else if (name == "pid") pids = split(value, ',');
    else if (name == "port") for (auto &port : split(value, ',')) ports.push_back(stoi(port));
    else if (name == "room-vars") {
      std::ifstream lines(value);
      for (string line; std::getline(lines, line);) {
        auto &variables = roomVariables.emplace_back();
        for (auto &pair : split(line, ' ')) variables[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
      }
    } else if (options.count(name)) options[name] = stod(value);
    else fail("there is no option --%s", name.c_str());
  }
  signal(SIGPIPE, SIG_IGN);
  deadline = nanoseconds() + int64_t(options["max-secs"] * 1e9);
  poll = epoll_create1(EPOLL_CLOEXEC);
  mode->second();
  puts("}");
}
