// floor - what one send() of a small message on a loopback TCP socket costs the sender, and nothing else.
//   g++ -O2 -std=c++17 -pthread -o floor floor.cpp
//   ./floor [bytes=150] [sockets=1000] [rounds=300] [cpu_tx=0] [cpu_rx=1] [mode=send|batch:K]
// A sender thread on cpu_tx sends one message to every socket in turn, as a fan-out does; a reader thread
// on cpu_rx takes everything off again (epoll + recv). CPU of each thread by CLOCK_THREAD_CPUTIME_ID.
// batch:K sends K messages of that size in one send(): the cost is still given per message.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>
static double cpu() { timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e6 + t.tv_nsec / 1e3; }
static void pin(int c) { if (c < 0) return; cpu_set_t s; CPU_ZERO(&s); CPU_SET(c, &s); pthread_setaffinity_np(pthread_self(), sizeof s, &s); }
int main(int argc, char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 150, n = argc > 2 ? atoi(argv[2]) : 1000, rounds = argc > 3 ? atoi(argv[3]) : 300;
  int ct = argc > 4 ? atoi(argv[4]) : 0, cr = argc > 5 ? atoi(argv[5]) : 1;
  std::string mode = argc > 6 ? argv[6] : "send";
  int k = mode.rfind("batch:", 0) == 0 ? atoi(mode.c_str() + 6) : 1;
  int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  sockaddr_in a{}; a.sin_family = AF_INET; a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t al = sizeof a;
  if (bind(l, (sockaddr *)&a, al) || listen(l, 4096) || getsockname(l, (sockaddr *)&a, &al)) { perror("listen"); return 1; }
  std::vector<int> tx, rx;
  for (int i = 0; i < n; i++) {
    int c = socket(AF_INET, SOCK_STREAM, 0);
    if (c < 0 || connect(c, (sockaddr *)&a, al)) { perror("connect"); return 1; }
    int s = accept4(l, nullptr, nullptr, SOCK_NONBLOCK);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    tx.push_back(s); rx.push_back(c);
  }
  std::atomic<long> got{0};
  std::atomic<bool> stop{false};
  double rxcpu = 0;
  std::thread t([&] {
    pin(cr);
    int ep = epoll_create1(0);
    for (int f : rx) { epoll_event e{}; e.events = EPOLLIN; e.data.fd = f; epoll_ctl(ep, EPOLL_CTL_ADD, f, &e); }
    static char b[65536];
    epoll_event ev[512];
    double c0 = cpu();
    while (!stop) {
      int m = epoll_wait(ep, ev, 512, 20);
      for (int i = 0; i < m; i++) { ssize_t r = recv(ev[i].data.fd, b, sizeof b, MSG_DONTWAIT); if (r > 0) got += r; }
    }
    rxcpu = cpu() - c0;
  });
  pin(ct);
  usleep(100000);
  std::vector<char> buf(size_t(size) * size_t(k), 'x');
  long sent = 0, again = 0;
  std::vector<double> per;
  for (int i = 0; i < rounds; i++) {
    double c0 = cpu();
    for (int j = 0; j < n; j++) { ssize_t w = send(tx[size_t(j)], buf.data(), buf.size(), MSG_NOSIGNAL); if (w > 0) sent += w; else again++; }
    per.push_back((cpu() - c0) / n / k);
    for (int w = 0; got < sent && w < 2000; w++) usleep(50);  // let the reader finish: no backlog
  }
  stop = true;
  t.join();
  std::sort(per.begin(), per.end());
  printf("{\"mode\":\"%s\",\"bytes\":%d,\"sockets\":%d,\"us_per_msg_median\":%.3f,\"us_per_msg_p10\":%.3f,\"us_per_msg_p90\":%.3f,\"reader_us_per_msg\":%.3f,\"eagain\":%ld}\n", mode.c_str(), size, n,
         per[per.size() / 2], per[per.size() / 10], per[per.size() * 9 / 10], rxcpu / (double(rounds) * n * k), again);
}
