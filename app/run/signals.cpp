// SPDX-License-Identifier: Apache-2.0
#include "app/run/signals.hpp"

#include <atomic>
#include <ctime>

namespace spsolve {
namespace {

/// Is true if INT has arrived and was not asked for yet; a handler may write nothing else. INT cannot be
/// blocked like the other signals: until a run begins it must end the process, and by then threads of
/// libraries exist that would receive it.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

/// Returns true if a signal is not ignored. Processes that a script starts in the background ignore INT, and
/// processes that nohup starts ignore HUP.
bool reaches_this_process(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler != SIG_IGN;
}

}  // namespace

Signals::Signals() : interruptible_(reaches_this_process(SIGINT)) {
  sigemptyset(&waiting_);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGXCPU}) sigaddset(&waiting_, signal);
  if (reaches_this_process(SIGHUP)) sigaddset(&waiting_, SIGHUP);  // nohup ignores it
  pthread_sigmask(SIG_BLOCK, &waiting_, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the size limit is then a failed write, like a full disk
  std::signal(SIGPIPE, SIG_IGN);  // the run continues if the reader of its output leaves
}

void Signals::release() {
  pthread_sigmask(SIG_UNBLOCK, &waiting_, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

void Signals::await_interrupt() {
  awaiting_interrupt_ = true;
  take_interrupt();
}

void Signals::take_interrupt() const {
  struct sigaction action {};
  if (interruptible_) {
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
  } else {
    action.sa_handler = SIG_IGN;
  }
  sigaction(SIGINT, &action, nullptr);
}

std::optional<int> Signals::next() {
  if (awaiting_interrupt_ && !interrupted) take_interrupt();
  const timespec at_once{};
  const int signal = interrupted.exchange(false) ? SIGINT : sigtimedwait(&waiting_, nullptr, &at_once);
  if (signal < 0) return std::nullopt;
  if (signal == SIGTERM || signal == SIGINT) {
    sigset_t deadly;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &deadly, nullptr);
    sigdelset(&waiting_, SIGTERM);
    if (interruptible_) std::signal(SIGINT, SIG_DFL);
    awaiting_interrupt_ = false;
  }
  return signal;
}

bool Signals::termination_requested() const {
  sigset_t arrived;
  sigpending(&arrived);
  return interrupted || sigismember(&arrived, SIGTERM) == 1;
}

}  // namespace spsolve
