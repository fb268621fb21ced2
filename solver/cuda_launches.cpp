// SPDX-License-Identifier: Apache-2.0
#include "solver/cuda_launches.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "kernels/cuda/runtime/graph.hpp"

namespace spsolve {
namespace {

constexpr std::chrono::milliseconds spin_time(2);  // how long a wait spins before it begins to sleep between
                                                   // polls
constexpr std::chrono::microseconds sleep_time(50);
constexpr std::int64_t timing_interval = 61;  // launches; prime, so that launches that alternate are all
                                              // sampled
constexpr double max_seconds_ahead = 0.5;  // signals, time limits and the watchdog wait for the launches in
                                           // flight

}  // namespace

/// Captures a launch in a CUDA graph. Its kernels, tables and scratch memory are made when it runs for the
/// first time, without a graph. That may move memory that graphs of other launches refer to, so those graphs
/// are captured again.
class CudaLaunches::GraphLaunch : public Launch {
 public:
  explicit GraphLaunch(CudaLaunches& launches) : launches_(&launches) {}

  void run(const std::function<void()>& enqueue) override {
    launches_->begin_launch(prepared_);
    if (!launches_->graphs_ || !prepared_ || !replays_) {
      if (!prepared_) ++launches_->preparations_;
      prepared_ = true;
      launches_->replays_ = true;
      enqueue();
      replays_ = launches_->replays_;
    } else {
      if (preparations_ != launches_->preparations_) graphs_ = {};
      preparations_ = launches_->preparations_;
      std::optional<cuda::Graph>& graph = graphs_[launches_->timing_];
      if (!graph) graph.emplace(launches_->compute_, enqueue);
      graph->launch(launches_->compute_);
    }
    launches_->end_launch();
  }

 private:
  CudaLaunches* launches_;
  bool prepared_ = false, replays_ = true;
  std::int64_t preparations_ = 0;
  std::array<std::optional<cuda::Graph>, 2> graphs_;  // without and with timing events
};

CudaLaunches::CudaLaunches(const cuda::Stream& compute, const Transport& transport, bool graphs)
    : compute_(compute), transport_(&transport), graphs_(graphs) {
  for (auto& mark : marks_) mark = std::make_unique<cuda::Event>(true);
}

CudaLaunches::~CudaLaunches() = default;

std::unique_ptr<Launch> CudaLaunches::make_launch() { return std::make_unique<GraphLaunch>(*this); }

void CudaLaunches::mark(Mark mark, cudaStream_t stream) {
  if (timing_) marks_[static_cast<std::size_t>(mark)]->record_for_host(stream);
}

void CudaLaunches::begin_launch(bool prepared) {
  if (launches_ >= window()) wait(finished_[(launches_ - window()) % max_in_flight]);
  timing_ = launches_ == 0 || (launches_ >= next_timed_ && prepared);
  if (!timing_) return;
  add_timed_launch();
  timed_launch_ = launches_;
  timed_pending_ = true;
  next_timed_ = launches_ + (launches_ == 0 ? 1 : timing_interval);
}

std::int64_t CudaLaunches::window() const {
  constexpr std::int64_t least = 2;
  if (launch_seconds_ <= 0) return least;
  return static_cast<std::int64_t>(
      std::clamp(max_seconds_ahead / launch_seconds_, double{least}, double{max_in_flight}));
}

void CudaLaunches::end_launch() {
  finished_[launches_ % max_in_flight].record(compute_);
  ++launches_;
}

void CudaLaunches::add_timed_launch() {
  if (!timed_pending_) return;
  timed_pending_ = false;
  wait(finished_[timed_launch_ % max_in_flight]);
  std::array<double, mark_count> at{};
  for (std::size_t i = 1; i < mark_count; ++i) at[i] = marks_[i]->seconds_since(*marks_[0]);
  launch_seconds_ = *std::max_element(at.begin(), at.end());
  // The first launch also prepares others, so it is not scaled up.
  if (timed_launch_ == 0) return first_.add(at, 1);
  timings_.add(at, static_cast<double>(timed_launch_ - timed_for_));
  timed_for_ = timed_launch_;
}

Timings CudaLaunches::timings() {
  add_timed_launch();
  Timings all = first_;
  if (timed_for_ > 0) all += static_cast<double>(launches_ - 1) / static_cast<double>(timed_for_) * timings_;
  return all;
}

void CudaLaunches::wait(const cuda::Event& event) const {
  const auto begin = std::chrono::steady_clock::now();
  while (!event.done()) {
    transport_->check();
    if (std::chrono::steady_clock::now() - begin > spin_time) std::this_thread::sleep_for(sleep_time);
  }
}

}  // namespace spsolve
