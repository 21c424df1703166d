package dev.kagzi.engine;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Timer;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The allowed dependencies between the engine's packages; all others are forbidden. */
class ArchitectureTest {
  private static final String ROOT = SqlConstants.ROOT;
  private static final Path ARCHITECTURE = Path.of("../ARCHITECTURE.md");
  private static final Path SOURCES = Path.of("src/main/java/dev/kagzi/engine");
  private static final Path MIGRATIONS = Path.of("src/main/resources/dev/kagzi/engine/migration");

  private static final JavaClasses ENGINE = SqlConstants.ENGINE;

  /** The packages that each package may depend on. */
  private static final Map<String, Set<String>> MAY_KNOW =
      Map.ofEntries(
          Map.entry("value", Set.of()),
          Map.entry("metrics", Set.of("value")),
          Map.entry("config", Set.of("retry")),
          Map.entry("thread", Set.of()),
          Map.entry("memory", Set.of()),
          Map.entry("retry", Set.of("value")),
          Map.entry("page", Set.of("value")),
          Map.entry("db", Set.of("metrics", "config", "value")),
          Map.entry("journal", Set.of("metrics", "config", "db", "thread", "value")),
          Map.entry("request", Set.of("db", "value")),
          Map.entry("namespace", Set.of("db", "page", "request", "value")),
          Map.entry("notification", Set.of("config", "db", "thread", "value")),
          Map.entry(
              "run", Set.of("db", "journal", "namespace", "request", "retry", "thread", "value")),
          Map.entry("step", Set.of("db", "value")),
          Map.entry("message", Set.of("db", "value")),
          Map.entry("signal", Set.of("db", "value")),
          Map.entry("published", Set.of("db", "value")),
          Map.entry(
              "dispatch",
              Set.of(
                  "metrics",
                  "config",
                  "db",
                  "memory",
                  "namespace",
                  "retry",
                  "run",
                  "step",
                  "thread",
                  "value")),
          Map.entry(
              "schedule",
              Set.of("config", "db", "namespace", "page", "request", "retry", "run", "value")),
          Map.entry(
              "transition",
              Set.of(
                  "config",
                  "db",
                  "journal",
                  "message",
                  "published",
                  "retry",
                  "run",
                  "schedule",
                  "signal",
                  "step",
                  "value")),
          Map.entry(
              "worker",
              Set.of(
                  "metrics",
                  "config",
                  "db",
                  "journal",
                  "namespace",
                  "notification",
                  "request",
                  "run",
                  "dispatch",
                  "thread",
                  "value")),
          Map.entry(
              "chore",
              Set.of(
                  "config",
                  "db",
                  "message",
                  "namespace",
                  "notification",
                  "published",
                  "request",
                  "retry",
                  "run",
                  "schedule",
                  "signal",
                  "step",
                  "thread",
                  "value",
                  "worker")),
          Map.entry("diagnosis", Set.of("db", "value")),
          Map.entry("query", Set.of("metrics", "db", "page", "retry", "value")));

  /** The package that owns each table. */
  private static final Map<String, String> OWNERS =
      Map.ofEntries(
          Map.entry("namespaces", "namespace"),
          Map.entry("database_generation", "db"),
          Map.entry("requests", "request"),
          Map.entry("workflow_runs", "run"),
          Map.entry("workflow_payloads", "run"),
          Map.entry("workflow_types", "run"),
          Map.entry("start_requests", "run"),
          Map.entry("signal_requests", "run"),
          Map.entry("run_changes", "run"),
          Map.entry("run_counts", "run"),
          Map.entry("run_rates", "run"),
          Map.entry("schedule_changes", "schedule"),
          Map.entry("schedule_counts", "schedule"),
          Map.entry("step_runs", "step"),
          Map.entry("run_messages", "message"),
          Map.entry("run_signals", "signal"),
          Map.entry("published_values", "published"),
          Map.entry("workers", "worker"),
          Map.entry("worker_events", "worker"),
          Map.entry("servers", "chore"),
          Map.entry("maintenance_tasks", "chore"));

  // Dispatch claims runs, and workers renew leases. A single report is one autocommit statement, so
  // it writes the tables of several packages. Firing is one statement that copies a template.
  private static final Map<String, Set<String>> MAY_ALSO_WRITE =
      Map.of(
          "workflow_runs", Set.of("transition", "schedule", "dispatch", "worker"),
          "workflow_payloads", Set.of("transition", "schedule"),
          "run_changes", Set.of("transition", "schedule", "dispatch"),
          "step_runs", Set.of("transition"));

