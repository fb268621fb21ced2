// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace spsolve {

/// Holds the measured coefficients of the model of devices: the time of an instruction, a plane or a launch
/// that counting does not explain. Values, units and meanings stand in calibration/h200.json, which is
/// compiled into the program; every member here has an entry there.
struct Calibration {
  /// Holds the rates that kernels reach on the whole device.
  struct Rates {
    double bandwidth, scalar_fp64, scalar_fp32, launch_seconds, mma_half, mma_half_sparse, mma_tf32,
        mma_tf32_sparse, mma_fp64, wgmma_tf32_sparse, shared_bandwidth, driver_bandwidth, driver_clock,
        driver_multiprocessors;
  } rates;

  /// Holds the upper limits of the device that the rates were measured on. Rates of another device are scaled
  /// by the ratio of its own ceilings to these.
  struct PeakRates {
    double copy, fma_fp64, fma_fp32, mma_half, mma_half_sparse, mma_tf32, mma_tf32_sparse, mma_fp64,
        wgmma_tf32_sparse, wgmma_half, wgmma_half_sparse, shared_memory;
  } ceilings;

  /// Describes halos between GPUs.
  struct Exchange {
    double seconds_4k, seconds_64k, seconds_256k, seconds_1m, seconds_4m, seconds_16m, node_latency,
        node_bandwidth, network_latency, network_bandwidth, overhead, own_images, min_bandwidth;
  } exchange;

  /// Describes the overhead around kernels.
  struct Launches {
    double overlap, enough_points, fastest_clock, start, start_filled, image_start, image_start_filled,
        image_bandwidth, row_end;
  } launch;

  /// Describes the schedulers of multiprocessors.
  struct Scheduler {
    double alone, rounding_slots;
  } scheduler;

  /// Describes marches of the scalar unit (march.cuh).
  struct Marches {
    double shared_rows, few_warps, flat_sums, space_sums, dense_sums, alone_cycles, plane_latency,
        fetched_instructions, fetch_cycles, ragged_plane, ragged_box, ragged_star, halos_read_again,
        two_fields_read, source_slots, first_copies, fill, kernel_gap, line_gap, tile_gap, folded_share,
        line_reach, line_min, line_reach_fp64, line_kernel, line_kernel_fp64, line_aligned, plane_hand_fp64,
        plane_shuffle_fp64, plane_saved_fp64, plane_folded, plane_box, plane_star, plane_empty, plane_kernel,
        plane_half, plane_deep_fp64, plane_deep_box, plane_deep_star, space_fp64, space_reach_fp64,
        space_kernel_fp64, space_star, space_star_reach, space_folded, space_folded_reach, space_box_radius,
        space_box_saved, space_box_kernel, space_half;
  } march;

  /// Describes kernels of the scalar unit that do not march, as the plan times them.
  struct Steps {
    double fill, start, walls, step, load, source, rounding;
  } steps;

  /// Describes the cost of walls in the scalar unit.
  struct Walls {
    double warp_start, warp_cycles, max_code, far_code, beside_values, beside_mirrors, asked_planes,
        step_latency, band_kernel, band_step, band_tile, hidden_small_space, hidden_small_plane, shown_short,
        hidden_short, hidden, line_fp64, line_radius_fp64, line_radius, line_tf32, line_beside,
        line_beside_fp64;
  } walls;

  /// Describes the bands beside walls that fused weights do not reach.
  struct Bands {
    double hidden_line, enough_points, largest;
  } bands;

  /// Describes direct layouts (mma_sweep.cuh).
  struct Direct {
    double block_step, line_block, line_block_fp64, fill, long_line, loop_cost, spill_cost, bank_conflicts,
        waits_tf32, waits_half_line, waits_half_plane, waits_half_space, waits_plane, waits, busy_plane_fp64,
        memory_space, memory_plane, memory_line_fp64, memory_line_long, memory_line_middle, memory_line_short,
        source, source_line, source_wide;
  } direct;

