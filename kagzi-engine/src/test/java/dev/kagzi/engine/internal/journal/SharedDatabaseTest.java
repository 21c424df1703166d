package dev.kagzi.engine.internal.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.thread.EssentialThreads;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that share a database use fewer lanes each. */
class SharedDatabaseTest {
  private static final int KEYS = 40;
  private static final int WRITES = 6_000;
  private static final Duration LONG = Duration.ofSeconds(10);
  private static final Duration SHORT = Duration.ofMillis(1);
  private static final String CONNECTION_LOST = "08006";
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final Recorder recorder = new Recorder();
  private final AtomicInteger servers = new AtomicInteger(1);

  /** The threads that have terminated a backend. */
  private final Set<String> ending = ConcurrentHashMap.newKeySet();

  private static final class Numbered extends Write<Integer> {
    private final int key;
    private final int number;

    Numbered(int key, int number) {
      this.key = key;
      this.number = number;
    }

    @Override
    protected UUID key() {
      return new UUID(0, key);
    }

    @Override
    protected int bytes() {
      return 100;
    }

    int lane(int lanes) {
      return Math.floorMod(key().hashCode(), lanes);
    }
  }

  private record Committed(String thread, List<Numbered> writes) {
    boolean isMixed() {
      return writes.stream().map(write -> write.lane(2)).distinct().count() > 1;
    }
  }

  /** Keeps the batches in the order of their commits. */
  private static final class Recorder implements BatchWriter<Numbered> {
    private final List<Committed> batches = new CopyOnWriteArrayList<>();
    private final AtomicInteger commits = new AtomicInteger();
    private volatile Predicate<List<Numbered>> loses = batch -> false;
    private volatile Predicate<List<Numbered>> refuses = batch -> false;
    private volatile String lossState = CONNECTION_LOST;

    @Override
    public Effects write(Session tx, List<Numbered> batch) throws SQLException {
      if (refuses.test(batch)) {
        throw new SQLException("refused", "22000");
      }
      if (loses.test(batch)) {
        throw new SQLException("lost", lossState);
      }
      sleep();
      batch.forEach(write -> write.answer(write.number));
      String thread = Thread.currentThread().getName();
      return () -> batches.add(new Committed(thread, List.copyOf(batch)));
    }

    private void sleep() {
      try {
        TimeUnit.MILLISECONDS.sleep(commits.incrementAndGet() % 10 == 0 ? 20 : 1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public @Nullable Effects writeAlone(Session session, List<Numbered> batch) {
      return null;
    }

    long mixed() {
      return batches.stream().filter(Committed::isMixed).count();
    }

    String lastThread() {
      return batches.getLast().thread;
    }
  }

  private Journal<Numbered> open(Database side, int lanes, int writesMax, Duration patience) {
    return open(
        side,
        new JournalConfig(lanes, 64 << 20, 8 << 20, writesMax, Duration.ofSeconds(5), patience));
  }

  private Journal<Numbered> open(Database side, JournalConfig config) {
    return new Journal<>(
        side,
        () -> recorder,
        config,
        servers::get,
        Meters.unpublished().journal("test"),
        new EssentialThreads());
  }

  @Test
  void a_lone_server_uses_all_its_lanes() throws Exception {
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, 2, 2_000, LONG)) {
      appendAll(journal, 1);
    }

    assertThat(recorder.mixed()).isZero();
    assertOrder();
  }

  @Test
  void one_of_several_servers_commits_the_writes_of_all_lanes_together() throws Exception {
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, 2, 2_000, LONG)) {
      appendAll(journal, 3);
    }

