package dev.kagzi.server.callback;

import dev.kagzi.engine.value.RunId;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;

/**
 * Writes and reads tokens: the id of a callback and its signature, both in Base64 for URLs, with a
 * dot between them. Thread-safe.
 */
public final class CallbackTokens {
  private static final byte VERSION = 1;
  private static final int LENGTH_MAX = 4_096;
  private static final int HEAD_BYTES = 1 + 16 + 2;

  private final CallbackKeys keys;

  public CallbackTokens(CallbackKeys keys) {
    this.keys = keys;
  }

  String token(CallbackId id, String keyId) {
    byte[] message = write(id);
    Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
    return base64.encodeToString(message) + "." + base64.encodeToString(keys.sign(keyId, message));
  }

  /** Returns the callback that the token names; empty unless a valid key has signed the token. */
  public Optional<CallbackId> read(String token) {
    int dot = token.indexOf('.');
    if (dot < 0 || token.length() > LENGTH_MAX) {
      return Optional.empty();
    }
    try {
      byte[] message = Base64.getUrlDecoder().decode(token.substring(0, dot));
      byte[] signature = Base64.getUrlDecoder().decode(token.substring(dot + 1));
      return keys.isSigned(message, signature) ? Optional.of(read(message)) : Optional.empty();
    } catch (IllegalArgumentException notBase64) {
      return Optional.empty();
    }
  }

  private static byte[] write(CallbackId id) {
    byte[] namespace = id.namespace().getBytes(StandardCharsets.UTF_8);
    byte[] step = id.stepKey().getBytes(StandardCharsets.UTF_8);
    UUID run = id.runId().value();
    return ByteBuffer.allocate(HEAD_BYTES + namespace.length + step.length)
        .put(VERSION)
        .putLong(run.getMostSignificantBits())
        .putLong(run.getLeastSignificantBits())
        .putShort((short) namespace.length)
        .put(namespace)
        .put(step)
        .array();
  }

  // The message is signed, so a server wrote it.
  private static CallbackId read(byte[] message) {
    ByteBuffer bytes = ByteBuffer.wrap(message);
    byte version = bytes.get();
    if (version != VERSION) {
      throw new IllegalArgumentException("version: " + version + " (expected: " + VERSION + ")");
    }
    UUID run = new UUID(bytes.getLong(), bytes.getLong());
    int length = bytes.getShort();
    String namespace = text(bytes.slice(HEAD_BYTES, length));
    String step = text(bytes.slice(HEAD_BYTES + length, message.length - HEAD_BYTES - length));
    return new CallbackId(namespace, new RunId(run), step);
  }

  private static String text(ByteBuffer bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
