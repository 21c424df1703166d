package dev.kagzi.engine.request;

import dev.kagzi.engine.value.RunId;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A call that changes something.
 *
 * @param id chosen by the caller, or by the server for a caller without one
 * @param what method and target; the same id with another one is refused
 */
public record IdempotentCall(UUID id, String what) {
  /** {@code id} is null for a caller that chose none. */
  public static IdempotentCall of(@Nullable UUID id, String method, Object... target) {
    StringBuilder what = new StringBuilder(method);
    for (Object part : target) {
      what.append(' ').append(part);
    }
    return new IdempotentCall(id == null ? RunId.next().value() : id, what.toString());
  }
}