  private static final Set<String> MAY_USE_SQL =
      Set.of(
          "chore",
          "db",
          "diagnosis",
          "message",
          "namespace",
          "notification",
          "published",
          "query",
          "transition",
          "request",
          "run",
          "schedule",
          "signal",
          "step",
          "dispatch",
          "worker");

  @Test
  void every_package_depends_only_on_allowed_packages() {
    assertThat(MAY_KNOW.keySet()).isEqualTo(packages());

    MAY_KNOW.forEach(
        (packageName, known) ->
            classes()
                .that()
                .resideInAnyPackage(names(Set.of(packageName)))
                .should()
                .onlyDependOnClassesThat(
                    not(resideInAPackage(ROOT + ".."))
                        .or(resideInAnyPackage(names(Set.of(packageName))))
                        .or(resideInAnyPackage(names(known))))
                .check(ENGINE));
  }

  @Test
  void packages_have_no_cycles() {
    slices().assignedFrom(CONCEPTS).should().beFreeOfCycles().check(ENGINE);
  }

  @Test
  void the_journal_depends_on_neither_runs_nor_steps() {
    noClasses()
        .that()
        .resideInAnyPackage(names(Set.of("journal")))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            names(Set.of("run", "step", "transition", "dispatch", "message", "worker")))
        .check(ENGINE);
  }

  @Test
  void the_engine_depends_on_no_grpc_no_http_and_no_json_library() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.grpc..",
            "com.google.protobuf..",
            "io.javalin..",
            "jakarta..",
            "javax.servlet..",
            "java.net.http..",
            "com.sun.net.httpserver..",
            "com.fasterxml.jackson..",
            "tools.jackson.databind..",
            "dev.kagzi.protocol..",
            "dev.kagzi.server..",
            "dev.kagzi.sdk..",
            "dev.kagzi.postgres..")
        .check(ENGINE);
  }

  @Test
  void only_the_db_package_uses_jdbc() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".internal.db")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("java.sql", "javax.sql", "org.postgresql..", "com.zaxxer..")
                .and(not(type(SQLException.class))))
        .check(ENGINE);
  }

  @Test
  void only_listed_packages_use_sql() {
    noClasses()
        .that()
        .resideInAnyPackage(names(without(packages(), MAY_USE_SQL)))
        .and(
            not(
                named(
                    "internal.journal.Lane",
                    "internal.journal.BatchWriter",
                    "internal.page.Pager")))
        .should()
        .dependOnClassesThat(type(SQLException.class))
        .check(ENGINE);

    Map<String, Set<String>> named = tables(Pattern.compile("kagzi\\.([a-z]+(?:_[a-z]+)*)\\b"));
    named.values().removeIf(names -> names.stream().noneMatch(OWNERS::containsKey));

    assertThat(MAY_USE_SQL).containsAll(named.keySet());
  }

  @Test
  void each_table_is_written_by_its_owner() {
    Map<String, Set<String>> allowed = new HashMap<>();
    OWNERS.forEach(
        (table, owner) -> {
          allowed.computeIfAbsent(owner, packageName -> new TreeSet<>()).add(table);
          MAY_ALSO_WRITE
              .getOrDefault(table, Set.of())
              .forEach(
                  packageName ->
                      allowed.computeIfAbsent(packageName, r -> new TreeSet<>()).add(table));
        });

    // The constants as compiled: a statement may contain a part of another package's.
    Pattern write = Pattern.compile("(?:INSERT INTO|UPDATE|DELETE FROM)\\s+kagzi\\.([a-z_]+)");
    Map<String, Set<String>> written = new TreeMap<>();
    SqlConstants.all()
        .forEach(
            (name, sql) ->
                write
                    .matcher(sql)
                    .results()
                    .forEach(
                        table ->
                            written
                                .computeIfAbsent(
                                    name.substring(0, name.indexOf('.')), p -> new TreeSet<>())
                                .add(table.group(1))));

    assertThat(written).isEqualTo(allowed);
  }

  @Test
  void every_table_has_an_owner() throws IOException {
    Set<String> created = new TreeSet<>();
    for (Path migration : VersionedDatabase.migrations()) {
      Pattern.compile("CREATE TABLE (?:IF NOT EXISTS )?kagzi\\.([a-z_]+)")
          .matcher(Files.readString(migration))
          .results()
          .forEach(table -> created.add(table.group(1)));
    }

    assertThat(OWNERS.keySet()).isEqualTo(created);
  }

  @Test
  void the_documented_writers_of_each_table_are_the_allowed_ones() throws IOException {
    Map<String, String> documented = new TreeMap<>();
    Pattern row = Pattern.compile("(?m)^\\| (`[^|]*) \\| `(\\w+)` \\| ([^|]*) \\|");
    row.matcher(section("## Tables"))
        .results()
        .forEach(
            line ->
                quoted(line.group(1))
                    .forEach(
                        table ->
                            documented.put(table, line.group(2) + " " + quoted(line.group(3)))));
    Map<String, String> allowed = new TreeMap<>();
    OWNERS.forEach(
        (table, owner) ->
            allowed.put(
                table, owner + " " + new TreeSet<>(MAY_ALSO_WRITE.getOrDefault(table, Set.of()))));

    assertThat(documented).isEqualTo(allowed);
  }

  /** Statements that write runs and do not compare an epoch, and why they need not. */
  private static final Map<String, String> WITHOUT_EPOCH =
      Map.ofEntries(
          Map.entry("run.InsertRuns.SQL", "inserts"),
          Map.entry("run.InsertRuns.OPTIONS_SQL", "inserts"),
          Map.entry("run.InsertRuns.ALONE_SQL", "inserts"),
          Map.entry("run.InsertRuns.DELETE_SQL", "deletes runs that it has inserted or locked"),
          Map.entry("dispatch.ClaimRuns.SQL", "increases the epoch of runs that it locks"),
          Map.entry("run.RevokeClaims.SQL", "takes all claims before any session can be used"),
          Map.entry("schedule.FireRuns.SQL", "inserts"),
          Map.entry("schedule.ScheduleRows.INSERT_SQL", "a template has no claims"),
          Map.entry("schedule.ScheduleRows.UPDATE_SQL", "a template has no claims"),
          Map.entry("schedule.ScheduleRows.DELETE_SQL", "a template has no claims"),
          Map.entry("schedule.ScheduleTemplates.ADVANCE_SQL", "a template has no claims"),
          Map.entry("schedule.ScheduleTemplates.STARTED_SQL", "a template has no claims"),
          Map.entry("schedule.ScheduleTemplates.POSTPONE_SQL", "a template has no claims"),
          Map.entry("schedule.ScheduledRunEnds.TAKEN_SQL", "a template has no claims"));

  @Test
  void a_statement_that_writes_a_run_compares_its_epoch() throws IOException {
    Pattern write = Pattern.compile("(?:INSERT INTO|UPDATE|DELETE FROM) kagzi\\.workflow_runs\\b");
    Pattern fence = Pattern.compile("(?:WHERE|AND) (?:\\w+\\.)?epoch = (?:\\?|\\w+\\.epoch\\b)");
    Set<String> without = new TreeSet<>();
    SqlConstants.all()
        .forEach(
            (name, sql) -> {
              if (write.matcher(sql).find() && !fence.matcher(sql).find()) {
                without.add(name);
              }
            });

    assertThat(without).isEqualTo(WITHOUT_EPOCH.keySet());
  }

  @Test
  void the_documented_writers_without_an_epoch_are_the_listed_ones() throws IOException {
    String text = section("**Who writes a run without its epoch.**");
    Set<String> documented = new TreeSet<>();
    Pattern.compile("(?m)^- .*")
        .matcher(text)
        .results()
        .forEach(line -> documented.addAll(quoted(line.group())));
    Set<String> listed = new TreeSet<>();
    WITHOUT_EPOCH.keySet().forEach(name -> listed.add(name.replaceAll("\\.\\w+$", "")));

    assertThat(documented).isEqualTo(listed);
  }

  /** Returns the text of ARCHITECTURE.md from this line to the next heading. */
  private static String section(String beginning) throws IOException {
    String text = Files.readString(ARCHITECTURE);
    int begin = text.indexOf(beginning);
    assertThat(begin).as("position of %s", beginning).isNotNegative();
    int end = text.indexOf("\n## ", begin + 1);
    return text.substring(begin, end);
  }

  private static Set<String> quoted(String text) {
    Set<String> words = new TreeSet<>();
    Pattern.compile("`([^`]+)`").matcher(text).results().forEach(w -> words.add(w.group(1)));
    return words;
  }

  /** Two clocks differ, and tests can move only one of them. */
  @Test
  void the_database_s_clock_is_the_only_one() {
    Pattern clocks =
        Pattern.compile(
            "(?<![.\\w])now\\(\\)|Instant\\.now|currentTimeMillis"
                + "|(?i:current_(?:time|date|timestamp)|localtime(?:stamp)?"
                + "|(?:clock|statement|transaction)_timestamp)");

    assertThat(lines(SOURCES, clocks)).isEmpty();
    assertThat(lines(MIGRATIONS, clocks))
        .singleElement()
        .asString()
        .startsWith("CREATE FUNCTION kagzi.clock()");
  }

  /** A thread that ends unnoticed leaves a server that accepts calls and does nothing. */
  @Test
  void only_one_class_starts_platform_threads() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".thread")
        .should()
        .callCodeUnitWhere(startsPlatformThreads())
        .check(ENGINE);
  }

  @Test
  void packages_are_named_after_concepts() {
    assertThat(packages())
        .doesNotContain("util", "utils", "common", "model", "dao", "impl", "helper");
    noClasses().should().haveSimpleNameEndingWith("Impl").check(ENGINE);
  }

  @Test
  void every_package_has_a_package_comment() {
    for (JavaClass type : ENGINE) {
      String packageName = type.getPackageName().substring(ROOT.length()).replace('.', '/');
      assertThat(Path.of(SOURCES + packageName, "package-info.java"))
          .content()
          .contains("@NullMarked")
          .startsWith("/**");
    }
  }

  private static DescribedPredicate<JavaCall<?>> startsPlatformThreads() {
    Set<String> makers =
        Set.of(
            Thread.class.getName(),
            Timer.class.getName(),
            ForkJoinPool.class.getName(),
            ThreadPoolExecutor.class.getName(),
            ScheduledThreadPoolExecutor.class.getName());
    return DescribedPredicate.describe(
        "starts platform threads",
        call -> {
          String owner = call.getTargetOwner().getName();
          String name = call.getName();
          return switch (name) {
            case "<init>" -> makers.contains(owner);
            case "ofPlatform" -> owner.equals(Thread.class.getName());
            case "newVirtualThreadPerTaskExecutor" -> false;
            default -> owner.equals(Executors.class.getName());
          };
        });
  }

  private static Set<String> packages() {
    Set<String> packages = new TreeSet<>();
    for (JavaClass type : ENGINE) {
      concept(type).ifPresent(packages::add);
    }
    return packages;
  }

  /** Returns the package of a type without {@code internal}; empty outside of these. */
  private static Optional<String> concept(JavaClass type) {
    return type.getPackageName().startsWith(ROOT + ".")
        ? Optional.of(
            type.getPackageName().substring(ROOT.length() + 1).replaceFirst("^internal\\.", ""))
        : Optional.empty();
  }

  private static final SliceAssignment CONCEPTS =
      new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
          return concept(type).map(SliceIdentifier::of).orElse(SliceIdentifier.ignore());
        }

        @Override
        public String getDescription() {
          return "concepts";
        }
      };

  private static DescribedPredicate<JavaClass> named(String... names) {
    List<String> full = Stream.of(names).map(name -> ROOT + "." + name).toList();
    return DescribedPredicate.describe(
        "one of " + full,
        type -> full.stream().anyMatch(n -> (type.getName() + "$").startsWith(n + "$")));
  }

  private static Set<String> without(Set<String> all, Set<String> some) {
    Set<String> rest = new TreeSet<>(all);
    rest.removeAll(some);
    return rest;
  }

  private static String[] names(Set<String> packages) {
    return packages.stream()
        .flatMap(name -> Stream.of(ROOT + "." + name, ROOT + ".internal." + name))
        .toArray(String[]::new);
  }

  /** Returns all lines below the folder that match the pattern. */
  private static List<String> lines(Path folder, Pattern pattern) {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.readAllLines(file).stream().filter(pattern.asPredicate()).forEach(found::add);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  /** Returns the tables that the pattern matches, by package. */
  private static Map<String, Set<String>> tables(Pattern pattern) {
    Map<String, Set<String>> found = new TreeMap<>();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        Matcher matcher = pattern.matcher(Files.readString(file));
        while (matcher.find()) {
          Path place = SOURCES.relativize(file);
          int concept = place.startsWith("internal") ? 1 : 0;
          String packageName = place.getName(concept).toString();
          found.computeIfAbsent(packageName, name -> new TreeSet<>()).add(matcher.group(1));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }
}
