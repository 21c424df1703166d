package dev.kagzi.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Each test has its own folders and servers and mostly waits, so the tests run in parallel. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(120)
class EmbeddedPostgresTest {

  private static final Path CACHE = UserDirs.cache(Account.current());

  @TempDir Path folder;

  @Test
  void rows_survive_a_stop_and_a_start_on_the_same_port() throws SQLException {
    int port;
    String password;
    try (EmbeddedPostgres first = durable()) {
      first.createDatabaseIfAbsent("orders");
      execute(first, "orders", "CREATE TABLE t AS SELECT 42 AS n");
      port = first.port();
      password = first.password();
    }

    try (EmbeddedPostgres second = durable()) {
      second.createDatabaseIfAbsent("orders");

      assertThat(query(second, "orders", "SELECT n FROM t")).isEqualTo("42");
      assertThat(second.port()).isEqualTo(port);
      assertThat(second.password()).isEqualTo(password);
    }
  }

  @Test
  void a_port_file_that_a_crash_has_left_empty_is_like_none() throws Exception {
    quick().close();
    Files.writeString(folder.resolve("port"), "");

    try (EmbeddedPostgres second = quick()) {
      assertThat(folder.resolve("port")).hasContent(Integer.toString(second.port()));
    }
  }

  @Test
  void committed_rows_survive_kill_9_of_postgres() throws Exception {
    try (EmbeddedPostgres first = durable()) {
      execute(first, "postgres", "CREATE TABLE t (n int)");
      try (Connection connection = first.connect("postgres");
          Statement statement = connection.createStatement()) {
        for (int n = 1; n <= 100; n++) {
          statement.execute("INSERT INTO t VALUES (" + n + ")");
        }
        kill9(first.pid());
      }
      first.onExit().get(30, TimeUnit.SECONDS);
      assertThat(first.isRunning()).isFalse();
    }

    try (EmbeddedPostgres second = durable()) {
      assertThat(query(second, "postgres", "SELECT count(*) FROM t")).isEqualTo("100");
    }
  }

