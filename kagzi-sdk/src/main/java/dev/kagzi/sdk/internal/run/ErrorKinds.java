package dev.kagzi.sdk.internal.run;

import static java.util.Map.entry;

import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LogContext;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Classifies an exception by the first known kind among it and its causes, outermost first. For
 * each of them, the application's classifier is used before the table. A failed step, child or
 * branch keeps its recorded kind. Thread-safe.
 */
final class ErrorKinds {
  private static final EventLog log = EventLog.of(ErrorKinds.class);

  /** Limits long chains of causes. */
  private static final int CAUSES_MAX = 20;

  // By name, since a runtime may lack the modules of some of these classes.
  private static final Map<String, ErrorKind> BY_CLASS =
      Map.ofEntries(
          entry("java.util.concurrent.TimeoutException", ErrorKind.TIMEOUT),
          entry("java.net.SocketTimeoutException", ErrorKind.TIMEOUT),
          entry("java.net.http.HttpTimeoutException", ErrorKind.TIMEOUT),
          entry("java.sql.SQLTimeoutException", ErrorKind.TIMEOUT),
          entry("java.sql.SQLException", ErrorKind.DATABASE),
          entry("java.nio.channels.ClosedChannelException", ErrorKind.NETWORK),
          entry("java.nio.channels.UnresolvedAddressException", ErrorKind.NETWORK),
          entry("javax.net.ssl.SSLException", ErrorKind.NETWORK),
          entry("dev.kagzi.sdk.ResultTimeoutException", ErrorKind.TIMEOUT),
          entry("dev.kagzi.sdk.RunNotFoundException", ErrorKind.NOT_FOUND),
          entry("dev.kagzi.sdk.ServerUnavailableException", ErrorKind.UNAVAILABLE));

  private final Function<? super Throwable, ErrorKind> application;

  ErrorKinds(Function<? super Throwable, ErrorKind> application) {
    this.application = application;
  }

  ErrorKind of(Throwable thrown) {
    ErrorKind kind = ofOne(thrown);
    for (Throwable cause : causes(thrown)) {
      if (kind != ErrorKind.UNKNOWN) {
        break;
      }
      kind = ofOne(cause);
    }
    return kind;
  }

  /**
   * Returns the causes of an exception, outermost first. Stops at a cycle, and after {@link
   * #CAUSES_MAX} causes.
   */
  static List<Throwable> causes(Throwable thrown) {
    List<Throwable> causes = new ArrayList<>();
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    seen.add(thrown);
    Throwable cause = thrown.getCause();
    while (cause != null && causes.size() < CAUSES_MAX && seen.add(cause)) {
      causes.add(cause);
      cause = cause.getCause();
    }
    return causes;
  }

  private ErrorKind ofOne(Throwable thrown) {
    if (thrown instanceof WorkFailedException failed) {
      return failed.kind();
    }
    ErrorKind kind = classify(thrown);
    return kind == ErrorKind.UNKNOWN ? byClass(thrown) : kind;
  }

  // The application's classifier may throw, and may return null against its type.
  private ErrorKind classify(Throwable thrown) {
    try {
      ErrorKind kind = application.apply(thrown);
      return kind == null ? ErrorKind.UNKNOWN : kind;
    } catch (Throwable e) {
      log.warn("the worker's errorKinds function failed, the built-in error kinds are used")
          .about(LogContext.currentRun())
          .with("exception", thrown.getClass().getName())
          .cause(e)
          .write();
      return ErrorKind.UNKNOWN;
    }
  }

  private static ErrorKind byClass(Throwable thrown) {
    for (Class<?> type = thrown.getClass(); type != null; type = type.getSuperclass()) {
      ErrorKind kind = BY_CLASS.get(type.getName());
      if (kind != null) {
        return kind;
      }
      if (type.getPackageName().equals("java.net") && thrown instanceof IOException) {
        return ErrorKind.NETWORK;
      }
    }
    return ErrorKind.UNKNOWN;
  }
}
