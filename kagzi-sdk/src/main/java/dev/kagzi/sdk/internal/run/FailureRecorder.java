package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.sdk.BranchFailedException;
import dev.kagzi.sdk.CallbackFailedException;
import dev.kagzi.sdk.ChildFailedException;
import dev.kagzi.sdk.CompensationFailedException;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.ErrorSanitizer;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.RetryAfterException;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LogContext;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Turns an exception of user code into the error that is recorded. Always returns a storable error,
 * even if a method of the exception, the classifier or the sanitizer throws. Thread-safe.
 */
public final class FailureRecorder {
  private static final EventLog log = EventLog.of(FailureRecorder.class);
  public static final ErrorSanitizer KEEP_ALL = failure -> failure;

  private static final int MESSAGE_BYTES_MAX = 8 << 10;
  private static final int STACK_BYTES_MAX = 32 << 10;
  private static final int CAUSE_BYTES_MAX = 1 << 10;
  private static final int CAUSES_MAX = 10;
  private static final int NAME_BYTES_MAX = 500;

  /** Maximum number of entries: a sanitizer may add some, and the error must fit into a report. */
  private static final int METADATA_MAX = 40;

  private final ErrorSanitizer sanitizer;
  private final ErrorKinds kinds;
  private final boolean stacks;

  public FailureRecorder(
      ErrorSanitizer sanitizer, Function<? super Throwable, ErrorKind> kinds, boolean stacks) {
    this.sanitizer = sanitizer;
    this.kinds = new ErrorKinds(kinds);
    this.stacks = stacks;
  }

  ErrorDetail record(Throwable thrown) {
    if (thrown instanceof WorkFailedException failed) {
      return recordedBefore(failed);
    }
    ErrorDetail.Builder error = ProtoMapper.error(sanitize(describe(thrown)));
    if (thrown instanceof RetryAfterException later) {
      // In the protocol 0 means "not set", so a delay of zero is sent as 1 ms.
      error.setRetryAfterMs(Math.max(1, ProtoMapper.millis(later.delay())));
    }
    return error.build();
  }

  /** Sanitizes an error of the SDK itself; its message may quote user data. */
  ErrorDetail record(ErrorDetail own) {
    Failure kept = sanitize(ProtoMapper.failure(own));
    return ProtoMapper.error(kept).setCode(own.getCode()).build();
  }

  /**
   * Returns the exception for the log. If a sanitizer is set, this is a copy with the recorded
   * texts and the original stack traces, so that the log has no secrets that the sanitizer removed.
   */
  Throwable loggable(Throwable thrown, ErrorDetail recorded) {
    if (sanitizer.equals(KEEP_ALL)) {
      return thrown;
    }
    Failure failure = ProtoMapper.failure(recorded);
    List<Throwable> causes = ErrorKinds.causes(thrown);
    List<String> texts = failure.causes();
    Throwable cause = null;
    for (int i = Math.min(causes.size(), texts.size()) - 1; i >= 0; i--) {
      cause = new SanitizedException(texts.get(i), causes.get(i).getStackTrace(), cause);
    }
    return new SanitizedException(failure.toString(), thrown.getStackTrace(), cause);
  }

  // If a step's failure ends the run, the run records the step's own error, which retry policies
  // compare. The error was sanitized when the step failed. Its length is limited again, because a
  // CompensationFailedException joins the errors of all undos.
  private static ErrorDetail recordedBefore(WorkFailedException failed) {
    ErrorDetail.Builder error = ProtoMapper.error(storable(failed.failure()));
    stepOf(failed).ifPresent(step -> error.putMetadata("step", step));
    return error.build();
  }

  /** Returns the failed step, also of a branch; empty if the branch's own code threw. */
  private static Optional<String> stepOf(WorkFailedException failed) {
    return switch (failed) {
      case StepFailedException step -> Optional.of(step.step());
      case ChildFailedException child -> Optional.of(child.step());
      case CallbackFailedException callback -> Optional.of(callback.step());
      case CompensationFailedException undo -> Optional.of(undo.step());
      case BranchFailedException branch -> branch.failure().step();
    };
  }

