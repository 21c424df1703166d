package dev.kagzi.torture;

import dev.kagzi.torture.Fleet.Node;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Injects faults into the fleet and heals them. Faults on different victims overlap; the next fault
 * of a victim waits until the previous one is healed. Thread-safe.
 */
final class Injector {
  private final Fleet fleet;

  Injector(Fleet fleet) {
    this.fleet = fleet;
  }

  /** Returns when the fault is healed: the victim is restarted, or its links forward again. */
  void injectAndHeal(Fault fault, Runnable injected) {
    switch (fault.kind()) {
      case KILL_WORKER ->
          during(fault, injected, worker(fault), JavaProcess::kill, JavaProcess::start);
      case KILL_SERVER ->
          during(
              fault,
              injected,
              server(fault),
              JavaProcess::kill,
              process -> fleet.startServer(fault.target()));
      case KILL_POSTGRES -> killPostgres(fault, injected);
      case CUT_WORKER -> cut(worker(fault), injected);
      case CUT_POSTGRES -> cut(server(fault), injected);
      case STALL_WORKER -> stall(fault, injected, worker(fault));
      case STALL_POSTGRES -> stall(fault, injected, server(fault));
      case PAUSE_WORKER -> pause(fault, injected, worker(fault));
      case PAUSE_SERVER -> pause(fault, injected, server(fault));
    }
  }

  private Node worker(Fault fault) {
    return fleet.workers().get(fault.target());
  }

  private Node server(Fault fault) {
    return fleet.servers().get(fault.target());
  }

  private static void pause(Fault fault, Runnable injected, Node node) {
    during(
        fault,
        injected,
        node,
        process -> process.signal(UnixSignal.STOP),
        process -> process.signal(UnixSignal.CONT));
  }

  private static void cut(Node node, Runnable injected) {
    injected.run();
    node.links().forEach(Link::cut);
  }

  // Links have no lock: a stalled process may be killed meanwhile, and restarts during the stall.
  private static void stall(Fault fault, Runnable injected, Node node) {
    injected.run();
    node.links().forEach(Link::stall);
    Pause.ofUnchecked(fault.lasts());
    node.links().forEach(Link::flow);
  }

  private static void during(
      Fault fault,
      Runnable injected,
      Node node,
      Consumer<JavaProcess> begin,
      Consumer<JavaProcess> heal) {
    JavaProcess process = node.process();
    held(
        process.lock(),
        () -> {
          injected.run();
          begin.accept(process);
          Pause.ofUnchecked(fault.lasts());
          heal.accept(process);
        });
  }

  private void killPostgres(Fault fault, Runnable injected) {
    held(
        fleet.database().lock(),
        () -> {
          injected.run();
          fleet.database().kill();
          Pause.ofUnchecked(fault.lasts());
          fleet.restartDatabase();
        });
  }

  private static void held(ReentrantLock lock, Runnable work) {
    lock.lock();
    try {
      work.run();
    } finally {
      lock.unlock();
    }
  }
}
