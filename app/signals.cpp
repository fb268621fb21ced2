// SPDX-License-Identifier: Apache-2.0
#include "app/signals.hpp"

#include <ctime>

namespace spsolve {

Signals::Signals() {
  sigemptyset(&waiting_);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT}) sigaddset(&waiting_, signal);
  pthread_sigmask(SIG_BLOCK, &waiting_, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // beyond the limit on file sizes: a failure of the write, like a full disk
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads what is printed may leave; the run goes on
}

void Signals::release() {
  pthread_sigmask(SIG_UNBLOCK, &waiting_, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

std::optional<int> Signals::next() {
  const timespec at_once{};
  const int signal = sigtimedwait(&waiting_, nullptr, &at_once);
  if (signal < 0) return std::nullopt;
  if (signal == SIGTERM || signal == SIGINT) {
    sigset_t deadly;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGTERM);
    sigaddset(&deadly, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &deadly, nullptr);
    sigdelset(&waiting_, SIGTERM);
    sigdelset(&waiting_, SIGINT);
  }
  return signal;
}

bool Signals::termination_requested() const {
  sigset_t arrived;
  sigpending(&arrived);
  return sigismember(&arrived, SIGTERM) == 1 || sigismember(&arrived, SIGINT) == 1;
}

}  // namespace spsolve
