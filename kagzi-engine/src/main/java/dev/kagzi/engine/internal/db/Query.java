package dev.kagzi.engine.internal.db;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** A statement: bind its parameters one by one, then send it. Use each instance once. */
public final class Query {
  private static final int IDS_MAX = 5;

  private final Connection connection;
  private final PreparedStatement statement;
  private final Sent sent;
  private final String sql;
  private int next = 1;

  // References to bound ids, for the log line of a statement that fails.
  private @Nullable UUID id;
  private Object @Nullable [] firstIds;
  private Object @Nullable [] lastIds;

  interface Sent {
    void run() throws SQLException;
  }

  Query(Connection connection, String sql, PreparedStatement statement, Sent sent) {
    this.connection = connection;
    this.sql = sql;
    this.statement = statement;
    this.sent = sent;
  }

  @FunctionalInterface
  public interface Mapper<T> {
    /** {@code row} is valid only during the call. */
    T map(Row row) throws SQLException;
  }

  public Query bind(@Nullable UUID value) throws SQLException {
    id = id == null ? value : id;
    statement.setObject(next++, value, Types.OTHER);
    return this;
  }

  public Query bind(@Nullable String value) throws SQLException {
    statement.setString(next++, value);
    return this;
  }

  public Query bind(int value) throws SQLException {
    statement.setInt(next++, value);
    return this;
  }

  public Query bind(long value) throws SQLException {
    statement.setLong(next++, value);
    return this;
  }

  public Query bind(boolean value) throws SQLException {
    statement.setBoolean(next++, value);
    return this;
  }

  public Query bind(byte @Nullable [] value) throws SQLException {
    statement.setBytes(next++, value);
    return this;
  }

  public Query bindInt(@Nullable Integer value) throws SQLException {
    statement.setObject(next++, value, Types.INTEGER);
    return this;
  }

  public Query bindLong(@Nullable Long value) throws SQLException {
    statement.setObject(next++, value, Types.BIGINT);
    return this;
  }

  public <T> Query bindUuids(Collection<T> items, Function<T, @Nullable UUID> of)
      throws SQLException {
    UUID[] values = values(items, of, new UUID[items.size()]);
    firstIds = firstIds == null ? values : firstIds;
    lastIds = values;
    statement.setArray(next++, UuidArray.of(connection, values));
    return this;
  }

  public <T> Query bindTexts(Collection<T> items, Function<T, @Nullable String> of)
      throws SQLException {
    return bindArray("text", values(items, of, new String[items.size()]));
  }

  public <T> Query bindInts(Collection<T> items, ToIntFunction<T> of) throws SQLException {
    return bindArray("int4", items.stream().mapToInt(of).toArray());
  }

  public <T> Query bindNullableInts(Collection<T> items, Function<T, @Nullable Integer> of)
      throws SQLException {
    return bindArray("int4", values(items, of, new Integer[items.size()]));
  }

  public <T> Query bindLongs(Collection<T> items, ToLongFunction<T> of) throws SQLException {
    return bindArray("int8", items.stream().mapToLong(of).toArray());
  }

  public <T> Query bindNullableLongs(Collection<T> items, Function<T, @Nullable Long> of)
      throws SQLException {
    return bindArray("int8", values(items, of, new Long[items.size()]));
  }

  public <T> Query bindBooleans(Collection<T> items, Function<T, Boolean> of) throws SQLException {
    return bindArray("bool", values(items, of, new Boolean[items.size()]));
  }

  public <T> Query bindBytes(Collection<T> items, Function<T, byte @Nullable []> of)
      throws SQLException {
    return bindArray("bytea", values(items, of, new byte[items.size()][]));
  }

  private static <T, V> V[] values(
      Collection<T> items, Function<T, ? extends @Nullable V> of, V[] values) {
    int i = 0;
    for (T item : items) {
      values[i++] = of.apply(item);
    }
    return values;
  }

  public Query bindTextArray(Collection<String> values) throws SQLException {
    return bindArray("text", values.toArray(String[]::new));
  }

  private Query bindArray(String type, Object values) throws SQLException {
    // Unlike JDBC's method, the driver's own accepts primitive arrays, and sends them in binary.
    Array array = connection.unwrap(org.postgresql.PGConnection.class).createArrayOf(type, values);
    statement.setArray(next++, array);
    return this;
  }

  public <T> List<T> list(Mapper<T> mapper) throws SQLException {
    sent.run();
    try (statement;
        ResultSet rows = statement.executeQuery()) {
      List<T> all = new ArrayList<>();
      Row row = new Row(rows);
      while (rows.next()) {
        all.add(mapper.map(row));
      }
      return all;
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  public <T> Optional<T> first(Mapper<T> mapper) throws SQLException {
    List<T> all = list(mapper);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(0));
  }

  /**
   * Sends the statement and counts the rows that it returns. For {@code INSERT … SELECT … ON
   * CONFLICT … RETURNING}, because the count of {@link #update} includes rows that were not written
   * if Citus distributes the schema.
   */
  public int count() throws SQLException {
    return list(row -> row).size();
  }

  public int update() throws SQLException {
    sent.run();
    try (statement) {
      return statement.executeUpdate();
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  public void execute() throws SQLException {
    sent.run();
    try (statement) {
      statement.execute();
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  private SQLException failed(SQLException cause) {
    if (cause instanceof StatementException known) {
      return known;
    }
    Set<UUID> ids = new LinkedHashSet<>();
    add(ids, id);
    for (Object[] some : Arrays.asList(firstIds, lastIds)) {
      for (int i = 0; some != null && i < Math.min(some.length, IDS_MAX); i++) {
        add(ids, some[i]);
      }
    }
    return new StatementException(cause, sql, List.copyOf(ids));
  }

  private static void add(Set<UUID> ids, @Nullable Object value) {
    if (value instanceof UUID known) {
      ids.add(known);
    }
  }
}
