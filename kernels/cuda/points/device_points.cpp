// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/points/device_points.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/error.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

/// The amounts of a stretch of steps travel to the device together: about max_amounts values, but at least
/// min_stretch and at most max_stretch steps, or the steps of one launch if these are more.
constexpr std::int64_t max_amounts = 1 << 20, min_stretch = 16, max_stretch = 1024;
constexpr unsigned max_point_blocks = 4096;

std::size_t bytes_of(std::int64_t values, Precision precision) {
  return static_cast<std::size_t>(values) * storage_bytes(precision);
}

/// Calls visit.operator()<Value>() with the type of amounts and recorded values.
template <class Visit>
decltype(auto) with_value(Precision precision, Visit&& visit) {
  if (precision == Precision::fp64) return visit.template operator()<double>();
  return visit.template operator()<float>();
}

std::string constants_of(Precision precision) {
  ConstantsText text({"kernels/cuda/ptx/precision.cuh"});
  text.type("Stored", stored_name(precision));
  return text.finished();
}

}  // namespace

/// Holds rows that have been copied to the memory of a landing.
class DevicePoints::FetchedRows : public RecordedRows {
 public:
  FetchedRows(std::shared_ptr<Landing> landing, std::size_t bytes)
      : landing_(std::move(landing)), bytes_(bytes) {}

  std::span<const std::byte> wait() override {
    landing_->done.synchronize();
    return {static_cast<const std::byte*>(landing_->memory.data()), bytes_};
  }

 private:
  std::shared_ptr<Landing> landing_;
  std::size_t bytes_;
};

DevicePoints::DevicePoints(PointTable all, AmountsOfStep amounts, const Field& like, const Stream& stream,
                           const KernelCompiler& compiler)
    : PointWork(std::move(all), std::move(amounts)),
      precision_(like.precision()),
      stream_(stream),
      add_(compiler.begin("kernels/cuda/points/points.cuh", constants_of(precision_)), "add_to_points"),
      record_(compiler.begin("kernels/cuda/points/points.cuh", constants_of(precision_)), "record_points"),
      combine_(compiler.begin("kernels/cuda/points/points.cuh", constants_of(precision_)), "combine_points") {
  const auto device_point = [&](const FieldPoint& point, std::size_t column) {
    if (point.field >= max_point_fields)
      throw Error(Status::invalid_input, "[[point_sources]], [[probes]]: GPUs take points of the first " +
                                             std::to_string(max_point_fields) +
                                             " fields only; use compute.device = \"cpu\"");
    if (column > std::numeric_limits<int>::max())
      throw Error(Status::invalid_input, "[[point_sources]], [[probes]]: GPUs take fewer than 2^31 points");
    const auto bytes = reinterpret_cast<std::intptr_t>(like.bytes_at(point.p)) -
                       reinterpret_cast<std::intptr_t>(like.bytes_at(like.owned().begin));
    return DevicePoint{bytes / static_cast<std::intptr_t>(storage_bytes(precision_)),
                       static_cast<int>(point.field), static_cast<int>(column)};
  };
  const auto list_of = [&](const std::vector<DevicePoint>& points) {
    List list;
    list.points = to_device(points, stream_);
    list.count = static_cast<int>(points.size());
    return list;
  };
  if (table().recorded.size() > std::numeric_limits<short>::max())
    throw Error(Status::invalid_input, "[[probes]]: GPUs take fewer than 2^15 tables");
  std::vector<DevicePoint> added;
  for (const AddedPoint& point : table().added) added.push_back(device_point(point.at, point.column));
  added_ = list_of(added);
  for (const RecordedPoints& group : table().recorded) {
    std::vector<DevicePoint> recorded;
    for (const FieldPoint& point : group.points) recorded.push_back(device_point(point, recorded.size()));
    List list = list_of(recorded);
    const auto columns = static_cast<std::int64_t>(recorded.size());
    upload_shares(group, list);
    if (columns > 0) list.values = DeviceBuffer(bytes_of(group.rows * columns, sum_precision(precision_)));
    groups_on_host_.push_back(
        {static_cast<unsigned>(std::min<std::int64_t>(group.every, last_recorded_step + 1)),
         static_cast<unsigned>(group.rows), columns, list.values.data()});
    recorded_.push_back(std::move(list));
  }
  groups_ = to_device(groups_on_host_, stream_);
}

