package dev.kagzi.bench;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.LongFunction;

/** Measures how many cores each side of a measurement uses, from its creation on. */
final class CpuWatch {
  private static final double COMPILING_SHARE_MAX = 0.1;

  private final Contender contender;
  private final OptionalLong postmaster;
  private final Sample first;

  CpuWatch(Contender contender) {
    this.contender = contender;
    this.postmaster = Cpu.postmaster(contender.database().server().sessionPid());
    this.first = sample();
  }

  private record Sample(
      long nanos,
      OptionalDouble client,
      OptionalDouble server,
      OptionalDouble compilers,
      OptionalDouble postgres,
      OptionalDouble machine) {}

  /**
   * Cores in use, each empty if it is unknown.
   *
   * @param compilers the part of the servers' cores that their JIT compilers use
   * @param others the cores of all other processes
   */
  record Cores(
      OptionalDouble client,
      OptionalDouble server,
      OptionalDouble compilers,
      OptionalDouble postgres,
      OptionalDouble others) {

    /** Whether the JIT compilers of the servers have almost nothing left to do, or are unknown. */
    boolean isCompiled() {
      return compilers.orElse(0) <= COMPILING_SHARE_MAX * server.orElse(0);
    }
  }

  private Sample sample() {
    return new Sample(
        System.nanoTime(),
        Cpu.of(contender.clientPid()),
        ofServers(Cpu::of),
        ofServers(Cpu::ofCompilers),
        postmaster.isPresent() ? Cpu.ofFamily(postmaster.getAsLong()) : OptionalDouble.empty(),
        Cpu.ofMachine());
  }

  /** The sum over all servers; empty if there is none, or if one is unknown. */
  private OptionalDouble ofServers(LongFunction<OptionalDouble> time) {
    double sum = 0;
    for (long pid : contender.serverPids()) {
      OptionalDouble one = time.apply(pid);
      if (one.isEmpty()) {
        return one;
      }
      sum += one.getAsDouble();
    }
    return contender.serverPids().isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(sum);
  }

  Cores cores() {
    Sample last = sample();
    double seconds = (last.nanos - first.nanos) / 1e9;
    OptionalDouble client = cores(first.client, last.client, seconds);
    OptionalDouble server = cores(first.server, last.server, seconds);
    OptionalDouble compilers = cores(first.compilers, last.compilers, seconds);
    OptionalDouble postgres = cores(first.postgres, last.postgres, seconds);
    OptionalDouble machine = cores(first.machine, last.machine, seconds);
    double measured = client.orElse(0) + server.orElse(0) + postgres.orElse(0);
    OptionalDouble others =
        machine.isPresent() && postgres.isPresent()
            ? OptionalDouble.of(Math.max(0, machine.getAsDouble() - measured))
            : OptionalDouble.empty();
    return new Cores(client, server, compilers, postgres, others);
  }

  private static OptionalDouble cores(OptionalDouble from, OptionalDouble to, double seconds) {
    return from.isPresent() && to.isPresent()
        ? OptionalDouble.of((to.getAsDouble() - from.getAsDouble()) / seconds)
        : OptionalDouble.empty();
  }
}
