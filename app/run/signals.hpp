// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <optional>

namespace spsolve {

/// Receives the signals that a run answers at the end of a launch instead of dying: USR1, USR2, TERM, HUP,
/// XCPU, and INT once the run has begun. All but INT are blocked from construction on, also in threads
/// started later, and wait until next() asks for them. An INT or HUP that was ignored at construction stays
/// ignored. PIPE and XFSZ are ignored: the writes themselves fail.
class Signals {
 public:
  Signals();

  /// Gives all signals their default effect again.
  void release();

  /// Makes the first INT wait for next() from now on; before this call it ends the process at once. The
  /// second INT ends the process even if next() has not been called yet, as users expect of Ctrl-C.
  void await_interrupt();

  /// Returns a signal that has arrived and was not returned yet. It also takes INT back from libraries that
  /// have replaced its handler. After the first TERM or INT another one of either ends the process at once.
  std::optional<int> next();

  /// Returns true if TERM or INT has arrived and was not asked for yet. Any thread may call this.
  bool termination_requested() const;

 private:
  /// Installs the handler of INT, or ignores INT, whatever libraries have done since. LLVM replaces the
  /// handler when it is loaded, and NVRTC while it compiles, in threads that may end long after a run has
  /// begun, and then restores the former one.
  void take_interrupt() const;

  sigset_t waiting_;
  bool interruptible_;  // as it was at construction
  bool awaiting_interrupt_ = false;
};

}  // namespace spsolve
