package dev.kagzi.server.http;

import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.value.Refusal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the bodies of requests that answer callbacks. They share a byte budget, because outside
 * systems decide how many requests they send at once. A body counts as it arrives, until it is
 * closed. Thread-safe.
 */
final class CallbackBodies {
  private static final int PART_BYTES = 16 << 10;
  private static final long DISCARDED_BYTES_MAX = 32L << 20;

  private final ByteBudget budget;
  private final int bodyBytesMax;

  CallbackBodies(ByteBudget budget, int bodyBytesMax) {
    this.budget = budget;
    this.bodyBytesMax = bodyBytesMax;
  }

  /**
   * Reads a body. Of a body that is too large, nothing is kept.
   *
   * @throws Refusal if the budget is used up, or the body ends early
   */
  Body read(InputStream sent) {
    Body body = new Body();
    boolean isWhole = false;
    try {
      isWhole = body.readFrom(sent);
    } catch (IOException e) {
      throw brokenOff();
    } finally {
      if (!isWhole) {
        body.close();
      }
    }
    if (!isWhole) {
      discard(sent);
      if (!body.isTooLarge()) {
        throw full();
      }
    }
    return body;
  }

  // A caller that still sends when the connection is closed may never read the response.
  private static void discard(InputStream sent) {
    try {
      byte[] buffer = new byte[8_192];
      long left = DISCARDED_BYTES_MAX;
      int read = sent.read(buffer);
      while (read >= 0 && left > 0) {
        left -= read;
        read = sent.read(buffer);
      }
    } catch (IOException e) {
      throw brokenOff();
    }
  }

  private static Refusal brokenOff() {
    return Refusal.invalid("body", "broken off", "a whole body");
  }

  private Refusal full() {
    return Refusal.of(
        Refusal.Reason.RESOURCE_EXHAUSTED,
        "memory",
        "",
        "bodies of callbacks: %d bytes (expected: at most %d in all, see call-memory-percent)"
            .formatted(budget.held(), budget.bytesMax()));
  }

  /** A body in memory. It counts until it is closed. */
  final class Body implements AutoCloseable {
    private final List<byte[]> parts = new ArrayList<>();
    private int size;
    private boolean tooLarge;

    /** Returns false if the body is too large, or if the budget is used up. */
    private boolean readFrom(InputStream sent) throws IOException {
      for (byte[] part = next(sent); part.length > 0; part = next(sent)) {
        tooLarge = size + part.length > bodyBytesMax;
        if (tooLarge || !acquire(part.length)) {
          return false;
        }
        parts.add(part);
        size += part.length;
      }
      return true;
    }

    private static byte[] next(InputStream sent) throws IOException {
      return sent.readNBytes(PART_BYTES);
    }

    // Small bodies have only one part. They continue while large ones are refused.
    private boolean acquire(int bytes) {
      return size == 0 ? budget.tryAcquireSmall(bytes) : budget.tryAcquire(bytes);
    }

    boolean isTooLarge() {
      return tooLarge;
    }

    byte[] bytes() {
      ByteBuffer all = ByteBuffer.allocate(size);
      parts.forEach(all::put);
      parts.clear();
      return all.array();
    }

    @Override
    public void close() {
      budget.release(size);
      parts.clear();
      size = 0;
    }
  }
}