  /// Describes sweeps by wgmma.sp (wgmma_sweep.cuh).
  struct Windowed {
    double pairs, pairs_row, pairs_shared, half, half_row, half_wide, half_wide_row, tf32, tf32_row, memory;
  } windowed;

  /// Describes separable sweeps (separable.cuh, separable_planes.cuh).
  struct Separable {
    double max_factors, factor_spills, staged_byte, source_plane, ragged_source, narrow_stores, memory_plane,
        memory_space, memory_line_half, memory_line, share_line_half, share_line, line_windows,
        latency_line_half, latency_line, latency_line_slab, waits_half, waits_word, alone_four_windows,
        alone_groups, alone_many_windows, alone_few_windows, four_groups, many_windows, four_windows,
        three_windows_two_groups, three_windows, two_groups, one_group, many_spills, window_spills,
        split_windows, word_groups, word_few_factors, word_many_factors, word_windows, word_windows_factor,
        space_half, space_word, space_sums, space_sums_split, space_enough_points;
  } separable;

  /// Holds the numbers by which the scalar unit cuts its marches into tiles.
  struct Tiles {
    double narrow_hides, ghost_planes, boxes_beside_both, min_useful, min_useful_with_source;
  } tiles;

  /// Describes kernels with one thread per point (step.cuh).
  struct SingleSteps {
    double first_cache_bytes, second_cache_cycles, row_cycles, tap_cycles, loop_cycles, slots_of_cycle,
        mirror_slots, constant_slots, constant_fp64, offset_slots, repeat_slots, repeat_fp64, crowding_taps;
  } single_steps;

  /// Describes small-grid steps (steps.cuh), and the march that they are compared with there.
  struct SmallGrids {
    double start_cycles, ghost_cycles, barrier_cycles, load_cycles, turn_slots, point_slots, march_cycles,
        level_cycles_fp64, plane_cycles, sum_slots, walls_slow, mirror_cycles;
  } small_grids;

  /// Describes single steps by tiles that stream planes (star_step.cuh).
  struct StarTiles {
    double copy_slots, read_slots, half_slots, tf32_slots, row_slots, plane_slots, ghost_slots, start_cycles,
        block_cycles, plane_cycles, read_cycles, cache_bytes, memory_bytes, halo_share;
  } star_tiles;

  /// Describes single steps by tiles of whole windows (box_step.cuh).
  struct BoxTiles {
    double sum_slots, row_slots, copy_slots, convert_slots, plane_slots, wall_slots, ghost_slots, read_cycles,
        start_cycles, apart;
  } box_tiles;

  /// Describes several steps of a system per launch, on tiles that march (march_steps.cuh).
  struct FusedSteps {
    double statement_slots, wall_slots, row_slots, level_slots, waited_for, waited_for_alone, fp64_slots,
        bytes_per_cycle, halo_share, overlap, barrier_cycles, load_slots, reflecting, mirroring, split, wide;
  } fused_steps;

  /// Describes a pair of server CPU cores.
  struct Cpu {
    double bandwidth, scalar_fp64, scalar_fp32, ceiling_fma_fp64, ceiling_fma_fp32, launch_seconds,
        level_cost, latency, message_bandwidth, exchange_launches, ring_launches, row, row_tap, rounding,
        operand, grouped_tap, shorter_shown, emulated_fma;
  } cpu;
};

/// Names a coefficient of a Calibration as files do.
struct Coefficient {
  const char* name;                         // "march.plane_latency"
  double& (*in)(Calibration& calibration);  // the member
  double shipped;                           // its value in calibration/h200.json
};

/// Returns all coefficients, in the order of calibration/h200.json.
const std::vector<Coefficient>& coefficients();

/// Returns the calibration that is compiled in, from an H200.
const Calibration& shipped_calibration();

/// Returns true if a coefficient keeps its shipped value on every device. All ranks cut their kernels or
/// exchange their halos by it, so their values must agree.
bool is_fixed(const Coefficient& coefficient);

}  // namespace spsolve
