package dev.kagzi.engine.internal.request;

import dev.kagzi.engine.value.RunId;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A call that takes effect once.
 *
 * @param id the request id of the caller, or a new one
 * @param what method and arguments; the same id with other arguments is refused
 */
public record IdempotentCall(UUID id, String what) {
  /** {@code id} is null if the caller sent no request id. */
  public static IdempotentCall of(@Nullable UUID id, String method, Object... target) {
    StringBuilder what = new StringBuilder(method);
    for (Object part : target) {
      what.append(' ').append(part);
    }
    return new IdempotentCall(id == null ? RunId.next().value() : id, what.toString());
  }
}
