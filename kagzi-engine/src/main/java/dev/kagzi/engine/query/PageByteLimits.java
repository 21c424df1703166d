package dev.kagzi.engine.query;

import dev.kagzi.engine.page.PageSpec;

/**
 * Byte limits of rows and pages.
 *
 * @param payloadBytesMax a larger payload is returned without its bytes
 * @param pageBytesMax limit at which a page ends early; the first row is always returned
 */
record PageByteLimits(int payloadBytesMax, long pageBytesMax) {
  static final PageByteLimits SINGLE = new PageByteLimits(Integer.MAX_VALUE, Long.MAX_VALUE);

  private static final int LIST_PAYLOAD_BYTES_MAX = 4 * 1024;
  // gRPC accepts messages of 4 MiB by default; names, times and framing need space too.
  static final long PAGE_BYTES_MAX = 3L * 1024 * 1024;

  static PageByteLimits of(PageSpec page) {
    return new PageByteLimits(
        page.payloads() ? Integer.MAX_VALUE : LIST_PAYLOAD_BYTES_MAX, PAGE_BYTES_MAX);
  }
}
