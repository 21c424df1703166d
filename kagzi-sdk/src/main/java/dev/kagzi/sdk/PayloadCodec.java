package dev.kagzi.sdk;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Turns inputs and results into bytes and back. Clients and workers of one workflow need codecs
 * that understand each other. Must be thread-safe.
 *
 * <p>Both methods report what they cannot do with a {@link PayloadException}. A result that cannot
 * be encoded fails its step; a payload that cannot be decoded does not fail the run: it waits for a
 * worker whose code can.
 */
public interface PayloadCodec {
  /** Encodes a value, which may be null; the type is the declared one. */
  Encoded encode(@Nullable Object value, Type type);

  /** Decodes a value of the declared type. No bytes at all mean null. */
  @Nullable Object decode(Encoded payload, Type type);
}