/// Uploads the shares from which values are computed. Threads compute values in the order of the first points
/// of the values, so that neighbouring threads read the same lines of memory.
void DevicePoints::upload_shares(const RecordedPoints& group, List& list) const {
  if (group.starts.empty()) return;
  if (group.shares.size() > std::numeric_limits<unsigned>::max())
    throw Error(Status::invalid_input, "[[probes]]: GPUs take fewer than 2^32 grid points around points");
  std::vector<unsigned> order(group.values());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(
      order, {}, [&](unsigned value) { return std::pair(group.shares[group.starts[value]].point, value); });
  std::vector<DeviceShare> shares;
  std::vector<unsigned> starts{0};
  for (const unsigned value : order) {
    for (std::size_t k = group.starts[value]; k < group.starts[value + 1]; ++k)
      shares.push_back({group.shares[k].weight, static_cast<unsigned>(group.shares[k].point)});
    starts.push_back(static_cast<unsigned>(shares.size()));
  }
  list.shares = to_device(shares, stream_);
  list.starts = to_device(starts, stream_);
  list.value_columns = to_device(order, stream_);
}

void DevicePoints::allocate_amounts(std::int64_t steps) {
  const auto columns = static_cast<std::int64_t>(table().columns);
  stream_.synchronize();  // the replaced memory is in use
  stretch_ = std::max(steps, std::clamp(max_amounts / columns, min_stretch, max_stretch));
  const std::size_t bytes = bytes_of(stretch_ * columns, sum_precision(precision_));
  amounts_ = DeviceBuffer(bytes);
  for (Landing& landing : stretches_) landing.memory = PinnedBuffer(bytes);
}

void DevicePoints::provide(std::int64_t first, int steps) {
  const std::size_t columns = table().columns;
  if (columns == 0 || (first >= first_ && first + steps <= known_)) return;
  if (steps > stretch_) allocate_amounts(steps);
  first_ = first;
  known_ = first + stretch_;
  Landing& landing = stretches_[turn_];
  turn_ = 1 - turn_;
  landing.done.synchronize();  // the last transfer that used this landing
  std::vector<double> amounts(columns);
  with_value(precision_, [&]<class Value>() {
    Value* next = static_cast<Value*>(landing.memory.data());
    for (std::int64_t step = first_; step < known_; ++step) {
      amounts_of(step, amounts);
      for (const double amount : amounts) *next++ = static_cast<Value>(amount);
    }
  });
  check_cuda(cudaMemcpyAsync(amounts_.data(), landing.memory.data(), amounts_.bytes(), cudaMemcpyHostToDevice,
                             stream_));
  landing.done.record(stream_);
}

const void* DevicePoints::amounts(std::int64_t step) const {
  return static_cast<const std::byte*>(amounts_.data()) +
         bytes_of((step - first_) * static_cast<std::int64_t>(table().columns), sum_precision(precision_));
}

void DevicePoints::launch(const Kernel& kernel, const List& list, void* values,
                          std::span<const std::byte* const> fields) {
  if (list.count == 0) return;
  PointArguments a{static_cast<const DevicePoint*>(list.points.data()), list.count, values, {}};
  const std::size_t known = std::min<std::size_t>(fields.size(), max_point_fields);
  for (std::size_t field = 0; field < known; ++field) a.fields[field] = const_cast<std::byte*>(fields[field]);
  const unsigned blocks = ceil_div(static_cast<unsigned>(list.count), point_threads);
  kernel.launch(std::min(blocks, max_point_blocks), point_threads, 0, stream_, a);
}

void DevicePoints::add(const State& state, std::int64_t step) {
  std::vector<const std::byte*> fields;
  for (const Field* field : state) fields.push_back(field->bytes_at(field->owned().begin));
  launch(add_, added_, const_cast<void*>(amounts(step)), fields);
}

void DevicePoints::record(const ConstState& state, std::int64_t step) {
  std::vector<const std::byte*> fields;
  for (const Field* field : state) fields.push_back(field->bytes_at(field->owned().begin));
  for (std::size_t number = 0; number < recorded_.size(); ++number) {
    const RecordedPoints& group = table().recorded[number];
    if (step % group.every != 0 || group.points.empty()) continue;
    const std::int64_t place = step / group.every % group.rows * std::ssize(group.points);
    launch(
        record_, recorded_[number],
        static_cast<std::byte*>(recorded_[number].values.data()) + bytes_of(place, sum_precision(precision_)),
        fields);
  }
}

