// SPDX-License-Identifier: Apache-2.0
#include "app/setup/ceilings.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/setup/clock.hpp"
#include "io/text_file.hpp"
#include "kernels/cache_directory.hpp"
#include "kernels/cpu/cpu_ceilings.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/ceilings/ceilings.hpp"
#include "kernels/cuda/runtime/device.hpp"
#endif

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "processor";
}

std::string device_name([[maybe_unused]] const DeviceChoice& device) {
#ifdef SPSOLVE_CUDA
  if (device.cuda) return cuda::device_info(device.device).name;
#endif
  return fmt::format("{}, {} threads", processor_name(), omp_get_max_threads());
}

void print(const Ceiling& rate, const Terminal& terminal) {
  const bool bytes = rate.unit == "B/s";
  terminal.print("{:<44} {:>10.1f} {:>10.1f} {}", rate.name, rate.boost * 1e-9, rate.sustained * 1e-9,
                 bytes ? "GB/s" : "GFLOP/s");
}

/// Replaces rates by their means over the ranks, so that ranks times a rate is the rate of all of them
/// together.
void average(const Communicator& communicator, std::vector<Ceiling>& rates) {
  for (Ceiling& rate : rates)
    for (double* value : {&rate.boost, &rate.sustained})
      *value = communicator.all_reduce(*value, MPI_SUM) / communicator.size();
}

/// Measures messages of growing size to both neighbours of a ring of all ranks and back; the slowest rank
/// counts. In a ring of two both neighbours are one rank, which gets both messages as one.
std::vector<ExchangeTime> measure_exchange(const Communicator& communicator, const DeviceChoice& device,
                                           const ParallelConfig& parallel) {
  if (communicator.size() == 1) return {};
  const Machine machine = make_machine(communicator, device, parallel);
  const int ranks = communicator.size();
  const std::set<int> peers{(communicator.rank() + 1) % ranks, (communicator.rank() + ranks - 1) % ranks};
  constexpr std::size_t least = 4 << 10, most = 16 << 20;
  const OwnedMemory sent = allocate(machine.backend->memory(), 2 * most, 2 * most),
                    received = allocate(machine.backend->memory(), 2 * most, 2 * most);
  std::vector<ExchangeTime> times;
  for (std::size_t bytes = least; bytes <= most; bytes *= 4) {
    std::vector<Message> sends, receives;
    const std::size_t message = 2 * bytes / peers.size();
    for (const int peer : peers) {
      sends.push_back({peer, sent.get() + sends.size() * most, message});
      receives.push_back({peer, received.get() + receives.size() * most, message});
    }
    const auto connection = machine.backend->transport().connect(sends, receives);
    const int count = bytes < (1 << 20) ? 200 : 20;
    const auto exchange = [&] {
      for (int i = 0; i < count; ++i) {
        machine.backend->transport().start(sends, receives);
        machine.backend->transport().finish();
      }
      machine.backend->synchronize();
    };
    exchange();
    communicator.barrier();
    const auto begin = Clock::now();
    exchange();
    times.push_back(
        {static_cast<double>(bytes), communicator.all_reduce(seconds_since(begin), MPI_MAX) / count});
  }
  return times;
}

}  // namespace

Ceilings measure_ceilings(const Communicator& communicator, const DeviceChoice& device,
                          const ParallelConfig& parallel, CeilingScope scope, const Terminal& terminal) {
  Ceilings ceilings{device_name(device), {}, {}};
  terminal.print("{}: what nothing exceeds, per device\n{:<44} {:>10} {:>10}", ceilings.device, "", "boost",
                 "sustained");
  communicator.barrier();
#ifdef SPSOLVE_CUDA
  if (device.cuda) {
    cuda::select_device(device.device);
    const cuda::KernelCompiler compiler(cuda::device_info(device.device).architecture());
    ceilings.rates =
        cuda::measure_ceilings(compiler, scope, [&](const Ceiling& rate) { print(rate, terminal); });
  }
#endif
  if (!device.cuda) {
    ceilings.rates = measure_cpu_ceilings();
    for (const Ceiling& rate : ceilings.rates) print(rate, terminal);
  }
  average(communicator, ceilings.rates);
  if (scope == CeilingScope::all) ceilings.exchange = measure_exchange(communicator, device, parallel);
  for (const ExchangeTime& time : ceilings.exchange)
    terminal.print("exchange of {:>9.0f} bytes with both neighbours: {:>8.1f} us, {:.1f} GB/s sent per rank",
                   time.bytes, time.seconds * 1e6, 2 * time.bytes / time.seconds * 1e-9);
  return ceilings;
}

Json to_json(const Ceilings& ceilings) {
  Json rates = Json::array(), exchange = Json::array();
  for (const Ceiling& rate : ceilings.rates)
    rates.push_back(
        {{"name", rate.name}, {"unit", rate.unit}, {"boost", rate.boost}, {"sustained", rate.sustained}});
  for (const ExchangeTime& time : ceilings.exchange)
    exchange.push_back({{"bytes", time.bytes}, {"seconds", time.seconds}});
  return {{"device", ceilings.device}, {"rates", rates}, {"exchange", exchange}};
}

void remember(const Ceilings& ceilings) {
  const auto file = cache_file("ceilings", ceilings.device);
  if (!file) return;
  try {
    write_cache(*file, to_json(ceilings).dump(2) + "\n");
  } catch (const std::exception&) {  // a cache may be full, or read-only
  }
}

std::optional<Ceilings> remembered_ceilings(const DeviceChoice& device) {
  const auto file = cache_file("ceilings", device_name(device));
  if (!file) return {};
  try {
    const Json json = Json::parse(read_text(*file));
    Ceilings ceilings{json.at("device"), {}, {}};
    for (const Json& rate : json.at("rates"))
      ceilings.rates.push_back({rate.at("name"), rate.at("unit"), rate.at("boost"), rate.at("sustained")});
    for (const Json& time : json.at("exchange"))
      ceilings.exchange.push_back({time.at("bytes"), time.at("seconds")});
    // A file that is damaged, or of another version, must not pass for a device with zero rates.
    for (const char* name : {"copy", "fma fp32", "fma fp64"}) {
      const Ceiling* rate = ceilings.find(name);
      if (!rate || !(rate->sustained > 0 && rate->boost > 0)) return {};
    }
    return ceilings;
  } catch (const std::exception&) {
    return {};
  }
}

std::string describe_ceilings(const DeviceChoice& device) {
  const char* command = "spsolve bench --suite ceilings";
  const std::optional<Ceilings> ceilings = remembered_ceilings(device);
  if (!ceilings) return fmt::format("not measured yet ({})", command);
  const auto rate = [&](const char* name) {
    const Ceiling* found = ceilings->find(name);
    return found ? found->sustained : 0.0;
  };
  return fmt::format("copy {:.0f} GB/s, fma {:.3g} Tflop/s in fp32 and {:.3g} in fp64 (measured by {})",
                     rate("copy") * 1e-9, rate("fma fp32") * 1e-12, rate("fma fp64") * 1e-12, command);
}

}  // namespace spsolve
