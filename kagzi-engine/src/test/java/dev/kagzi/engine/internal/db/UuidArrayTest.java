package dev.kagzi.engine.internal.db;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How arrays of ids arrive in PostgreSQL. */
class UuidArrayTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String ONE = "01a187b8-888d-7c4c-8dcc-509a6f75849b";
  private static final String NEGATIVE = "ffffffff-ffff-ffff-ffff-fffffffffffe";

  /** The array as PostgreSQL writes it, without the driver's decoder. */
  private static String received(@Nullable String... values) throws SQLException {
    List<@Nullable String> sent = Arrays.asList(values);
    return database
        .open()
        .read(
            session ->
                session
                    .query(
                        "SELECT cardinality(a) || ' ' || a::text AS text FROM (SELECT ?::uuid[]) n (a)")
                    .bindUuids(sent, value -> value == null ? null : UUID.fromString(value))
                    .first(row -> row.text("text"))
                    .orElseThrow());
  }

  @Test
  void ids_arrive_in_their_order() throws SQLException {
    assertThat(received(NEGATIVE, ONE, ONE))
        .isEqualTo("3 {%s,%s,%s}".formatted(NEGATIVE, ONE, ONE));
  }

  @Test
  void nulls_stay_nulls() throws SQLException {
    assertThat(received(null, ONE, null)).isEqualTo("3 {NULL,%s,NULL}".formatted(ONE));
    assertThat(received((String) null)).isEqualTo("1 {NULL}");
  }

  @Test
  void an_array_without_ids_is_empty() throws SQLException {
    assertThat(received()).isEqualTo("0 {}");
  }
}
