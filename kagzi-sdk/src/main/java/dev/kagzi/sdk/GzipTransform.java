package dev.kagzi.sdk;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Compresses payloads with gzip. A payload that is below the threshold, or that would not become
 * smaller, stays as it is. A payload that is larger than 64 MiB when it is decompressed cannot be
 * read: {@link PayloadException}.
 */
public final class GzipTransform implements PayloadTransform {
  private static final String ENCODING = "kagzi-compression";
  private static final String GZIP = "gzip";
  private static final int BYTES_MAX = 64 << 20;

  private final int bytesMin;

  /** Compresses payloads of 1 KiB or more. */
  public GzipTransform() {
    this(1 << 10);
  }

  /** Compresses payloads of at least this many bytes. */
  public GzipTransform(int bytesMin) {
    this.bytesMin = bytesMin;
  }

  @Override
  public Encoded apply(Encoded payload) {
    if (payload.data().length < bytesMin) {
      return payload;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(payload.data());
    } catch (IOException e) {
      throw new PayloadException("payload cannot be compressed: " + e.getMessage(), e);
    }
    if (bytes.size() >= payload.data().length) {
      return payload;
    }
    Map<String, String> metadata = new HashMap<>(payload.metadata());
    metadata.put(ENCODING, GZIP);
    return new Encoded(bytes.toByteArray(), metadata);
  }

  @Override
  public Encoded undo(Encoded payload) {
    if (!GZIP.equals(payload.metadata().get(ENCODING))) {
      return payload;
    }
    Map<String, String> metadata = new HashMap<>(payload.metadata());
    metadata.remove(ENCODING);
    try (GZIPInputStream gzip = new GZIPInputStream(new ByteArrayInputStream(payload.data()))) {
      byte[] data = gzip.readNBytes(BYTES_MAX + 1);
      if (data.length > BYTES_MAX) {
        throw new PayloadException(
            "payload: more than %d bytes when it is decompressed (expected: at most that)"
                .formatted(BYTES_MAX),
            null);
      }
      return new Encoded(data, metadata);
    } catch (IOException e) {
      throw new PayloadException("payload cannot be decompressed: " + e.getMessage(), e);
    }
  }
}