    assertThat(recorder.mixed()).isGreaterThan(recorder.batches.size() / 2);
    assertThat(recorder.lastThread()).isEqualTo("kagzi-lane-0");
    assertOrder();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 5})
  void writes_with_equal_keys_keep_their_order_while_servers_come_and_go(int lanes)
      throws Exception {
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, lanes, 2_000, LONG)) {
      appendAll(journal, 1, 2, 1, 3, 2, 5);
    }

    assertThat(recorder.batches.stream().map(Committed::thread).distinct()).hasSizeGreaterThan(1);
    assertOrder();
  }

  @Test
  void callers_that_wait_for_space_keep_their_order_while_servers_come_and_go() throws Exception {
    // Each lane has space for a tenth of the writes.
    JournalConfig config = new JournalConfig(10, WRITES * 100, 8 << 20, 100, LONG, LONG);
    List<Numbered> writes = new ArrayList<>();
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, config)) {
      servers.set(10);
      for (int i = 0; i < WRITES; i++) {
        writes.add(append(journal, i % KEYS, i));
      }
      for (int i = 0; !writes.stream().allMatch(write -> write.done().isDone()); i++) {
        servers.set(List.of(1, 10, 3, 5).get(i % 4));
        TimeUnit.MILLISECONDS.sleep(3);
      }
    }

    assertThat(writes).allMatch(write -> !write.done().isCompletedExceptionally());
    assertThat(recorder.batches.stream().map(Committed::thread).distinct()).hasSizeGreaterThan(5);
    assertOrder();
  }

  /** The number of servers changes after each fiftieth write. */
  private void appendAll(Journal<Numbered> journal, int... counts) throws Exception {
    List<Numbered> writes = new ArrayList<>();
    for (int i = 0; i < WRITES; i++) {
      if (i % 50 == 0) {
        servers.set(counts[i / 50 % counts.length]);
      }
      if (i % 10 == 0) {
        TimeUnit.MICROSECONDS.sleep(200);
      }
      Numbered write = new Numbered(i % KEYS, i);
      writes.add(write);
      journal.append(write);
    }
    for (Numbered write : writes) {
      assertThat(write.done().get(20, TimeUnit.SECONDS)).isEqualTo(write.number);
    }
  }

  private void assertOrder() {
    Map<Integer, Integer> last = new HashMap<>();
    Set<Integer> numbers = new HashSet<>();
    for (Committed batch : recorder.batches) {
      for (Numbered write : batch.writes) {
        assertThat(last.getOrDefault(write.key, -1)).isLessThan(write.number);
        last.put(write.key, write.number);
        numbers.add(write.number);
      }
    }
    assertThat(numbers).hasSize(WRITES);
  }

  @Test
  void a_lane_ends_its_lost_backend_before_another_one_writes_for_it() throws Exception {
    int key = keyOfLane(1);
    try (Database side = Database.open(database.config(), this::connect);
        Journal<Numbered> journal = open(side, 2, 2_000, SHORT)) {
      assertThat(append(journal, key, 1).done()).succeedsWithin(LONG);
      recorder.loses = batch -> true;
      assertThat(append(journal, key, 2).done()).failsWithin(LONG);
      recorder.loses = batch -> false;

      servers.set(2);
      assertThat(append(journal, key, 3).done()).succeedsWithin(LONG);

      assertThat(recorder.lastThread()).isEqualTo("kagzi-lane-1");
      assertThat(ending).containsExactly("kagzi-lane-1");
      assertThat(append(journal, key, 4).done()).succeedsWithin(LONG);
      assertThat(recorder.lastThread()).isEqualTo("kagzi-lane-0");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {CONNECTION_LOST, LOCK_NOT_AVAILABLE})
  void a_write_that_waits_behind_one_that_is_given_up_is_given_up_too(String loss)
      throws Exception {
    recorder.lossState = loss;
    int key = keyOfLane(1);
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, 2, 1, SHORT)) {
      servers.set(2);
      assertThat(append(journal, key, 1).done()).succeedsWithin(LONG);
      assertThat(append(journal, key, 2).done()).succeedsWithin(LONG);
      recorder.loses = batch -> true;
      Numbered step = new Numbered(key, 3);
      Numbered end = new Numbered(key, 4);
      step.done().whenComplete((number, refusal) -> recorder.loses = batch -> false);

      journal.append(List.of(step, end));

      assertThat(step.done()).failsWithin(LONG);
      assertThat(end.done()).failsWithin(LONG);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {CONNECTION_LOST, LOCK_NOT_AVAILABLE})
  void the_second_half_of_a_batch_is_not_committed_without_the_first(String loss) throws Exception {
    recorder.lossState = loss;
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, 1, 2_000, SHORT)) {
      assertThat(append(journal, 0, 1).done()).succeedsWithin(LONG);
      recorder.refuses = batch -> batch.size() > 1;
      recorder.loses = batch -> batch.getFirst().number == 2;
      Numbered step = new Numbered(0, 2);
      Numbered end = new Numbered(0, 3);

      journal.append(List.of(step, end));

      assertThat(step.done()).failsWithin(LONG);
      assertThat(end.done()).failsWithin(LONG);
      assertThat(append(journal, 0, 4).done()).succeedsWithin(LONG);
    }
  }

  private static Numbered append(Journal<Numbered> journal, int key, int number) {
    Numbered write = new Numbered(key, number);
    journal.append(write);
    return write;
  }

  private static int keyOfLane(int lane) {
    int key = 0;
    while (new Numbered(key, 0).lane(2) != lane) {
      key++;
    }
    return key;
  }

  private Connection connect() throws SQLException {
    Connection real = Database.connect(database.config());
    return (Connection)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (arguments != null
                  && arguments[0] instanceof String sql
                  && sql.contains("pg_terminate_backend")) {
                ending.add(Thread.currentThread().getName());
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
