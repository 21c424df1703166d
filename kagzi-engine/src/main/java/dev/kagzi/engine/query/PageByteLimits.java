package dev.kagzi.engine.query;

import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Json;
import dev.kagzi.engine.value.Payload;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Byte limits of rows and pages.
 *
 * @param payloadBytesMax a larger payload is returned without its bytes
 * @param pageBytesMax limit at which a page ends early; the first row is always returned
 */
record PageByteLimits(int payloadBytesMax, long pageBytesMax) {
  /** For a single row read by its id. */
  static final PageByteLimits SINGLE = new PageByteLimits(Integer.MAX_VALUE, Long.MAX_VALUE);

  private static final int LIST_PAYLOAD_BYTES_MAX = 4 * 1024;
  // gRPC accepts messages of 4 MiB by default; names, times and framing need space too.
  static final long PAGE_BYTES_MAX = 3L * 1024 * 1024;

  static PageByteLimits of(PageSpec page) {
    return new PageByteLimits(
        page.payloads() ? Integer.MAX_VALUE : LIST_PAYLOAD_BYTES_MAX, PAGE_BYTES_MAX);
  }

  /** Returns null when there is no payload. */
  static @Nullable Payload payload(Row row, String column) throws SQLException {
    byte[] data = row.bytes(column);
    return data == null
        ? null
        : new Payload(data, Json.decode(row.textOrNull(column + "_metadata")));
  }

  static @Nullable Failure failure(Row row, String column) throws SQLException {
    String json = row.textOrNull(column);
    return json == null ? null : Json.decodeFailure(json);
  }
}
