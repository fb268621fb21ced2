// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/cpu/system_unit.hpp"
#include "kernels/fused_unit.hpp"
#include "kernels/sparse/emulation/emulated_sweep.hpp"
#include "solver/backend.hpp"
#include "solver/strides.hpp"

namespace spsolve {
namespace {

/// Is a copy that consists of the field itself.
class FieldInPlace : public HostCopy {
 public:
  explicit FieldInPlace(const Field& field) : field_(field) {}
  ReadableField readable() override { return field_; }

 private:
  const Field& field_;
};

/// Computes in - source in host memory.
class MinusSource : public Sweep {
 public:
  void operator()(const Field& in, Field& out, const Box& region, const Field* source) const override {
    with_storage(in.precision(), [&]<class Storage>() {
      for_each_point(region, [&](const Index3& p) {
        *out.at<Storage>(p) =
            to_storage<Storage>(stored_value(*in.at<Storage>(p)) - stored_value(*source->at<Storage>(p)));
      });
    });
  }
};

class FieldCopy : public HostCopy {
 public:
  FieldCopy(const Field& field, const Sampling& sampling)
      : values_(sampling.sampled(field.owned()), {0, 0, 0}, sampling.precision), stride_(sampling.stride) {}
  Sample sample() override { return {&values_, stride_}; }
  ReadableField readable() override { return values_; }

 private:
  Field values_;
  std::int64_t stride_;
};

}  // namespace

std::unique_ptr<Unit> CpuBackend::make_unit(const Problem& problem, const Method& method,
                                            const GivenFields& sources, Queue, const std::array<bool, 3>&) {
  std::unique_ptr<Unit> single_steps;
  if (problem.equations)
    single_steps = std::make_unique<CpuSystemUnit>(problem.equations->canonical, problem.equations->domains,
                                                   problem.equations->dt, problem.precision,
                                                   sources.coefficients, problem.equations->filled);
  else
    single_steps =
        std::make_unique<CpuUnit>(problem.domain, problem.stencil, problem.precision, sources.single);
  if (!method.fused_weights()) return single_steps;
  if (method.strided) {
    StrideSweeps sweeps = make_stride_sweeps(problem, method, [&](const Stencil& weights, double factor) {
      return sweep_of(make_emulated_sweep(weights, problem.precision, method.layout.value(), method.dropped,
                                          problem.domain.shape, factor));
    });
    sweeps.minus_source = std::make_unique<MinusSource>();
    return std::make_unique<StridedUnit>(problem.domain, method.fuse, std::move(sweeps),
                                         std::move(single_steps));
  }
  auto sweep = sweep_of(make_emulated_sweep(fuse_steps(problem.stencil, method.fuse), problem.precision,
                                            method.layout.value(), method.dropped, problem.domain.shape));
  return std::make_unique<FusedUnit>(problem.domain, problem.stencil.radius(), method.fuse, std::move(sweep),
                                     std::make_unique<Branch>(), std::move(single_steps), sources.fused);
}

std::unique_ptr<Launch> CpuBackend::make_launch() {
  class Now : public Launch {
   public:
    explicit Now(CpuBackend& backend) : backend_(&backend) {}
    void run(const std::function<void()>& enqueue) override {
      enqueue();
      backend_->timings_.add(backend_->marks_, 1);
    }

   private:
    CpuBackend* backend_;
  };
  return std::make_unique<Now>(*this);
}

void CpuBackend::mark(Mark mark, Queue) {
  marks_[static_cast<std::size_t>(mark)] =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::shared_ptr<HostCopy> CpuBackend::make_copy(const Field& field, const Sampling& sampling) {
  if (copies_last_ || sampling.stride > 1) return std::make_shared<FieldCopy>(field, sampling);
  return std::make_shared<FieldInPlace>(field);
}

}  // namespace spsolve
