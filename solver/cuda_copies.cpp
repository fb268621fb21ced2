// SPDX-License-Identifier: Apache-2.0
#include "solver/cuda_copies.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "kernels/cuda/runtime/copy_rows.hpp"
#include "solver/window_reader.hpp"

namespace spsolve {
namespace {

/// Reserves device memory for later allocations by CUDA and NCCL.
constexpr std::size_t spare_bytes = std::size_t{1} << 30;

/// Sets the size of a window, 1 MiB and the padding of its rows: a transfer then takes longer than its start,
/// and its values are still in a cache when they are written to the file.
constexpr std::size_t window_bytes = (std::size_t{1} << 20) + (std::size_t{1} << 16);

/// Enqueues a copy of the owned points to the device.
void copy_owned(const Field& from, Field& to, cudaStream_t stream) {
  const Box& box = from.owned();
  const Index3 extent = box.extent();
  const std::size_t element = storage_bytes(from.precision());
  const auto rows = [&](const Field& field) {
    return cuda::PitchedRows{const_cast<std::byte*>(field.bytes_at(box.begin)),
                             static_cast<std::size_t>(field.strides()[y_axis]) * element,
                             static_cast<std::size_t>(field.strides()[z_axis]) * element};
  };
  cuda::copy_rows(rows(from), rows(to), static_cast<std::size_t>(extent[x_axis]) * element,
                  static_cast<std::size_t>(extent[y_axis]), static_cast<std::size_t>(extent[z_axis]), stream);
}

/// Enqueues one copy of all memory between fields of one geometry, which is faster than row by row.
void copy_whole(const Field& from, Field& to, cudaStream_t stream) {
  if (from.owned().empty()) return;
  const std::byte* begin = from.bytes_at(from.owned().begin);
  const std::byte* end = from.bytes_at(from.owned().end - Index3{1, 1, 1}) + storage_bytes(from.precision());
  cuda::check_cuda(cudaMemcpyAsync(to.bytes_at(to.owned().begin), begin,
                                   static_cast<std::size_t>(end - begin), cudaMemcpyDefault, stream));
}

}  // namespace

/// Holds device memory for sampled points, shared by several copies.
struct CudaCopies::Staging {
  Staging(const Field& like, Memory& memory) : values(like.owned(), like.halo(), like.precision(), memory) {}

  Field values;
  cuda::Event left;
};

/// Holds pinned memory through which one thread at a time reads points of copies on the device.
struct CudaCopies::PinnedWindow {
  cuda::Stream stream;
  cuda::PinnedBuffer memory{window_bytes};
};

/// Holds a window that a reader has taken from the unused ones; the destructor gives it back.
class CudaCopies::TakenWindow : public WindowReader::FieldWindow {
 public:
  explicit TakenWindow(CudaCopies& all) : all_(all), window_(all.take_window()) {}
  TakenWindow(const TakenWindow&) = delete;
  ~TakenWindow() override { all_.give_back(std::move(window_)); }

  const std::byte* bring(const std::byte* first, std::size_t bytes) override {
    if (bytes > window_->memory.bytes()) window_->memory = cuda::PinnedBuffer(bytes);
    cuda::check_cuda(
        cudaMemcpyAsync(window_->memory.data(), first, bytes, cudaMemcpyDeviceToHost, window_->stream));
    window_->stream.synchronize();
    return static_cast<const std::byte*>(window_->memory.data());
  }

 private:
  CudaCopies& all_;
  std::unique_ptr<CudaCopies::PinnedWindow> window_;
};

class CudaCopies::Copy : public HostCopy {
 public:
  Copy(const Box& box, Precision precision, CudaCopies& all, Location where)
      : values(box, {0, 0, 0}, precision,
               where == Location::device ? static_cast<Memory&>(all.memory_) : all.pinned_),
        location(where),
        all_(all) {}

  Sample sample() override {
    if (!staging) return {&values, stride};
    cuda::check_cuda(cudaStreamWaitEvent(all_.compute_, staging->left));
    return {&staging->values, stride};
  }
  void start_transfer() override {
    if (staging) {
      copy_whole(staging->values, values, all_.travel_);
      staging->left.record(all_.travel_);
    }
    arrived_.record(staging ? all_.travel_ : all_.compute_);
  }
  ReadableField readable() override {
    cuda::select_device(all_.device_);  // a new thread starts with device 0
    arrived_.synchronize();
    if (location == Location::host) return values;
    return {values, WindowReader(values, window_bytes, [&all = all_] {
              cuda::select_device(all.device_);
              return std::make_unique<TakenWindow>(all);
            })};
  }

  Field values;
  const Location location;
  std::int64_t stride = 1;
  std::shared_ptr<Staging> staging;

