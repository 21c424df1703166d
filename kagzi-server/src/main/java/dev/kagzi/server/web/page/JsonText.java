package dev.kagzi.server.web.page;

import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;

/** Payloads that people read and write in forms: JSON. */
public final class JsonText {
  private static final JsonFactory FACTORY = new JsonFactory();

  private JsonText() {}

  /** Returns the text of a payload that a form can show; empty if it is not JSON. */
  public static Optional<String> of(Payload payload) {
    if (payload.data().length == 0) {
      return payload.metadata().isEmpty() ? Optional.of("") : Optional.empty();
    }
    try {
      ByteBuffer bytes = ByteBuffer.wrap(payload.data());
      String text = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
      parse(text);
      return Optional.of(text);
    } catch (CharacterCodingException | JacksonException notJson) {
      return Optional.empty();
    }
  }

  /**
   * Returns a payload with the text; an empty one for no text.
   *
   * @throws Refusal if the text is not JSON; says where
   */
  public static Payload payload(String field, String text, Map<String, String> metadata) {
    if (text.isEmpty()) {
      return Payload.EMPTY;
    }
    try {
      parse(text);
    } catch (JacksonException e) {
      throw Refusal.invalid(
          field,
          "not JSON" + place(e.getLocation()),
          "JSON, such as 42, \"text\" or {\"a\": 1}; empty for no input");
    }
    return new Payload(text.getBytes(StandardCharsets.UTF_8), metadata);
  }

  private static String place(TokenStreamLocation location) {
    return location == null || location.getLineNr() < 1
        ? ""
        : String.format(
            Locale.ROOT, " at line %d, column %d", location.getLineNr(), location.getColumnNr());
  }

  private static void parse(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      int depth = 0;
      int values = 0;
      while (parser.nextToken() != null) {
        depth += parser.currentToken().isStructStart() ? 1 : 0;
        depth -= parser.currentToken().isStructEnd() ? 1 : 0;
        if (depth == 0 && ++values > 1) {
          throw new StreamReadException(parser, "more than one value");
        }
      }
    }
  }
}
