package dev.kagzi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Rules for all SQL of the engine, so that the schema also works on extended PostgreSQL, such as in
 * a distributed schema of Citus. The reasons are in {@code
 * docs/internals/database-and-migrations.md}.
 */
class PortableSqlTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/kagzi/engine");

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Pattern WRITE = Pattern.compile("INSERT INTO|UPDATE kagzi|DELETE FROM");
  private static final Pattern CALL = Pattern.compile("(?<![\\w.])(?:kagzi\\.)?([a-z_0-9]+)\\(");
  private static final Pattern SYSTEM_COLUMN =
      Pattern.compile("\\b(?:ctid|xmin|xmax|cmin|cmax|tableoid)\\b");
  private static final Pattern EMPTY_LIST = Pattern.compile("SELECT\\s+(?:FROM|WHERE|\\))");

  /** Statements whose number of rows nobody reads. */
  private static final Set<String> NOT_COUNTED =
      Set.of(
          "message.Messages.POST_SQL",
          "published.PublishedRows.WRITE_SQL",
          "run.InsertPayloads.SQL");

  /** {@code pg_replication_slots} has a column called xmin. */
  private static final Set<String> OF_A_VIEW =
      Set.of("diagnosis.TransactionChecks.REPLICATION_SLOTS");

  private static final Pattern LITERAL = Pattern.compile("'[^']*'");

  @Test
  void no_statement_uses_a_system_column() {
    assertThat(breaking(sql -> SYSTEM_COLUMN.matcher(sql).find())).isSubsetOf(OF_A_VIEW);
  }

  @Test
  void no_select_list_is_empty() {
    assertThat(breaking(sql -> EMPTY_LIST.matcher(sql).find())).isEmpty();
  }

  /** For such a statement Citus also counts the rows that were in conflict and not written. */
  @Test
  void an_insert_that_may_conflict_is_counted_by_the_rows_that_it_returns() {
    Set<String> broken =
        breaking(
            sql ->
                mainStatement(sql)
                        .matches("(?s).*\\bINSERT INTO\\b.*\\bSELECT\\b.*\\bON CONFLICT\\b.*")
                    && !mainStatement(sql).contains("RETURNING"));

    assertThat(broken).isEqualTo(NOT_COUNTED);
  }

  @Test
  void an_update_calls_no_volatile_function() {
    Set<String> volatiles = functions("bool_and(p.provolatile = 'v')");

    assertThat(
            breaking(
                sql ->
                    sql.contains("UPDATE kagzi.")
                        && calls(sql).stream().anyMatch(volatiles::contains)))
        .isEmpty();
  }

  /** A write selects the time once in FROM, or receives it as a parameter. */
  @Test
  void a_write_calls_immutable_functions_only_in_case_coalesce_and_returning() {
    Set<String> changing = functions("bool_and(p.provolatile <> 'i')");
    assertThat(changing).contains("clock");

    assertThat(
            breaking(
                sql ->
                    WRITE.matcher(sql).find()
                        && parts(sql).stream()
                            .anyMatch(part -> calls(part).stream().anyMatch(changing::contains))))
        .isEmpty();
  }

  @Test
  void a_case_is_read_to_its_own_end() {
    String sql = "SELECT CASE WHEN a THEN CASE WHEN b THEN 1 END ELSE kagzi.clock() END";

    assertThat(parts(sql)).hasSize(2).anyMatch(part -> calls(part).contains("clock"));
  }

  @Test
  void times_are_converted_by_an_immutable_function() {
    assertThat(functions("bool_and(p.provolatile = 'i')")).contains("at");
  }

  /** A statement that is not a constant would be missed by the rules above. */
  @Test
  void every_write_is_a_constant() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(writesOutsideOfConstants(Files.readString(file)))
            .as("%s", file)
            // insertSql is used only to build constants.
            .hasSize(file.endsWith("InsertRuns.java") ? 1 : 0);
      }
    }
  }

  @Test
  void a_write_in_a_method_is_found_however_it_is_written() {
    String block = "\"\"\"";
    String constant = "private static final String SQL = \"DELETE FROM kagzi.a;\" + B;";

    assertThat(writesOutsideOfConstants(constant + " // \"DELETE FROM b\"")).isEmpty();
    assertThat(writesOutsideOfConstants(constant + "tx.query(\"DELETE FROM b\")")).hasSize(1);
    assertThat(writesOutsideOfConstants("query(" + block + "\n INSERT INTO b" + block + ")"))
        .hasSize(1);
    assertThat(writesOutsideOfConstants("sql.add(\"UPDATE \" + table)")).hasSize(1);
    assertThat(writesOutsideOfConstants("query(\"SELECT 1 FOR NO KEY UPDATE\")")).isEmpty();
  }

  private static final Pattern LITERAL_OR_COMMENT =
      Pattern.compile(
          "(?s)(\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'])')|//[^\\n]*|/\\*.*?\\*/");
  private static final Pattern CONSTANT =
      Pattern.compile(
          "(?s)static final String \\w+\\s*=(?:\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|[^\";])*;");
  private static final Pattern WRITES =
      Pattern.compile(
          "\\b(?:INSERT INTO|DELETE FROM|MERGE INTO)\\b|(?<!KEY |FOR |DO )\\bUPDATE\\b");

  /** Returns the literals with writes that are not part of a constant. */
  private static List<String> writesOutsideOfConstants(String source) {
    String code =
        LITERAL_OR_COMMENT
            .matcher(source)
            .replaceAll(
                found -> found.group(1) == null ? "" : Matcher.quoteReplacement(found.group(1)));
    return LITERAL_OR_COMMENT
        .matcher(CONSTANT.matcher(code).replaceAll(""))
        .results()
        .map(MatchResult::group)
        .filter(literal -> WRITES.matcher(literal).find())
        .toList();
  }

  /** Citus refuses a constraint together with other changes of a table. */
  @Test
  void a_migration_adds_a_constraint_by_a_statement_of_its_own() throws IOException {
    for (Path migration : VersionedDatabase.migrations()) {
      for (String statement : Files.readString(migration).split(";", -1)) {
        if (statement.contains("ADD CONSTRAINT")) {
          assertThat(statement.split("\\b(?:ADD|DROP|ALTER COLUMN|RENAME|VALIDATE)\\b", -1))
              .as("%s: %s", migration, statement)
              .hasSize(2);
        }
      }
    }
  }

  private static Set<String> breaking(Predicate<String> rule) {
    Set<String> broken = new TreeSet<>();
    for (Map.Entry<String, String> constant : SqlConstants.all().entrySet()) {
      if (rule.test(LITERAL.matcher(constant.getValue()).replaceAll("''"))) {
        broken.add(constant.getKey());
      }
    }
    return broken;
  }

  /** Returns the statement without everything in parentheses, and so without its WITH parts. */
  private static String mainStatement(String sql) {
    StringBuilder main = new StringBuilder();
    int depth = 0;
    for (int i = 0; i < sql.length(); i++) {
      char c = sql.charAt(i);
      depth += c == '(' ? 1 : 0;
      if (depth == 0) {
        main.append(c);
      }
      depth -= c == ')' ? 1 : 0;
    }
    return main.toString();
  }

  /** Returns the CASE expressions, the arguments of COALESCE and the RETURNING lists. */
  private static List<String> parts(String sql) {
    List<String> parts = new ArrayList<>();
    Deque<Integer> open = new ArrayDeque<>();
    Matcher word = Pattern.compile("\\b(?:CASE|END)\\b").matcher(sql);
    while (word.find()) {
      if (word.group().equals("CASE")) {
        open.push(word.start());
      } else if (!open.isEmpty()) {
        parts.add(sql.substring(open.pop(), word.end()));
      }
    }
    Matcher begin = Pattern.compile("\\b(?:coalesce\\(|RETURNING\\b)").matcher(sql);
    while (begin.find()) {
      parts.add(untilClosed(sql, begin.end(), begin.group().endsWith("(") ? 1 : 0));
    }
    return parts;
  }

  /** Returns the text up to the parenthesis that closes what is open, or up to the end. */
  private static String untilClosed(String sql, int begin, int open) {
    int depth = open;
    int end = begin;
    for (; end < sql.length() && depth >= open; end++) {
      depth += sql.charAt(end) == '(' ? 1 : sql.charAt(end) == ')' ? -1 : 0;
    }
    return sql.substring(begin, end);
  }

  private static List<String> calls(String sql) {
    return CALL.matcher(sql).results().map(call -> call.group(1)).toList();
  }

  /** Returns the functions of PostgreSQL and of the schema that meet the condition. */
  private static Set<String> functions(String condition) {
    return new HashSet<>(
        database.run(
            session ->
                session
                    .query(
                        "SELECT p.proname AS name FROM pg_proc p"
                            + " JOIN pg_namespace s ON s.oid = p.pronamespace"
                            + " WHERE s.nspname IN ('pg_catalog', 'kagzi')"
                            + " GROUP BY p.proname HAVING "
                            + condition)
                    .list(row -> row.text("name"))));
  }
}
