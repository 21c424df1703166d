package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Query;
import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Builds a statement from conditions with their parameters. The text has only the requested
 * conditions, so that each combination gets its own plan.
 */
final class SqlBuilder {
  private final StringBuilder text = new StringBuilder();
  private final List<@Nullable Object> values = new ArrayList<>();

  SqlBuilder add(String sql, @Nullable Object... parameters) {
    text.append(sql).append('\n');
    values.addAll(Arrays.asList(parameters));
    return this;
  }

  SqlBuilder add(SqlBuilder other) {
    text.append(other.text);
    values.addAll(other.values);
    return this;
  }

  String text() {
    return text.toString();
  }

  Query on(Session session) throws SQLException {
    return bind(session.query(text()));
  }

  Query bind(Query query) throws SQLException {
    for (@Nullable Object value : values) {
      switch (value) {
        case null -> query.bind((String) null);
        case String one -> query.bind(one);
        case UUID one -> query.bind(one);
        case Integer one -> query.bind(one);
        case Long one -> query.bind(one);
        case List<?> texts -> query.bindTexts(texts, String::valueOf);
        case UUID[] all -> query.bindUuids(List.of(all), one -> one);
        default -> throw new IllegalArgumentException("parameter: " + value.getClass());
      }
    }
    return query;
  }
}