  private Failure describe(Throwable thrown) {
    try {
      return new Failure(
          thrown.getClass().getName(), message(thrown), isNonRetryable(thrown), metadata(thrown));
    } catch (Throwable e) {
      // An exception is user code too: its getMessage() may throw.
      log.warn("the message of an exception could not be read, only its class is recorded")
          .about(LogContext.currentRun())
          .with("exception", thrown.getClass().getName())
          .cause(e)
          .write();
      return withoutText(thrown.getClass().getName(), isNonRetryable(thrown), Map.of());
    }
  }

  private static boolean isNonRetryable(Throwable thrown) {
    return thrown instanceof NonRetryableException
        || thrown instanceof PayloadException
        || thrown instanceof ContextMisuseException;
  }

  private static String message(Throwable thrown) {
    String message = thrown.getMessage();
    return message == null ? thrown.getClass().getName() : message;
  }

  private Map<String, String> metadata(Throwable thrown) {
    List<Throwable> causes = ErrorKinds.causes(thrown);
    Map<String, String> metadata = new HashMap<>();
    metadata.put("kind", kinds.of(thrown).name());
    metadata.put("supertypes", supertypes(thrown.getClass()));
    String code = code(thrown);
    if (code != null) {
      metadata.put("code", code);
    }
    if (!causes.isEmpty()) {
      metadata.put("cause", lines(causes));
    }
    if (stacks) {
      metadata.put("stack", stack(thrown));
    }
    causes.stream()
        .filter(WorkFailedException.class::isInstance)
        .findFirst()
        .flatMap(failed -> stepOf((WorkFailedException) failed))
        .ifPresent(step -> metadata.put("step", step));
    return metadata;
  }

  /** Returns the stable code of an error of the SDK; null for other errors. */
  private static @Nullable String code(Throwable thrown) {
    return switch (thrown) {
      case KagziException known -> known.code();
      case InvalidArgumentException known -> known.code();
      default -> null;
    };
  }

  // Includes Exception and Error, which a retry policy may name, but not Throwable.
  private static String supertypes(Class<?> type) {
    StringBuilder names = new StringBuilder();
    for (Class<?> each = type.getSuperclass();
        each != null && each != Throwable.class && each != Object.class;
        each = each.getSuperclass()) {
      names.append(names.isEmpty() ? "" : ",").append(each.getName());
    }
    return names.toString();
  }

  private static String lines(List<Throwable> causes) {
    return causes.stream()
        .limit(CAUSES_MAX)
        .map(cause -> cause.getClass().getName() + ": " + message(cause))
        .map(line -> PlainText.line(line, CAUSE_BYTES_MAX))
        .collect(Collectors.joining("\n"));
  }

  private static String stack(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  // The sanitizer may throw, and may return null, or a failure with null texts, against its type.
  private Failure sanitize(Failure failure) {
    Failure kept = null;
    try {
      Failure sanitized = sanitizer.sanitize(storable(failure));
      kept = sanitized == null ? null : storable(sanitized);
    } catch (Throwable e) {
      log.error("the worker's errorSanitizer failed, the error is stored without its text")
          .about(LogContext.currentRun())
          .with("exception", failure.type())
          .cause(e)
          .write();
    }
    return kept == null
        ? withoutText(failure.type(), failure.nonRetryable(), failure.metadata())
        : kept;
  }

  private static Failure withoutText(
      String type, boolean nonRetryable, Map<String, String> metadata) {
    Map<String, String> safe = new HashMap<>(metadata);
    safe.keySet().retainAll(List.of("kind", "supertypes", "step", "code"));
    return new Failure(type, "error text withheld: it could not be sanitized", nonRetryable, safe);
  }

  private static Failure storable(Failure failure) {
    Map<String, String> metadata = new HashMap<>();
    failure.metadata().entrySet().stream()
        .limit(METADATA_MAX)
        .forEach(
            entry ->
                metadata.put(
                    PlainText.line(entry.getKey(), NAME_BYTES_MAX),
                    PlainText.lines(entry.getValue(), STACK_BYTES_MAX)));
    return new Failure(
        PlainText.line(failure.type(), NAME_BYTES_MAX),
        PlainText.line(failure.message(), MESSAGE_BYTES_MAX),
        failure.nonRetryable(),
        metadata);
  }

  /** Replaces an exception in the log; has the original class and the recorded text. */
  private static final class SanitizedException extends Exception {
    private static final long serialVersionUID = 1;

    SanitizedException(String text, StackTraceElement[] stack, @Nullable Throwable cause) {
      super(text, cause);
      setStackTrace(stack);
    }
  }
}
