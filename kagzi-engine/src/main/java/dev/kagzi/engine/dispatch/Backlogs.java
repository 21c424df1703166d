package dev.kagzi.engine.dispatch;

import dev.kagzi.engine.value.TypeVersion;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** The backlogs of the types that polls of one queue have asked for. Guarded by its gate's lock. */
final class Backlogs {
  private final Map<TypeVersion, Backlog> byType = new HashMap<>();

  Backlog of(TypeVersion type) {
    return byType.computeIfAbsent(type, key -> new Backlog());
  }

  Backlog of(PollRequest.Wanted type) {
    return of(new TypeVersion(type.type(), type.version()));
  }

  /** Tells whoever asks for the type, with its version or any; false if nobody does. */
  boolean tell(TypeVersion type, Consumer<Backlog> news) {
    boolean exact = tellIfAsked(type, news);
    return tellIfAsked(new TypeVersion(type.type(), PollRequest.ANY_VERSION), news) || exact;
  }

  private boolean tellIfAsked(TypeVersion type, Consumer<Backlog> news) {
    Backlog backlog = byType.get(type);
    if (backlog == null) {
      return false;
    }
    news.accept(backlog);
    return true;
  }

  /** Anything may be due. */
  void tellUnknown() {
    byType.values().forEach(Backlog::tellUnknown);
  }

  long lowUs(PollRequest.Wanted type) {
    Backlog exact = byType.get(new TypeVersion(type.type(), type.version()));
    Backlog any = byType.get(new TypeVersion(type.type(), PollRequest.ANY_VERSION));
    return exact != null ? exact.lowUs() : any != null ? any.lowUs() : 0;
  }

  void forgetMarks() {
    byType.values().forEach(backlog -> backlog.takenBelow(0));
  }
}
