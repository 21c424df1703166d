package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The polling workers of one queue, in the order of their first polls. Guarded by its lock. */
final class PollingWorkers implements Iterable<PollingWorker> {
  private final Set<PollingWorker> all = new LinkedHashSet<>();
  private final Map<WorkerId, List<PollingWorker>> byWorker = new HashMap<>();

  @Nullable PollingWorker of(PollRequest request) {
    for (PollingWorker worker : of(request.workerId())) {
      if (worker.isFor(request)) {
        return worker;
      }
    }
    return null;
  }

  /** More than one only for a simple client that polls for several sets of types. */
  List<PollingWorker> of(WorkerId workerId) {
    return byWorker.getOrDefault(workerId, List.of());
  }

  PollingWorker computeIfAbsent(PollRequest request, Supplier<PollingWorker> create) {
    PollingWorker present = of(request);
    if (present != null) {
      return present;
    }
    PollingWorker added = create.get();
    all.add(added);
    byWorker.computeIfAbsent(added.workerId, id -> new ArrayList<>(1)).add(added);
    return added;
  }

  boolean contains(PollingWorker worker) {
    return all.contains(worker);
  }

  void remove(PollingWorker worker) {
    all.remove(worker);
    byWorker.computeIfPresent(
        worker.workerId,
        (id, present) -> present.remove(worker) && present.isEmpty() ? null : present);
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  @Override
  public Iterator<PollingWorker> iterator() {
    return all.iterator();
  }

  /** The types of all waiting polls. */
  List<PollRequest.Wanted> waitingTypes() {
    Map<TypeVersion, PollRequest.Wanted> types = new LinkedHashMap<>();
    for (PollingWorker worker : all) {
      if (worker.isWaiting()) {
        worker.types().forEach(type -> types.put(type.typeVersion(), type));
      }
    }
    return List.copyOf(types.values());
  }

  List<PollingWorker> copy() {
    return List.copyOf(all);
  }
}
