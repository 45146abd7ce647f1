// A workload for libzmq: messages between sockets of several kinds.

#include <zmq.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

void exchange(void* context, int from_kind, int to_kind, const char* address) {
  void* to = zmq_socket(context, to_kind);
  void* from = zmq_socket(context, from_kind);
  if (to_kind == ZMQ_SUB) zmq_setsockopt(to, ZMQ_SUBSCRIBE, "", 0);
  int wait = 20;  // ms
  zmq_setsockopt(to, ZMQ_RCVTIMEO, &wait, sizeof wait);
  zmq_setsockopt(from, ZMQ_SNDTIMEO, &wait, sizeof wait);
  zmq_setsockopt(from, ZMQ_IDENTITY, "sender", 6);
  if (zmq_bind(to, address) != 0 || zmq_connect(from, address) != 0) std::perror(address);
  char text[300];
  std::memset(text, 'x', sizeof text);
  for (int i = 0; i < 200; ++i) {
    zmq_send(from, text, i + 1, i % 3 == 0 ? ZMQ_SNDMORE : 0);
    if (i % 3 == 0) zmq_send(from, "end", 3, 0);
  }
  for (int i = 0; i < 20; ++i) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    zmq_msg_recv(&message, to, 0);
    zmq_msg_close(&message);
  }
  zmq_pollitem_t items[] = {{to, 0, ZMQ_POLLIN, 0}, {from, 0, ZMQ_POLLOUT, 0}};
  zmq_poll(items, 2, 5);
  zmq_disconnect(from, address);
  zmq_unbind(to, address);
  int linger = 0;
  zmq_setsockopt(from, ZMQ_LINGER, &linger, sizeof linger);
  zmq_setsockopt(to, ZMQ_LINGER, &linger, sizeof linger);
  zmq_close(from);
  zmq_close(to);
}

}  // namespace

int main() {
  for (const char* address : {"inproc://lines", "tcp://127.0.0.1:28373", "ipc:///tmp/framedex-lines-zeromq"}) {
    void* context = zmq_ctx_new();
    exchange(context, ZMQ_PUSH, ZMQ_PULL, address);
    exchange(context, ZMQ_PUB, ZMQ_SUB, address);
    exchange(context, ZMQ_PAIR, ZMQ_PAIR, address);
    exchange(context, ZMQ_DEALER, ZMQ_ROUTER, address);
    exchange(context, ZMQ_REQ, ZMQ_REP, address);
    zmq_ctx_term(context);
  }
  char encoded[41], secret[41];
  return zmq_curve_keypair(encoded, secret) == -2;
}
