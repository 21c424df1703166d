package dev.kagzi.engine.internal.diagnosis;

import dev.kagzi.engine.diagnosis.Check;
import dev.kagzi.engine.diagnosis.Finding;
import dev.kagzi.engine.internal.db.Session;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Compares the indexes of the schema with those that the migrations create. These are listed in
 * {@code indexes.txt}, one definition in each line; a test compares it with a migrated schema.
 */
public final class IndexChecks {
  private static final String INDEXES =
      """
      SELECT i.relname AS name, pg_get_indexdef(x.indexrelid) AS definition,
             x.indisvalid AND x.indisready AS valid
        FROM pg_index x
        JOIN pg_class i ON i.oid = x.indexrelid
        JOIN pg_class t ON t.oid = x.indrelid
        JOIN pg_namespace s ON s.oid = t.relnamespace
       WHERE s.nspname = 'kagzi' AND t.relkind = 'r' AND t.relname <> 'schema_history'
       ORDER BY i.relname
      """;

  private record Index(String name, String definition, boolean valid) {}

  private final Map<String, String> expected = expected();
  private final Map<String, Index> found = new TreeMap<>();

  public IndexChecks(Session session) throws SQLException {
    for (Index index :
        session
            .query(INDEXES)
            .list(row -> new Index(row.text("name"), row.text("definition"), row.bool("valid")))) {
      found.put(index.name, index);
    }
  }

  /** Returns the definitions that the migrations lead to, by name. */
  static Map<String, String> expected() {
    try (InputStream in = IndexChecks.class.getResourceAsStream("indexes.txt")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      Map<String, String> definitions = new TreeMap<>();
      text.lines()
          .filter(line -> !line.startsWith("#"))
          .forEach(line -> definitions.put(name(line), line));
      return Collections.unmodifiableMap(definitions);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the name in {@code CREATE [UNIQUE] INDEX name ON ...}. */
  private static String name(String definition) {
    String[] words = definition.split(" ", -1);
    return words[words[1].equals("UNIQUE") ? 3 : 2];
  }

  /** Returns what was found, for the test that compares the list with a migrated schema. */
  Map<String, String> definitions() {
    Map<String, String> definitions = new TreeMap<>();
    found.forEach((name, index) -> definitions.put(name, index.definition));
    return definitions;
  }

  public Finding needed() {
    List<String> wrong = new ArrayList<>();
    List<String> repairs = new ArrayList<>();
    expected.forEach(
        (name, definition) -> {
          Index index = found.get(name);
          if (index == null) {
            wrong.add(name + " is missing");
            repairs.add(create(definition));
          } else if (!index.valid) {
            wrong.add(name + " is invalid");
            repairs.add("REINDEX INDEX CONCURRENTLY kagzi." + name);
          } else if (!index.definition.equals(definition)) {
            wrong.add("%s is: %s (expected: %s)".formatted(name, index.definition, definition));
            repairs.add("DROP INDEX CONCURRENTLY kagzi." + name + "; " + create(definition));
          }
        });
    return wrong.isEmpty()
        ? Finding.ok(Check.INDEXES, "all %d indexes are valid".formatted(expected.size()))
        : Finding.failure(
            Check.INDEXES,
            String.join("; ", wrong) + " (expected: the indexes of the migrations)",
            "statements read whole tables or duplicates are not refused; run: "
                + String.join("; ", repairs));
  }

  private static String create(String definition) {
    return definition.replaceFirst(" INDEX ", " INDEX CONCURRENTLY ");
  }

  public Finding extra() {
    List<String> extra =
        found.keySet().stream().filter(name -> !expected.containsKey(name)).toList();
    return extra.isEmpty()
        ? Finding.ok(Check.EXTRA_INDEXES, "there are no others")
        : Finding.warning(
            Check.EXTRA_INDEXES,
            "%s (expected: only the indexes of the migrations)".formatted(String.join(", ", extra)),
            "each makes writes slower, and an upgrade does not know it; if nothing needs it: DROP"
                + " INDEX CONCURRENTLY kagzi."
                + extra.get(0));
  }
}
