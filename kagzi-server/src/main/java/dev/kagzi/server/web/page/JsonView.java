package dev.kagzi.server.web.page;

import gg.jte.Content;
import gg.jte.TemplateOutput;
import gg.jte.html.escape.Escape;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * JSON as highlighted HTML whose objects and arrays can be folded without JavaScript. Text that is
 * not JSON, and JSON with too many tokens, is shown as it is. For bytes that are not text, only
 * their number is shown. Everything is escaped.
 */
public final class JsonView implements Content {
  private static final JsonFactory FACTORY = new JsonFactory();
  private static final int OPEN_DEPTH = 2;
  private static final int TOKENS_MAX = 20_000;

  private final String html;

  private JsonView(String html) {
    this.html = html;
  }

  public static JsonView of(byte[] data) {
    StringBuilderOutput out = new StringBuilderOutput();
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), data)) {
      new Writer(parser, out).document();
      return new JsonView("<div class=\"json\">" + out + "</div>");
    } catch (JacksonException | TooLarge notShownAsTree) {
      return plain(data);
    }
  }

  private static JsonView plain(byte[] data) {
    StringBuilderOutput out = new StringBuilderOutput();
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
      Escape.htmlContent(text, out);
      return new JsonView("<pre class=\"json\">" + out + "</pre>");
    } catch (CharacterCodingException binary) {
      return new JsonView("<p class=\"quiet\">" + Show.bytes(data.length) + ", not text</p>");
    }
  }

  @Override
  public void writeTo(TemplateOutput output) {
    output.writeContent(html);
  }

  private static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Writes one document; recursion is bounded by the parser's limit of nesting. */
  private static final class Writer {
    private final JsonParser parser;
    private final StringBuilderOutput out;
    private int tokens;

    Writer(JsonParser parser, StringBuilderOutput out) {
      this.parser = parser;
      this.out = out;
    }

    void document() {
      next();
      value(0);
      if (next() != JsonToken.NOT_AVAILABLE) {
        throw new TooLarge();
      }
    }

    private JsonToken next() {
      if (++tokens > TOKENS_MAX) {
        throw new TooLarge();
      }
      JsonToken token = parser.nextToken();
      return token == null ? JsonToken.NOT_AVAILABLE : token;
    }

    private void value(int depth) {
      switch (parser.currentToken()) {
        case START_OBJECT -> container(depth, true);
        case START_ARRAY -> container(depth, false);
        case VALUE_STRING -> span("json-text", "\"" + parser.getString() + "\"");
        case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> span("json-number", parser.getString());
        case VALUE_TRUE, VALUE_FALSE, VALUE_NULL -> span("json-word", parser.getString());
        case null, default -> throw new TooLarge();
      }
    }

    private void container(int depth, boolean isObject) {
      String open = isObject ? "{" : "[";
      String close = isObject ? "}" : "]";
      JsonToken token = next();
      if (token == JsonToken.END_OBJECT || token == JsonToken.END_ARRAY) {
        out.writeContent(open + close);
        return;
      }
      out.writeContent(depth < OPEN_DEPTH ? "<details open>" : "<details>");
      out.writeContent(
          "<summary>" + open + "<span class=\"json-more\"> … " + close + "</span></summary><ul>");
      while (token != JsonToken.END_OBJECT && token != JsonToken.END_ARRAY) {
        out.writeContent("<li>");
        if (isObject) {
          span("json-name", "\"" + parser.currentName() + "\"");
          out.writeContent(": ");
          next();
        }
        value(depth + 1);
        out.writeContent("</li>");
        token = next();
      }
      out.writeContent("</ul>" + close + "</details>");
    }

    private void span(String style, String text) {
      out.writeContent("<span class=\"" + style + "\">");
      Escape.htmlContent(text, out);
      out.writeContent("</span>");
    }
  }

  private static final class StringBuilderOutput implements TemplateOutput {
    private final StringBuilder text = new StringBuilder();

    @Override
    public void writeContent(String value) {
      text.append(value);
    }

    @Override
    public void writeContent(String value, int from, int to) {
      text.append(value, from, to);
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }
}
