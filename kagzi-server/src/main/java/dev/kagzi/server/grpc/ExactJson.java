package dev.kagzi.server.grpc;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/**
 * JSON that a reader can parse and write again as the same bytes, so that a document can contain it
 * as JSON instead of base64.
 */
final class ExactJson {
  private static final JsonFactory FACTORY =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  // Readers and writers accept 500 levels; the document around it has a few.
  private static final int DEPTH_MAX = 400;

  private ExactJson() {}

  static boolean isExact(byte[] data) {
    if (data.length == 0) {
      return false;
    }
    ByteArrayOutputStream copied = new ByteArrayOutputStream(data.length);
    try (JsonGenerator to = FACTORY.createGenerator(ObjectWriteContext.empty(), copied)) {
      if (!copy(data, to)) {
        return false;
      }
    } catch (JacksonException e) {
      return false;
    }
    return Arrays.equals(copied.toByteArray(), data);
  }

  /**
   * Copies the data as JSON. Returns false if it is not exactly one value, is nested too deeply, or
   * has a number that a reader would write differently. By then a part may have been written.
   */
  static boolean copy(byte[] data, JsonGenerator to) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), data)) {
      int depth = 0;
      boolean isEnded = false;
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        if (isEnded || depth > DEPTH_MAX || !isExactNumber(token, parser)) {
          return false;
        }
        to.copyCurrentEventExact(parser);
        isEnded = depth == 0;
      }
      return isEnded;
    }
  }

  // A reader that keeps numbers as BigInteger and BigDecimal writes 1E2 as 1E+2, and -0 as 0.
  private static boolean isExactNumber(JsonToken token, JsonParser parser) {
    return switch (token) {
      case VALUE_NUMBER_INT ->
          new BigInteger(parser.getString()).toString().equals(parser.getString());
      case VALUE_NUMBER_FLOAT ->
          new BigDecimal(parser.getString()).toString().equals(parser.getString());
      default -> true;
    };
  }
}