  @Test
  void a_start_waits_for_a_process_of_the_killed_server_that_has_not_noticed_its_death()
      throws Exception {
    CompletableFuture<?> resumed;
    try (EmbeddedPostgres first = durable();
        Connection connection = first.connect("postgres");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      assertThat(row.next()).isTrue();
      long backend = row.getLong(1);
      signal("STOP", backend);
      kill9(first.pid());
      first.onExit().get(30, TimeUnit.SECONDS);
      resumed =
          CompletableFuture.runAsync(
              () -> signal("CONT", backend),
              CompletableFuture.delayedExecutor(6, TimeUnit.SECONDS));
    }

    try (EmbeddedPostgres second = durable()) {
      assertThat(query(second, "postgres", "SELECT 1")).isEqualTo("1");
      assertThat(resumed).isDone();
    } finally {
      resumed.get(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void durable_server_uses_fsync_and_checksums() throws SQLException {
    try (EmbeddedPostgres postgres = durable()) {
      for (String setting :
          List.of("fsync", "synchronous_commit", "full_page_writes", "data_checksums")) {
        assertThat(query(postgres, "postgres", "SHOW " + setting)).as(setting).isEqualTo("on");
      }
      assertThat(query(postgres, "postgres", "SHOW listen_addresses")).isEqualTo("127.0.0.1");
    }
  }

  @Test
  void password_is_asked_for_and_readable_by_its_owner_only() throws Exception {
    try (EmbeddedPostgres postgres = quick()) {
      Path file = folder.resolve("password");

      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
      assertThat(Files.readString(file).strip()).isEqualTo(postgres.password()).hasSize(32);
      assertThatThrownBy(
              () ->
                  DriverManager.getConnection(postgres.jdbcUrl("postgres"), "postgres", "guessed"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("password authentication failed");
    }
  }

  @Test
  void postgres_stops_when_the_jvm_that_owns_it_is_killed() throws Exception {
    try (Owner owner = Owner.start(folder, CACHE)) {
      assertThat(isAlive(owner.postgresPid())).isTrue();

      owner.kill();

      await().atMost(Duration.ofSeconds(30)).until(() -> !isAlive(owner.postgresPid()));
    }
  }

  @Test
  void postgres_left_behind_by_a_killed_owner_and_shell_is_stopped_by_the_next_start()
      throws Exception {
    try (Owner owner = Owner.start(folder, CACHE)) {
      long leftover = owner.postgresPid();
      killShellOf(leftover);
      owner.kill();

      try (EmbeddedPostgres next = quick()) {
        assertThat(isAlive(leftover)).isFalse();
        assertThat(query(next, "postgres", "SELECT 1")).isEqualTo("1");
      }
    }
  }

  @Test
  void process_that_reuses_a_stale_pid_is_not_stopped() throws Exception {
    quick().close();
    Process innocent = new ProcessBuilder("sleep", "300").start();
    try {
      Files.writeString(folder.resolve("pgdata/postmaster.pid"), innocent.pid() + "\n");

      quick().close();

      assertThat(innocent.isAlive()).isTrue();
    } finally {
      innocent.destroyForcibly();
    }
  }

  @Test
  void second_start_in_another_process_is_refused_with_one_line() throws Exception {
    try (EmbeddedPostgres first = quick();
        Owner second = Owner.start(folder, CACHE)) {
      assertThat(second.answer())
          .isEqualTo(
              "refused data directory "
                  + folder.toRealPath()
                  + " is in use by process "
                  + ProcessHandle.current().pid()
                  + " (expected: one owner)");
      assertThat(query(first, "postgres", "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void second_start_in_the_same_process_is_refused_and_keeps_the_lock() throws Exception {
    try (EmbeddedPostgres first = quick()) {
      assertThatThrownBy(this::quick)
          .isInstanceOf(EmbeddedPostgresException.class)
          .hasMessageContaining("in use by process " + ProcessHandle.current().pid());

      try (Owner other = Owner.start(folder, CACHE)) {
        assertThat(other.answer()).startsWith("refused");
      }
      assertThat(first.isRunning()).isTrue();
    }
  }

  @Test
  void folder_made_by_another_version_is_refused() throws IOException {
    quick().close();
    Files.writeString(folder.resolve("pgdata/PG_VERSION"), "9\n");

    assertThatThrownBy(this::quick)
        .isInstanceOf(EmbeddedPostgresException.class)
        .hasMessageContaining("was made by PostgreSQL 9 (expected: ");
  }

  @Test
  void folder_with_foreign_files_is_refused_and_not_changed() throws IOException {
    Files.writeString(folder.resolve("thesis.txt"), "mine");

    assertThatThrownBy(this::quick)
        .isInstanceOf(EmbeddedPostgresException.class)
        .hasMessageContaining("holds thesis.txt, which is not ours");

    assertThat(folder).isDirectoryNotContaining(file -> !file.endsWith("thesis.txt"));
  }

  @Test
  void password_file_that_others_can_read_gets_its_permissions_back() throws Exception {
    quick().close();
    Path password = folder.resolve("password");
    Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-r--r--"));

    quick().close();

    assertThat(Files.getPosixFilePermissions(password))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void server_that_cannot_start_reports_the_end_of_its_log() {
    assertThatThrownBy(
            () ->
                EmbeddedPostgres.builder()
                    .dataDir(folder)
                    .durable(false)
                    .setting("shared_buffers", "lots")
                    .start())
        .isInstanceOf(EmbeddedPostgresException.class)
        .hasMessageContaining("invalid value for parameter \"shared_buffers\"");
  }

  @Test
  void two_processes_that_start_at_once_unpack_once() throws Exception {
    Path cache = folder.resolve("cache");
    Process one = Owner.launch(folder.resolve("one"), cache);
    Process two = Owner.launch(folder.resolve("two"), cache);
    try {
      assertThat(one.inputReader().readLine()).startsWith("running");
      assertThat(two.inputReader().readLine()).startsWith("running");
      try (Stream<Path> unpacked = Files.list(cache)) {
        assertThat(unpacked.map(path -> path.getFileName().toString()))
            .hasSize(2)
            .contains("unpack.lock")
            .anyMatch(name -> name.startsWith("postgres-"));
      }
    } finally {
      one.outputWriter().close();
      two.outputWriter().close();
      one.waitFor();
      two.waitFor();
    }
  }

  @Test
  void ephemeral_server_deletes_its_folder() {
    EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().durable(false).start();
    Path used = postgres.dataDir();
    assertThat(used).isDirectory();

    postgres.close();

    assertThat(used).doesNotExist();
  }

  @Test
  void shared_server_has_the_version_that_the_build_asked_for() throws SQLException {
    String asked = System.getProperty("kagzi.postgres", "");

    String version = query(SharedPostgres.server(), "postgres", "SHOW server_version");

    assertThat(version).startsWith(asked.isEmpty() ? "18." : asked + ".");
  }

  @Test
  void database_is_copied_from_a_template_and_dropped_with_open_connections() throws SQLException {
    EmbeddedPostgres postgres = SharedPostgres.server();
    String template = SharedPostgres.createDatabase();
    execute(postgres, template, "CREATE TABLE t AS SELECT 7 AS n");

    String copy = SharedPostgres.createDatabaseFrom(template);

    try (Connection user = postgres.connect(copy)) {
      assertThat(query(postgres, copy, "SELECT n FROM t")).isEqualTo("7");
      postgres.dropDatabase(copy);
      assertThat(user.isValid(5)).isFalse();
    }
  }

  @Test
  void database_is_copied_without_writing_its_pages_to_the_log() throws SQLException {
    EmbeddedPostgres postgres = SharedPostgres.server();
    String before = query(postgres, "postgres", "SELECT pg_current_wal_insert_lsn()");

    SharedPostgres.createDatabase();

    String bytes = "SELECT (pg_current_wal_insert_lsn() - '%s')::bigint".formatted(before);
    assertThat(Long.parseLong(query(postgres, "postgres", bytes))).isLessThan(1 << 20);
  }

  @Test
  void client_computes_few_hashes_only_in_the_build_of_kagzi() throws SQLException {
    EmbeddedPostgres postgres = SharedPostgres.server();
    assumeTrue(EmbeddedPostgres.majorVersion() >= 16, "older ones have a fixed number");

    String stored =
        query(
            postgres, "postgres", "SELECT rolpassword FROM pg_authid WHERE rolname = current_user");

    assertThat(stored).startsWith("SCRAM-SHA-256$" + (EmbeddedPostgres.FAST ? 1 : 4096) + ":");
    assertThatThrownBy(
            () -> DriverManager.getConnection(postgres.jdbcUrl("postgres"), "postgres", "guessed"))
        .hasMessageContaining("password authentication failed");
  }

  @Test
  void only_a_server_for_tests_is_in_memory_and_only_in_the_build_of_kagzi() throws IOException {
    Path memory = Path.of("/dev/shm");
    assumeTrue(
        Files.isWritable(memory) && Files.getFileStore(memory).getUsableSpace() >= 5L << 30,
        "small machine");

    assertThat(SharedPostgres.server().dataDir().startsWith(memory))
        .isEqualTo(EmbeddedPostgres.FAST);
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().start()) {
      assertThat(postgres.dataDir().startsWith(memory)).isFalse();
    }
  }

  private EmbeddedPostgres durable() {
    return EmbeddedPostgres.builder().dataDir(folder).start();
  }

  private EmbeddedPostgres quick() {
    return EmbeddedPostgres.builder().dataDir(folder).durable(false).start();
  }

  private static void execute(EmbeddedPostgres postgres, String database, String sql)
      throws SQLException {
    try (Connection connection = postgres.connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String query(EmbeddedPostgres postgres, String database, String sql)
      throws SQLException {
    try (Connection connection = postgres.connect(database);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  private static boolean isAlive(long pid) throws IOException {
    return ProcessHandle.of(pid).isPresent() && !Postmaster.isZombie(pid);
  }

  /** Kills the shell and its helper, so that no process is left that could stop the server. */
  private static void killShellOf(long postgres) {
    ProcessHandle shell = ProcessHandle.of(postgres).orElseThrow().parent().orElseThrow();
    List<ProcessHandle> helpers = shell.children().filter(p -> p.pid() != postgres).toList();
    // The helper first: the shell's end closes the pipe, and the helper would stop the server.
    helpers.forEach(ProcessHandle::destroyForcibly);
    shell.destroyForcibly();
  }

  private static void signal(String name, long pid) {
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
      assertThat(kill.waitFor()).isZero();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("kill -" + name + " " + pid, e);
    }
  }

  private static void kill9(long pid) {
    ProcessHandle.of(pid).orElseThrow().destroyForcibly();
  }
}
