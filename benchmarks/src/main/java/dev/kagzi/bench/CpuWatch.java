package dev.kagzi.bench;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/** How many cores each side of a measurement keeps busy, from its making on. */
final class CpuWatch {
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
      OptionalDouble postgres,
      OptionalDouble machine) {}

  /**
   * Cores in use, each nothing where it cannot be known.
   *
   * @param others what belongs to none of the three
   */
  record Cores(
      OptionalDouble client,
      OptionalDouble server,
      OptionalDouble postgres,
      OptionalDouble others) {}

  private Sample sample() {
    return new Sample(
        System.nanoTime(),
        Cpu.of(contender.clientPid()),
        contender.serverPid() == 0 ? OptionalDouble.empty() : Cpu.of(contender.serverPid()),
        postmaster.isPresent() ? Cpu.ofFamily(postmaster.getAsLong()) : OptionalDouble.empty(),
        Cpu.ofMachine());
  }

  Cores cores() {
    Sample last = sample();
    double seconds = (last.nanos - first.nanos) / 1e9;
    OptionalDouble client = cores(first.client, last.client, seconds);
    OptionalDouble server = cores(first.server, last.server, seconds);
    OptionalDouble postgres = cores(first.postgres, last.postgres, seconds);
    OptionalDouble machine = cores(first.machine, last.machine, seconds);
    double ours = client.orElse(0) + server.orElse(0) + postgres.orElse(0);
    OptionalDouble others =
        machine.isPresent() && postgres.isPresent()
            ? OptionalDouble.of(Math.max(0, machine.getAsDouble() - ours))
            : OptionalDouble.empty();
    return new Cores(client, server, postgres, others);
  }

  private static OptionalDouble cores(OptionalDouble from, OptionalDouble to, double seconds) {
    return from.isPresent() && to.isPresent()
        ? OptionalDouble.of((to.getAsDouble() - from.getAsDouble()) / seconds)
        : OptionalDouble.empty();
  }
}
