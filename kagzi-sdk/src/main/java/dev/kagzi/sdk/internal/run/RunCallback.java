package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.sdk.Callback;
import dev.kagzi.sdk.CallbackFailedException;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A callback of a run. Its answer is a signal that each wait receives, as a step of the branch that
 * waits. Thread-safe.
 */
final class RunCallback<T> implements Callback<T> {
  /** Prefix of the names of the steps that wait for answers. */
  static final String AWAIT = "await:";

  /** Prefix of the names of the signals that are answers. */
  static final String SIGNAL = "callback:";

  private static final String FAILURE = "kagzi.failure";
  private static final String FAILURE_TYPE = "kagzi.failure-type";

  private final RunContext creator;
  private final String name;
  private final String key;
  private final Type type;
  private final String url;

  RunCallback(RunContext creator, String name, String key, Type type, String url) {
    this.creator = creator;
    this.name = name;
    this.key = key;
    this.type = type;
    this.url = url;
  }

  @Override
  public String url() {
    if (url.isEmpty()) {
      throw new IllegalStateException(
          "callback %s: no URL (expected: a server with the option callback-keys, as the one that made the callback)"
              .formatted(key));
    }
    return url;
  }

  @Override
  public T await() {
    Receives receives = receives();
    return value(receives, receives.answer(AWAIT + name, SIGNAL + key, null));
  }

  @Override
  public Optional<T> await(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout: " + timeout + " (expected: >= 0)");
    }
    Receives receives = receives();
    RecordedStep step = receives.answer(AWAIT + name, SIGNAL + key, ProtoMapper.millis(timeout));
    return step.hasTimedOut() ? Optional.empty() : Optional.of(value(receives, step));
  }

  /**
   * Returns the receives of the branch that waits, which may not be the one that made the callback.
   */
  private Receives receives() {
    return creator.callingThread().context().receives();
  }

  // The codec decoded the value for exactly this type.
  @SuppressWarnings("unchecked")
  private T value(Receives receives, RecordedStep step) {
    Payload payload = step.getOutput();
    @Nullable String failure = payload.getMetadataMap().get(FAILURE);
    if (failure != null) {
      throw new CallbackFailedException(
          step.getStepKey(),
          new Failure(payload.getMetadataOrDefault(FAILURE_TYPE, ""), failure, true, Map.of()));
    }
    return (T) receives.decode(step, type);
  }

  /** Without the URL, which must not get into logs. */
  @Override
  public String toString() {
    return "callback " + key;
  }
}