/// Returns memory for `rows` rows that no transfer uses.
std::shared_ptr<DevicePoints::Landing> DevicePoints::landing_of(std::size_t group, std::int64_t rows) {
  const RecordedPoints& recorded = table().recorded[group];
  const std::size_t row_bytes =
      bytes_of(static_cast<std::int64_t>(recorded.values()), sum_precision(precision_));
  auto& landings = recorded_[group].landings;
  const auto unused = std::ranges::find_if(landings, [&](const auto& landing) {
    return landing.use_count() == 1 && landing->memory.bytes() >= static_cast<std::size_t>(rows) * row_bytes;
  });
  if (unused != landings.end()) return *unused;
  auto landing = std::make_shared<Landing>();
  // While one half of the rows travels, the other is recorded.
  const std::size_t bytes = static_cast<std::size_t>(std::max(rows, (recorded.rows + 1) / 2)) * row_bytes;
  if (bytes > 0) landing->memory = PinnedBuffer(bytes);
  if (bytes > 0 && !recorded.starts.empty()) landing->combined = DeviceBuffer(bytes);
  landings.push_back(landing);
  return landing;
}

std::unique_ptr<RecordedRows> DevicePoints::fetch(std::size_t group, std::int64_t first, std::int64_t count) {
  const auto values = static_cast<std::int64_t>(table().recorded[group].values());
  const std::shared_ptr<Landing> landing = landing_of(group, count);
  // New rows overwrite rows that were fetched before, so the copies of the fetched rows must have ended.
  check_cuda(cudaStreamWaitEvent(stream_, *recorded_[group].read));
  reached_.record(stream_);
  check_cuda(cudaStreamWaitEvent(travel_, reached_));
  if (values > 0) {
    if (table().recorded[group].starts.empty())
      copy(group, first, count, *landing);
    else
      combine(group, first, count, *landing);
  }
  landing->done.record(travel_);
  return std::make_unique<FetchedRows>(landing, bytes_of(count * values, sum_precision(precision_)));
}

/// Computes values from recorded points and copies them to the host.
void DevicePoints::combine(std::size_t group, std::int64_t first, std::int64_t count,
                           const Landing& landing) {
  const RecordedPoints& recorded = table().recorded[group];
  const List& list = recorded_[group];
  const auto values = static_cast<unsigned>(recorded.values()), rows = static_cast<unsigned>(count);
  const CombineArguments a{static_cast<const DeviceShare*>(list.shares.data()),
                           static_cast<const unsigned*>(list.starts.data()),
                           static_cast<const unsigned*>(list.value_columns.data()),
                           values,
                           list.values.data(),
                           list.count,
                           static_cast<unsigned>(recorded.rows),
                           static_cast<unsigned>(first % recorded.rows),
                           rows,
                           landing.combined.data()};
  const unsigned blocks = std::min(ceil_div(values, point_threads), max_point_blocks);
  const unsigned parts = std::min(ceil_div(rows, rows_per_thread), ceil_div(max_point_blocks, blocks));
  combine_.launch({blocks, parts}, point_threads, 0, travel_, a);
  list.read->record(travel_);
  check_cuda(cudaMemcpyAsync(landing.memory.data(), landing.combined.data(),
                             bytes_of(count * static_cast<std::int64_t>(values), sum_precision(precision_)),
                             cudaMemcpyDeviceToHost, travel_));
}

/// Copies rows to the host as they were recorded.
void DevicePoints::copy(std::size_t group, std::int64_t first, std::int64_t count, const Landing& landing) {
  const List& list = recorded_[group];
  const std::int64_t ring = table().recorded[group].rows;
  const std::size_t row_bytes = bytes_of(list.count, sum_precision(precision_));
  // Rows are kept in a ring. A copy that passes the end of the ring has two parts.
  for (std::int64_t row = first, rows = 0; row < first + count; row += rows) {
    const std::int64_t place = row % ring;
    rows = std::min(first + count - row, ring - place);
    check_cuda(cudaMemcpyAsync(
        static_cast<std::byte*>(landing.memory.data()) + static_cast<std::size_t>(row - first) * row_bytes,
        static_cast<const std::byte*>(list.values.data()) + static_cast<std::size_t>(place) * row_bytes,
        static_cast<std::size_t>(rows) * row_bytes, cudaMemcpyDeviceToHost, travel_));
  }
  list.read->record(travel_);
}

}  // namespace spsolve::cuda
