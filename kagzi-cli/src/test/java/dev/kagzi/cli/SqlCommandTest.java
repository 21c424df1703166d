package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.jdbc.Dialect;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

class SqlCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CommandLine kagzi =
      Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void the_table_of_transactional_steps_is_printed_for_each_database(Dialect dialect) {
    assertThat(kagzi.execute("sql", "steps", "--dialect", dialect.name().toLowerCase(Locale.ROOT)))
        .isZero();

    assertThat(out.toString())
        .startsWith("CREATE TABLE IF NOT EXISTS kagzi_steps (")
        .contains("PRIMARY KEY (run_id, step_key)")
        .endsWith(";\n");
  }

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void the_outbox_is_printed_for_each_database(Dialect dialect) {
    assertThat(kagzi.execute("sql", "outbox", "--dialect", dialect.toString())).isZero();

    assertThat(out.toString())
        .startsWith("CREATE TABLE IF NOT EXISTS kagzi_outbox (")
        .contains("kagzi_outbox_order")
        .endsWith(";\n");
  }

  @Test
  void a_dialect_is_required_and_must_be_known() {
    assertThat(kagzi.execute("sql", "steps")).isEqualTo(2);
    assertThat(err.toString()).contains("--dialect");
    assertThat(kagzi.execute("sql", "steps", "--dialect", "oracle")).isEqualTo(2);
    assertThat(err.toString()).contains("oracle");
    assertThat(kagzi.execute("sql", "runs", "--dialect", "h2")).isEqualTo(2);
  }
}
