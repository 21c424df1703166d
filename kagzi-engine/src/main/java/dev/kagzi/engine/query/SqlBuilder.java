package dev.kagzi.engine.query;

import dev.kagzi.engine.db.Query;
import dev.kagzi.engine.db.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds a statement from conditions with their parameters. The text has only the requested
 * conditions, so that each combination gets its own plan.
 */
final class SqlBuilder {
  private final StringBuilder text = new StringBuilder();
  private final List<Bind> binds = new ArrayList<>();

  /** Binds the next parameters of a statement. */
  interface Bind {
    void to(Query query) throws SQLException;
  }

  SqlBuilder add(String sql, Bind... parameters) {
    text.append(sql).append('\n');
    binds.addAll(List.of(parameters));
    return this;
  }

  SqlBuilder add(SqlBuilder other) {
    text.append(other.text);
    binds.addAll(other.binds);
    return this;
  }

  String text() {
    return text.toString();
  }

  Query on(Session session) throws SQLException {
    return bind(session.query(text()));
  }

  Query bind(Query query) throws SQLException {
    for (Bind bind : binds) {
      bind.to(query);
    }
    return query;
  }
}