 private:
  CudaCopies& all_;
  cuda::Event arrived_;
};

CudaCopies::CudaCopies(const cuda::Stream& compute) : compute_(compute) {
  cuda::check_cuda(cudaGetDevice(&device_));
}

CudaCopies::~CudaCopies() = default;

std::size_t CudaCopies::memory_for_copies(std::size_t reserve) {
  std::size_t free_bytes = 0, total_bytes = 0;
  cuda::check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes - std::min(free_bytes, reserve + spare_bytes);
}

std::shared_ptr<HostCopy> CudaCopies::make_copy(const Box& owned, const Sampling& sampling) {
  const Box box = sampling.sampled(owned);
  std::shared_ptr<Copy> copy = unused_copy(box, sampling.precision, Location::device);
  if (!copy) copy = host_copy(box, sampling.precision);
  copy->stride = sampling.stride;
  Prepared* const prepared = find_prepared(box, sampling.precision);
  if (!prepared || copy->location == Location::device) return copy;
  if (!std::exchange(prepared->is_staged, true) &&
      memory_for_copies(prepared->reserve) >= copy->values.bytes())
    prepared->staging = std::make_shared<Staging>(copy->values, memory_);
  copy->staging = prepared->staging;
  return copy;
}

void CudaCopies::prepare(const Box& owned, const Sampling& sampling, int count, std::size_t reserve,
                         bool on_device) {
  const Box box = sampling.sampled(owned);
  if (find_prepared(box, sampling.precision)) return;  // two strides may select the same points
  Prepared& prepared = prepared_.emplace_back(Prepared{box, sampling.precision, reserve});
  if (on_device) {
    const std::size_t bytes = field_bytes(box.extent(), {0, 0, 0}, sampling.precision);
    for (int i = 0; i < count && memory_for_copies(reserve) >= bytes; ++i)
      copies_.push_back(std::make_shared<Copy>(box, sampling.precision, *this, Location::device));
    return;
  }
  std::vector<std::promise<std::shared_ptr<Copy>>> promised(static_cast<std::size_t>(count));
  for (auto& promise : promised) prepared.copies.push_back(promise.get_future());
  prepared.maker = std::jthread([this, box, precision = sampling.precision,
                                 promised = std::move(promised)](const std::stop_token& stop) mutable {
    for (auto& promise : promised) try {
        if (stop.stop_requested()) return;
        cuda::select_device(device_);  // a new thread starts with device 0
        promise.set_value(std::make_shared<Copy>(box, precision, *this, Location::host));
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
  });
}

void CudaCopies::set(Field& field, const FillField& fill) {
  std::erase_if(copies_, [&](const auto& copy) {  // for example the source, in the precision of sums
    return copy.use_count() == 1 && copy->location == Location::host &&
           copy->values.precision() != field.precision();
  });
  const std::shared_ptr<Copy> copy = host_copy(field.owned(), field.precision());
  fill(copy->values);
  copy_owned(copy->values, field, compute_);
  compute_.synchronize();
}

CudaCopies::Prepared* CudaCopies::find_prepared(const Box& box, Precision precision) {
  const auto found = std::ranges::find_if(prepared_, [&](const Prepared& prepared) {
    return prepared.box == box && prepared.precision == precision;
  });
  return found == prepared_.end() ? nullptr : &*found;
}

std::shared_ptr<CudaCopies::Copy> CudaCopies::unused_copy(const Box& box, Precision precision,
                                                          Location location) const {
  const auto found = std::ranges::find_if(copies_, [&](const std::shared_ptr<Copy>& copy) {
    return copy.use_count() == 1 && copy->location == location && copy->values.owned() == box &&
           copy->values.precision() == precision;
  });
  return found == copies_.end() ? nullptr : *found;
}

std::shared_ptr<CudaCopies::Copy> CudaCopies::host_copy(const Box& box, Precision precision) {
  if (auto unused = unused_copy(box, precision, Location::host)) return unused;
  Prepared* const prepared = find_prepared(box, precision);
  if (!prepared || prepared->copies.empty())
    return copies_.emplace_back(std::make_shared<Copy>(box, precision, *this, Location::host));
  std::future<std::shared_ptr<Copy>> next = std::move(prepared->copies.front());
  prepared->copies.pop_front();
  return copies_.emplace_back(next.get());
}

std::unique_ptr<CudaCopies::PinnedWindow> CudaCopies::take_window() {
  const std::lock_guard lock(windows_mutex_);
  if (unused_windows_.empty()) {
    unused_windows_.reserve(++windows_);  // so that give_back() does not fail
    return std::make_unique<PinnedWindow>();
  }
  std::unique_ptr<PinnedWindow> window = std::move(unused_windows_.back());
  unused_windows_.pop_back();
  return window;
}

void CudaCopies::give_back(std::unique_ptr<PinnedWindow> window) noexcept {
  const std::lock_guard lock(windows_mutex_);
  unused_windows_.push_back(std::move(window));
}

}  // namespace spsolve
