package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.value.TypeVersion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The backlogs of the types that polls of one queue have named. Guarded by its queue's lock. */
final class Backlogs {
  private final Map<TypeVersion, Backlog> byType = new HashMap<>();

  Backlog of(TypeVersion type) {
    return byType.computeIfAbsent(type, key -> new Backlog());
  }

  Backlog of(PollRequest.Wanted type) {
    return of(type.typeVersion());
  }

  /**
   * Records that at most this many more runs are due (0: an unknown number) in two backlogs: of
   * polls for exactly this version, and of polls for any version. Returns false if there is
   * neither, because no poll has named the type.
   */
  boolean announce(TypeVersion type, int runsMax) {
    boolean exact = announceIfPolled(type, runsMax);
    TypeVersion anyVersion = new TypeVersion(type.type(), PollRequest.ANY_VERSION);
    return announceIfPolled(anyVersion, runsMax) || exact;
  }

  private boolean announceIfPolled(TypeVersion type, int runsMax) {
    Backlog backlog = byType.get(type);
    if (backlog == null) {
      return false;
    }
    backlog.announce(runsMax);
    return true;
  }

  /** How many runs of these types may be due; the largest number if that is unknown. */
  long runsMax(List<PollRequest.Wanted> types) {
    long sum = 0;
    for (PollRequest.Wanted type : types) {
      Backlog backlog = of(type);
      if (!backlog.isBounded()) {
        return Long.MAX_VALUE;
      }
      sum += backlog.runsMax();
    }
    return sum;
  }

  void announceUnknown() {
    byType.values().forEach(Backlog::announceUnknown);
  }

  long lowUs(PollRequest.Wanted type) {
    Backlog backlog = find(type);
    return backlog == null ? 0 : backlog.lowUs();
  }

  private @Nullable Backlog find(PollRequest.Wanted type) {
    Backlog exact = byType.get(type.typeVersion());
    return exact != null
        ? exact
        : byType.get(new TypeVersion(type.type(), PollRequest.ANY_VERSION));
  }

  void lowerLowUs(long us) {
    byType.values().forEach(backlog -> backlog.setLowUs(Math.min(backlog.lowUs(), us)));
  }

  /** The types with due times at which no claim query looks for runs. */
  List<PollRequest.Wanted> notClaimed() {
    List<PollRequest.Wanted> types = new ArrayList<>();
    byType.forEach(
        (type, backlog) -> {
          if (backlog.lowUs() > 0 || backlog.isClaimed()) {
            types.add(new PollRequest.Wanted(type.type(), type.version(), 0));
          }
        });
    return types;
  }

  /**
   * The due time up to which no claim query looks for runs of the type: its low-water mark, or the
   * end of time if no run of it was announced. The event of one may be lost, while claim queries
   * for other types keep the queue busy.
   */
  long notClaimedUntilUs(PollRequest.Wanted type) {
    Backlog backlog = find(type);
    return backlog == null || backlog.isClaimed() ? Long.MAX_VALUE : backlog.lowUs();
  }
}
